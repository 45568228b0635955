"""Marks before lines: anchors (`12:a3f9`, number and hash) and line numbers that were copied."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from toolcrib.core.errors import Conflict

DIGITS = 4
_ANCHOR = re.compile(r"\s*(\d{1,7}):([0-9a-f]{4,16})(?:\s*-\s*(\d{1,7}):([0-9a-f]{4,16}))?\s*")


def hash_of(line: str) -> str:
    """A short hash of a line without its outer space."""
    return blake2b(line.strip().encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def anchor(number: int, line: str) -> str:
    """The anchor of a line."""
    return f"{number}:{hash_of(line)[:DIGITS]}"


def anchored(lines: Sequence[str], text: str) -> tuple[int, int] | None:
    """The indices of the first and last line that an anchor or a pair of them names.

    None where the text is no anchor.

    Raises:
        Conflict: a line says something else by now.
    """
    match = _ANCHOR.fullmatch(text)
    if match is None:
        return None
    first = _index(lines, int(match[1]), match[2])
    last = _index(lines, int(match[3]), match[4]) if match[3] else first
    if last < first:
        raise Conflict(f"{text.strip()} ends before it starts.", hint="Send the first line first.")
    return first, last


def _index(lines: Sequence[str], number: int, digits: str) -> int:
    if 1 <= number <= len(lines) and hash_of(lines[number - 1]).startswith(digits):
        return number - 1
    there = [n for n, line in enumerate(lines, 1) if hash_of(line).startswith(digits)]
    moved = f" That text is now line {there[0]}." if len(there) == 1 else ""
    raise Conflict(
        f"Line {number} is not what {number}:{digits} was made of.{moved}",
        hint="Read the file again for new anchors.",
        lines=there[:20],
    )


# Copied line numbers.

_NUMBERED = re.compile(
    r"[ \t]*(?:L|line )?(?P<number>\d{1,7})(?::[0-9a-f]{3,8}(?=[|\t]))?"
    r"(?P<sep>\t|[ \t]*[|\u2502\u2192]|:|\.(?= ))(?P<rest>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class UnnumberedEdit:
    """Old and new without line numbers, and the number that old started with."""

    first: int
    old: list[str]
    new: list[str]


def without_numbers(old: Sequence[str], new: Sequence[str]) -> list[UnnumberedEdit]:
    """Both texts without the numbers that the lines of the old one start with.

    None where not every line of the old text has one, each one more than that before.
    Two where a space may belong to the separator or to the line.
    """
    found = [_NUMBERED.fullmatch(line) for line in old]
    numbers = [int(match["number"]) for match in found if match]
    first = numbers[0] if numbers else 0
    if not numbers or numbers != list(range(first, first + len(old))):
        return []
    separators = {match["sep"].strip(" ") for match in found if match}
    if len(separators) > 1:
        return []
    separator = separators.pop()
    rests = [match["rest"] for match in found if match]
    solid = [rest for rest in rests if rest.strip()]
    spaces = ["", " "] if solid and all(rest.startswith(" ") for rest in solid) else [""]
    return [
        UnnumberedEdit(
            first,
            [rest.removeprefix(space) for rest in rests],
            [_plain(line, separator, space) for line in new],
        )
        for space in reversed(spaces)
    ]


def is_numbered(lines: Iterable[str]) -> bool:
    """Whether a file has lines of its own that start with a number and a separator."""
    return any(line.lstrip()[:1].isdigit() and _NUMBERED.fullmatch(line) for line in lines)


def _plain(line: str, separator: str, space: str) -> str:
    match = _NUMBERED.fullmatch(line)
    if match is None or match["sep"].strip(" ") != separator:
        return line
    return match["rest"].removeprefix(space)
