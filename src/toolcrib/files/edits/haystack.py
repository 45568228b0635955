"""The text of a file, made ready to be searched line by line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from functools import cached_property
from itertools import accumulate

from toolcrib.files.edits.indentation import lead_of, step_of
from toolcrib.files.edits.lookalikes import fold, fold_each

_WORD = re.compile(r"\w+")
MOST_LOOKED_AT = 2000
"""Places of a word that are looked at; for one that is there more often the text is searched."""


class Haystack:
    """A text and what is known of its lines.

    Attributes:
        text: all of it, each line end a line feed.
        many: whether it is searched so often that its words are worth an index.
    """

    def __init__(self, text: str, *, many: bool = False) -> None:
        self.text = text
        self.many = many

    def places_of(self, old: str) -> list[int]:
        """Where a quote stands, overlapping ones included."""
        if not self.many:
            return places_of(self.text, old)
        # A word at the end of the quote may be a part of one of the text.
        inner = [m for m in _WORD.finditer(old) if m.start() and m.end() < len(old)]
        rarest = min(inner, key=lambda m: len(self.words.get(m[0], ())), default=None)
        if rarest is None:
            return places_of(self.text, old)
        known = self.words.get(rarest[0], ())
        if len(known) > MOST_LOOKED_AT:
            return places_of(self.text, old)
        starts = (at - rarest.start() for at in known)
        return [at for at in starts if at >= 0 and self.text.startswith(old, at)]

    @cached_property
    def words(self) -> dict[str, list[int]]:
        """Where each word of the text begins."""
        found: dict[str, list[int]] = defaultdict(list)
        for match in _WORD.finditer(self.text):
            found[match[0]].append(match.start())
        return found

    @cached_property
    def folded(self) -> str:
        """The text with plain characters for look-alikes, of the same length."""
        return fold_each(self.text)

    @cached_property
    def lines(self) -> list[str]:
        """Without line ends; what follows the last line end is no line if it is empty."""
        lines = self.text.split("\n")
        if not lines[-1]:
            lines.pop()
        return lines

    @cached_property
    def starts(self) -> list[int]:
        """Where each line starts, and where one after the last would."""
        return list(accumulate((len(line) + 1 for line in self.lines), initial=0))

    @cached_property
    def keys(self) -> list[str]:
        """Each line as loosely as lines are ever compared."""
        return [loose(line) for line in self.lines]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The indices of the lines of each key."""
        found: dict[str, list[int]] = defaultdict(list)
        for index, key in enumerate(self.keys):
            found[key].append(index)
        return found

    @cached_property
    def step(self) -> int:
        """The columns by which the file mostly goes deeper; 0 where it does not by spaces."""
        return step_of(lead_of(line) for line in self.lines if line.strip())

    @cached_property
    def kind(self) -> str:
        """The character by which the file is mostly indented; "" where it is not."""
        tabs = sum(line.startswith("\t") for line in self.lines)
        spaces = sum(line.startswith("  ") for line in self.lines)
        return ("\t" if tabs > spaces else " ") if tabs or spaces else ""

    def line_at(self, position: int) -> int:
        """The index of the line that holds a place of the text."""
        return max(min(bisect_right(self.starts, position) - 1, len(self.lines) - 1), 0)

    def end_of(self, index: int) -> int:
        """Where a line ends, its line end left out."""
        return self.starts[index] + len(self.lines[index])


def places_of(text: str, old: str) -> list[int]:
    """Where a quote stands, overlapping ones included."""
    found: list[int] = []
    at = text.find(old)
    while at >= 0:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def loose(line: str) -> str:
    """A line without what a quote may get wrong: outer and doubled space, look-alikes."""
    return " ".join(fold(line).split())
