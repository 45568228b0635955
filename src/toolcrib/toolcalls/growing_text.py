"""A text that is still being written, read by generators that wait for more.

Every method that looks ahead is a generator: it yields while the answer could still change
with what comes, and returns it once it cannot. So what is found does not depend on how the
text was cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from functools import lru_cache
from typing import NamedTuple, TypeVar

NO_LIMIT = 2**62


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

    __slots__ = ("_search", "marks", "match", "max_length", "starts")

    def __init__(self, marks: Iterable[str] = ()) -> None:
        self.marks = frozenset(filter(None, marks))
        pattern = re.compile("|".join(branches(sorted(self.marks))) or r"(?!)")
        self.match = pattern.match
        self._search = pattern.search
        self.max_length = max(map(len, self.marks), default=0)
        self.starts = frozenset(mark[:size] for mark in self.marks for size in range(1, len(mark)))
        """What a mark can begin with."""

    def __contains__(self, text: str) -> bool:
        return text in self.marks

    def find(self, text: str, at: int, limit: int = NO_LIMIT) -> Found | None:
        """The first of them from here on."""
        match = self._search(text, at, limit)
        return Found(match[0], *match.span()) if match is not None else None

    def begun(self, text: str, at: int) -> int:
        """The place from which on the text may be the beginning of a mark; its end if none."""
        size = len(text)
        for start in range(max(at, size - self.max_length + 1), size):
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


T = TypeVar("T")
Wait = Generator[None, None, T]
"""Yields while it needs more text, then returns."""

WHITE = " \t\r\n"
BLANK = re.compile(r"[ \t\r\n]*")
BRACKET = re.compile(r"[\"'{}\[\]()]")
QUOTED = {
    '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*+', re.DOTALL),
    "'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*+", re.DOTALL),
}
MAX_WASTED_CHARS = 500_000
"""How many characters may be read in vain, in all, before ends are looked for more cheaply."""


def end_of(match: re.Match[str] | None, at: int) -> int:
    """Where a match ends, or the place itself where there is none."""
    return match.end() if match is not None else at


class GrowingText:
    """The text so far, and whether it is all.

    Who waits for more keeps no match and no other name for the text: it would have to be
    copied with each piece that comes.
    """

    __slots__ = ("ended", "text", "wasted")

    def __init__(self) -> None:
        self.text = ""
        self.ended = False
        self.wasted = 0

    def add(self, chunk: str) -> None:
        """Append a piece."""
        # A local name of its own lets CPython grow the string in place.
        text, self.text = self.text, ""
        text += chunk
        self.text = text

    def drop(self, count: int) -> None:
        """Forget the first characters; every position moves."""
        self.text = self.text[count:]

    def skip_blank(self, at: int) -> Wait[int]:
        """Where the white space from here ends."""
        while self.text[at : at + 1] in WHITE:
            at = end_of(BLANK.match(self.text, at), at)
            if at < len(self.text) or self.ended:
                break
            yield
        return at

    def skip(self, pattern: re.Pattern[str], at: int) -> Wait[int]:
        """Where the run of a pattern of single characters from here ends."""
        while True:
            at = end_of(pattern.match(self.text, at), at)
            if at < len(self.text) or self.ended:
                return at
            yield

    def peek(self, at: int, count: int) -> Wait[str]:
        """The next characters, fewer only at the end of the text."""
        while len(self.text) < at + count and not self.ended:
            yield
        return self.text[at : at + count]

    def mark_at(self, at: int, marks: MarkSet) -> Wait[str]:
        """Which of the marks stands here, or an empty string."""
        while True:
            found = marks.match(self.text, at)
            if found is not None:
                return found[0]
            if self.ended or len(self.text) - at >= marks.max_length:
                return ""
            rest = self.text[at:]
            if rest and rest not in marks.starts:
                return ""
            yield

    def mark_after_blank(self, at: int, marks: MarkSet) -> Wait[tuple[int, str]]:
        """Where the white space from here ends, and which of the marks stands there."""
        while True:
            if self.text[at : at + 1] in WHITE:
                at = end_of(BLANK.match(self.text, at), at)
            found = marks.match(self.text, at)
            if found is not None:
                return at, found[0]
            rest = len(self.text) - at
            if self.ended or rest >= marks.max_length:
                return at, ""
            if rest and self.text[at:] not in marks.starts:
                return at, ""
            yield

    def find(self, mark: str, at: int) -> Wait[int]:
        """Where the mark stands next, or -1."""
        while True:
            found = self.text.find(mark, at)
            if found >= 0 or self.ended:
                return found
            at = max(at, len(self.text) - len(mark) + 1)
            yield

    def first(self, marks: MarkSet, at: int) -> Wait[Found | None]:
        """The next of the marks."""
        while True:
            found = marks.find(self.text, at)
            if found is not None or self.ended:
                return found
            at = max(at, len(self.text) - marks.max_length + 1)
            yield

    def run(self, pattern: re.Pattern[str], at: int, limit: int) -> Wait[str]:
        """The longest run of a pattern of single characters from here, cut at `limit`."""
        while True:
            size = end_of(pattern.match(self.text, at), at) - at
            if size >= limit or at + size < len(self.text) or self.ended:
                return self.text[at : at + min(size, limit)]
            yield

    def balanced(self, at: int) -> Wait[int]:
        """Where the bracket that opens here is closed (the place after it), or -1.

        Strings in either quote are passed over. A closing bracket of the wrong kind counts.
        """
        depth, start = 0, at
        while True:
            found = BRACKET.search(self.text, at)
            if found is None:
                at = len(self.text)
                if self.ended:
                    self.wasted += at - start
                    return -1
                yield
                continue
            mark, at, found = found[0], found.end(), None
            if mark in QUOTED:
                at = yield from self.quoted(mark, at)
                if at < 0:
                    self.wasted += len(self.text) - start
                    return -1
                continue
            depth += 1 if mark in "{[(" else -1
            if depth == 0:
                return at

    def quoted(self, quote: str, at: int) -> Wait[int]:
        """Where the string within these quotes ends (the place after its quote), or -1."""
        while True:
            end = end_of(QUOTED[quote].match(self.text, at), at)
            if end < len(self.text) and self.text[end] == quote:
                return end + 1
            if self.ended:
                return -1
            # A backslash at the very end waits for what it escapes.
            at = end
            yield
