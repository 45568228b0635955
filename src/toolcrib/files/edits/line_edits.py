"""Lines inserted, replaced, deleted or moved by their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from toolcrib.core.errors import BadInput, Conflict, NotFound
from toolcrib.files.edits.line_marks import NUMBERS_TAKEN_OFF, anchored, without_copied_numbers
from toolcrib.files.edits.line_matches import numbered, significant
from toolcrib.files.edits.lookalikes import fold
from toolcrib.files.search.expressions import ExpressionError, compiled_expression
from toolcrib.files.search.pattern import reason_of
from toolcrib.text.display import counted

Operation = Literal["insert", "replace", "delete", "move"]
CONTEXT_LINES = 3
MAX_PLACE_CHARS = 500
"""Characters by which the line of an insertion is named."""


@dataclass(frozen=True, slots=True)
class LineEdit:
    """What to do with which lines.

    Attributes:
        operation: what to do.
        start: the first line, from 1; negative counts from the end. For an insertion the
            line before which the text goes, one past the last for the end. None where
            `expect`, `after` or `before` names the place.
        end: the last line; None for `start`.
        content: the new lines.
        to: where lines that are moved go: before this line, numbered as now.
        expect: what the first lines say now, or an anchor.
        after: number or text of the one line after which an insertion goes, or `/expression/`.
        before: that of the one line before which it goes.
    """

    operation: Operation
    start: int | None = None
    end: int | None = None
    content: str | None = None
    to: int | None = None
    expect: str = ""
    after: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class LinesEdited:
    """The text afterwards, what was done, in words, and the lines that others replaced."""

    text: str
    summary: str
    replaced: str = ""


def apply_line_edit(text: str, edit: LineEdit) -> LinesEdited:
    """Change lines of a text.

    Args:
        text: each line end a line feed.
        edit: see `LineEdit`.

    Raises:
        BadInput: the lines do not exist, or something is missing.
        Conflict: the lines say something else than expected.
        NotFound: no line says what is expected.
    """
    lines = text.split("\n")
    ended = not lines[-1]
    if ended:
        lines.pop()
    first, last = _range(lines, edit)
    changed, summary = _OPERATIONS[edit.operation](lines, first, last, edit)
    more = len(changed) - len(lines)
    if more and first < len(changed) and last + 1 < len(lines):
        # Else a model goes on with the numbers that it read before.
        summary += f"; the lines below moved {'down' if more > 0 else 'up'} by {abs(more)}"
    if changed == lines:
        raise BadInput("The lines say that already: there is nothing to change.")
    end = "\n" if changed and (ended or not lines) else ""
    replaced = "\n".join(lines[first : last + 1]) if edit.operation == "replace" else ""
    return LinesEdited("\n".join(changed) + end, summary, replaced)


def _range(lines: Sequence[str], edit: LineEdit) -> tuple[int, int]:
    """The indices of the first and last line that are meant."""
    if edit.after and edit.before:
        raise BadInput("after and before are both there.", hint="Send one of them.")
    if edit.after:
        return (_holding(lines, edit.after) + 1,) * 2
    if edit.before:
        return (_holding(lines, edit.before),) * 2
    if edit.start is None:
        return _expected_range(lines, edit)
    limit = len(lines) + (edit.operation == "insert")
    first = _index(edit.start, lines, limit, "start")
    last = first if edit.end is None or edit.operation == "insert" else _last(lines, edit)
    if last < first:
        raise BadInput(f"end ({edit.end}) comes before start ({edit.start}).")
    if edit.expect:
        _verify(lines, first, edit.expect)
    return first, last


def _last(lines: Sequence[str], edit: LineEdit) -> int:
    end = edit.end or 0
    if edit.operation == "delete" and end > len(lines):
        return len(lines) - 1
    return _index(end, lines, len(lines), "end")


def _index(number: int, lines: Sequence[str], limit: int, name: str) -> int:
    index = len(lines) + number if number < 0 else number - 1
    if not 0 <= index < limit:
        raise BadInput(
            f"{name} is line {number:,}, and the file has {counted(len(lines), 'line')}.",
            hint=f"Lines count from 1; {name} may be at most {limit:,}.",
        )
    return index


def _holding(lines: Sequence[str], text: str) -> int:
    """The index of the one line with a number or text; `/expression/` is a text, or what it fits.

    A line that is the text goes before lines that hold it.
    """
    if len(text) > MAX_PLACE_CHARS:
        raise BadInput(f"A place is named by at most {MAX_PLACE_CHARS} characters of its line.")
    whole = [index for index, line in enumerate(lines) if line.strip() == text.strip()]
    if re.fullmatch(r"\s*-?[0-9]{1,9}\s*", text) and len(whole) < 2:
        return _numbered_line(lines, int(text), whole)
    found = whole if len(whole) == 1 else [i for i, line in enumerate(lines) if text in line]
    inner = text[1:-1] if len(text) > 2 and text[0] == text[-1] == "/" else ""
    if inner and not found:
        found = [index for index, line in enumerate(lines) if inner in line]
        found = found or _fitting(lines, inner)
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(str(index + 1) for index in found[:8])
        raise BadInput(
            f"{len(found)} lines hold that text: {listed}.", hint="Send more of the line, or start."
        )
    raise NotFound("No line holds that text.", hint="Read the file again, or send start.")


def _numbered_line(lines: Sequence[str], number: int, whole: Sequence[int]) -> int:
    index = len(lines) + number if number < 0 else number - 1
    if whole and whole[0] != index and 0 <= index < len(lines):
        raise BadInput(
            f"{number} may be line {number}, or line {whole[0] + 1}, which says it.",
            hint="Send the number in start, or the text between slashes.",
        )
    if whole:
        return whole[0]
    if 0 <= index < len(lines):
        return index
    raise NotFound(
        f"There is no line {number}, and none that says it: the file has "
        f"{counted(len(lines), 'line')}.",
        hint="Lines count from 1; start=1 inserts at the top.",
    )


def _fitting(lines: Sequence[str], pattern: str) -> list[int]:
    """The indices of the lines that an expression fits, in time linear to them."""
    try:
        expression = compiled_expression(pattern)
    except ExpressionError as error:
        raise BadInput(
            f"The pattern is not understood: {reason_of(error)}.",
            hint="Send text of the line without slashes around it, or its number as start.",
        ) from None
    encoded = ((index, line.encode("utf-8", "surrogateescape")) for index, line in enumerate(lines))
    return [index for index, line in encoded if expression.search(line)]


def _expected_range(lines: Sequence[str], edit: LineEdit) -> tuple[int, int]:
    """The lines that `expect` names by itself."""
    if not edit.expect.strip():
        raise BadInput("start is missing.", hint="Send the number of the first line.")
    found = anchored(lines, edit.expect)
    if found is None:
        wanted = edit.expect.strip("\n").split("\n")
        places = [at for at in range(len(lines)) if _says(lines, at, wanted, whole=True)]
        if not places:
            raise NotFound("No line says that.", hint="Read the file again, or send start.")
        if len(places) > 1:
            listed = ", ".join(str(at + 1) for at in places[:8])
            raise BadInput(f"{len(places)} places say that: lines {listed}.", hint="Send start.")
        found = places[0], places[0] + len(wanted) - 1
    return (found[0], found[0]) if edit.operation == "insert" else found


def _verify(lines: Sequence[str], first: int, expect: str) -> None:
    """Refuse where the lines are not those that were meant."""
    named = anchored(lines, expect)
    wanted = expect.strip("\n").split("\n")
    good = named[0] == first if named else _says(lines, first, wanted, whole=False)
    if good:
        return
    low = max(first - CONTEXT_LINES, 0)
    around = numbered(lines[low : first + len(wanted) + CONTEXT_LINES], low + 1)
    raise Conflict(
        f"Line {first + 1} does not say what was expected:\n{around}",
        hint="Nothing was changed. Send the number of the right line.",
    )


def _says(lines: Sequence[str], first: int, wanted: Sequence[str], *, whole: bool) -> bool:
    there = lines[first : first + len(wanted)]
    if len(there) < len(wanted):
        return False
    pairs = [(fold(a).strip(), fold(b).strip()) for a, b in zip(wanted, there, strict=True)]
    if all(a == b for a, b in pairs):
        return True
    part, line = pairs[0]
    return not whole and len(pairs) == 1 and significant(part) and part in line


def _content(edit: LineEdit, lines: Sequence[str], first: int, stop: int) -> tuple[list[str], str]:
    """The new lines without copied numbers, and a note that there were such."""
    if edit.content is None:
        raise BadInput("content is missing.", hint="Send the new lines in content.")
    new = edit.content.replace("\r\n", "\n").removesuffix("\n").split("\n")
    plain = without_copied_numbers(new, lines, first, stop)
    return (new, "") if plain is None else (plain, f" ({NUMBERS_TAKEN_OFF})")


def _insert(lines: list[str], first: int, _: int, edit: LineEdit) -> tuple[list[str], str]:
    new, note = _content(edit, lines, first, first)
    summary = f"{counted(len(new), 'line')} inserted at line {first + 1}{note}"
    return [*lines[:first], *new, *lines[first:]], summary


def _replace(lines: list[str], first: int, last: int, edit: LineEdit) -> tuple[list[str], str]:
    new, note = _content(edit, lines, first, last + 1)
    summary = f"{_span(first, last)} replaced by {counted(len(new), 'line')}{note}"
    return [*lines[:first], *new, *lines[last + 1 :]], summary


def _delete(lines: list[str], first: int, last: int, _: LineEdit) -> tuple[list[str], str]:
    return [*lines[:first], *lines[last + 1 :]], f"{_span(first, last)} deleted"


def _move(lines: list[str], first: int, last: int, edit: LineEdit) -> tuple[list[str], str]:
    if edit.to is None:
        raise BadInput("to is missing.", hint="Send the line before which the lines go.")
    to = _index(edit.to, lines, len(lines) + 1, "to")
    if first <= to <= last + 1:
        raise BadInput("The lines stand there already.", hint="Send another line in to.")
    block, rest = lines[first : last + 1], [*lines[:first], *lines[last + 1 :]]
    at = to if to < first else to - len(block)
    summary = f"{_span(first, last)} moved to line {at + 1}"
    return [*rest[:at], *block, *rest[at:]], summary


_OPERATIONS = {"insert": _insert, "replace": _replace, "delete": _delete, "move": _move}


def _span(first: int, last: int) -> str:
    return f"line {first + 1}" if first == last else f"lines {first + 1}-{last + 1}"
