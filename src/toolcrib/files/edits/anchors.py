"""Anchors: a line named by its number and a hash of what it says, `12:a3f9`."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
