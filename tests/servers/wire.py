"""A server that says exactly the bytes it is told to, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.servers.listening import PUBLIC, Listening

INTERNAL = "127.0.0.1"


@dataclass
class Requested:
    """One request as it came: start line, headers in lower case, body."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""
    names: list[str] = field(default_factory=list)


Handler = Callable[[Requested, asyncio.StreamWriter], Awaitable[None]]


def reply(
    body: bytes = b"", status: str = "200 OK", *, length: bool = True, **headers: str
) -> bytes:
    """The bytes of an answer; underscores in header names stand for dashes."""
    lines = [f"HTTP/1.1 {status}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body


class WireServer(Listening):
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
        super().__init__(host, context, port)
        self.answers = answers or {}
        self.requested: list[Requested] = []

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await self._one(reader, writer):
            pass

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        start, *lines = head.split("\r\n")[:-2]
        method, path, _ = start.split(" ")
        pairs = [line.split(": ", 1) for line in lines]
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        requested = Requested(method, path, headers, body, [name for name, _ in pairs])
        self.requested.append(requested)
        answer = self.answers.get(path, reply(b"no such page", "404 Not Found"))
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
            return b"ontent-Length" in answer and headers.get("connection") != "close"
        await answer(requested, writer)
        return False
