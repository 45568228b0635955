"""What a patch says, whatever form it was written in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from toolcrib.core.errors import BadInput

Does = Literal["update", "add", "delete"]


@dataclass(slots=True)
class Hunk:
    """Lines that are to be found, and the lines that take their place.

    Attributes:
        old: what stands there, the lines around included.
        new: what shall stand there.
        at: the index at which the patch expects the first line; None where it does not say.
        heads: lines that stand somewhere above, the outermost first.
        ordered: it stands below the hunk before it.
        at_end: the last line is the last one of the file.
        old_ended: whether the last line of the file has a line end before; None: not said.
        new_ended: the same, after.
    """

    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    at: int | None = None
    heads: list[str] = field(default_factory=list)
    ordered: bool = True
    at_end: bool = False
    old_ended: bool | None = None
    new_ended: bool | None = None


@dataclass(slots=True)
class FilePatch:
    """What happens to one file.

    Attributes:
        does: what happens.
        path: the file as the patch names it; "" where it names none.
        other: another name by which a plain diff may mean the file; "" for none.
        target: where the file is moved; "" where it stays.
        hunks: what changes in it; of a new file one, without old lines.
        checked: a file that is deleted must be as the hunks say.
    """

    does: Does
    path: str
    other: str = ""
    target: str = ""
    hunks: list[Hunk] = field(default_factory=list)
    checked: bool = False


def malformed(number: int, why: str) -> BadInput:
    """The error for a patch that cannot be read. `number` is its line, from 1."""
    return BadInput(
        f"Line {number} of the patch: {why}.",
        hint="Send the patch again, whole; nothing was changed.",
    )
