"""An answer of a model, put together from what a server sends of it."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.result import well_formed
from toolcrib.text.json_values import json_object

# Server-sent events, as model servers really send them.

MAX_EVENT_CHARS = 4_000_000
"""Characters of one event. What is longer is no answer of a model."""
DONE = "[DONE]"


class EventTooLong(ValueError):
    """An event has no end in sight."""


class EventReader:
    """Takes bytes as they come, cut anywhere, and gives the data of each event.

    Every line end is understood, comments and other fields are passed over. An object on a
    line of its own counts as an event, since servers report failures like that.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._parts: list[str] = []
        self._data: list[str] = []
        self._size = 0
        self._after_return = False

    def feed(self, chunk: bytes) -> list[str]:
        """The data of the events that are complete with this chunk.

        Raises:
            EventTooLong: an event is longer than `MAX_EVENT_CHARS`.
        """
        return self._lines(self._decoder.decode(chunk))

    def close(self) -> list[str]:
        """What is left at the end of the stream."""
        found = self._lines(self._decoder.decode(b"", final=True))
        if self._parts:
            line, self._parts = "".join(self._parts), []
            found += self._line(line)
        return found + self._line("")

    def _lines(self, text: str) -> list[str]:
        if self._after_return and text:
            text, self._after_return = text.removeprefix("\n"), False
        if not text:
            return []
        self._after_return = text.endswith("\r")
        self._size += len(text)
        if self._size > MAX_EVENT_CHARS + len(text):
            raise EventTooLong
        found: list[str] = []
        # Only these three end a line here; `splitlines` knows many more.
        *whole, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in whole:
            self._parts.append(line)
            found += self._line("".join(self._parts))
            self._parts = []
        if rest:
            self._parts.append(rest)
        return found

    def _line(self, line: str) -> list[str]:
        if not line:
            data, self._data, self._size = self._data, [], 0
            return _events(data)
        name, colon, value = line.partition(":")
        if line.startswith("{"):
            self._data.append(line)
        elif name == "data" and colon:
            self._data.append(value.removeprefix(" "))
        elif not self._data:
            self._size = 0  # comments may go on for ever
        return []


def _events(data: list[str]) -> list[str]:
    """One event, or one a line where a server leaves out the empty lines between."""
    if len(data) > 1 and all(line == DONE or json_object(line) is not None for line in data):
        return data
    return ["\n".join(data)] if data else []


MAX_ANSWER_CHARS = 1_000_000
"""Characters of an answer, its reasoning and its calls; what follows is not read."""
MAX_CALLS = 128
LONGEST_NAME = 256
CLOSED = "closed"
REPEATED = "repeated"
REASONING = ("reasoning_content", "reasoning", "thinking")


@dataclass(slots=True)
class SentCall:
    """A call as a server sends it: `arguments` is JSON text, put together from its parts."""

    id: str = ""
    name: str = ""
    arguments: str = ""

    def parsed(self) -> dict[str, Any] | None:
        """The arguments; None where they are no whole JSON object."""
        text = self.arguments.strip()
        try:
            value = json.loads(text) if text else {}
            # Some servers encode the text of the arguments once more.
            value = json.loads(value) if isinstance(value, str) and value.strip() else value
        except (ValueError, RecursionError):
            return None
        return {} if value in (None, "") else value if isinstance(value, dict) else None


