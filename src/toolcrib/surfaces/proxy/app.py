"""The application of the proxy: a request is read, passed on, and its answer mended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from toolcrib.chatflow.prompt import PromptMessage
from toolcrib.core.config import secret
from toolcrib.core.errors import Blocked, NotConfigured, ToolError, Unavailable
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.upstream import RawHeaders, Upstream, UpstreamReply
from toolcrib.surfaces.http.gate import Refusal
from toolcrib.surfaces.proxy.chat_mender import ChatStreamMender, mended_chat
from toolcrib.surfaces.proxy.dialects import EARLY, StreamTail, dialect_of, error_bytes
from toolcrib.surfaces.proxy.frames import FrameMender, text_of_json
from toolcrib.surfaces.proxy.messages_mender import MessagesStreamMender, mended_messages
from toolcrib.surfaces.proxy.offered_tools import OfferedTools, OwnSteps
from toolcrib.surfaces.proxy.ollama_mender import OllamaStreamMender, mended_ollama
from toolcrib.surfaces.proxy.prompt_forms import prompt_form
from toolcrib.surfaces.proxy.prompt_stages import PromptStages, StagedRequest, UsageReader
from toolcrib.surfaces.proxy.request import BodyTooLong, ClientGone, ClientRequest
from toolcrib.surfaces.proxy.responses_mender import ResponsesStreamMender, mended_response
from toolcrib.surfaces.proxy.rounds import REFUSALS, ChatRounds
from toolcrib.surfaces.proxy.upstreams import Upstreams, credentials_for
from toolcrib.surfaces.proxy.wire import (
    credentials_headers,
    framed,
    is_plain,
    is_stream,
    stream_headers,
)
from toolcrib.toolbox import Toolbox

PREFIXES = ("/v1/", "/api/")
"""Where the proxy answers under `toolcrib serve`, beside the other APIs."""
MODEL_LISTS = ("/v1/models", "/api/tags", "/api/v0/models")


WholeMender = Callable[[dict[str, Any], list[Any]], dict[str, Any]]
MENDERS: dict[str, tuple[Callable[[list[Any]], FrameMender], WholeMender]] = {
    "chat": (ChatStreamMender, mended_chat),
    "messages": (MessagesStreamMender, mended_messages),
    "ollama": (OllamaStreamMender, mended_ollama),
    "responses": (ResponsesStreamMender, mended_response),
}


class ProxyApp:
    """The ASGI application, without the gate before it.

    Args:
        toolbox: settings, services and tools; those of its profile are offered to models where
            `proxy.tools` is set.

    Raises:
        ConfigError, NotConfigured: the servers are configured wrong.
        BadInput: a stage is named that there is not.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox
        self.config = toolbox.config
        self.upstreams = Upstreams(self.config, toolbox.use(Egress))
        self.stages = PromptStages(toolbox)
        self._token = own_token(toolbox)
        self.tools = [tool.name for tool in toolbox.listed] if self.config.proxy.tools else []

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
            await _failed(request, error)
        except asyncio.CancelledError:
            if not request.gone:
                raise
            work.uncancel()
        finally:
            if watcher is not None:
                watcher.cancel()

    async def _serve(self, request: ClientRequest) -> None:
        headers = request.passed_headers()
        who = credentials_headers(headers)
        if self.upstreams.has_many and request.method == "GET" and request.path in MODEL_LISTS:
            merged = await self.upstreams.merged_list(request.target, who)
            if merged is not None:
                await request.answer(200, text_of_json(merged).encode())
                return
        upstream = await self.upstreams.choose(self._model(request), who)
        headers = credentials_for(upstream, headers, self._token)
        if request.dialect.has_prompt and (self.tools or self.stages.may_act(request.body)):
            await self._conversation(request, upstream, headers)
        else:
            await self._plain(request, upstream, headers, None)

    def _model(self, request: ClientRequest) -> str:
        if not self.upstreams.has_many or request.is_form or request.value is None:
            return ""
        model = request.value.get("model")
        return model if isinstance(model, str) else ""

    # Conversations: stages before, tools of ours within.

    async def _conversation(
        self, request: ClientRequest, upstream: Upstream, headers: RawHeaders
    ) -> None:
        value, name = request.value, request.dialect.name
        form = prompt_form(name, value) if value is not None else None
        if value is None or form is None:
            await self._plain(request, upstream, headers, None)
            return
        has_loop = name == "chat" and value.get("n") in (None, 1)
        steps = self.toolbox.use(OwnSteps)
        earlier = None
        with suppress(ToolError):  # a store that cannot be read has none
            earlier = await steps.restored(form.messages, request.owner) if has_loop else None
        staged = await self.stages.run(
            form,
            value,
            messages=earlier,
            owner=request.owner,
            has_loop=has_loop,
            upstream=upstream,
            headers=headers,
        )
        prompt = staged.prompt
        own = list(self.tools) if has_loop and not prompt.has_tool_choice else []
        if prompt.offers_read_more and "read_more" not in own:
            own.append("read_more")
        lead = self.stages.lead(prompt) if has_loop else ""
        if not own and not lead:
            await self._plain(request, upstream, headers, staged)
            return
        tools = OfferedTools(self.toolbox, own, _names(prompt.tools), prompt.room)
        await tools.begin_turn(prompt.conversation, prompt.question)
        limits = self.config.proxy

        async def save(answer: PromptMessage, made: list[PromptMessage]) -> None:
            with suppress(ToolError):  # the answer is there all the same
                await steps.save(form.messages, answer, made, request.owner)

        for is_first in (True, False):
            rounds = ChatRounds(
                request,
                upstream,
                headers,
                staged.body,
                tools,
                prompt.conversation,
                limits,
                lead,
                save,
            )
            outcome = await rounds.run()
            if not outcome.refusal:
                break
            if not is_first or not await self.stages.again(staged, outcome.refusal):
                self.stages.note_refusal(prompt, outcome.refusal)
                await self._plain(request, upstream, headers, None)
                return
        if outcome.tokens_in:
            await self.stages.learn(staged, outcome.tokens_in)

    # Requests that are answered by the server alone.

    def _offered(self, request: ClientRequest) -> list[Any]:
        """The tools that a request offers, where its answer can be mended."""
        if not self.config.proxy.mend or request.dialect.name not in MENDERS:
            return []
        if b'"tools"' not in request.body or request.value is None:
            return []
        tools = request.value.get("tools")
        return tools if isinstance(tools, list) else []

    async def _plain(
        self,
        request: ClientRequest,
        upstream: Upstream,
        headers: RawHeaders,
        staged: StagedRequest | None,
    ) -> None:
        """Pass a request on, and its answer back with what is mended in it."""
        tools = self._offered(request)
        lines = list(headers)
        if tools or staged is not None:
            lines = [pair for pair in lines if pair[0].lower() != b"accept-encoding"]
            lines.append((b"accept-encoding", b"identity"))
        is_first = True
        while True:
            body: bytes | AsyncIterator[bytes] | None = request.body or None
            if request.is_form:
                body = request.stream()
            elif staged is not None and staged.is_changed:
                body = text_of_json(staged.body).encode("utf-8", "replace")
            sent = framed(lines, body)
            async with upstream.request(request.method, request.target, sent, body) as reply:
                if reply.status in REFUSALS and staged is not None and is_plain(reply):
                    refusal = b"".join([chunk async for chunk in reply.chunks])
                    text = refusal.decode("utf-8", "replace")
                    if is_first and await self.stages.again(staged, text):
                        is_first = False
                        continue
                    if staged.is_changed:  # what is refused as we made it goes as it came
                        self.stages.note_refusal(staged.prompt, text)
                        staged = None
                        continue
                    await request.answer_bytes(reply, refusal)
                    return
                await self._answer(request, reply, tools, staged)
                return

    async def _answer(
        self,
        request: ClientRequest,
        reply: UpstreamReply,
        tools: list[Any],
        staged: StagedRequest | None,
    ) -> None:
        usage = UsageReader() if staged is not None and is_plain(reply) else None
        mends = bool(tools) and reply.status == 200 and is_plain(reply)
        if mends and not is_stream(reply):
            body = await _whole(reply, MENDERS[request.dialect.name][1], tools)
            if usage is not None:
                usage.add(body)
            await request.answer_bytes(reply, body)
        else:
            mender = MENDERS[request.dialect.name][0](tools) if mends else None
            await request.start(reply.status, stream_headers(reply))
            await _stream(request, reply, mender, usage)
        if usage is not None and usage.tokens and staged is not None:
            await self.stages.learn(staged, usage.tokens)


