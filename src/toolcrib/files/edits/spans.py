"""Whole lines of a file that a quote means, although it is not exactly what stands there.

Each line of the quote must be a line of the file but for these differences: trailing
space, indentation (of the same shape), the width of inner space outside of quotation
marks, and characters that look alike. Nothing is ever taken because it is similar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from toolcrib.core.errors import TooLarge
from toolcrib.files.edits.haystack import Haystack, loose
from toolcrib.files.edits.indentation import Indentation, Pair, Units, lead_of, unit_of
from toolcrib.files.edits.lookalikes import fold, spaced

LEAST = 8
"""Characters that are not space which a quote must have to be found by these ways."""
LEAST_WORDS = 3
MOST_COMPARED = 500_000
"""Lines that are looked at closely for one quote."""
NAMES = {
    "numbers": "line numbers",
    "trailing": "trailing space",
    "indent": "indentation",
    "inner": "inner space",
    "unicode": "look-alike characters",
}
_QUOTES = "\"'`"
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])(?<!\b[bfnruxeBFNRUXE])(?<!\b[bfrBFR]{2})'(?=[^\W\d_])")
"""One within a word; behind the sign of a string, as in `f'x'`, it is a quotation mark."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Lines of the file that a quote may mean, and in which ways the two differ."""

    first: int
    last: int
    needs: frozenset[str]
    indentation: Indentation


def significant(text: str) -> bool:
    """Whether a quote says enough to be looked for in other ways than exactly."""
    solid = "".join(text.split())
    return len(solid) >= LEAST and sum(map(str.isalnum, solid)) >= LEAST_WORDS


def candidates(hay: Haystack, old: Sequence[str], new: Sequence[str]) -> list[Candidate]:
    """The nearest candidates for a quote; more than one means that it is ambiguous.

    Of two candidates the one wins that differs in fewer ways, all of them ways of the other.
    """
    units = Units(unit_of(lead_of(line) for line in (*old, *new)), hay.step, hay.kind)
    most = MOST_COMPARED // max(len(old), 1) + 1
    firsts = list(islice(_aligned(hay, old), most + 1))
    if len(firsts) > most:
        raise TooLarge(
            f"old has {len(old):,} lines and may be meant at more than {most:,} places.",
            hint="Use fewer lines, with one that is there only once.",
        )
    found = [c for first in firsts if (c := _candidate(hay, old, first, units))]
    kinds = {c.needs for c in found}
    return [c for c in found if not any(_nearer(needs, c.needs) for needs in kinds)]


def _nearer(a: frozenset[str], b: frozenset[str]) -> bool:
    core_a, core_b = a - {"trailing"}, b - {"trailing"}
    return core_a < core_b or (core_a == core_b and a < b)


def _aligned(hay: Haystack, old: Sequence[str]) -> Iterator[int]:
    """The first lines of all runs that are loosely the same as a quote."""
    keys = [loose(line) for line in old]
    solid = [index for index, key in enumerate(keys) if key]
    if not solid:
        return
    rarest = min(solid, key=lambda index: len(hay.places.get(keys[index], ())))
    for place in hay.places.get(keys[rarest], ()):
        first = place - rarest
        if first >= 0 and hay.keys[first : first + len(keys)] == keys:
            yield first


def _candidate(hay: Haystack, old: Sequence[str], first: int, units: Units) -> Candidate | None:
    there = hay.lines[first : first + len(old)]
    needs: set[str] = set()
    pairs: list[Pair] = []
    for sent, line in zip(old, there, strict=True):
        if sent.strip():
            pairs.append((lead_of(spaced(sent)), lead_of(spaced(line))))
        if sent == line:
            continue
        ways = _ways(sent, line)
        if ways is None:
            return None
        needs |= ways
    indentation = Indentation(pairs, units)
    if not indentation.fits:
        return None
    if not indentation.same:
        needs.add("indent")
    return Candidate(first, first + len(old) - 1, frozenset(needs), indentation)


def _ways(sent: str, line: str) -> set[str] | None:
    """How two lines differ apart from their indentation; None where they differ for good."""
    ways: set[str] = set()
    if len(sent) - len(sent.rstrip()) != len(line) - len(line.rstrip()):
        ways.add("trailing")
    if not sent.strip():
        return ways
    if lead_of(spaced(line)) != lead_of(line) or lead_of(spaced(sent)) != lead_of(sent):
        ways.add("unicode")
    a, b = sent.strip(), line.strip()
    if a == b:
        return ways
    if fold(a) == fold(b):
        return ways | {"unicode"}
    if any(mark in b for mark in _QUOTES) and _inside_quotes(a) != _inside_quotes(b):
        return None
    ways.add("inner")
    return ways if " ".join(a.split()) == " ".join(b.split()) else ways | {"unicode"}


def _inside_quotes(line: str) -> list[str]:
    """What stands in quotation marks, where the width of space matters."""
    parts: list[str] = []
    mark, start, escaped = "", 0, False
    text = _APOSTROPHE.sub("_", fold(line))
    for index, char in enumerate(text):
        if escaped:
            escaped = False
        elif mark and char == "\\":
            escaped = True
        elif mark:
            if char == mark:
                parts.append(text[start:index])
                mark = ""
        elif char in _QUOTES:
            mark, start = char, index + 1
    return [*parts, text[start:]] if mark else parts
