"""The lines of a file's bytes that a pattern fits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolcrib.files.search.pattern import Pattern

MAX_BYTES = 10_000_000
"""Larger files are not searched."""
LINE_CHARS = 300
"""Characters shown of a line: those around the first place that fits."""
BEFORE = 60
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


@dataclass(frozen=True, slots=True)
class Hit:
    """A line. `number` counts from 1; with `fits` it is one that was searched for."""

    number: int
    text: str
    fits: bool = True


def text_of(data: bytes) -> bytes | None:
    """The file as UTF-8 without its mark; None where it is binary."""
    codec = _WIDE.get(data[:2])
    if codec is not None:
        data = data[2:].decode(codec, "replace").encode("utf-8", "replace")
    elif data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    return None if b"\0" in data else data


def count(data: bytes, pattern: Pattern) -> int:
    """How many lines fit; 0 for a binary file."""
    text = text_of(data)
    if text is None or not _may_fit(text, pattern):
        return 0
    return sum(1 for _ in spans(text, pattern))


def _may_fit(text: bytes, pattern: Pattern) -> bool:
    return pattern.bare is None or pattern.bare in text


def spans(text: bytes, pattern: Pattern) -> Iterator[tuple[int, int, int]]:
    """Each line that fits: where it starts and ends, and where in it the first place is."""
    match: Any = pattern.engine.search
    at, size = 0, len(text)
    while at < size:
        found = match(text, at)
        if found is None:
            return
        place = found.start()
        if place >= size and text.endswith(b"\n"):
            return  # behind the last line end there is no line
        start = text.rfind(b"\n", 0, place) + 1
        end = text.find(b"\n", place)
        end = size if end < 0 else end
        yield start, end, place
        at = end + 1


def hits(text: bytes, pattern: Pattern, skip: int, most: int, context: int) -> list[Hit]:
    """Some lines that fit, with those around them, in order and each once.

    Args:
        text: from `text_of`.
        pattern: what to look for.
        skip: how many that fit are left out first.
        most: how many that fit are given.
        context: lines before and after each.
    """
    chosen = []
    for number, span in enumerate(spans(text, pattern)):
        if number >= skip + most:
            break
        if number >= skip:
            chosen.append(span)
    if not chosen:
        return []
    starts = _line_starts(text)
    places = {bisect_right(starts, start): place for start, _, place in chosen}
    wanted: dict[int, None] = {}
    for line in places:
        for near in range(max(1, line - context), min(len(starts), line + context) + 1):
            wanted[near] = None
    return [_shown(text, starts, line, places.get(line)) for line in sorted(wanted)]


def _line_starts(text: bytes) -> list[int]:
    starts, at = [0], text.find(b"\n")
    while at >= 0 and at + 1 < len(text):
        starts.append(at + 1)
        at = text.find(b"\n", at + 1)
    return starts


def _shown(text: bytes, starts: list[int], line: int, place: int | None) -> Hit:
    start = starts[line - 1]
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    low = max(start, (start if place is None else place) - 4 * LINE_CHARS)
    high = min(end, (start if place is None else place) + 4 * LINE_CHARS)
    before = text[low:place].decode("utf-8", "replace") if place is not None else ""
    whole = text[low:high].decode("utf-8", "replace").rstrip("\r")
    cut = max(0, len(before) - BEFORE) if len(whole) > LINE_CHARS else 0
    shown = whole[cut : cut + LINE_CHARS]
    head = "…" if low > start or cut else ""
    tail = "…" if high < end or cut + LINE_CHARS < len(whole) else ""
    return Hit(line, f"{head}{shown}{tail}", place is not None)
