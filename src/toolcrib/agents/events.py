"""Events of a chat's turn, typed and in order: for a terminal, for `--json`, for a page."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from toolcrib.agents.observer import RunObserver
from toolcrib.agents.outcome import Outcome
from toolcrib.agents.reply import ParsedReply, RequestedCall
from toolcrib.agents.tool_executor import ExecutedCall
from toolcrib.core.context import Form, PersonAnswer, Question
from toolcrib.net.models.client import ChatRequest
from toolcrib.net.models.completion import Completion
from toolcrib.text.tokens import estimate
from toolcrib.toolcalls import ToolCallStream
from toolcrib.toolcalls.output import ContentDelta, ReasoningDelta

MAX_WAITING_EVENTS = 200
"""Events that a slow reader may leave unread before the model is read no further."""


@dataclass(frozen=True, slots=True)
class RequestEvent:
    """The model is asked for its answer of this number of the turn."""

    step: int


@dataclass(frozen=True, slots=True)
class TextEvent:
    """A further piece of what the model says; calls written in the text are not in it."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningEvent:
    """A further piece of its reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class RetryEvent:
    """The answer is asked for anew; where it begins otherwise, its pieces come from the start."""

    reason: str


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """An answer is whole: its tokens (estimated where the server counts none) and seconds.

    `seconds` are those in which it was written, from its first piece on, `waited` those before.
    """

    tokens_in: int
    tokens_out: int
    seconds: float
    waited: float
    calls: int


@dataclass(frozen=True, slots=True)
class CallEvent:
    """A call is made. `number` counts the calls of the chat."""

    number: int
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """What the call of this number gave; `error` is its failure in words."""

    number: int
    name: str
    text: str
    error: str
    seconds: float
    data: Any = None


@dataclass(frozen=True, slots=True)
class NoticeEvent:
    """What was done to the prompt, such as room that was made in it: for the person."""

    text: str


@dataclass(frozen=True, slots=True)
class QuestionEvent:
    """A call waits for a person: set `answer` to True, or to False or a `Rejection`."""

    question: Question
    answer: asyncio.Future[PersonAnswer] = field(compare=False)


@dataclass(frozen=True, slots=True)
class FormEvent:
    """A call asks a person: set `answer` to the fields as filled in, or to None."""

    form: Form
    answer: asyncio.Future[Mapping[str, Any] | None] = field(compare=False)


@dataclass(frozen=True, slots=True)
class EndEvent:
    """The turn is over."""

    outcome: Outcome


ChatEvent = (
    RequestEvent
    | TextEvent
    | ReasoningEvent
    | RetryEvent
    | AnswerEvent
    | CallEvent
    | ResultEvent
    | NoticeEvent
    | QuestionEvent
    | FormEvent
    | EndEvent
)


def event_json(event: ChatEvent) -> dict[str, Any]:
    """An event as JSON values; `type` is `text`, `reasoning`, `call`, `result`, `end` and so on."""
    kind = {"type": type(event).__name__.removesuffix("Event").lower()}
    if isinstance(event, EndEvent):
        return kind | event.outcome.to_json()
    if isinstance(event, QuestionEvent):
        question = event.question
        return kind | {
            "tool": question.tool,
            "reason": question.reason,
            "summary": question.summary,
        }
    if isinstance(event, FormEvent):
        return kind | {"message": event.form.message, "schema": dict(event.form.schema)}
    values = {name: getattr(event, name) for name in event.__slots__}
    return kind | {
        name: round(value, 3) if isinstance(value, float) else value
        for name, value in values.items()
    }


Emit = Callable[[ChatEvent], Awaitable[None]]


class EventSource(RunObserver):
    """Turns what a loop reports into events.

    A second try of an answer is told from where it goes beyond the first.

    Args:
        emit: takes each event.
        tools: those on offer, so that a call in the text is not told as text.
        number: of the last call of the chat.
    """

    def __init__(self, emit: Emit, tools: list[dict[str, Any]], number: int = 0) -> None:
        self.number = number
        self._emit = emit
        self._tools = tools
        self._stream = ToolCallStream(tools)
        self._numbers: dict[str, int] = {}
        self._displayed = self._before = self._new = self._why = ""
        self._sent = self._first = 0.0
        self._request: ChatRequest | None = None

    async def ask(self, question: Question) -> PersonAnswer:
        """Ask the person who reads the events."""
        answer: asyncio.Future[PersonAnswer] = asyncio.get_running_loop().create_future()
        await self._emit(QuestionEvent(question, answer))
        return await answer

    async def fill(self, form: Form) -> Mapping[str, Any] | None:
        """Have the person who reads the events fill in a form."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Mapping[str, Any] | None] = loop.create_future()
        await self._emit(FormEvent(form, answer))
        return await answer

    async def on_step(self, number: int, max_steps: int) -> None:
        """Begin with a fresh stream: each answer is one."""
        del max_steps
        self._stream = ToolCallStream(self._tools)
        self._displayed = self._before = self._new = self._why = ""
        await self._emit(RequestEvent(number))

    async def on_request(self, request: ChatRequest) -> None:
        """Note when it goes out."""
        self._sent, self._first = time.monotonic(), 0.0
        self._request = request

    async def on_notice(self, text: str) -> None:
        """Tell what was done to the prompt."""
        await self._emit(NoticeEvent(text))

    async def on_retry(self, reason: str) -> None:
        """The answer starts anew: what it has in common with the first try is told once."""
        self._stream = ToolCallStream(self._tools)
        self._before = max(self._before, self._displayed, key=len)
        self._displayed = self._new = ""
        self._why = reason
        if not self._before:
            await self._tell_why()

    async def on_delta(self, content: str, reasoning: str) -> None:
        """Tell a piece of the answer."""
        self._first = self._first or time.monotonic()
        if reasoning:
            await self._emit(ReasoningEvent(reasoning))
        if content:
            await self._tell(self._stream.feed(content))

    async def on_completion(self, completion: Completion, reply: ParsedReply) -> None:
        """Tell the rest, and what the answer took."""
        await self._tell(self._stream.last())
        if self._new and self._before.startswith(self._new) and self._new != self._before:
            await self._tell_why()
            await self._emit(TextEvent(self._new))  # the whole answer is a part of what broke off
        now = time.monotonic()
        first = self._first or now
        messages = self._request.messages if self._request else ()
        known = completion.tokens_in or sum(estimate(str(m.get("content"))) for m in messages)
        out = completion.tokens_out or estimate(completion.text)
        await self._emit(AnswerEvent(known, out, now - first, first - self._sent, len(reply.calls)))

    async def on_tool_call(self, call: RequestedCall) -> None:
        """Tell the call."""
        self.number += 1
        self._numbers[call.id] = self.number
        await self._emit(CallEvent(self.number, call.name, dict(call.arguments or {})))

    async def on_tool_result(self, call: RequestedCall, performed: ExecutedCall) -> None:
        """Tell what it gave."""
        data = performed.result.data if performed.result else None
        number = self._numbers.get(call.id, self.number)
        seconds = performed.seconds
        await self._emit(
            ResultEvent(number, call.name, performed.text, performed.error, seconds, data)
        )

    async def _tell(self, found: list[Any]) -> None:
        thought = "".join(event.text for event in found if isinstance(event, ReasoningDelta))
        if thought:
            await self._emit(ReasoningEvent(thought))
        text = "".join(event.text for event in found if isinstance(event, ContentDelta))
        self._displayed += text
        if self._before:
            self._new += text
            if self._before.startswith(self._new):
                return
            if self._new.startswith(self._before):
                text = self._new[len(self._before) :]
            else:
                text = self._new
                await self._tell_why()
            self._before = self._new = ""
        if text:
            await self._emit(TextEvent(text))

    async def _tell_why(self) -> None:
        await self._emit(RetryEvent(self._why))


Run = Callable[[EventSource], Awaitable[Outcome]]


async def event_stream(
    run: Run, tools: list[dict[str, Any]], number: int = 0
) -> AsyncGenerator[ChatEvent]:
    """The events of a run as they come, `EndEvent` last. Closed early, it cancels the run.

    Args:
        run: makes the run, and reports to the source that it is given.
        tools: those on offer.
        number: of the last call before.
    """
    queue: asyncio.Queue[ChatEvent | None] = asyncio.Queue(MAX_WAITING_EVENTS)
    source = EventSource(queue.put, tools, number)

    async def work() -> None:
        try:
            outcome = await run(source)
            await queue.put(EndEvent(outcome))
        finally:
            with suppress(asyncio.QueueFull):  # then a reader finds the task done
                queue.put_nowait(None)

    task = asyncio.create_task(work())
    try:
        while (event := await _next(queue, task)) is not None:
            yield event
        await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


async def _next(queue: asyncio.Queue[ChatEvent | None], task: asyncio.Task[None]) -> Any:
    if task.done() and queue.empty():
        return None
    return await queue.get()


def compact(value: Any) -> str:
    """A value of an argument in one piece of text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
