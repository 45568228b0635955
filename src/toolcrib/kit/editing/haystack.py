"""The text of a file, made ready to be searched line by line."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from functools import cached_property
from itertools import accumulate

from toolcrib.kit.editing.indentation import lead_of, step_of
from toolcrib.kit.editing.spelling import fold


class Haystack:
    """A text and what is known of its lines.

    Attributes:
        text: all of it, each line end a line feed.
    """

    def __init__(self, text: str) -> None:
        self.text = text

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


def loose(line: str) -> str:
    """A line without what a quote may get wrong: outer and doubled space, look-alikes."""
    return " ".join(fold(line).split())
