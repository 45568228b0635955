"""The places of a text that speak of some words, found in one pass over its lines."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from toolcrib.files.content.outline import is_definition
from toolcrib.text.bm25 import stem

GAP = 6
"""Lines between two hits that still belong to one region."""
TALLEST = 40
"""Lines of a region."""
MOST = 20_000
"""Regions kept."""
MOST_WORDS = 12
SHORT = 2000
"""Characters up to which a line is looked through to its end for each word."""
HEADING = 1.5
"""What a region counts more that has a definition or a heading with the words."""
ALL_MET = 0.6
"""How much of a score depends on the share of the words that are met."""
_STOP = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "in", "is"),
        *("it", "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "where"),
        *("which", "who", "why", "with"),
    )
)
_WORD = re.compile(r'"([^"]+)"|([^\s,;]+)')


@dataclass(frozen=True, slots=True)
class Word:
    """A word that is looked for, as it was given, and how it is found."""

    text: str
    pattern: re.Pattern[str]


@dataclass(slots=True)
class Region:
    """Lines that belong together, counted from 1, with how often each word is in them.

    `under` is the last definition or heading before them, with its line, if any; `score`
    says how much they are about the words, beside other regions of the same text.
    """

    first: int
    last: int
    counts: Counter[str] = field(default_factory=Counter)
    heads: bool = False
    under: tuple[int, str] | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """The regions, best first; the words that no line has; how many lines were looked at."""

    regions: tuple[Region, ...]
    missing: tuple[str, ...]
    lines: int
    partly: bool


def words_of(focus: str) -> list[Word]:
    """The words of a focus; what stands in quotes is one. Common ones count only if alone."""
    given = [quoted or bare.strip(".:?!()[]{}'`") for quoted, bare in _WORD.findall(focus)]
    texts = list(dict.fromkeys(text for text in given if text.strip()))
    telling = [text for text in texts if text.casefold() not in _STOP]
    return [Word(text, _pattern(text)) for text in (telling or texts)[:MOST_WORDS]]


def _pattern(text: str) -> re.Pattern[str]:
    """Any case; a short word only as a whole, a longer one also in its other forms."""
    literal = r"\s+".join(map(re.escape, text.split()))
    if text.isalpha() and text.isascii():
        if len(text) <= 3:
            literal = rf"(?<![^\W_]){literal}(?![^\W_])"
        else:
            root = stem(text.lower())
            if len(root) >= 4 and not text.lower().startswith(root):
                literal = rf"{literal}|{root[:-1]}"
            elif len(root) >= 4:
                literal = root
    return re.compile(literal, re.IGNORECASE)


def find_regions(lines: Iterable[str], words: Sequence[Word], check: Callable[[], None]) -> Found:
    """Where the words are.

    Args:
        lines: without their ends.
        words: at least one.
        check: called now and then; it raises when the work should stop.
    """
    found: list[Region] = []
    having: Counter[str] = Counter()
    any_word = re.compile("|".join(word.pattern.pattern for word in words), re.IGNORECASE)
    under: tuple[int, str] | None = None
    number, partly = 0, False
    for number, line in enumerate(lines, 1):
        if number % 4096 == 0:
            check()
        heads = is_definition(line)
        if any_word.search(line):
            counts = {w.text: n for w in words if (n := _times(w, line))}
            for word in counts:
                having[word] += 1
            partly = len(found) == MOST
            if not partly:
                _add(found, number, counts, heads=heads, under=under)
        if heads:
            under = (number, line.strip()[:100])
    worth = {word: math.log(1 + number / count) for word, count in having.items()}
    for region in found:
        region.score = _score(region, worth, len(words))
    ranked = sorted(found, key=lambda region: (-region.score, region.first))
    missing = tuple(word.text for word in words if not having[word.text])
    return Found(tuple(ranked), missing, number, partly)


def _times(word: Word, line: str) -> int:
    if len(line) <= SHORT:
        return len(word.pattern.findall(line))
    return sum(1 for _ in islice(word.pattern.finditer(line), 20))


def _add(
    found: list[Region],
    number: int,
    counts: dict[str, int],
    *,
    heads: bool,
    under: tuple[int, str] | None,
) -> None:
    last = found[-1] if found else None
    near = last is not None and number - last.last <= GAP and number - last.first < TALLEST
    if last is None or not near:
        last = Region(number, number, under=under)
        found.append(last)
    last.last = number
    for word, times in counts.items():
        last.counts[word] += times
    last.heads |= heads


def _score(region: Region, worth: dict[str, float], words: int) -> float:
    total = sum(worth[word] * (1 + math.log(n)) for word, n in region.counts.items())
    share = len(region.counts) / words
    return total * (1 - ALL_MET + ALL_MET * share) * (HEADING if region.heads else 1.0)
