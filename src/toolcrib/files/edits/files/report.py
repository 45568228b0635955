"""What a change says of itself: one line a file, a short difference, what is now broken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.edits.preview import preview
from toolcrib.files.edits.syntax_check import broken_by

LINES = 60
"""Lines of differences in an answer, over all its files."""


@dataclass(slots=True)
class Told:
    """What happens to one file: the line that says so, and its text before and after."""

    path: str
    line: str
    before: str = ""
    after: str = ""
    notes: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    def warnings(self) -> list[str]:
        """The notes, and what the change broke."""
        broken = broken_by(self.path, self.before, self.after)
        return [*self.notes, *([f"Warning: {broken}."] if broken else [])]


def shown(files: Iterable[Told], lines: int = LINES) -> str:
    """The text of an answer."""
    parts: list[str] = []
    left = lines
    for told in files:
        parts.append(told.line)
        parts += told.warnings()
        if told.before and told.before != told.after:
            difference = preview(told.before, told.after, max(left, 0))
            left -= difference.count("\n") + 1
            parts.append(difference)
    return "\n".join(part for part in parts if part)


async def carry_out(plan: Step, files: list[Told], text: str, ctx: Ctx) -> Result:
    """Make the changes, and answer with the text that tells of them."""
    applied = await ctx.use(Changes).apply(plan, ctx)
    if applied.note:
        text = f"{text}\n{applied.note}"
    data = {
        "step": applied.step,
        "files": [{"path": told.path, **told.data} for told in files],
    }
    return Result(text=text, data=data, private=True)
