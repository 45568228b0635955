"""A text that is still being written, read by generators that wait for more.

Every method that looks ahead is a generator: it yields while the answer could still change
with what comes, and returns it once it cannot. So what is found does not depend on how the
text was cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")
Wait = Generator[None, None, T]
"""Yields while it needs more text, then returns."""

BLANK = re.compile(r"[ \t\r\n]*")
BRACKET = re.compile(r"[\"'{}\[\]()]")
QUOTED = {
    '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*+', re.DOTALL),
    "'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*+", re.DOTALL),
}
LONGEST_MARK = 64
ENOUGH = 500_000
"""How many characters may be read in vain, in all, before ends are looked for more cheaply."""


class Growing:
    """The text so far, and whether it is all."""

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

    def blank(self, at: int) -> Wait[int]:
        """Where the white space from here ends."""
        while True:
            found = BLANK.match(self.text, at)
            at = found.end() if found else at
            if at < len(self.text) or self.ended:
                return at
            yield

    def room(self, at: int, count: int) -> Wait[str]:
        """The next characters, fewer only at the end of the text."""
        while len(self.text) < at + count and not self.ended:
            yield
        return self.text[at : at + count]

    def at(self, at: int, marks: tuple[str, ...]) -> Wait[str]:
        """Which of the marks stands here, or an empty string."""
        while True:
            text = self.text
            if text.startswith(marks, at):
                return next(mark for mark in marks if text.startswith(mark, at))
            if self.ended or len(text) - at >= LONGEST_MARK:
                return ""
            rest = text[at:]
            if not any(mark.startswith(rest) for mark in marks):
                return ""
            yield

    def find(self, mark: str, at: int) -> Wait[int]:
        """Where the mark stands next, or -1."""
        while True:
            found = self.text.find(mark, at)
            if found >= 0 or self.ended:
                return found
            at = max(at, len(self.text) - len(mark) + 1)
            yield

    def first(self, marks: re.Pattern[str], at: int, longest: int) -> Wait[re.Match[str] | None]:
        """The next of some literal marks, none of which begins another."""
        while True:
            found = marks.search(self.text, at)
            if found is not None or self.ended:
                return found
            at = max(at, len(self.text) - longest + 1)
            yield

    def run(self, pattern: re.Pattern[str], at: int, most: int) -> Wait[str]:
        """The longest run of a pattern of single characters from here, cut at `most`."""
        while True:
            found = pattern.match(self.text, at)
            size = len(found[0]) if found else 0
            if size >= most or at + size < len(self.text) or self.ended:
                return self.text[at : at + min(size, most)]
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
            mark, at = found[0], found.end()
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
            found = QUOTED[quote].match(self.text, at)
            end = found.end() if found else at
            if end < len(self.text) and self.text[end] == quote:
                return end + 1
            if self.ended:
                return -1
            # A backslash at the very end waits for what it escapes.
            at = end
            yield
