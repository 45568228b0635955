"""The client of a model server: any that speaks the OpenAI chat protocol, well or badly."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from toolcrib.core.errors import (
    ConnectionFailed,
    DnsFailure,
    HttpStatus,
    Network,
    RateLimited,
    TooLarge,
    TooManyRedirects,
    UnsupportedContent,
)
from toolcrib.net.models.completion import (
    CLOSED,
    DONE,
    Assembly,
    Completion,
    EventReader,
    EventTooLong,
    error_text,
)
from toolcrib.net.models.connection import Connection, Reply
from toolcrib.net.models.repetition import RepetitionDetector
from toolcrib.text.json_values import json_value

NETWORK_RETRIES = 2
FIRST_WAIT = 1.0
LIMIT_RETRIES = 3
LIMIT_WAIT = 5.0
MAX_STREAM_BYTES = 64_000_000
"""Bytes of a stream: its frame is many times what the model says."""
MAX_BODY_BYTES = 16_000_000
MAX_ERROR_BYTES = 64_000
THOUGHT_FACTOR = 2
"""Times as often as in an answer a thought may come again."""
MAX_BLANK_CHARS = 4096
"""Bytes in which something must be said before it is taken for a stream."""
SERVER_FAULTS = frozenset({408, 500, 502, 503, 504, 529})
TOO_LONG = (
    "Load the model with a larger context, or offer fewer tools: name them with 'tools' or a "
    "smaller profile, or lower agent.max_listed_tools and agent.result_tokens."
)
CHECK_HINT = "Look at the log of the model server; its address is agent.base_url."
Again = Callable[[str], Awaitable[None]]
OnDelta = Callable[[str, str], Awaitable[None]]
"""Told what came: content and reasoning."""


class BrokenAnswer(Network):
    """The server broke off or failed in the middle; `details["retryable"]` says more."""

    code = "network"
    default_hint = CHECK_HINT


@dataclass(slots=True)
class ChatRequest:
    """What a model is asked. `tools` are in the OpenAI form."""

    model: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    temperature: float | None = None
    max_tokens: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    def body(self, *, usage: bool = True) -> bytes:
        """The request as JSON."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(self.messages),
            "stream": True,
        }
        if usage:
            body["stream_options"] = {"include_usage": True}
        if self.tools:
            body["tools"] = list(self.tools)
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.max_tokens:
            body["max_tokens"] = self.max_tokens
        return json.dumps(body | self.extra, ensure_ascii=False).encode("utf-8", "replace")


