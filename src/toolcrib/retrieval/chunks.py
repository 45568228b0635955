"""Texts cut into chunks: under their headings, with offsets, lines and pages.

Every character that is not blank is in a chunk, and the work grows with the text alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolcrib.core.errors import BadInput
from toolcrib.text.passages import Heading

CHUNK_CHARS = 1200
OVERLAP_CHARS = 200
MIN_CHUNK_CHARS = 100
MAX_CHUNK_CHARS = 8000
MAX_HEADINGS = 6
MAX_TITLE_CHARS = 120
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|(?<=[\u3002\uff01\uff1f\uff1b])")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class TextChunk:
    """`text[start:end]` of a whole text, without blanks at its ends.

    Lines count from 1. Pages are 0 where the text has none.
    """

    text: str
    start: int = 0
    end: int = 0
    headings: tuple[str, ...] = ()
    line: int = 1
    last_line: int = 1
    page: int = 0
    last_page: int = 0


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """How many characters a chunk has at most, and how many it shares with the one before.

    Raises:
        BadInput: out of bounds.
    """

    chars: int = CHUNK_CHARS
    overlap: int = OVERLAP_CHARS

    def __post_init__(self) -> None:
        if not MIN_CHUNK_CHARS <= self.chars <= MAX_CHUNK_CHARS:
            raise BadInput(
                f"A chunk has {MIN_CHUNK_CHARS:,} to {MAX_CHUNK_CHARS:,} characters, "
                f"not {self.chars:,}."
            )
        if not 0 <= self.overlap <= self.chars // 2:
            raise BadInput(
                f"Chunks of {self.chars:,} characters overlap by 0 to {self.chars // 2:,}, "
                f"not {self.overlap:,}."
            )


def split_text(
    text: str,
    size: ChunkSize | None = None,
    headings: Sequence[Heading] = (),
    pages: Sequence[tuple[int, int]] = (),
) -> list[TextChunk]:
    """The chunks of a text, in its order.

    Args:
        text: all of it.
        size: see there.
        headings: parts of the text, in its order; a chunk begins at one where it can.
        pages: offset and number of each page, in the order of the text; a chunk stays on one.
    """
    size = size or ChunkSize()
    cutter = _Cutter(text, size, headings, pages)
    found: list[TextChunk] = []
    line = line_at = 0
    for start, end in cutter.spans():
        line += text.count("\n", line_at, start)
        line_at = start
        last_line = line + text.count("\n", start, end)
        found.append(
            TextChunk(
                text[start:end],
                start,
                end,
                cutter.path(start),
                line + 1,
                last_line + 1,
                cutter.page(start),
                cutter.page(end - 1),
            )
        )
    return found


class _Cutter:
    """Where one text is cut."""

    def __init__(
        self,
        text: str,
        size: ChunkSize,
        headings: Sequence[Heading],
        pages: Sequence[tuple[int, int]],
    ) -> None:
        self._text = text
        self._size = size
        self._headings = headings
        self._heading_starts = [heading.start for heading in headings]
        self._pages = pages
        self._page_starts = [start for start, _ in pages]
        self._path: list[Heading] = []
        self._seen = 0

    def spans(self) -> Iterator[tuple[int, int]]:
        """Start and end of each chunk."""
        text, at, end = self._text, 0, 0
        while True:
            at = _after_blanks(text, at)
            if at >= len(text):
                return
            before = end
            end, fresh = self._end(at)
            stop = at + len(text[at:end].rstrip())
            if stop > before:  # else the overlap held all that was left
                yield at, stop
            at = end if fresh or end >= len(text) else self._overlapping(at, end)

    def path(self, start: int) -> tuple[str, ...]:
        """The headings above an offset, from the outermost in; offsets must grow."""
        while self._seen < len(self._headings) and self._heading_starts[self._seen] <= start:
            heading = self._headings[self._seen]
            while self._path and self._path[-1].level >= heading.level:
                self._path.pop()
            self._path.append(heading)
            self._seen += 1
        return tuple(heading.text[:MAX_TITLE_CHARS] for heading in self._path[-MAX_HEADINGS:])

    def page(self, offset: int) -> int:
        """The number of the page at an offset."""
        place = bisect_right(self._page_starts, offset) - 1
        return self._pages[place][1] if place >= 0 else 0

    def _end(self, at: int) -> tuple[int, bool]:
        """Where a chunk ends, and whether something new begins there."""
        limit = at + self._size.chars
        page = self._first_within(self._page_starts, at + 1, limit)
        part = self._first_within(self._heading_starts, at + self._size.chars // 2, limit)
        stops = [stop for stop in (page, part) if stop]
        if stops:
            return min(stops), True
        if limit >= len(self._text):
            return len(self._text), True
        least = at + self._size.chars // 2
        window = self._text[least:limit]
        for boundary in (_PARAGRAPH, _SENTENCE, _SPACE):
            ends = [found.end() for found in boundary.finditer(window)]
            if ends:
                return least + ends[-1], False
        return limit, False

    def _overlapping(self, at: int, end: int) -> int:
        """Where the next chunk begins, so that it shares some of the one before."""
        if not self._size.overlap:
            return end
        # A quarter of each chunk is new, so that the work grows with the text alone.
        least = max(end - self._size.overlap, at + self._size.chars // 4)
        window = self._text[least:end]
        for boundary in (_PARAGRAPH, _SENTENCE, _SPACE):
            first = boundary.search(window)
            if first is not None and first.end() < len(window):
                return least + first.end()
        return least

    @staticmethod
    def _first_within(starts: Sequence[int], least: int, limit: int) -> int:
        place = bisect_left(starts, least)
        return starts[place] if place < len(starts) and starts[place] <= limit else 0


def _after_blanks(text: str, at: int) -> int:
    blank = _SPACE.match(text, at)
    return blank.end() if blank else at
