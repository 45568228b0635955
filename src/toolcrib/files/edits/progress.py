"""Several edits of one text: what was replaced so far, and the text as it is then.

Each edit is looked for in the text as the ones before left it. Where nothing was written
near its place that is the place in the text before all of them, so that what is known of
that text serves every edit, and the text afterwards is rarely made before the end.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.haystack import Haystack


class Ranges:
    """Parts of a text that do not overlap, in order: where something was written."""

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._ranges = list(ranges)

    def add(self, start: int, end: int) -> None:
        """Add one that meets none of the others."""
        insort(self._ranges, (start, end))

    def meet(self, start: int, end: int) -> bool:
        """Whether a place overlaps one of them, or has an empty one inside."""
        at = max(bisect_left(self._ranges, (start, start)) - 1, 0)
        while at < len(self._ranges) and self._ranges[at][0] < end:
            a, b = self._ranges[at]
            if (start < b and end > a) or (a == b and start < a < end):
                return True
            at += 1
        return False


class Progress:
    """Where several edits of one text stand.

    Args:
        text: before all of them.
        many: whether there are many edits.
    """

    def __init__(self, text: str, *, many: bool = False) -> None:
        self.hay = Haystack(text, many=many)
        self.taken = Ranges()
        self._splices: list[tuple[int, int, str]] = []
        self._now: tuple[str, Ranges] | None = (text, Ranges())

    @property
    def splices(self) -> list[Splice]:
        """All changes so far, of the text before all edits, in order."""
        return [Splice(*splice) for splice in self._splices]

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self._made[0]

    @property
    def written(self) -> Ranges:
        """What of it was written by edits."""
        return self._made[1]

    @property
    def _made(self) -> tuple[str, Ranges]:
        if self._now is None:
            self._now = self._applied()
        return self._now

    def holds(self, splices: Sequence[Splice], old: str, *, exact: bool) -> bool:
        """Whether places in the text before all edits are what an edit means now.

        Nothing was written in the lines around them, and where the quote does not stand
        there as it is, it does not stand in what was written either.
        """
        if not self._splices:
            return True
        return all(map(self._is_untouched, splices)) and (exact or old not in self.text)

    def _is_untouched(self, splice: Splice) -> bool:
        text = self.hay.text
        low = text.rfind("\n", 0, splice.start) + 1
        high = text.find("\n", splice.end)
        high = len(text) if high < 0 else high
        if splice.end and text[splice.end - 1] == "\n":
            high = splice.end
        else:
            high += 1
        if self.taken.meet(low, max(high, low + 1)):
            return False
        return not low or self._ends_line(low)

    def _ends_line(self, low: int) -> bool:
        """Whether a line still begins here."""
        at = bisect_left(self._splices, (low,)) - 1
        if at < 0 or self._splices[at][1] < low:
            return True
        return self._splices[at][1] == low and self._splices[at][2].endswith("\n")

    def add(self, splices: Iterable[Splice]) -> None:
        """Take down changes of the text before all edits."""
        for splice in splices:
            insort(self._splices, (splice.start, splice.end, splice.new))
            self.taken.add(splice.start, splice.end)
        self._now = None

    def add_now(self, splices: Sequence[Splice]) -> None:
        """Take down changes of the text as it is now."""
        self.add([self._original(splice) for splice in splices])

    def _original(self, splice: Splice) -> Splice:
        moved = 0
        for start, end, new in self._splices:
            if start + moved >= splice.end:
                break
            moved += len(new) - (end - start)
        return Splice(splice.start - moved, splice.end - moved, splice.new)

    def _applied(self) -> tuple[str, Ranges]:
        parts: list[str] = []
        ranges: list[tuple[int, int]] = []
        text, done, moved = self.hay.text, 0, 0
        for start, end, new in self._splices:
            parts += [text[done:start], new]
            ranges.append((start + moved, start + moved + len(new)))
            moved += len(new) - (end - start)
            done = end
        return "".join([*parts, text[done:]]), Ranges(ranges)
