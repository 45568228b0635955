"""The hook by which toolcrib is a model in LM Studio's list.

Its answers come from a model server by way of the proxy, which runs in this process: tool calls
that came as text are mended, and the context guard keeps the chat within the window.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, MutableMapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from toolcrib.core.config import merge
from toolcrib.core.errors import NotConfigured, Unavailable
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.client import error_message
from toolcrib.net.models.endpoint import chat_models, find_endpoint
from toolcrib.surfaces.lmstudio.messages import chat_messages
from toolcrib.surfaces.lmstudio.plugin_socket import JsonObject
from toolcrib.surfaces.lmstudio.task_hook import TaskHook, error_of, words_of
from toolcrib.surfaces.proxy.app import ProxyApp
from toolcrib.surfaces.proxy.frames import FrameSplitter, data_of, value_of
from toolcrib.text.json_values import json_object, objects_in
from toolcrib.toolbox import Toolbox

PATH = "/v1/chat/completions"
NO_ADDITIONS = {"proxy": {"tools": "", "stages": []}}
"""LM Studio has the tools and the stages by the other hooks."""
REASONING_FIELDS = ("reasoning_content", "reasoning")
MAX_WAITING_PIECES = 64
MAX_REFUSAL_BYTES = 64_000
OWN_NAME = "toolcrib"
Piece = MutableMapping[str, Any]
"""A message of ASGI."""


@dataclass(slots=True)
class _GeneratedCall:
    id: str = ""
    name: str = ""
    arguments: str = ""
    sent_chars: int = 0
    """How many characters of the arguments LM Studio has."""


class Generator(TaskHook):
    """Offers a model, and answers on the channel `setGenerator`."""

    channel_name = "setGenerator"
    request = "generate"

    async def _work(self, task: str, message: JsonObject) -> None:
        values = self._panel.values(message)
        place = message.get("workingDirectoryPath")
        tools = message.get("toolDefinitions")
        body: dict[str, Any] = {"messages": chat_messages(message.get("input")), "stream": True}
        body["stream_options"] = {"include_usage": True}
        if isinstance(tools, list) and tools:
            body["tools"] = tools
        try:
            layer = merge(self._panel.layer(values), NO_ADDITIONS)
            async with self._boxes.lease(layer, place if isinstance(place, str) else "") as box:
                body["model"] = values["model"] or await _model_of(box)
                async with aclosing(answer_chunks(box, body)) as chunks:
                    await self._relay(task, chunks)
        except Exception as error:  # noqa: BLE001 - else the chat would wait for it for good
            await self._send("error", task, error=error_of(words_of(error)))
            return
        await self._send("complete", task)

    async def _relay(self, task: str, chunks: AsyncIterator[Mapping[str, Any]]) -> None:
        """Send an answer on, piece by piece; calls one after another, as LM Studio takes them."""
        calls: dict[int, _GeneratedCall] = {}
        async for chunk in chunks:
            for choice in objects_in(chunk.get("choices"))[:1]:
                delta = choice.get("delta")
                if isinstance(delta, dict):
                    await self._piece(task, delta, calls)
        for number in sorted(calls):
            await self._show(task, calls[number])
            await self._end(task, calls[number])

    async def _piece(
        self, task: str, delta: Mapping[str, Any], calls: dict[int, _GeneratedCall]
    ) -> None:
        thought = next((delta[f] for f in REASONING_FIELDS if isinstance(delta.get(f), str)), "")
        if thought:
            options = {"reasoningType": "reasoning"}
            await self._send("fragmentGenerated", task, content=thought, opts=options)
        text = delta.get("content")
        if isinstance(text, str) and text:
            await self._send("fragmentGenerated", task, content=text, opts={})
        for part in objects_in(delta.get("tool_calls")):
            number = part.get("index")
            call = calls.setdefault(number if isinstance(number, int) else 0, _GeneratedCall())
            function = part.get("function")
            function = function if isinstance(function, dict) else {}
            call.id = call.id or str(part.get("id") or "")
            call.name = call.name or str(function.get("name") or "")
            call.arguments += str(function.get("arguments") or "")
            if call is calls[min(calls)]:
                await self._show(task, call)

    async def _show(self, task: str, call: _GeneratedCall) -> None:
        """What is new of a call. Only the first is shown as it comes; the others wait for it."""
        if not call.name:
            return
        if not call.sent_chars:
            about = {"toolCallId": call.id} if call.id else {}
            await self._send("toolCallGenerationStarted", task, **about)
            await self._send("toolCallGenerationNameReceived", task, toolName=call.name)
        fresh = call.arguments[max(call.sent_chars - 1, 0) :]
        if fresh:
            await self._send("toolCallGenerationArgumentFragmentGenerated", task, content=fresh)
        call.sent_chars = len(call.arguments) + 1

    async def _end(self, task: str, call: _GeneratedCall) -> None:
        arguments = json_object(call.arguments or "{}")
        if arguments is None or not call.name:
            why = f"The model's call of {call.name or 'a tool'} has no readable arguments."
            await self._send("toolCallGenerationFailed", task, error=error_of(why))
            return
        request = {"type": "function", "name": call.name, "arguments": arguments}
        request |= {"id": call.id} if call.id else {}
        await self._send("toolCallGenerationEnded", task, toolCallRequest=request)


async def _model_of(box: Toolbox) -> str:
    """The model to ask where the panel names none: the first of a server that answers.

    Raises:
        Unavailable, NotConfigured: there is none; the hint says what to do.
    """
    try:
        endpoint = await find_endpoint(box.config, box.use(Egress))
    except Unavailable as error:
        raise Unavailable(
            error.message,
            hint="In LM Studio turn the server on (Developer, or `lms server start`) and load a "
            "model, or start another model server.",
        ) from None
    known = [m for m in [endpoint.model, *chat_models(endpoint.models)] if OWN_NAME not in m]
    if not known:
        raise NotConfigured(
            f"The model server at {endpoint.base_url} has no model.",
            hint="Load one there, or name one in the panel of the plugin.",
        )
    return known[0]


async def answer_chunks(
    box: Toolbox, body: Mapping[str, Any]
) -> AsyncGenerator[dict[str, Any], None]:
    """The chunks of a chat completion, asked through the proxy in this process.

    Raises:
        Unavailable: the server refuses, fails in the middle, or cannot be reached.
    """
    pieces: asyncio.Queue[Piece | None] = asyncio.Queue(MAX_WAITING_PIECES)
    unread = [json.dumps(body).encode()]

    async def receive() -> dict[str, Any]:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        await asyncio.Event().wait()  # this client never leaves but by cancelling all of it
        raise AssertionError

    async def work(app: ProxyApp) -> None:
        headers = [(b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": PATH, "headers": headers}
        try:
            await app(scope, receive, pieces.put)
        finally:
            await app.close()
            await pieces.put(None)

    task = asyncio.create_task(work(ProxyApp(box)))
    try:
        async with aclosing(_frames(pieces)) as frames:
            async for value in frames:
                yield value
        await task
    finally:
        task.cancel()
        while not pieces.empty():
            pieces.get_nowait()
        await asyncio.gather(task, return_exceptions=True)


async def _frames(
    pieces: asyncio.Queue[Piece | None],
) -> AsyncGenerator[dict[str, Any], None]:
    """The objects in the events of an answer."""
    splitter = FrameSplitter()
    refusal: bytes | None = None
    while (message := await pieces.get()) is not None:
        if message["type"] == "http.response.start":
            refusal = b"" if message["status"] != 200 else None
            continue
        body: bytes = message.get("body", b"")
        if refusal is not None:
            refusal += body[: MAX_REFUSAL_BYTES - len(refusal)]
            continue
        for frame in splitter.feed(body):
            value = value_of(data_of(frame))
            if value is None:
                continue
            if value.get("error"):
                raise _refused(json.dumps(value))
            yield value
    if refusal is not None:
        raise _refused(refusal.decode("utf-8", "replace"))


def _refused(text: str) -> Unavailable:
    why = error_message(text) or text[:300] or "no reason given"
    return Unavailable(f"The model server failed: {why}", hint="Look at the log of the server.")
