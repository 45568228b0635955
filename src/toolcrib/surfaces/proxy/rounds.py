"""An answer of the chat API in which the proxy runs tools of its own, round after round."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from toolcrib.chatflow.prompt import PromptMessage
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result
from toolcrib.net.models.upstream import RawHeaders, Upstream, UpstreamReply
from toolcrib.surfaces.proxy.chat_mender import ChatStreamMender, mended_chat
from toolcrib.surfaces.proxy.dialects import EARLY, StreamTail
from toolcrib.surfaces.proxy.frames import event_frame, text_of_json
from toolcrib.surfaces.proxy.offered_tools import OfferedTools, tool_message
from toolcrib.surfaces.proxy.own_calls import OwnCallFilter, split_message, total_usage
from toolcrib.surfaces.proxy.prompt_stages import PromptStages, UsageReader
from toolcrib.surfaces.proxy.request import ClientRequest
from toolcrib.surfaces.proxy.wire import answer_headers, framed, is_stream, stream_headers
from toolcrib.text.json_values import json_object

SaveSteps = Callable[[PromptMessage, list[PromptMessage]], Awaitable[None]]
PROGRESS_SECONDS = 10.0
PARAGRAPH = "\n\n"
WITHOUT_TOOLS = "\n\n[toolcrib runs no tools for this answer: the model server refused them.]\n\n"
LIMIT = (
    "\n\n[toolcrib runs no more tools for this answer: the limit of proxy.rounds or proxy.seconds "
    "is reached. Ask again to go on.]\n\n"
)
REFUSALS = (400, 413, 422, 500, 501)
"""With these a server refuses what a request says: its length, its roles, tools that it has."""


@dataclass(slots=True)
class RoundsOutcome:
    """How an answer ended.

    Attributes:
        refusal: what the server said instead of an answer, unsent; "" where something was
            sent. It may be for what is ours in the request.
        tokens_in: tokens that the server counted in the first round.
    """

    refusal: str = ""
    tokens_in: int = 0


class ChatRounds:
    """One answer.

    Args:
        request: of the client.
        upstream: the server.
        headers: those for it.
        body: the request after its stages, with the tools of the client.
        own: our tools.
        session: the conversation that their calls belong to.
        limits: the branch `proxy` of the settings.
        lead: text for the person before the answer.
        save: keeps what our tools did before an answer, once it is known, before its end.
    """

    def __init__(
        self,
        request: ClientRequest,
        upstream: Upstream,
        headers: RawHeaders,
        body: dict[str, Any],
        own: OfferedTools,
        session: str,
        limits: Any,
        lead: str,
        save: SaveSteps,
    ) -> None:
        self._request = request
        self._upstream = upstream
        self._headers = [
            *(pair for pair in headers if pair[0].lower() != b"accept-encoding"),
            (b"accept-encoding", b"identity"),
        ]
        self._body = body
        self._messages: list[PromptMessage] = list(body.get("messages") or ())
        self._own = own
        self._session = session
        self._limits = limits
        self._lead = lead
        self._save = save
        self._end = monotonic() + limits.seconds
        self._steps: list[PromptMessage] = []
        self._texts: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._usage = UsageReader()
        self._spent: Mapping[str, Any] = {}
        self._tokens_in = 0
        self._tail = StreamTail(request.dialect)
        self._is_bare = False
        self._is_last = False

    async def run(self) -> RoundsOutcome:
        """Send the request, and the answer to the client."""
        number = 0
        while True:
            number += 1
            over = number > self._limits.rounds or monotonic() > self._end
            self._is_last = self._is_bare or over
            body = self._with_tools(offers=not self._is_last)
            data = text_of_json(body).encode("utf-8", "replace")
            lines = framed(self._headers, data)
            method, target = self._request.method, self._request.target
            try:
                async with self._upstream.request(method, target, lines, data) as reply:
                    if reply.status != 200:
                        if outcome := await self._refused(reply):
                            return outcome
                        continue
                    if is_stream(reply):
                        goes_on = await self._stream(reply)
                    else:
                        goes_on = await self._whole(reply)
            except ToolError as error:
                if not self._request.started:
                    raise
                self._tell(error.message)
                await self._write(self._tail.error_end(error.message, error.code))
                await self._request.write(b"", more=False)
                return self._outcome()
            self._tokens_in = self._tokens_in or self._usage.tokens
            if not goes_on:
                return self._outcome()

    def _with_tools(self, *, offers: bool) -> dict[str, Any]:
        body = {**self._body, "messages": self._messages}
        foreign = body.get("tools") if isinstance(body.get("tools"), list) else []
        if offers:
            body["tools"] = [*(foreign or ()), *self._own.specs()]
        return body

    def _outcome(self) -> RoundsOutcome:
        return RoundsOutcome("", self._tokens_in)

    async def _save_steps(self) -> None:
        answer: PromptMessage = {"role": "assistant", "content": "".join(self._texts)}
        if self._calls:
            answer["tool_calls"] = self._calls
        steps, self._steps = self._steps, []
        if steps:
            await self._save(answer, steps)

    async def _refused(self, reply: UpstreamReply) -> RoundsOutcome | None:
        """Hand a refusal on; None where the request is to go once more, as it came."""
        body = b"".join([chunk async for chunk in reply.chunks])
        if self._request.started:
            if reply.status in REFUSALS and not self._is_bare:
                self._is_bare, self._steps = True, []
                self._body = self._request.value or self._body
                self._messages = list(self._body["messages"])
                return None
            message = f"The model server refuses (HTTP {reply.status})."
            self._tell(message)
            await self._write(self._tail.error_end(message, "http_status"))
            await self._request.write(b"", more=False)
            return self._outcome()
        if reply.status in REFUSALS:
            return RoundsOutcome(body.decode("utf-8", "replace") or " ")
        await self._request.start(reply.status, answer_headers(reply.headers, (b"content-length",)))
        await self._request.write(body, more=False)
        return RoundsOutcome()

    async def _write(self, data: bytes) -> None:
        if data:
            self._tail.add(data)
            await self._request.write(data)

    # Streams.

    async def _stream(self, reply: UpstreamReply) -> bool:
        """Pass an answer on; whether another round follows."""
        if not self._request.started:
            await self._request.start(200, stream_headers(reply))
        tools = self._with_tools(offers=True)["tools"]
        mender = ChatStreamMender(tools)
        own = OwnCallFilter(self._own.names, holds_end=bool(self._steps), earlier=self._spent)
        async for chunk in reply.chunks:
            self._usage.add(chunk)
            out = own.feed(mender.feed(chunk))
            if out and self._lead:
                lead, self._lead = self._lead, ""
                self._texts.append(lead)
                await self._write(self._text(own, lead))
            await self._write(out)
        await self._write(own.feed(mender.close()) + own.close())
        self._spent = own.usage
        self._texts.append(own.content)
        if not own.calls:
            self._calls = own.client_calls
            await self._finish(own)
            return False
        stopped = await self._run_calls(own.calls, own)
        if stopped or own.client_calls:
            self._calls = own.client_calls
            if not own.client_calls:
                await self._write(self._finish_frame(own))
                own.ending()
            await self._finish(own)
            return False
        if own.content.strip():  # what the next round says is a paragraph of its own
            self._lead += PARAGRAPH
        return True

    async def _finish(self, own: OwnCallFilter) -> None:
        await self._save_steps()
        await self._write(own.ending())
        if self._tail.is_early:
            self._tell(EARLY)
        await self._request.write(self._tail.missing_end(), more=False)

    def _tell(self, problem: str) -> None:
        PromptStages.tell(f"{self._request.method} {self._request.path}: {problem}")

    def _text(self, own: OwnCallFilter, text: str) -> bytes:
        choice = {"index": 0, "delta": {"role": "assistant", "content": text}}
        return self._frame(own, {**choice, "finish_reason": None})

    def _finish_frame(self, own: OwnCallFilter) -> bytes:
        return self._frame(own, {"index": 0, "delta": {}, "finish_reason": "stop"})

    @staticmethod
    def _frame(own: OwnCallFilter, choice: dict[str, Any]) -> bytes:
        return event_frame({"object": "chat.completion.chunk", **own.template, "choices": [choice]})

    async def _run_calls(self, calls: Sequence[dict[str, Any]], own: OwnCallFilter | None) -> bool:
        """Run calls of ours, one after the other; whether the answer has to end with them.

        A model may write calls of tools that it is not offered any more.
        """
        if self._is_last:
            text = WITHOUT_TOOLS if self._is_bare else LIMIT
            self._texts.append(text)
            if own is not None:
                await self._write(self._text(own, text))
            return True
        call_message: PromptMessage = {"role": "assistant", "content": "", "tool_calls": [*calls]}
        made: list[PromptMessage] = [call_message]
        stopped = False
        for call in calls:
            result = await self._alive(self._own.run(call, self._session), own)
            error = result.error
            # A question without an id is one that the model has to put into its answer.
            if error and error.code == "needs_approval" and error.details.get("id"):
                result = await self._approval(call, result, own)
                stopped = stopped or bool(
                    result.error is not None and result.error.code == "needs_approval"
                )
            made.append(tool_message(call, result))
        self._steps += made
        content = own.content if own is not None else ""
        self._messages += [{**call_message, "content": content}, *made[1:]]
        return stopped

    async def _alive(self, work: Any, own: OwnCallFilter | None) -> Result:
        """The result of a call; meanwhile comments keep the connection open."""
        task: asyncio.Task[Result] = asyncio.ensure_future(work)
        try:
            while True:
                done, _ = await asyncio.wait({task}, timeout=PROGRESS_SECONDS)
                if done:
                    return task.result()
                if own is not None:
                    await self._write(b": toolcrib works\n\n")
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _approval(
        self, call: dict[str, Any], result: Result, own: OwnCallFilter | None
    ) -> Result:
        """Say what a person has to allow, wait a while, and try again."""
        error = result.error
        assert error is not None
        text = f"\n\n[{error.message} {error.hint}]\n\n"
        self._texts.append(text)
        if own is None:
            return result
        await self._write(self._text(own, text))
        request = str(error.details.get("id", ""))
        async for _ in self._own.decided(request):
            await self._write(b": toolcrib waits for approval\n\n")
        return await self._own.run(call, self._session)

    # Whole answers.

    async def _whole(self, reply: UpstreamReply) -> bool:
        data = b"".join([chunk async for chunk in reply.chunks])
        self._usage.add(data)
        value = json_object(data)
        message = _message(value)
        if message is None or value is None:
            await self._send(reply, data)
            return False
        value = mended_chat(value, self._with_tools(offers=True)["tools"])
        if isinstance(value.get("usage"), dict):
            self._spent = total_usage(self._spent, value["usage"])
            value = {**value, "usage": self._spent}
        message = _message(value) or {}
        own, foreign = split_message(message, self._own.names)
        stopped = False
        if own:
            content = message.get("content")
            stopped = await self._run_calls(own, None)
            if not stopped and not foreign:
                if isinstance(content, str) and content:
                    self._texts.append(content.rstrip() + PARAGRAPH)
                return True
            value = _with_message(value, _without(message, foreign), foreign)
            message = _message(value) or {}
        self._calls = foreign
        content = message.get("content")
        lead = self._lead + "".join(self._texts)
        self._lead = ""
        if lead:
            joined = lead + (content if isinstance(content, str) else "")
            value = _with_message(value, {**message, "content": joined}, foreign)
            self._texts = [joined]
        elif isinstance(content, str):
            self._texts.append(content)
        await self._send(reply, text_of_json(value).encode() if lead or own else data, value, data)
        return False

    async def _send(
        self, reply: UpstreamReply, body: bytes, value: Any = None, came: bytes = b""
    ) -> None:
        if value is not None and body is came:
            fresh = text_of_json(value).encode()
            with suppress(ValueError):
                body = came if json.loads(came) == value else fresh
        await self._save_steps()
        headers = [
            *answer_headers(reply.headers, (b"content-length",)),
            (b"content-length", str(len(body)).encode()),
        ]
        await self._request.start(reply.status, headers)
        await self._request.write(body, more=False)


def _message(value: Any) -> dict[str, Any] | None:
    try:
        message = value["choices"][0]["message"]
    except (KeyError, IndexError, TypeError):
        return None
    return message if isinstance(message, dict) else None


def _without(message: dict[str, Any], foreign: Sequence[dict[str, Any]]) -> dict[str, Any]:
    rest = {key: item for key, item in message.items() if key != "tool_calls"}
    return {**rest, "tool_calls": list(foreign)} if foreign else rest


def _with_message(
    value: dict[str, Any], message: dict[str, Any], foreign: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    first, *others = value["choices"]
    finish = first.get("finish_reason")
    if not foreign and finish == "tool_calls":
        finish = "stop"
    return {
        **value,
        "choices": [{**first, "message": message, "finish_reason": finish}, *others],
    }
