"""A server that says exactly the bytes it is told to, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

PUBLIC = "127.0.0.2"
INTERNAL = "127.0.0.1"


@dataclass
class Asked:
    """One request as it came: start line, headers in lower case, body."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""
    names: list[str] = field(default_factory=list)


Handler = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


def reply(
    body: bytes = b"", status: str = "200 OK", *, length: bool = True, **headers: str
) -> bytes:
    """The bytes of an answer; underscores in header names stand for dashes."""
    lines = [f"HTTP/1.1 {status}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body


class WireServer:
    """One listening port. `answers` maps paths to bytes or to a handler.

    Unknown paths get 404. `asked` has every request, `connections` counts. After a
    handler, or an answer without a length, the connection is closed.
    """

    def __init__(
        self,
        answers: dict[str, bytes | Handler] | None = None,
        host: str = PUBLIC,
        context: ssl.SSLContext | None = None,
        port: int = 0,
    ) -> None:
        self.answers = answers or {}
        self.host = host
        self.port = port
        self.asked: list[Asked] = []
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
                while await self._one(reader, writer):
                    pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        start, *lines = head.split("\r\n")[:-2]
        method, path, _ = start.split(" ")
        pairs = [line.split(": ", 1) for line in lines]
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        asked = Asked(method, path, headers, body, [name for name, _ in pairs])
        self.asked.append(asked)
        answer = self.answers.get(path, reply(b"no such page", "404 Not Found"))
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
            return b"ontent-Length" in answer and headers.get("connection") != "close"
        await answer(asked, writer)
        return False
