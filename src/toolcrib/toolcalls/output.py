"""What has been read so far: content and reasoning as they flow, calls, diagnostics."""

from __future__ import annotations

import json
import re
from hashlib import blake2b

from toolcrib.toolcalls.decoders.decoder import Cut
from toolcrib.toolcalls.offers import Offers
from toolcrib.toolcalls.records import (
    Code,
    ContentDelta,
    Diagnostic,
    Event,
    ParsedText,
    ReasoningDelta,
    ToolCall,
)
from toolcrib.toolcalls.shapes import Raw

LONGEST_SHOWN = 2000
TICKS = re.compile(r"`+|[^`]+")
SPACE = " \t\r\n"
MESSAGES: dict[Code, str] = {
    "truncated": "The text ended within a tool call{name}; it was not run. Send the whole call.",
    "malformed": "A tool call{name} could not be read; it was not run. Send it again, well formed.",
    "in_reasoning": "A tool call{name} within the reasoning was not run. Make it after reasoning.",
}


class Flow:
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
        """All that was told."""
        return "".join(self._parts)

    @property
    def has_begun(self) -> bool:
        """Whether anything but white space was told."""
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
        self._say(lead + core)
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
            self._say(white)
        self._white = []

    def _say(self, text: str) -> None:
        self._parts.append(text)
        self.size += len(text)
        self._events.append(self._kind(text))


class Output:
    """Collects the parts, and the events that tell of them."""

    def __init__(self, offers: Offers) -> None:
        self.offers = offers
        self.events: list[Event] = []
        self.calls: list[ToolCall] = []
        self._raws: list[Raw] = []
        self._ids: set[str] = set()
        self.notes: list[Diagnostic] = []
        self.is_settled = False
        """Nothing that comes can make what was called part of the reasoning."""
        self._span = self._ticks = 0
        self._told = 0
        self.content = Flow(ContentDelta, self.events, edges=True)
        self.reasoning = Flow(ReasoningDelta, self.events, edges=False)

    def say(self, piece: str) -> None:
        """Content."""
        if not piece:
            return
        _, is_line, rest = piece.rpartition("\n")
        if is_line:
            self.leave_code()
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

    def leave_code(self) -> None:
        """What follows is no inline code."""
        self._span = self._ticks = 0

    def _after_ticks(self) -> int:
        """How long the run is that opened the code which goes on here."""
        if not self._span:
            return self._ticks
        return 0 if self._ticks == self._span else self._span

    def think(self, piece: str) -> None:
        """Reasoning."""
        if piece:
            self.reasoning.write(piece)

    def add(self, raw: Raw) -> None:
        """A call."""
        name = self.offers.spelt(raw.name)
        given = "" if raw.id in self._ids else raw.id
        made = given or stable_id(len(self.calls), name, raw.arguments)
        self._ids.add(made)
        self.calls.append(ToolCall(name, raw.arguments, made))
        self._raws.append(raw)

    def adopt(self, other: Output) -> None:
        """Take over the calls and diagnostics of a part that was read by itself."""
        for raw in other._raws:
            self.add(raw)
        self.notes += other.notes

    def note(self, code: Code, text: str, name: str = "") -> None:
        """Something that is no call after all."""
        shown = self.offers.spelt(name) if name else ""
        message = MESSAGES[code].format(name=f" of {shown}" if shown else "")
        self.notes.append(Diagnostic(code, message, text[:LONGEST_SHOWN], shown))

    def lose(self, cut: Cut, text: str, *, ended: bool) -> None:
        """A call that was cut off or cannot be read."""
        self.note("malformed" if cut.closed or not ended else "truncated", text, cut.name)

    def forget(self) -> None:
        """Keep none of the calls."""
        self.calls.clear()
        self._raws.clear()
        self._ids.clear()

    def was_reasoning(self, heading: str) -> None:
        """All so far was reasoning, but for a heading: its end came without its beginning."""
        self.reasoning.write(self.content.text.removeprefix(heading))
        for call in self.calls:
            self.note("in_reasoning", json.dumps(call.to_json(), ensure_ascii=False), call.name)
        self.forget()
        self.content = Flow(ContentDelta, self.events, edges=False)
        self.leave_code()

    def settle(self) -> None:
        """From here on a call is told as soon as it is whole."""
        self.is_settled = True

    def take(self) -> list[Event]:
        """The events since the last time."""
        if self.is_settled:
            self.events += self.calls[self._told :]
            self._told = len(self.calls)
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