async def _stream(
    request: ClientRequest,
    reply: UpstreamReply,
    mender: FrameMender | None,
    usage: UsageReader | None,
) -> None:
    """The body of an answer; a stream that breaks off gets the end of its dialect."""
    has_end = is_stream(reply) and is_plain(reply) and StreamTail.knows(request.dialect)
    tail = StreamTail(request.dialect) if has_end else None
    try:
        async for chunk in reply.chunks:
            if usage is not None:
                usage.add(chunk)
            out = chunk
            if mender is not None:
                mender, out = _fed(mender, chunk)
            if out:
                if tail is not None:
                    tail.add(out)
                await request.write(out)
        rest = mender.close() if mender is not None else b""
        if tail is not None:
            tail.add(rest)
            if tail.is_early:
                PromptStages.tell(f"{request.method} {request.path}: {EARLY}")
            rest += tail.missing_end()
    except ToolError as error:
        if tail is None:
            # A body of another kind must not look whole: the connection ends with it.
            raise
        PromptStages.tell(f"{request.method} {request.path}: {error.message}")
        rest = mender.close(broken=True) if mender is not None else b""
        tail.add(rest)
        rest += tail.error_end(error.message, error.code)
    await request.write(rest, more=False)


def _fed(mender: FrameMender, chunk: bytes) -> tuple[FrameMender | None, bytes]:
    """What a mender makes of a piece; an answer that nobody foresaw goes through as it comes."""
    try:
        return mender, mender.feed(chunk)
    except Exception:  # noqa: BLE001 - without us it would have passed
        return None, chunk