class ModelClient:
    """Asks one server, with patience: what passes is tried again, what cannot work is not.

    Network failures and faults of the server are tried twice more, after 1 and 2 seconds;
    "too many requests" three times, after the time that the server names or 5 seconds. The
    caller's deadline holds for all of it, by cancellation; a wait that would go beyond
    `deadline` is not begun.

    Attributes:
        patience: seconds of a wait that is begun at most.
        current: the answer that is coming, or came last, as far as it is known.
        retries: what was tried again, and why.

    `max_repeats` equal calls or lines of an answer close its stream.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        stall: float = 60.0,
        deadline: float | None = None,
        patience: float = math.inf,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        max_repeats: int = 3,
    ) -> None:
        self.connection = connection
        self.deadline = deadline
        self.patience = patience
        self.current = Assembly()
        self.retries: list[str] = []
        self._stall = stall
        self._sleep = sleep
        self._usage = True
        self._longest = ""
        self._max_repeats = max_repeats

    @property
    def partial(self) -> str:
        """What was said of the answer that is coming, by the try that got furthest."""
        return max(self._longest, self.current.finished().content, key=len)

    async def close(self) -> None:
        """Close the connection."""
        await self.connection.close()

    async def answer(
        self, request: ChatRequest, on_delta: OnDelta | None = None, again: Again | None = None
    ) -> Completion:
        """Ask, and read the whole answer.

        Args:
            request: what is asked.
            on_delta: told of each piece as it comes.
            again: told why all of it is asked for again, so that its pieces come anew.

        Raises:
            Network: the server cannot be reached, refuses, or breaks off again and again.
            RateLimited: it asks to slow down, for longer than there is time.
            Blocked: the policy refuses the address.
            TooLarge, UnsupportedContent: what comes is no answer of a model.
        """
        failed = limited = 0
        self.current, self._longest = Assembly(), ""
        while True:
            try:
                return await self._once(request, on_delta)
            except RateLimited as error:
                limited += 1
                wait = error.details.get("retry_after", LIMIT_WAIT)
                if limited > LIMIT_RETRIES:
                    raise
                await self._wait(wait, error, again)
            except (Network, DnsFailure) as error:
                if not error.details.get("retryable", isinstance(error, ConnectionFailed)):
                    raise
                failed += 1
                if failed > NETWORK_RETRIES:
                    raise
                await self._wait(FIRST_WAIT * 2 ** (failed - 1), error, again)

    async def _wait(self, seconds: float, error: Network, again: Again | None) -> None:
        loop = asyncio.get_running_loop()
        if self.deadline is not None and loop.time() + seconds >= self.deadline:
            raise error
        if seconds > self.patience:
            raise error
        why = error.message if error.message.endswith((".", "!", "?")) else f"{error.message}."
        self.retries.append(f"{why} Tried again after {seconds:g} s.")
        if again is not None:
            await again(f"{why} Asked again in {seconds:.0f} s.")
        await self._sleep(seconds)

    async def _once(self, request: ChatRequest, on_delta: OnDelta | None) -> Completion:
        self._longest = self.partial
        self.current = assembly = Assembly()
        body = request.body(usage=self._usage)
        path = "/chat/completions"
        async with self.connection.request("POST", path, body, stall=self._stall) as reply:
            if reply.status != 200:
                text = await _beginning(reply, MAX_ERROR_BYTES)
                if self._usage and reply.status in (400, 422) and "stream_options" in text:
                    self._usage = False
                    raise BrokenAnswer("The server knows no stream_options.", retryable=True)
                raise refusal(reply.status, reply.headers, text)
            await _read(reply, assembly, on_delta, self._max_repeats)
        answer = assembly.finished()
        if answer.failure:
            raise BrokenAnswer(
                f"The model server failed: {answer.failure}",
                hint=TOO_LONG if is_overflow(answer.failure) else CHECK_HINT,
                retryable=not is_overflow(answer.failure),
                overflow=is_overflow(answer.failure),
                about_tools=is_about_tools(answer.failure),
            )
        if not answer.complete:
            raise BrokenAnswer("The model server closed the answer early.", retryable=True)
        return answer


async def _read(
    reply: Reply, assembly: Assembly, on_delta: OnDelta | None, max_repeats: int
) -> None:
    """Read a body: events, or one JSON object where the server does not stream."""
    first = b""
    async for chunk in reply.chunks:
        first += chunk
        if len(first) > MAX_BLANK_CHARS or len(first.lstrip()) >= 16:
            break
    if reply.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise UnsupportedContent("The model server sends its answer compressed, unasked.")
    start = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<"):
        raise UnsupportedContent(
            "The model server answered with an HTML page.", hint="Is base_url right? " + CHECK_HINT
        )
    kind = reply.headers.get("content-type", "")
    if start.startswith((b"{", b"[")) and "event-stream" not in kind:
        await _whole(first, reply, assembly, on_delta)
        return
    try:
        await _stream(first, reply, _Reader(assembly, on_delta, max_repeats))
    except EventTooLong:
        raise TooLarge("The model server sends an event without an end.") from None
    if reply.framed and not assembly.answer.complete and not assembly.finished().is_empty:
        assembly.answer.complete = True
        assembly.answer.finish = CLOSED


async def _stream(first: bytes, reply: Reply, take: _Reader) -> None:
    reader, size, assembly = EventReader(), len(first), take.assembly
    if await take.events(reader.feed(first)):
        return
    async for chunk in reply.chunks:
        size += len(chunk)
        if await take.events(reader.feed(chunk)):
            return
        if assembly.is_full or size > MAX_STREAM_BYTES:
            assembly.answer.finish = "length"
            assembly.answer.complete = True
            return
    await take.events(reader.close())


class _Reader:
    """Takes the events of a stream, up to its end or to where the model repeats itself."""

    def __init__(self, assembly: Assembly, on_delta: OnDelta | None, max_repeats: int) -> None:
        self.assembly = assembly
        self._on_delta = on_delta
        self._max_repeats = max_repeats
        self._content = RepetitionDetector(max_repeats)
        self._reasoning = RepetitionDetector(max_repeats * THOUGHT_FACTOR)

    async def events(self, events: Sequence[str]) -> bool:
        """Take events; whether the end has come."""
        assembly = self.assembly
        for event in events:
            if event.strip() == DONE:
                assembly.answer.complete = True
                return True
            before = len(assembly.answer.calls)
            content, thought = assembly.add(json_value(event))
            if self._on_delta is not None and (content or thought):
                await self._on_delta(content, thought)
            if assembly.answer.failure:
                return True
            end = self._content.feed(content) if content else None
            end_of_thought = self._reasoning.feed(thought) if thought else None
            if end is not None or end_of_thought is not None:
                assembly.keep(end, end_of_thought)
                return True
            has_calls = before or assembly.answer.calls
            if has_calls and assembly.drop_repeated_calls(self._max_repeats):
                return True
        return False


async def _whole(first: bytes, reply: Reply, assembly: Assembly, on_delta: OnDelta | None) -> None:
    parts, size = [first], len(first)
    async for chunk in reply.chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            raise TooLarge(f"The model server sends more than {MAX_BODY_BYTES:,} bytes.")
    value = json_value(b"".join(parts).decode("utf-8", "replace"))
    if not isinstance(value, dict):
        raise BrokenAnswer("The model server sent half an answer.", retryable=True)
    content, thought = assembly.add(value)
    assembly.answer.complete = True
    if on_delta is not None and (content or thought):
        await on_delta(content, thought)


async def _beginning(reply: Reply, max_bytes: int) -> str:
    text = b""
    with suppress(Network):
        async for chunk in reply.chunks:
            text += chunk[: max_bytes - len(text)]
            if len(text) >= max_bytes:
                break
    return text.decode("utf-8", "replace")


def refusal(status: int, headers: Mapping[str, str], text: str) -> Network:
    """The error for an answer that is no success."""
    on_delta = error_message(text)
    detail = f": {on_delta}" if on_delta else "."
    if status == 429:
        wait = retry_after(headers.get("retry-after", ""))
        known: dict[str, Any] = {} if wait is None else {"retry_after": wait}
        return RateLimited(
            f"The model server asks to slow down (HTTP 429){detail}",
            hint="Wait, or ask less of it.",
            status=status,
            **known,
        )
    if 300 <= status < 400:
        return TooManyRedirects(
            f"The model server redirects (HTTP {status}), which is not followed.",
            hint="Set agent.base_url to where it redirects.",
            status=status,
        )
    hint = CHECK_HINT
    if status in (401, 403):
        hint = "Set agent.api_key_env to the name of the variable that holds its key."
    elif is_overflow(on_delta):
        hint = TOO_LONG
    elif "model" in on_delta.lower() and (
        "not found" in on_delta.lower() or "exist" in on_delta.lower()
    ):
        hint = "Set agent.model to a model that the server has; empty takes its first."
    return HttpStatus(
        f"The model server refuses (HTTP {status}){detail}",
        hint=hint,
        status=status,
        retryable=status in SERVER_FAULTS and not is_overflow(on_delta),
        overflow=is_overflow(on_delta),
        about_tools=status in (400, 404, 422, 500, 501) and is_about_tools(on_delta),
    )


def error_message(text: str) -> str:
    """The words of an error body; of a page only that it is one."""
    value = json_value(text)
    if isinstance(value, dict):
        return error_text(value.get("error") or value.get("message") or value.get("detail") or "")
    stripped = text.lstrip("\ufeff \r\n\t")
    if stripped[:1] == "<":
        return "an HTML page"
    return error_text(stripped[:400]) if stripped else ""


def is_overflow(text: str) -> bool:
    """Whether a failure says that the conversation is longer than the model can read."""
    low = text.lower()
    if any(
        words in low for words in ("prompt is too long", "input is too long", "too many tokens")
    ):
        return True
    return "context" in low and any(w in low for w in ("exceed", "length", "size", "long", "full"))


def is_about_tools(text: str) -> bool:
    """Whether a refusal is about tools being offered at all."""
    low = text.lower()
    refused = (
        *("cannot", "support", "not allowed", "unknown", "unrecognized", "invalid", "jinja"),
        "unexpected",
    )
    return ("tool" in low or "function" in low) and any(word in low for word in refused)


def retry_after(value: str) -> float | None:
    """Seconds to wait, from a number or a date; None where it names none."""
    value = value.strip()
    with suppress(ValueError):
        seconds = float(value)
        return seconds if 0 <= seconds < 1e9 else None
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        when = parsedate_to_datetime(value)
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max((when - datetime.now(UTC)).total_seconds(), 0.0)
    return None
