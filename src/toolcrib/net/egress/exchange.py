"""One request and one answer under caps: addresses, headers, wire bytes, decoded bytes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal

from toolcrib.core.errors import TooLarge
from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.codings import Decoder
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.transport import Request, StreamingResponse, Transport, failure

MAX_TINY_CHUNKS = 20_000
BOMB_RATIO, BOMB_CAPS = 40, 8
"""What unpacks to so many times its size, or the cap, is no page, and no part of it is given."""
TINY = 16
"""Bytes. Chunks that are smaller on average cost more time than they bring content."""


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that one answer may bring, in bytes and times."""

    wire: int
    decoded: int
    headers: int
    codings: int
    ratio: int
    wire_setting: str = "egress.max_wire_bytes"
    decoded_setting: str = "egress.max_decoded_bytes"
    allow_truncated: bool | Literal["undeclared"] = False

    @classmethod
    def of(
        cls,
        config: EgressConfig,
        max_bytes: int | None,
        *,
        allow_truncated: bool | Literal["undeclared"],
    ) -> Caps:
        """The configured caps; `max_bytes` takes the place of both body caps."""
        caps = cls(
            wire=config.max_wire_bytes,
            decoded=config.max_decoded_bytes,
            headers=config.max_header_bytes,
            codings=config.max_codings,
            ratio=config.max_ratio,
            allow_truncated=allow_truncated,
        )
        if not max_bytes:
            return caps
        named = "max_bytes"
        return replace(
            caps, wire=max_bytes, decoded=max_bytes, wire_setting=named, decoded_setting=named
        )


async def exchange(
    transport: Transport, request: Request, caps: Caps, skip_body: frozenset[int]
) -> Response:
    """Send a request and read its answer; bodies of the statuses in `skip_body` are not read.

    Raises:
        TooLarge: a cap was reached; the connection is closed.
        ToolError: one of `failures`, or a body that cannot be decoded.
    """
    response = await transport.send(request)
    try:
        _check_peer(response, request)
        _check_headers(response, request, caps)
        if response.status in skip_body or request.method == "HEAD":
            return _response(response, request)
        codings = response.headers.tokens("content-encoding")
        length = response.length
        if not codings and length is not None and length <= min(caps.wire, caps.decoded):
            body = await response.read()
            return _response(response, request, body, len(body))
        return await _read(response, request, caps, codings)
    finally:
        await response.close()


def _check_peer(response: StreamingResponse, request: Request) -> None:
    known = request.addresses
    if response.peer is not None and known and response.peer not in known:
        raise failure("peer", request.target, str(response.peer))


def _check_headers(response: StreamingResponse, request: Request, caps: Caps) -> None:
    if response.headers.size > caps.headers:
        raise failure("headers", request.target, f"more than {caps.headers:,} bytes")


def _response(
    streaming: StreamingResponse,
    request: Request,
    body: bytes = b"",
    wire_bytes: int = 0,
    *,
    truncated: bool = False,
) -> Response:
    return Response(
        url=request.target.full,
        status=streaming.status,
        headers=streaming.headers,
        body=body,
        http_version=streaming.http_version,
        wire_bytes=wire_bytes,
        truncated=truncated,
    )


async def _read(
    response: StreamingResponse, request: Request, caps: Caps, codings: list[str]
) -> Response:
    decoder = Decoder(
        codings,
        max_codings=caps.codings,
        max_bytes=caps.decoded,
        max_ratio=caps.ratio,
    )
    body = _Body(decoder, caps, request)
    length = response.length
    if length is not None and length > caps.wire and caps.allow_truncated is not True:
        body.refuse(length)
    if length is not None and length <= caps.wire:
        body.take(await response.read())
    else:
        async with aclosing(response.chunks()) as chunks:
            async for chunk in chunks:
                if not body.take(chunk):
                    break
    return _response(response, request, body.joined(), body.wire, truncated=body.truncated)


class _Body:
    """Collects decoded pieces until the end or a cap."""

    def __init__(self, decoder: Decoder, caps: Caps, request: Request) -> None:
        self._decoder = decoder
        self._caps = caps
        self._target = request.target
        self._chunks = 0
        self._pieces: list[bytes] = []
        self._size = 0
        self.wire = 0
        self._cut = False

    def take(self, chunk: bytes) -> bool:
        """Add a chunk from the wire; False says that no more is wanted."""
        self.wire += len(chunk)
        self._chunks += 1
        if self._chunks > MAX_TINY_CHUNKS and self.wire < TINY * self._chunks:
            raise failure("framing", self._target)
        if self.wire > self._caps.wire:
            self.stop_at_wire("is too long")
            chunk = chunk[: self._caps.wire - self.wire]
        pieces = self._decoder.feed(chunk)
        for piece in pieces:
            self._size += len(piece)
            if self._size > self._caps.decoded:
                self._stop("is too long", self._caps.decoded, self._caps.decoded_setting)
                self._pieces.append(piece[: self._caps.decoded - self._size])
                self._check_growth(pieces)
                break
            self._pieces.append(piece)
        return not self._cut

    def joined(self) -> bytes:
        """All that was taken."""
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    @property
    def truncated(self) -> bool:
        """Whether a cap or the end of the connection cut it short."""
        return self._cut or (self.wire > 0 and not self._decoder.complete)

    def stop_at_wire(self, what: str) -> None:
        """Take no more, since there is more on the wire than the cap.

        Raises:
            TooLarge: unless a part is enough.
        """
        self._stop(what, self._caps.wire, self._caps.wire_setting)

    def refuse(self, length: int) -> None:
        """Raise TooLarge for a body that says itself that it is longer than the cap."""
        raise self._too_large(f"has {length:,} bytes", self._caps.wire, self._caps.wire_setting)

    def _check_growth(self, rest: Iterable[bytes]) -> None:
        """Raise TooLarge for what grows as no page does, where else a part would do."""
        caps = self._caps
        if caps.allow_truncated != "undeclared":
            return
        max_size = BOMB_CAPS * caps.decoded
        for piece in rest:
            self._size += len(piece)
            if self._size > max_size:
                break
        if self._size > max_size or self._size > BOMB_RATIO * self.wire:
            raise self._too_large("is too long", caps.decoded, caps.decoded_setting)

    def _stop(self, what: str, cap: int, setting: str) -> None:
        if not self._caps.allow_truncated:
            raise self._too_large(what, cap, setting)
        self._cut = True

    def _too_large(self, what: str, cap: int, setting: str) -> TooLarge:
        ours = setting.startswith("egress.")
        return TooLarge(
            f"The answer of {self._target.host} {what}: the limit is {cap:,} bytes.",
            hint=f"Use another source.{f' The user can raise {setting}.' if ours else ''}",
            limit=setting,
            max_bytes=cap,
        )
