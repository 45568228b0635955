"""Results of parsing a model's text: records, the output so far, and the parser's state."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

from toolcrib.toolcalls.decoders.decoder import BrokenCall, Reading
from toolcrib.toolcalls.growing_text import GrowingText
from toolcrib.toolcalls.tool_schemas import ToolSchemas
from toolcrib.toolcalls.values import RawCall

Code = Literal["truncated", "malformed", "in_reasoning"]
"""Why something that looked like a call is none."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model wrote.

    `name` is canonical_name as it was offered. `id` is the model's own where it gave one, else made
    of the call's place, name and arguments, so that it is the same every time.
    """

    name: str
    arguments: dict[str, Any]
    id: str

    def to_json(self) -> dict[str, Any]:
        """The call as JSON values."""
        return {"id": self.id, "name": self.name, "arguments": self.arguments}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something that began like a call and is none; nothing of it may run.

    Attributes:
        code: `truncated` (the text ended in it), `malformed`, or `in_reasoning`.
        message: one sentence that can be sent back to the model.
        text: what the model wrote, cut after 2,000 characters.
        name: the tool, where that much could be read.
    """

    code: Code
    message: str
    text: str
    name: str = ""

    def to_json(self) -> dict[str, Any]:
        """The diagnostic as JSON values."""
        canonical = {"code": self.code, "message": self.message, "text": self.text}
        return {**canonical, "name": self.name} if self.name else canonical


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A model's text taken apart: what a person reads, what it thought, what it calls."""

    content: str = ""
    reasoning: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "content": self.content,
            "reasoning": self.reasoning,
            "calls": [call.to_json() for call in self.calls],
            "diagnostics": [found.to_json() for found in self.diagnostics],
        }


@dataclass(frozen=True, slots=True)
class ContentDelta:
    """A further piece of what a person reads."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A further piece of the reasoning."""

    text: str


Event = ContentDelta | ReasoningDelta | ToolCall
"""An event of a stream; none is taken back later."""


MAX_EXCERPT_CHARS = 2000
MAX_LINE_CHARS = 80
TICKS = re.compile(r"`+|[^`]+")
SPACE = " \t\r\n"
MESSAGES: dict[Code, str] = {
    "truncated": "The text ended within a tool call{name}; it was not run. Send the whole call.",
    "malformed": "A tool call{name} could not be read; it was not run. Send it again, well formed.",
    "in_reasoning": "A tool call{name} within the reasoning was not run. Make it after reasoning.",
}


class TextFlow:
    """Text that flows on, but for white space around what was taken out of it."""

    __slots__ = (
        "_before",
        "_events",
        "_is_broken",
        "_kind",
        "_parts",
        "_white",
        "size",
        "was_broken",
    )

    def __init__(
        self, kind: type[ContentDelta | ReasoningDelta], events: list[Event], *, edges: bool
    ) -> None:
        self._kind = kind
        self._events = events
        self._parts: list[str] = []
        self.size = 0
        self._white: list[str] = []
        self._before = ""
        self._is_broken = False
        self.was_broken = not edges

    @property
    def text(self) -> str:
        """All that was emitted."""
        return "".join(self._parts)

    @property
    def has_begun(self) -> bool:
        """Whether anything but white space was emitted."""
        return bool(self._parts)

    def write(self, piece: str) -> None:
        """Take the next piece; white space at its end waits for what follows."""
        core = piece.strip(SPACE)
        if not core:
            self._white.append(piece)
            return
        if self._white:
            piece = "".join((*self._white, piece))
        start = piece.index(core[0])
        lead = piece[:start]
        if self._is_broken or (self.was_broken and not self._parts):
            lead = max(self._before, lead, key=len) if self._parts else ""
        self._emit(lead + core)
        self._white = [piece[start + len(core) :]]
        self._before, self._is_broken = "", False

    def break_off(self) -> None:
        """Something was taken out here."""
        self._before = max(self._before, "".join(self._white), key=len)
        self._white, self._is_broken, self.was_broken = [], True, True

    def end(self) -> None:
        """Nothing follows."""
        white = "".join(self._white)
        if white and not self.was_broken:
            self._emit(white)
        self._white = []

    def _emit(self, text: str) -> None:
        self._parts.append(text)
        self.size += len(text)
        self._events.append(self._kind(text))


