"""The places of a page that were found, grown into excerpts until a budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from toolcrib.kit.passages import Heading
from toolcrib.kit.text import cut
from toolcrib.kit.tokens import estimate
from toolcrib.tools.web.find import Finding, Term, first_place
from toolcrib.tools.web.outline import heading_at

MARK = 24
"""Tokens that the line over an excerpt takes, about."""


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


@dataclass(slots=True)
class _Chosen:
    """Chunks that fit so far."""

    text: str
    finding: Finding
    left: int
    taken: set[int] = field(default_factory=set)

    def take(self, number: int) -> bool:
        """Add a chunk if it is none of the page's edges and fits."""
        chunks = self.finding.chunks
        if not 0 <= number < len(chunks) or number in self.taken:
            return True
        chunk = chunks[number]
        apart = number - 1 not in self.taken and number + 1 not in self.taken
        price = estimate(self.text[chunk.start : chunk.end]) + (MARK if apart else 1)
        if price > self.left:
            return False
        self.left -= price
        self.taken.add(number)
        return True


def excerpts(
    text: str,
    finding: Finding,
    terms: Sequence[Term],
    headings: Sequence[Heading],
    room: int,
    check: Callable[[], None],
) -> tuple[list[Excerpt], int]:
    """What is shown of a page within a budget, and how many found chunks are in it.

    First the chunks that were found, best first; then what stands around them, nearest
    first. The excerpts are in the order of the page.
    """
    chosen = _Chosen(text, finding, room)
    starts = [h.start for h in headings]
    for number in finding.ranked:
        if not chosen.take(number):
            break
    met = [n for n in finding.ranked if n in chosen.taken]
    if not met and finding.ranked:
        chunk = finding.chunks[finding.ranked[0]]
        at = first_place(text, chunk, terms)
        at = max(chunk.start, at - 20)
        piece, _ = cut(text[at : chunk.end], max(room - MARK, 20))
        return [Excerpt(at, at + len(piece), heading_at(headings, starts, at))], 1
    _grow(chosen, met, check)
    return _joined(chosen, headings, starts), len(met)


def _grow(chosen: _Chosen, met: Sequence[int], check: Callable[[], None]) -> None:
    """Take neighbours at growing distance, until the next one does not fit."""
    most = len(chosen.finding.chunks)
    for radius in range(1, most):
        check()
        grown = False
        for number in met:
            for other in (number - radius, number + radius):
                if 0 <= other < most and other not in chosen.taken:
                    if not chosen.take(other):
                        return
                    grown = True
        if not grown and len(chosen.taken) == most:
            return


def _joined(chosen: _Chosen, headings: Sequence[Heading], starts: Sequence[int]) -> list[Excerpt]:
    chunks = chosen.finding.chunks
    found: list[Excerpt] = []
    for number in sorted(chosen.taken):
        chunk = chunks[number]
        if found and found[-1].end == chunk.start:
            found[-1] = Excerpt(found[-1].start, chunk.end, found[-1].heading)
        else:
            found.append(Excerpt(chunk.start, chunk.end, heading_at(headings, starts, chunk.start)))
    return found
