"""Literal marks that are looked for together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

MAXIMUM = 2**62


class Found(NamedTuple):
    """A mark, and where it stands.

    Kept instead of a match wherever more text is waited for: a match holds on to the text,
    which then is copied whenever it grows.
    """

    mark: str
    start: int
    end: int


def found_by(match: re.Match[str] | None) -> Found | None:
    """What a pattern found."""
    return Found(match[0], *match.span()) if match is not None else None


class MarkSet:
    """Some marks, none of which begins another, and what finds them.

    Two are never equal: those that are asked for often are made once.
    """

    __slots__ = ("_search", "longest", "marks", "match", "starts")

    def __init__(self, marks: Iterable[str] = ()) -> None:
        self.marks = frozenset(filter(None, marks))
        pattern = re.compile("|".join(branches(sorted(self.marks))) or r"(?!)")
        self.match = pattern.match
        self._search = pattern.search
        self.longest = max(map(len, self.marks), default=0)
        self.starts = frozenset(mark[:size] for mark in self.marks for size in range(1, len(mark)))
        """What a mark can begin with."""

    def __contains__(self, text: str) -> bool:
        return text in self.marks

    def find(self, text: str, at: int, limit: int = MAXIMUM) -> Found | None:
        """The first of them from here on."""
        match = self._search(text, at, limit)
        return Found(match[0], *match.span()) if match is not None else None

    def begun(self, text: str, at: int) -> int:
        """The place from which on the text may be the beginning of a mark; its end if none."""
        size = len(text)
        for start in range(max(at, size - self.longest + 1), size):
            if text[start:] in self.starts:
                return start
        return size


@lru_cache(maxsize=1024)
def joined(*parts: MarkSet | str) -> MarkSet:
    """All of these together."""
    return MarkSet(
        mark for part in parts for mark in (part.marks if isinstance(part, MarkSet) else (part,))
    )


def branches(marks: Iterable[str]) -> list[str]:
    """Patterns, one for each first character, that try what marks have in common once.

    At the top of a pattern they let the search skip to a character with which one begins.
    """
    groups: dict[str, list[str]] = {}
    for mark in filter(None, marks):
        groups.setdefault(mark[0], []).append(mark[1:])
    return [re.escape(first) + _rest(rests) for first, rests in groups.items()]


def _rest(rests: list[str]) -> str:
    inner = branches(rests)
    if not inner:
        return ""
    pattern = inner[0] if len(inner) == 1 and "" not in rests else f"(?:{'|'.join(inner)})"
    return f"{pattern}?" if "" in rests else pattern


NONE = MarkSet()