class ParserOutput:
    """Collects content, reasoning, calls and diagnostics, and their events."""

    def __init__(self, schemas: ToolSchemas) -> None:
        self.schemas = schemas
        self.events: list[Event] = []
        self.calls: list[ToolCall] = []
        self._raws: list[RawCall] = []
        self._ids: set[str] = set()
        self.notes: list[Diagnostic] = []
        self.is_settled = False
        """Nothing that comes can make what was called part of the reasoning."""
        self._span = self._ticks = 0
        self._reported = 0
        self.line = ""
        """The content of the line so far, its last characters."""
        self.content = TextFlow(ContentDelta, self.events, edges=True)
        self.reasoning = TextFlow(ReasoningDelta, self.events, edges=False)

    def write_content(self, piece: str) -> None:
        """Content."""
        if not piece:
            return
        _, is_line, rest = piece.rpartition("\n")
        self.line = (rest if is_line else self.line + rest)[-MAX_LINE_CHARS:]
        if is_line:
            self.end_code()
        if self._ticks or "`" in rest:
            for run in TICKS.finditer(rest):
                if run[0][0] == "`":
                    self._ticks += len(run[0])
                else:
                    self._span, self._ticks = self._after_ticks(), 0
        self.content.write(piece)

    @property
    def in_code(self) -> bool:
        """Whether a run of backticks on this line is not closed by one as long."""
        return self._after_ticks() > 0

    def end_code(self) -> None:
        """What follows is no inline code."""
        self._span = self._ticks = 0

    def _after_ticks(self) -> int:
        """How long the run is that opened the code which goes on here."""
        if not self._span:
            return self._ticks
        return 0 if self._ticks == self._span else self._span

    def write_reasoning(self, piece: str) -> None:
        """Reasoning."""
        if piece:
            self.reasoning.write(piece)

    def add(self, raw: RawCall) -> None:
        """A call."""
        name = self.schemas.canonical_name(raw.name)
        given = "" if raw.id in self._ids else raw.id
        made = given or stable_id(len(self.calls), name, raw.arguments)
        self._ids.add(made)
        self.calls.append(ToolCall(name, raw.arguments, made))
        self._raws.append(raw)

    def adopt(self, other: ParserOutput) -> None:
        """Take over the calls and diagnostics of a part that was read by itself."""
        for raw in other._raws:
            self.add(raw)
        self.notes += other.notes

    def note(self, code: Code, text: str, name: str = "") -> None:
        """Something that is no call after all."""
        canonical = self.schemas.canonical_name(name) if name else ""
        message = MESSAGES[code].format(name=f" of {canonical}" if canonical else "")
        self.notes.append(Diagnostic(code, message, text[:MAX_EXCERPT_CHARS], canonical))

    def note_cut(self, cut: BrokenCall, text: str, *, ended: bool) -> None:
        """A call that was cut off or cannot be read."""
        self.note("malformed" if cut.closed or not ended else "truncated", text, cut.name)

    def forget(self) -> None:
        """Keep none of the calls."""
        self.calls.clear()
        self._raws.clear()
        self._ids.clear()

    def move_to_reasoning(self, heading: str) -> None:
        """All so far was reasoning, but for a heading: its end came without its beginning."""
        self.reasoning.write(self.content.text.removeprefix(heading))
        for call in self.calls:
            self.note("in_reasoning", json.dumps(call.to_json(), ensure_ascii=False), call.name)
        self.forget()
        self.content = TextFlow(ContentDelta, self.events, edges=False)
        self.end_code()

    def settle(self) -> None:
        """From here on a call is an event as soon as it is whole."""
        self.is_settled = True

    def take(self) -> list[Event]:
        """The events since the last time."""
        if self.is_settled:
            self.events += self.calls[self._reported :]
            self._reported = len(self.calls)
        events = self.events.copy()
        self.events.clear()
        return events

    def result(self) -> ParsedText:
        """Everything."""
        return ParsedText(
            self.content.text, self.reasoning.text, list(self.calls), list(self.notes)
        )


def stable_id(place: int, name: str, arguments: object) -> str:
    """An id that is the same whenever the same call stands at the same place."""
    text = repr((place, name, arguments)).encode(errors="replace")
    return f"call_{blake2b(text, digest_size=6).hexdigest()}"


MAX_INNER_CHARS = 1_000_000
MIN_TRIM_CHARS = 8192
Whole = Callable[[str, ToolSchemas], ParserOutput]


class ParserState:
    """How far a text was read, and what came of it.

    Args:
        schemas: the tools.
        whole: reads a part of the text by itself; None within such a part.
    """

    def __init__(self, schemas: ToolSchemas, whole: Whole | None = None) -> None:
        self.text = GrowingText()
        self.reading = Reading(self.text, schemas)
        self.out = ParserOutput(schemas)
        self.pos = 0
        self.marks = 0
        """How many were dealt with."""
        self.is_final = False
        """Whether a message of gpt-oss is being read that is for the user."""
        self.is_stripped = False
        """Whether headers of gpt-oss without their marks were seen."""
        self._whole = whole

    def inner(self, part: str) -> ParserOutput | None:
        """What a part of the text comes to by itself; None for parts of parts."""
        if self._whole is None or len(part) > MAX_INNER_CHARS:
            return None
        return self._whole(part, self.reading.schemas)

    def emit_to(self, at: int) -> None:
        """The text up to a place is content."""
        self.out.write_content(self.text.text[self.pos : at])
        self.pos = at

    def trim(self) -> None:
        """Forget what was read, now and then."""
        if self.pos > MIN_TRIM_CHARS and self.pos * 2 > len(self.text.text):
            self.text.drop(self.pos)
            self.pos = 0
