"""A request of a client, and the sending of the answer to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from starlette.types import Receive, Scope, Send

from toolcrib.net.models.upstream import UpstreamReply
from toolcrib.surfaces.proxy.dialects import Dialect, dialect_of, error_bytes
from toolcrib.surfaces.proxy.wire import answer_headers
from toolcrib.text.json_values import json_object

HOP_BY_HOP = {
    *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te"),
    *(b"trailer", b"transfer-encoding", b"upgrade", b"proxy-connection", b"host"),
}
FORM_KINDS = (b"multipart/", b"application/octet-stream", b"audio/", b"image/", b"video/")


class ClientGone(Exception):
    """The client has left before its request was there."""


class BodyTooLong(Exception):
    """The body is longer than is taken."""


class ClientRequest:
    """One request: its head, its body as it came, and the way back.

    Attributes:
        dialect: what is asked, by its path.
        body: the whole body, once `read` has read it.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self._receive = receive
        self._send = send
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: list[tuple[bytes, bytes]] = list(scope["headers"])
        self.by_name = {name.lower(): value for name, value in self.headers}
        self.dialect: Dialect = dialect_of(self.method, self.path, self.by_name)
        self.body = b""
        self.started = False
        self.gone = False
        self._value: dict[str, Any] | None = None
        self._parsed = False

    @property
    def target(self) -> bytes:
        """The path and the query as they came."""
        path: bytes = self.scope.get("raw_path") or self.path.encode()
        query: bytes = self.scope.get("query_string") or b""
        return path + b"?" + query if query else path

    @property
    def owner(self) -> str:
        """Whose conversations these are; "" on loopback without a token."""
        return str(self.scope.get("toolcrib.session") or "")

    @property
    def is_form(self) -> bool:
        """Whether the body is no JSON, but a file or a form with files."""
        return self.by_name.get(b"content-type", b"").lower().startswith(FORM_KINDS)

    async def read(self, max_bytes: int) -> None:
        """Read the whole body.

        Raises:
            BodyTooLong: it has more than `max_bytes`.
            ClientGone: the client has left.
        """
        parts, size = [], 0
        async for part in self.stream():
            size += len(part)
            if size > max_bytes:
                raise BodyTooLong
            parts.append(part)
        self.body = parts[0] if len(parts) == 1 else b"".join(parts)

    async def stream(self) -> AsyncIterator[bytes]:
        """The body in the pieces in which it comes.

        Raises:
            ClientGone: the client has left.
        """
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.gone = True
                raise ClientGone
            part = message.get("body", b"")
            if part:
                yield part
            if not message.get("more_body"):
                return

    @property
    def value(self) -> dict[str, Any] | None:
        """The body as a JSON object; None where it is none."""
        if not self._parsed:
            self._parsed = True
            self._value = json_object(self.body)
        return self._value

    async def watch(self, work: asyncio.Task[Any]) -> None:
        """Cancel the work on this request as soon as the client leaves."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone = True
        work.cancel()

    def passed_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers for the server, without those of this connection alone."""
        listed = self.by_name.get(b"connection", b"").lower().split(b",")
        dropped = HOP_BY_HOP | {name.strip() for name in listed}
        return [(name, value) for name, value in self.headers if name.lower() not in dropped]

    async def start(self, status: int, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Send the head of the answer."""
        self.started = True
        await self._send(
            {"type": "http.response.start", "status": status, "headers": list(headers)}
        )

    async def write(self, body: bytes, *, more: bool = True) -> None:
        """Send a piece of its body."""
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    async def answer(
        self,
        status: int,
        body: bytes,
        headers: Sequence[tuple[bytes, bytes]] = ((b"content-type", b"application/json"),),
    ) -> None:
        """Send a whole answer."""
        length = (b"content-length", str(len(body)).encode())
        await self.start(status, [*headers, length])
        await self.write(b"" if self.method == "HEAD" else body, more=False)

    async def answer_bytes(self, reply: UpstreamReply, body: bytes) -> None:
        """Send the answer of a server with another body."""
        headers = answer_headers(reply.headers, (b"content-length",))
        await self.answer(reply.status, body, headers)

    async def refuse(self, status: int, message: str, code: str = "") -> None:
        """Answer with an error in the client's own form."""
        await self.answer(status, error_bytes(self.dialect.style, status, message, code))
