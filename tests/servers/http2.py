"""A small HTTP/2 server over TLS that can also lie about what it sends."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress

import h2.config
import h2.connection
import h2.events

from tests.servers.listening import PUBLIC, Listening

HEADERS = [(":status", "200")]
ANSWERS: dict[str, tuple[list[tuple[str, str]], int]] = {
    "/page": ([*HEADERS, ("content-length", "20000"), ("content-type", "text/html")], 20_000),
    "/unsized": (HEADERS, 20_000),
    "/lies": ([*HEADERS, ("content-length", "10")], 20_000),
    "/short": ([*HEADERS, ("content-length", "50000")], 20_000),
    "/headers": ([*HEADERS, *((f"x-{n}", "y" * 4000) for n in range(40))], 20),
    "/redirect": ([(":status", "302"), ("location", "http://127.0.0.1/")], 0),
}


class Http2Server(Listening):
    """`/endless` never stops; the other paths are in `ANSWERS`. `connections` counts."""

    def __init__(self, context: ssl.SSLContext, host: str = PUBLIC) -> None:
        context.set_alpn_protocols(["h2"])
        super().__init__(host, context)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        config = h2.config.H2Configuration(client_side=False, validate_outbound_headers=False)
        connection = h2.connection.H2Connection(config)
        connection.initiate_connection()
        endless: list[int] = []
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

    async def _end(self, writer: asyncio.StreamWriter) -> None:
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
