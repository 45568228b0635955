"""What a reader needs to mend a quote that was not found: the lines most like it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches

from toolcrib.files.edits.haystack import Haystack, loose

MOST_LINES = 12
MOST_CHARS = 160
COMMON = 50
COMPARED = 5_000
LIKE = 0.6


def numbered(lines: Sequence[str], first: int) -> str:
    """Lines with their numbers, each cut to a bounded length."""
    return "\n".join(f"{number:>5}  {cut(line)}" for number, line in enumerate(lines, first))


def cut(line: str) -> str:
    """A line in bounded length."""
    shown = line.encode("utf-8", "replace").decode() if not line.isascii() else line
    return (
        shown if len(shown) <= MOST_CHARS else f"{shown[:MOST_CHARS]}… ({len(shown):,} characters)"
    )


def cause(hay: Haystack, old: str) -> str:
    """A known reason why a quote is not found; "" where there is none."""
    if "\\n" in old or "\\t" in old:
        real = old.replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t")
        if real in hay.text or _region(hay, real.split("\n")) is not None:
            return (
                r"old has a backslash and a letter (\n or \t) where the file may have white space"
            )
    if "\ufffd" in old:
        return "old has U+FFFD, which stands for bytes that are no text: leave that line out"
    return ""


def region(hay: Haystack, old: str) -> str:
    """The lines most like a quote, with their numbers and what the quote says instead."""
    lines = old.strip("\n").split("\n")
    first = _region(hay, lines)
    if first is None:
        return ""
    shown: list[str] = []
    for offset, sent in enumerate(lines[:MOST_LINES]):
        index = first + offset
        if not 0 <= index < len(hay.lines):
            continue
        there = hay.lines[index]
        shown.append(f"{index + 1:>5}  {cut(there)}")
        if loose(sent) != hay.keys[index]:
            shown.append(f"  old: {cut(sent)}")
        elif sent.rstrip() != there.rstrip():
            shown.append(f"  old: {cut(sent)}   (differs in space or look-alikes only)")
    if len(lines) > MOST_LINES:
        shown.append(f"  ({len(lines) - MOST_LINES} more lines)")
    return "\n".join(shown)


def _region(hay: Haystack, lines: Sequence[str]) -> int | None:
    """The index of the line where a quote would best begin."""
    votes: Counter[int] = Counter()
    for offset, line in enumerate(lines[:200]):
        key = loose(line)
        places = hay.places.get(key, ())
        if len(key) > 2 and len(places) <= COMMON:
            for place in places:
                votes[place - offset] += len(key)
    if votes:
        return votes.most_common(1)[0][0]
    longest = max(range(len(lines)), key=lambda index: len(lines[index]))
    key = loose(lines[longest])[:300]
    like = get_close_matches(key, {k[:300] for k in hay.keys[:COMPARED] if k}, n=1, cutoff=LIKE)
    if not key or not like:
        return None
    index = next(i for i, k in enumerate(hay.keys) if k[:300] == like[0])
    return index - longest
