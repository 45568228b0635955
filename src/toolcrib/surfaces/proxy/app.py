"""The application of the proxy: a request is read, passed on, and its answer mended."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any, Protocol

from starlette.types import Receive, Scope, Send

from toolcrib.core.config import secret
from toolcrib.core.errors import Blocked, NotConfigured, ToolError, Unavailable
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.upstream import RawHeaders, Upstream, UpstreamReply
from toolcrib.surfaces.proxy.chat_mender import ChatStreamMender, mended_chat
from toolcrib.surfaces.proxy.dialects import StreamTail
from toolcrib.surfaces.proxy.frames import text_of_json
from toolcrib.surfaces.proxy.messages_mender import MessagesStreamMender, mended_messages
from toolcrib.surfaces.proxy.ollama_mender import OllamaStreamMender, mended_ollama
from toolcrib.surfaces.proxy.request import BodyTooLong, ClientGone, ClientRequest
from toolcrib.surfaces.proxy.responses_mender import ResponsesStreamMender, mended_response
from toolcrib.surfaces.proxy.upstreams import Upstreams, credentials_for
from toolcrib.toolbox import Toolbox

MODEL_LISTS = ("/v1/models", "/api/tags", "/api/v0/models")
STREAM_KINDS = ("text/event-stream", "application/x-ndjson", "application/stream+json")
OPEN_ENDED = ("/v1/files", "/v1/audio", "/v1/images", "/v1/uploads")


class StreamMender(Protocol):
    """Mends a stream while it flows."""

    def feed(self, chunk: bytes) -> bytes:
        """What goes to the client for a piece of the stream."""
        ...

    def close(self, *, broken: bool = False) -> bytes:
        """What is left once the stream has ended, or has broken off."""
        ...


WholeMender = Callable[[dict[str, Any], list[Any]], dict[str, Any]]
MENDERS: dict[str, tuple[Callable[[list[Any]], StreamMender], WholeMender]] = {
    "chat": (ChatStreamMender, mended_chat),
    "messages": (MessagesStreamMender, mended_messages),
    "ollama": (OllamaStreamMender, mended_ollama),
    "responses": (ResponsesStreamMender, mended_response),
}


class ProxyApp:
    """The ASGI application, without the gate before it.

    Args:
        toolbox: settings, services and tools.

    Raises:
        ConfigError, NotConfigured: the servers are configured wrong.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox
        self.config = toolbox.config
        self.upstreams = Upstreams(self.config, toolbox.use(Egress))
        self._token = own_token(toolbox)

    async def close(self) -> None:
        """Close the connections to the servers."""
        await self.upstreams.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request = ClientRequest(scope, receive, send)
        work = asyncio.current_task()
        assert work is not None
        watcher: asyncio.Task[None] | None = None
        try:
            if request.method == "HEAD" and request.path == "/":
                await request.answer(200, b"", [(b"content-type", b"text/plain")])
                return
            if not request.is_form:
                await request.read(self.config.proxy.max_body_mb * 1_000_000)
                watcher = asyncio.create_task(request.watch(work))
            await self._serve(request)
        except ClientGone:
            return
        except BodyTooLong:
            limit = f"A request may have {self.config.proxy.max_body_mb} MB."
            await request.refuse(413, f"{limit} Raise proxy.max_body_mb.", "too_large")
        except ToolError as error:
            await self._failed(request, error)
        except asyncio.CancelledError:
            if not request.gone:
                raise
            work.uncancel()
        finally:
            if watcher is not None:
                watcher.cancel()

    async def _failed(self, request: ClientRequest, error: ToolError) -> None:
        if request.started:
            return
        status = 403 if isinstance(error, Blocked) else 502
        status = 503 if isinstance(error, Unavailable) else status
        message = f"{error.message} {error.hint}".strip()
        await request.refuse(status, message, error.code)

    async def _serve(self, request: ClientRequest) -> None:
        headers = request.passed_headers()
        if self.upstreams.has_many and request.method == "GET" and request.path in MODEL_LISTS:
            who = credentials_headers(headers)
            merged = await self.upstreams.merged_list(request.target, who)
            if merged is not None:
                await request.answer(200, text_of_json(merged).encode())
                return
        upstream = await self.upstreams.choose(self._model(request), credentials_headers(headers))
        headers = credentials_for(upstream, headers, self._token)
        tools = self._offered(request)
        if tools:
            await self._mended(request, upstream, headers, tools)
        else:
            await self._passed(request, upstream, headers)

    def _model(self, request: ClientRequest) -> str:
        if not self.upstreams.has_many or request.is_form or request.value is None:
            return ""
        model = request.value.get("model")
        return model if isinstance(model, str) else ""

    def _offered(self, request: ClientRequest) -> list[Any]:
        """The tools that a request offers, where its answer can be mended."""
        if not self.config.proxy.mend or request.dialect.name not in MENDERS:
            return []
        if b'"tools"' not in request.body or request.value is None:
            return []
        tools = request.value.get("tools")
        return tools if isinstance(tools, list) else []

    async def _passed(
        self, request: ClientRequest, upstream: Upstream, headers: RawHeaders
    ) -> None:
        """Pass a request on, and its answer back, byte for byte."""
        body: bytes | AsyncIterator[bytes] | None = request.body or None
        if request.is_form:
            body = request.stream()
        lines = framed(headers, body)
        async with upstream.request(request.method, request.target, lines, body) as reply:
            await request.start(reply.status, stream_headers(reply))
            await self._stream(request, reply, None)

    async def _stream(
        self, request: ClientRequest, reply: UpstreamReply, mender: StreamMender | None
    ) -> None:
        """The body of an answer; a stream that breaks off gets the end of its dialect."""
        is_stream = reply.header(b"content-type").startswith(STREAM_KINDS)
        is_plain = reply.header(b"content-encoding").lower() in ("", "identity")
        has_end = is_stream and is_plain and StreamTail.knows(request.dialect)
        tail = StreamTail(request.dialect) if has_end else None
        try:
            async for chunk in reply.chunks:
                out = mender.feed(chunk) if mender is not None else chunk
                if out:
                    if tail is not None:
                        tail.add(out)
                    await request.write(out)
            rest = mender.close() if mender is not None else b""
            if tail is not None:
                tail.add(rest)
                rest += tail.missing_end()
        except ToolError as error:
            if tail is None:
                # A body of another kind must not look whole: the connection ends with it.
                raise
            rest = mender.close(broken=True) if mender is not None else b""
            tail.add(rest)
            rest += tail.error_end(error.message, error.code)
        await request.write(rest, more=False)

    async def _mended(
        self, request: ClientRequest, upstream: Upstream, headers: RawHeaders, tools: list[Any]
    ) -> None:
        """Pass a request on, and its answer back with what is mended in it."""
        lines = [pair for pair in headers if pair[0].lower() != b"accept-encoding"]
        lines.append((b"accept-encoding", b"identity"))
        lines = framed(lines, request.body)
        for_stream, for_whole = MENDERS[request.dialect.name]
        async with upstream.request(request.method, request.target, lines, request.body) as reply:
            kind = reply.header(b"content-type")
            is_plain = reply.header(b"content-encoding").lower() in ("", "identity")
            if reply.status != 200 or not is_plain:
                await request.start(reply.status, answer_headers(reply.headers))
                await self._stream(request, reply, None)
            elif kind.startswith(STREAM_KINDS):
                await request.start(reply.status, stream_headers(reply))
                await self._stream(request, reply, for_stream(tools))
            else:
                await self._whole(request, reply, for_whole, tools)

    async def _whole(
        self, request: ClientRequest, reply: UpstreamReply, mend: WholeMender, tools: list[Any]
    ) -> None:
        body = b"".join([chunk async for chunk in reply.chunks])
        value = None
        with suppress(ValueError, RecursionError):
            value = json.loads(body)
        if isinstance(value, dict):
            mended = mend(value, tools)
            if mended is not value:
                body = text_of_json(mended).encode()
        dropped = (b"content-length",)
        headers = [*answer_headers(reply.headers, drop=dropped)]
        headers.append((b"content-length", str(len(body)).encode()))
        await request.start(reply.status, headers)
        await request.write(body, more=False)


