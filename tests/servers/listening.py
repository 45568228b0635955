"""What servers that speak bytes have in common: a port, and an end to every connection."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from typing import Self

PUBLIC = "127.0.0.2"


def free_port() -> int:
    """A port of this machine where nobody listens, and hardly anybody will soon."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


class Listening:
    """One listening port, open within `async with`. `connections` counts."""

    def __init__(
        self, host: str = PUBLIC, context: ssl.SSLContext | None = None, port: int = 0
    ) -> None:
        self.host = host
        self.port = port
        self.connections = 0
        self._context = context
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def url(self, path: str = "/", host: str = "") -> str:
        scheme = "https" if self._context else "http"
        return f"{scheme}://{host or self.host}:{self.port}{path}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._serve, self.host, self.port, ssl=self._context
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
                await self._talk(reader, writer)
        finally:
            self._tasks.discard(task)
            await self._end(writer)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    async def _end(self, writer: asyncio.StreamWriter) -> None:
        writer.close()
        with suppress(OSError, asyncio.CancelledError):
            await writer.wait_closed()
