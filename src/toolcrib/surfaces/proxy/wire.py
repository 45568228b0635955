"""Headers of requests and answers on their way through the proxy, and answers for itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from toolcrib.core.errors import ToolError
from toolcrib.net.models.upstream import RawHeaders, Upstream, UpstreamReply
from toolcrib.text.json_values import json_object

STREAM_KINDS = ("text/event-stream", "application/x-ndjson", "application/stream+json")
DROPPED = {
    *(b"connection", b"keep-alive", b"proxy-authenticate", b"trailer", b"transfer-encoding"),
    *(b"upgrade", b"proxy-connection", b"date"),
}


def is_stream(reply: UpstreamReply) -> bool:
    """Whether an answer is a stream."""
    return reply.header(b"content-type").startswith(STREAM_KINDS)


def is_plain(reply: UpstreamReply) -> bool:
    """Whether the body of an answer is not encoded."""
    return reply.header(b"content-encoding").lower() in ("", "identity")


def credentials_headers(headers: RawHeaders) -> RawHeaders:
    """Those that say who asks, and in which dialect."""
    wanted = (b"authorization", b"x-api-key", b"anthropic-version")
    return [pair for pair in headers if pair[0].lower() in wanted]


def answer_headers(headers: RawHeaders, drop: tuple[bytes, ...] = ()) -> RawHeaders:
    """The headers of an answer for the client, without those of one connection alone."""
    lower = [(name.lower(), value) for name, value in headers]
    return [pair for pair in lower if pair[0] not in DROPPED and pair[0] not in drop]


def stream_headers(reply: UpstreamReply) -> RawHeaders:
    """The headers of an answer; a stream has no length, since it may end in another way."""
    return answer_headers(reply.headers, drop=(b"content-length",) if is_stream(reply) else ())


async def json_answer(
    upstream: Upstream, target: bytes, headers: RawHeaders, seconds: float, max_bytes: int
) -> dict[str, Any] | None:
    """The JSON object that a server answers to a GET; None where it gives none, or not in time."""
    lines = [*headers, (b"accept-encoding", b"identity")]
    with suppress(ToolError, TimeoutError, ValueError, RecursionError):
        async with asyncio.timeout(seconds), upstream.request("GET", target, lines) as reply:
            body = bytearray()
            async for chunk in reply.chunks:
                body += chunk
                if len(body) > max_bytes:
                    return None
            return json_object(bytes(body)) if reply.status == 200 else None
    return None


def framed(
    headers: RawHeaders, body: bytes | AsyncIterator[bytes] | None
) -> list[tuple[bytes, bytes]]:
    """The headers of a request with the length of its body as it is sent."""
    lines = list(headers)
    if isinstance(body, bytes) or body is None:
        lines = [pair for pair in lines if pair[0].lower() != b"content-length"]
        if body is not None or len(lines) < len(headers):
            lines.append((b"content-length", str(len(body or b"")).encode()))
    elif not any(name.lower() == b"content-length" for name, _ in lines):
        lines.append((b"transfer-encoding", b"chunked"))
    return lines
