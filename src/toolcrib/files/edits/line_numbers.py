"""Line numbers that were copied along with the lines of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NUMBERED = re.compile(
    r"[ \t]*(?:L|line )?(?P<number>\d{1,7})(?::[0-9a-f]{3,8}(?=[|\t]))?"
    r"(?P<sep>\t|[ \t]*[|\u2502\u2192]|:)(?P<rest>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Stripped:
    """Old and new without line numbers, and the number that old started with."""

    first: int
    old: list[str]
    new: list[str]


def stripped(old: Sequence[str], new: Sequence[str]) -> list[Stripped]:
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
        Stripped(
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
