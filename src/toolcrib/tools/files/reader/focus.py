"""The regions of a file that speak of some words, with their line numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from toolcrib.core.errors import BadInput, NoResults
from toolcrib.files.content.lines import TextFile
from toolcrib.files.content.outline import FocusWord, FoundRegions, Region, find_regions, words_of
from toolcrib.text.tokens import estimate
from toolcrib.tools.files.reader.pages import facts
from toolcrib.tools.files.reader.request import Part

AROUND = 3
"""Lines shown before and after a region."""
SEARCHED = 64_000_000
"""Bytes of a file that are looked through."""
WIDE = 400
"""Characters of a line that is shown whole."""
LONG = 4000
"""Characters from which a line is a text of its own, with more places than one."""
PLACES = 8
"""Places shown of such a line."""
BEST = 60
"""Regions among which it is chosen."""
WEAK = 0.25
"""A region that scores below this share of the best one is named and not shown."""
ALSO = 12
"""Regions named that are not shown."""
MARK = 25
"""Tokens of the line between two regions."""
CLOSE = 90
"""Tokens of the last line."""


@dataclass(frozen=True, slots=True)
class Span:
    """Lines that are shown, from `first` to `last`."""

    first: int
    last: int
    region: Region


def focus_on(
    text: TextFile, display: str, size: int, focus: str, room: int, check: Callable[[], None]
) -> Part:
    """The best regions of a file within a budget, in the order of the file.

    Raises:
        NoResults: no line has any of the words.
        BadInput: there are no words.
    """
    words = words_of(focus)
    if not words:
        raise BadInput("'focus' holds no words.", hint="Name what to look for in the file.")
    found = find_regions(text.each_line(SEARCHED), words, check)
    if not found.regions:
        raise NoResults(
            f"No line of {display} has {_quoted([w.text for w in words])}.",
            hint="Use other words, or leave 'focus' out to read the file.",
        )
    least = found.regions[0].score * WEAK
    spans = [
        Span(max(r.first - AROUND, 1), min(r.last + AROUND, found.lines), r)
        for r in found.regions[:BEST]
        if r.score >= least
    ]
    lines = _lines(text, spans, words)
    chosen = _chosen(spans, lines, room - CLOSE)
    shown = _shown(chosen, lines, found)
    left = [r for r in found.regions if all(r is not span.region for span in chosen)]
    footer = _footer(found, left, len(found.regions) - len(left))
    data = facts(text, size) | {
        "path": display,
        "total_lines": None if text.size > SEARCHED else found.lines,
        "regions": [{"start": span.first, "end": span.last} for span in chosen],
        "regions_found": len(found.regions),
        "missing": list(found.missing),
    }
    more = None
    if left:
        first = max(left[0].first - AROUND, 1)
        more = {"path": display, "start": first, "end": left[0].last + AROUND, "numbers": True}
    return Part(f"{shown}\n{footer}", data, more)


def _quoted(words: Sequence[str]) -> str:
    return " or ".join(f"'{word}'" for word in words)


def _lines(text: TextFile, spans: list[Span], words: Sequence[FocusWord]) -> dict[int, str]:
    """The lines of all spans, each cut around the words where it is long."""
    wanted = {n for span in spans for n in range(span.first, span.last + 1 + AROUND)}
    last = max(wanted)
    found = {}
    for number, line in enumerate(text.each_line(SEARCHED), 1):
        if number in wanted:
            found[number] = _clipped(line, words)
        if number >= last:
            break
    return found


def _clipped(line: str, words: Sequence[FocusWord]) -> str:
    """A long line around the first places of the words in it."""
    if len(line) <= WIDE:
        return line
    each = WIDE // 2 if len(line) > LONG else WIDE // len(words)
    most = PLACES if len(line) > LONG else 1
    places = [m.start() for word in words for m in islice(word.pattern.finditer(line), most)]
    cut = [(max(at - each // 3, 0), at + each * 2 // 3) for at in sorted(places)[:PLACES]]
    cut = cut or [(0, WIDE)]
    pieces, reached = [], 0
    for begin, end in cut:
        start = max(begin, reached)
        if start < end:
            pieces.append(("\u2026" if start > reached else "") + line[start:end])
            reached = end
    left = len(line) - reached
    return "".join(pieces) + (f"\u2026 (column {reached:,} of {len(line):,})" if left > 0 else "")


def _chosen(spans: list[Span], lines: dict[int, str], room: int) -> list[Span]:
    """The best spans that fit; of the best one a part, if nothing else does."""
    chosen: list[Span] = []
    taken: set[int] = set()
    for span in spans:
        new = [n for n in range(span.first, span.last + 1) if n in lines and n not in taken]
        price = estimate("\n".join(f"{n}|{lines[n]}" for n in new)) + MARK
        if price <= room:
            room -= price
            chosen.append(span)
            taken.update(new)
    if not chosen:
        best = spans[0]
        last = first = best.region.first
        while last < best.region.last and last - first < room // 12:
            last += 1
        lines[first] = lines[first][: max(room * 2, 20)]
        chosen = [Span(first, last if _price(lines, first, last) <= room else first, best.region)]
    return chosen


def _price(lines: dict[int, str], first: int, last: int) -> int:
    return estimate("\n".join(f"{n}|{lines.get(n, '')}" for n in range(first, last + 1))) + MARK


def _shown(chosen: list[Span], lines: dict[int, str], found: FoundRegions) -> str:
    out: list[str] = []
    done = 0
    for span in sorted(chosen, key=lambda s: s.first):
        first = max(span.first, done + 1)
        between = [f"{n}|{lines[n]}" for n in range(done + 1, first) if n in lines]
        if len(between) == first - done - 1 and estimate("\n".join(between)) < MARK:
            out += between
        else:
            out.append(_gap(done + 1, first - 1, span))
        out += [f"{n}|{lines[n]}" for n in range(first, span.last + 1) if n in lines]
        done = max(done, span.last)
    if done < found.lines:
        out.append(_gap(done + 1, found.lines, None))
    return "\n".join(out)


def _gap(first: int, last: int, span: Span | None) -> str:
    which = f"line {first:,}" if first == last else f"lines {first:,}-{last:,}"
    under = span.region.under if span else None
    inside = ""
    if span and under and under[0] < span.first:
        inside = f"; below line {under[0]:,}: {re.sub(r'[{ ]+$', '', under[1])}"
    return f"[{which} left out{inside}]"


def _footer(found: FoundRegions, left: list[Region], shown: int) -> str:
    notes = [f"{shown:,} of {len(found.regions):,} places shown, file of {found.lines:,} lines"]
    if found.partly:
        notes[0] += ", there may be more places"
    if left:
        also = ", ".join(_place(region) for region in left[:ALSO])
        notes.append(f"also at {also}{' and more' if len(left) > ALSO else ''}")
    if found.missing:
        notes.append(f"no line has {_quoted(found.missing)}")
    return f"[{'; '.join(notes)}]"


def _place(region: Region) -> str:
    return f"{region.first}-{region.last}" if region.last > region.first else f"{region.first}"