def own_token(toolbox: Toolbox) -> str:
    """The token that clients send to us; "" where none is needed."""
    with suppress(NotConfigured):
        return secret(toolbox.config.http.token_env, "The proxy")
    return ""


def credentials_headers(headers: RawHeaders) -> RawHeaders:
    """Those that say who asks, and in which dialect."""
    wanted = (b"authorization", b"x-api-key", b"anthropic-version")
    return [pair for pair in headers if pair[0].lower() in wanted]


DROPPED = {
    *(b"connection", b"keep-alive", b"proxy-authenticate", b"trailer", b"transfer-encoding"),
    *(b"upgrade", b"proxy-connection", b"date"),
}


def answer_headers(headers: RawHeaders, drop: tuple[bytes, ...] = ()) -> RawHeaders:
    """The headers of an answer for the client, without those of one connection alone."""
    lower = [(name.lower(), value) for name, value in headers]
    return [pair for pair in lower if pair[0] not in DROPPED and pair[0] not in drop]


def stream_headers(reply: UpstreamReply) -> RawHeaders:
    """The headers of an answer; a stream has no length, since it may end in another way."""
    is_stream = reply.header(b"content-type").startswith(STREAM_KINDS)
    return answer_headers(reply.headers, drop=(b"content-length",) if is_stream else ())


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


def describe(app: ProxyApp, base: str) -> str:
    """What `toolcrib proxy` prints when it listens."""
    where = ", ".join(upstream.base_url for upstream in app.upstreams.all)
    proxy = app.config.proxy
    stages = ", ".join(proxy.stages) or "none"
    mend = "on" if proxy.mend else "off"
    return (
        f"toolcrib: proxy at {base}/v1, for {where}\n"
        f"toolcrib: tool calls mended: {mend}; stages: {stages}; "
        f"tools of ours: {proxy.tools or 'none'}"
    )


def announce(text: str) -> None:
    """Print lines on stderr."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201
