"""What comes out of a model's text, and of a stream of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Code = Literal["truncated", "malformed", "in_reasoning"]
"""Why something that looked like a call is none."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model wrote.

    `name` is spelt as it was offered. `id` is the model's own where it gave one, else made
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
        shown = {"code": self.code, "message": self.message, "text": self.text}
        return {**shown, "name": self.name} if self.name else shown


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
"""What a stream tells: nothing of it is taken back later."""