@dataclass(slots=True)
class Completion:
    """What a model said.

    `complete` says that the server told the end, so that nothing is missing; where only the
    body ended, whole as a body, `finish` is `CLOSED`; where it was closed because the model
    repeated itself, `REPEATED`, and only the first copy is here. `failure` is what a server
    reported in the middle of an answer.
    """

    content: str = ""
    reasoning: str = ""
    calls: list[SentCall] = field(default_factory=list)
    finish: str = ""
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    complete: bool = False
    failure: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all was said."""
        return not (self.content.strip() or self.reasoning.strip() or self.calls)

    @property
    def text(self) -> str:
        """All of it as text, for the trace."""
        calls = "".join(f"\n[call {c.name} {c.arguments}]" for c in self.calls)
        thought = f"[reasoning]\n{self.reasoning}\n[answer]\n" if self.reasoning else ""
        return f"{thought}{self.content}{calls}"


class Assembly:
    """Builds an `Completion` from chunks of a stream, or from a whole answer."""

    def __init__(self) -> None:
        self.answer = Completion()
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._arguments: dict[int, list[str]] = {}
        self._at: dict[Any, int] = {}
        self._size = 0

    def keep(self, content: int | None = None, reasoning: int | None = None) -> None:
        """Keep so many characters: what follows was a repetition, and the answer ends here."""
        if content is not None:
            self._content = ["".join(self._content)[:content]]
        if reasoning is not None:
            self._reasoning = ["".join(self._reasoning)[:reasoning]]
        self.answer.finish, self.answer.complete = REPEATED, True

    def drop_repeated_calls(self, max_repeats: int) -> bool:
        """Keep the first of equal calls, where there are as many as is too much."""
        calls = self.answer.calls
        if len(calls) < max_repeats or not self._is_whole(len(calls) - 1):
            return False
        texts = [(c.name, "".join(self._arguments[at])) for at, c in enumerate(calls)]
        if texts.count(texts[-1]) < max_repeats:
            return False
        first = [texts.index(text) for text in dict.fromkeys(texts)]
        self._arguments = {n: self._arguments[at] for n, at in enumerate(first)}
        calls[:] = [calls[at] for at in first]
        self.keep()
        return True

    @property
    def is_full(self) -> bool:
        """Whether the answer has reached its largest size."""
        return self._size >= MAX_ANSWER_CHARS

    def add(self, chunk: Any) -> tuple[str, str]:
        """Take one chunk; the content and the reasoning that came with it."""
        if not isinstance(chunk, dict):
            return "", ""
        if chunk.get("error"):
            self.answer.failure = error_text(chunk["error"])
            return "", ""
        with suppress(RecursionError):
            return self._add(chunk)
        return "", ""

    def _add(self, chunk: dict[str, Any]) -> tuple[str, str]:
        self._usage(chunk)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else chunk
        if not isinstance(choice, dict):
            return "", ""
        part: dict[str, Any] = next(
            (choice[k] for k in ("delta", "message") if _is_map(choice.get(k))), {}
        )
        if isinstance(choice.get("text"), str) and not part:
            part = {"content": choice["text"]}
        content = self._take(_text(part.get("content")), self._content)
        thought = next((t for k in REASONING if (t := _text(part.get(k)))), "")
        thought = self._take(thought, self._reasoning)
        self._calls(part)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self.answer.finish = finish
            self.answer.complete = True
        return content, thought

    def finished(self) -> Completion:
        """The answer so far, with all parts joined."""
        answer = self.answer
        answer.content = well_formed("".join(self._content))
        answer.reasoning = well_formed("".join(self._reasoning))
        for index, parts in self._arguments.items():
            answer.calls[index].arguments = well_formed("".join(parts))
        return answer

    def _take(self, text: str, parts: list[str]) -> str:
        text = text[: max(MAX_ANSWER_CHARS - self._size, 0)]
        if text:
            parts.append(text)
            self._size += len(text)
        return text

    def _calls(self, part: Mapping[str, Any]) -> None:
        listed = part.get("tool_calls")
        single = part.get("function_call")
        if isinstance(single, dict):
            listed = [{"index": 0, "function": single}]
        ids: set[str] = set()
        for place, sent in enumerate(listed if isinstance(listed, list) else ()):
            if _is_map(sent):
                call_id = str(sent.get("id") or "")
                self._call(sent, place, again=call_id in ids)
                ids.add(call_id)

    def _call(self, sent: Mapping[str, Any], place: int, *, again: bool) -> None:
        inner = sent.get("function")
        function: Mapping[str, Any] = inner if isinstance(inner, dict) else sent
        name, arguments = function.get("name"), function.get("arguments")
        call_id = sent.get("id")
        at = self._place(sent, str(name or ""), place, again=again, more=bool(arguments))
        if at is None:
            return
        call = self.answer.calls[at]
        if isinstance(call_id, str) and 0 < len(call_id) <= LONGEST_NAME:
            call.id = call.id or call_id
        if isinstance(name, str) and name and call.name != name:
            # A name comes whole from nearly all; from some in parts.
            call.name = name if name.startswith(call.name) else call.name + name
            call.name = call.name[:LONGEST_NAME]
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
            self._arguments[at] = []
        self._take(arguments or "", self._arguments[at])

    def _place(
        self, sent: Mapping[str, Any], name: str, place: int, *, again: bool, more: bool
    ) -> int | None:
        """Which call a part belongs to: by index, else by id, else the one being written.

        Args:
            sent: the part.
            name: the name in it.
            place: where it stands among the parts that came with it.
            again: one before it, of those, has the same id.
            more: it brings arguments.
        """
        index, call_id = sent.get("index"), str(sent.get("id") or "")
        calls = self.answer.calls
        known = self._at.get(index) if isinstance(index, int) else None
        if known is not None and name:
            # Some servers give all calls one index.
            other = bool(call_id) and calls[known].id not in ("", call_id)
            known = None if other or (more and self._is_whole(known)) else known
        elif known is None and call_id:
            known = self._at.get(f"id:{call_id}")
            if known is not None and name:
                # Some give all calls one id.
                other = isinstance(index, int) and calls[known].name not in ("", name)
                known = None if other or again or (more and self._is_whole(known)) else known
        if known is None and not isinstance(index, int) and not call_id and not name and calls:
            known = min(place, len(calls) - 1) if place else len(calls) - 1
        if known is None:
            if len(calls) >= MAX_CALLS:
                return None
            calls.append(SentCall())
            known = len(calls) - 1
            self._arguments[known] = []
        if isinstance(index, int):
            self._at[index] = known
        if call_id:
            self._at[f"id:{call_id}"] = known
        return known

    def _is_whole(self, at: int) -> bool:
        """Whether nothing is missing of the arguments of a call."""
        parts = self._arguments[at]
        if not parts or parts[-1].rstrip()[-1:] != "}":
            return False
        return json_object("".join(parts)) is not None

    def _usage(self, chunk: Mapping[str, Any]) -> None:
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self.answer.tokens_in = _count(usage.get("prompt_tokens")) or self.answer.tokens_in
            self.answer.tokens_out = (
                _count(usage.get("completion_tokens")) or self.answer.tokens_out
            )
        if isinstance(chunk.get("model"), str):
            self.answer.model = chunk["model"][:200]


def error_text(error: Any) -> str:
    """What an error of a server says, in one line."""
    with suppress(RecursionError):
        return _message_of(error)
    return "an error that goes on within itself"


def _message_of(error: Any) -> str:
    if _is_map(error):
        inner = error.get("error")
        if inner not in (None, "", {}):
            return _message_of(inner)
        found = next((error[k] for k in ("message", "detail", "type") if error.get(k)), error)
        return _message_of(found) if _is_map(found) and found is not error else _line(found)
    return _line(error)


def _line(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return " ".join(well_formed(text).split())[:400]


def _text(value: Any) -> str:
    """Content as text: a string, or the text parts of a list."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if _is_map(part))
    return ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)
