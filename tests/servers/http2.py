"""A small HTTP/2 server over TLS that can also lie about what it sends."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from typing import Self

import h2.config
import h2.connection
import h2.events

HEADERS = [(":status", "200")]
ANSWERS: dict[str, tuple[list[tuple[str, str]], int]] = {
    "/page": ([*HEADERS, ("content-length", "20000"), ("content-type", "text/html")], 20_000),
    "/unsized": (HEADERS, 20_000),
    "/lies": ([*HEADERS, ("content-length", "10")], 20_000),
    "/short": ([*HEADERS, ("content-length", "50000")], 20_000),
    "/headers": ([*HEADERS, *((f"x-{n}", "y" * 4000) for n in range(40))], 20),
    "/redirect": ([(":status", "302"), ("location", "http://127.0.0.1/")], 0),
}


class Http2Server:
    """`/endless` never stops; the other paths are in `ANSWERS`. `connections` counts."""

    def __init__(self, context: ssl.SSLContext, host: str = "127.0.0.2") -> None:
        context.set_alpn_protocols(["h2"])
        self._context = context
        self.host = host
        self.port = 0
        self.connections = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def url(self, path: str) -> str:
        return f"https://{self.host}:{self.port}{path}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, 0, ssl=self._context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        config = h2.config.H2Configuration(client_side=False, validate_outbound_headers=False)
        connection = h2.connection.H2Connection(config)
        connection.initiate_connection()
        endless: list[int] = []
        try:
            with suppress(OSError, asyncio.CancelledError):
                while True:
                    writer.write(connection.data_to_send())
                    await writer.drain()
                    data = await reader.read(65_535)
                    if not data:
                        return
                    for event in connection.receive_data(data):
                        if isinstance(event, h2.events.RequestReceived):
                            path = dict(event.headers)[b":path"].decode()
                            self._answer(connection, event.stream_id, path, endless)
                    for stream in endless:
                        self._pour(connection, stream)
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    def _answer(
        self, connection: h2.connection.H2Connection, stream: int, path: str, endless: list[int]
    ) -> None:
        if path == "/endless":
            connection.send_headers(stream, HEADERS)
            endless.append(stream)
            return
        headers, size = ANSWERS[path]
        connection.send_headers(stream, headers, end_stream=not size)
        for start in range(0, size, 1000):
            connection.send_data(stream, b"z" * min(1000, size - start))
        if size:
            connection.end_stream(stream)

    def _pour(self, connection: h2.connection.H2Connection, stream: int) -> None:
        with suppress(Exception):
            while connection.local_flow_control_window(stream) >= 16_384:
                connection.send_data(stream, b"z" * 16_384)