async def _whole(reply: UpstreamReply, mend: WholeMender, tools: list[Any]) -> bytes:
    body = b"".join([chunk async for chunk in reply.chunks])
    with suppress(Exception):  # without us it would have passed
        value = json.loads(body)
        if isinstance(value, dict):
            mended = mend(value, tools)
            if mended is not value:
                return text_of_json(mended).encode()
    return body


async def _failed(request: ClientRequest, error: ToolError) -> None:
    if request.started:
        return
    status = 403 if isinstance(error, Blocked) else 502
    status = 503 if isinstance(error, Unavailable) else status
    await request.refuse(status, f"{error.message} {error.hint}".strip(), error.code)


def _names(tools: list[dict[str, Any]]) -> list[str]:
    """The names of tools in any of their forms."""
    found = []
    for tool in tools:
        inner = tool.get("function")
        name = inner.get("name") if isinstance(inner, dict) else tool.get("name")
        if isinstance(name, str):
            found.append(name)
    return found


def refused(scope: Scope, refusal: Refusal) -> ASGIApp | None:
    """The answer to a request that the gate refuses, in the form of the client's API."""
    if scope["method"] == "HEAD" and scope["path"] == "/" and refusal.status == 401:
        return Response(status_code=200)  # clients ask so whether anybody is there
    headers = {name.lower(): value for name, value in scope["headers"]}
    dialect = dialect_of(scope["method"], scope["path"], headers)
    message = f"{refusal.message} {refusal.hint}".strip()
    body = error_bytes(dialect.style, refusal.status, message, "denied")
    more = {"www-authenticate": refusal.challenge} if refusal.challenge else {}
    return Response(body, refusal.status, more, media_type="application/json")


def refused_beneath(scope: Scope, refusal: Refusal) -> ASGIApp | None:
    """The same under `toolcrib serve`; None for what is not the proxy's."""
    return refused(scope, refusal) if scope["path"].startswith(PREFIXES) else None


def own_token(toolbox: Toolbox) -> str:
    """The token that clients send to us; "" where none is needed."""
    with suppress(NotConfigured):
        return secret(toolbox.config.http.token_env, "The proxy")
    return ""


def describe(app: ProxyApp, base: str) -> str:
    """What `toolcrib proxy` prints when it listens."""
    where = ", ".join(upstream.base_url for upstream in app.upstreams.all)
    proxy = app.config.proxy
    mend = "on" if proxy.mend else "off"
    return (
        f"toolcrib: proxy at {base}/v1, for {where}\n"
        f"toolcrib: tool calls mended: {mend}; stages: {', '.join(app.stages.names) or 'none'}; "
        f"tools of ours: {proxy.tools or 'none'}"
    )
