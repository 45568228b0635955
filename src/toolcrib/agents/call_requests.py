"""The calls that an answer asks for: those the server sends as such, else those in its text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolcrib.net.models.answer import CLOSED, Answer
from toolcrib.system.ids import content_id

if TYPE_CHECKING:
    from toolcrib.toolcalls.output import ParsedText

CUT = "cut off"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One call. `arguments` is None where they could not be read."""

    name: str
    arguments: Mapping[str, Any] | None
    id: str

    def message(self) -> dict[str, Any]:
        """The call as it stands in an assistant's message."""
        text = json.dumps(dict(self.arguments or {}), ensure_ascii=False)
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": text},
        }


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, understood: its words, its calls, and what could not be read of them.

    Calls in reasoning are no calls, nor is one that was cut off.
    """

    text: str
    calls: list[Wanted] = field(default_factory=list)
    problem: str = ""


def understand(answer: Answer, tools: Sequence[Mapping[str, Any]], used: set[str]) -> Asked:
    """What an answer asks for.

    Args:
        answer: a complete one.
        tools: those on offer, in the OpenAI form.
        used: the ids of earlier calls of this run; new ones are added.
    """
    from toolcrib.toolcalls import parse_tool_calls

    parsed = parse_tool_calls(answer.content, list(tools))
    text = str(parsed.content).strip()
    cut = answer.finish in ("length", CLOSED)
    if answer.calls:
        calls = [
            Wanted(c.name.strip(), c.parsed(), _id(c.id, c.name, place, used))
            for place, c in enumerate(answer.calls)
        ]
        # Of a call that was just begun, no arguments are no arguments `{}`.
        begun = [cut and not c.arguments.strip() for c in answer.calls]
        broken = [
            call
            for call, empty in zip(calls, begun, strict=True)
            if call.arguments is None or not call.name or empty
        ]
        if cut and broken:  # the last one was being written when the room ran out
            return Asked(text, [c for c in calls if c not in broken], CUT)
        if all(not call.name for call in calls):
            return Asked(text, [], "a call without a name")
        return Asked(text, [c for c in calls if c.name])
    calls = [
        Wanted(c.name, c.arguments, _id(c.id, c.name, place, used))
        for place, c in enumerate(parsed.calls)
    ]
    return Asked(text, calls, _problem(parsed, text))


def _problem(parsed: ParsedText, text: str) -> str:
    """What could not be read, in words; a call in reasoning matters where nothing else is."""
    for found in parsed.diagnostics:
        if found.code == "truncated":
            return CUT
        if found.code != "in_reasoning" or not (text or parsed.calls):
            return " ".join(found.message.split())[:200]
    return ""


def _id(given: str, name: str, place: int, used: set[str]) -> str:
    """An id that no earlier call of the run has."""
    found = given or f"call_{content_id(name, str(place), str(len(used)))}"
    while found in used:
        found = f"call_{content_id(found, str(len(used)))}"
    used.add(found)
    return found
