"""The places of a page that were found, grown into excerpts until a budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from toolcrib.text.passages import Heading
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut
from toolcrib.tools.web.view.find import Chunk, Finding, Term, find, first_place
from toolcrib.tools.web.view.outline import heading_at

MARK = 24
"""Tokens that the line over an excerpt takes, about."""
BEFORE = 20
"""Characters shown before a place in a paragraph that is too long to be shown."""
LEAST_PIECE = 20
"""Tokens of such a paragraph at least."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`text[start:end]` of a page, and the headings that it stands under."""

    start: int
    end: int
    heading: str = ""

    def shown(self, text: str) -> str:
        """The excerpt with a line that says where it is."""
        under = f", under '{self.heading}'" if self.heading else ""
        return f"[from {self.start}{under}]\n{text[self.start : self.end].strip()}"


@dataclass(frozen=True, slots=True)
class Selection:
    """What is shown: excerpts in the order of the page, and how many found chunks they hold.

    `rest` is where the first one begins that is not shown; None where all are.
    """

    excerpts: tuple[Excerpt, ...]
    met: int
    rest: int | None


def excerpts(
    text: str,
    finding: Finding,
    terms: Sequence[Term],
    headings: Sequence[Heading],
    room: int,
    check: Callable[[], None],
    *,
    in_order: bool,
) -> Selection:
    """What is shown of a page within a budget.

    First the chunks that were found, a heading together with what stands below it; then
    what stands around them, nearest first.

    Args:
        text: the page.
        finding: what was found in it; at least one chunk.
        terms: what was looked for.
        headings: those of the page.
        room: tokens for all of it.
        check: called between the steps; it raises when the work should stop.
        in_order: the first chunks of the page, as somebody reads on; else the best.
    """
    starts = [h.start for h in headings]
    order = sorted(finding.ranked) if in_order else list(finding.ranked)
    chosen = _chosen(text, finding, order, frozenset(starts), room, in_order=in_order)
    if not in_order and 0 in order and 0 not in chosen.taken and not finding.chunks[0].start:
        # Reading on begins behind the offset 0, so what stands there is shown now.
        order = [0, *(n for n in order if n)]
        chosen = _chosen(text, finding, order, frozenset(starts), room, in_order=False)
    if not chosen.taken:
        return _piece(text, finding, terms, chosen.unit(order[0]), headings, room, check)
    _grow(chosen, [n for n in order if n in chosen.taken], check)
    chosen.drop_bare_headings()
    left = [n for n in order if n not in chosen.taken]
    rest = finding.chunks[min(left)].start if left else None
    return Selection(_joined(chosen, headings, starts), len(order) - len(left), rest)


@dataclass(slots=True)
class _Chosen:
    """Chunks that fit so far."""

    text: str
    finding: Finding
    headings: frozenset[int]
    left: int
    taken: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)

    def unit(self, number: int) -> list[int]:
        """A chunk; where it is a heading, with what stands below it."""
        last = len(self.finding.chunks) - 1
        unit = [number]
        while self._is_heading(unit[-1]) and unit[-1] < last:
            unit.append(unit[-1] + 1)
        return unit

    def take(self, numbers: Sequence[int]) -> bool:
        """Add chunks that follow each other, if all of them fit."""
        wanted = [n for n in numbers if n not in self.taken]
        if not wanted:
            return True
        chunks = self.finding.chunks
        apart = numbers[0] - 1 not in self.taken and numbers[-1] + 1 not in self.taken
        apart = apart and len(wanted) == len(numbers)
        price = sum(estimate(self.text[chunks[n].start : chunks[n].end]) + 1 for n in wanted)
        price += MARK if apart else 0
        if price > self.left:
            return False
        self.left -= price
        self.taken.update(wanted)
        return True

    def drop_bare_headings(self) -> None:
        """Leave out headings that growing brought without what stands below them."""
        last = len(self.finding.chunks) - 1
        for number in sorted(self.taken - self.kept, reverse=True):
            if number < last and number + 1 not in self.taken and self._is_heading(number):
                self.taken.remove(number)

    def _is_heading(self, number: int) -> bool:
        chunk = self.finding.chunks[number]
        if chunk.start not in self.headings:
            return False
        return "\n" not in self.text[chunk.start : chunk.end].strip()


def _chosen(
    text: str,
    finding: Finding,
    order: Sequence[int],
    headings: frozenset[int],
    room: int,
    *,
    in_order: bool,
) -> _Chosen:
    chosen = _Chosen(text, finding, headings, room)
    for number in order:
        unit = chosen.unit(number)
        if chosen.take(unit):
            chosen.kept.update(unit)
        elif in_order or not chosen.taken or chosen.left < LEAST_PIECE:
            # Of the best ones, others may fit that are shorter.
            break
    return chosen


def _piece(
    text: str,
    finding: Finding,
    terms: Sequence[Term],
    unit: Sequence[int],
    headings: Sequence[Heading],
    room: int,
    check: Callable[[], None],
) -> Selection:
    """The best place of a chunk that is too long for the room."""
    chunk = Chunk(finding.chunks[unit[0]].start, finding.chunks[unit[-1]].end)
    at = chunk.start if len(unit) > 1 else first_place(text, chunk, terms) - BEFORE
    at = max(chunk.start, at)
    piece, _ = cut(text[at : chunk.end], max(room - MARK, LEAST_PIECE))
    end = at + len(piece)
    left = [n for n in finding.ranked if n != unit[0]]
    places = [finding.chunks[n].start for n in left if finding.chunks[n].start >= end]
    places += [finding.chunks[n].start for n in left if finding.chunks[n].end <= at]
    below = finding.chunks[unit[-1]]
    more = find(text, end, below.end, terms, check) if end < below.end else None
    if more is not None and more.ranked and (finding.partly or not more.partly):
        places.append(end)
    starts = [h.start for h in headings]
    shown = Excerpt(at, end, heading_at(headings, starts, at))
    return Selection((shown,), 1, min(places, default=None))


def _grow(chosen: _Chosen, met: Sequence[int], check: Callable[[], None]) -> None:
    """Take neighbours at growing distance, until the next one does not fit."""
    most = len(chosen.finding.chunks)
    for radius in range(1, most):
        check()
        grown = False
        for number in met:
            for other in (number - radius, number + radius):
                if 0 <= other < most and other not in chosen.taken:
                    if not chosen.take([other]):
                        return
                    grown = True
        if not grown and len(chosen.taken) == most:
            return


def _joined(
    chosen: _Chosen, headings: Sequence[Heading], starts: Sequence[int]
) -> tuple[Excerpt, ...]:
    chunks = chosen.finding.chunks
    found: list[Excerpt] = []
    for number in sorted(chosen.taken):
        chunk = chunks[number]
        if found and found[-1].end == chunk.start:
            found[-1] = Excerpt(found[-1].start, chunk.end, found[-1].heading)
        else:
            found.append(Excerpt(chunk.start, chunk.end, heading_at(headings, starts, chunk.start)))
    return tuple(found)
