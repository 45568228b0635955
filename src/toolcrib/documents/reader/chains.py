"""Ancestors of the blocks of a page: sums of their text, names, repetition; figures as bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import exp, log
from operator import itemgetter, mul, sub
from typing import Any

from toolcrib.documents.reader.lexicon import Lexicon, Summary
from toolcrib.documents.reader.tree import PageTables

# Figures as bytes: each feature has to fit into one.

_LOG, _SIGNED_LOG = 22, 11.4
_LAST = [int(exp((code + 0.5) / _LOG) - 1) for code in range(256)]
LOGS = b"".join(
    bytes([code]) * (after - before) for code, (before, after) in enumerate(pairwise([-1, *_LAST]))
)
"""By number, its logarithm as a byte; small numbers stay apart."""
LIMIT = len(LOGS)
_REACH = 4096
SIGNED = [
    128 + round(_SIGNED_LOG * log(1 + abs(number))) * (1 if number > 0 else -1)
    for number in [*range(_REACH), *range(-_REACH, 0)]
]
"""By number, which may be negative, its logarithm with its sign."""
CLIPPED = [128 + max(-128, min(127, number)) for number in [*range(_REACH), *range(-_REACH, 0)]]
"""By number, which may be negative, itself within a byte."""
FULL_SHARE = 250
"""What stands for all of something."""
ROOTS: list[int] = [round(255 * (number / 1000) ** 0.5) for number in range(1001)]
"""By thousandths, a chance as a byte, finer where chances are small."""


def log_code(number: int) -> int:
    """LOGS, also for numbers that the table does not have."""
    return LOGS[number] if number < LIMIT else 255


def signed_code(number: int) -> int:
    """SIGNED, also for numbers that the table does not have."""
    if -_REACH <= number < _REACH:
        return SIGNED[number]
    return 255 if number > 0 else 0


def bit_columns(low: bytes, count: int) -> list[bytes]:
    """The lowest bits of bytes as columns of their own."""
    return [low.translate(table) for table in _BITS[:count]]


_BITS = [bytes(value >> bit & 1 for value in range(256)) for bit in range(8)]


MIN_LONG_WORDS = 12
"""Words from which a block counts as running text."""
_DIGITS = re.compile("[0-9]+")
_NO_NAMES = (0, 0, 0)
_KIND_BITS = 20
_FARTHEST = 12
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(slots=True)
class Sums:
    """Running totals over the blocks, each one longer than the list of blocks.

    Those of links are words times the share of their characters that is linked.
    """

    words: list[int]
    links: list[int]
    long: list[int]
    heads: list[int]
    ends: list[int]


def block_sums(words: list[int], tags: Sequence[str], linked: bytes, ends: bytes) -> Sums:
    """The totals of a page, from which those of any element follow.

    Args:
        words: of each block.
        tags: of each block.
        linked: of each block, the share of its text in links.
        ends: of each block, whether it ends like a sentence.
    """
    running = [
        own >= MIN_LONG_WORDS and share < FULL_SHARE // 2
        for own, share in zip(words, linked, strict=True)
    ]
    figures = (
        words,
        map(mul, words, linked),
        map(mul, words, running),
        map(HEADINGS.__contains__, tags),
        map(mul, ends, running),
    )
    return Sums(*(list(accumulate(one, initial=0)) for one in figures))


def picker(places: Sequence[int]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives what stands at these places of a list or of bytes."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple([values[place] for place in places])


class Chains:
    """For each element its names, path, repetition and group; for each block its ancestors.

    All lists have one entry an element, unless noted otherwise. Entries of elements without
    blocks have no meaning.

    Attributes:
        at: gives by block the entry of its element in a list.
        above: by block, the parent of its element.
        starts, ends: the range of its blocks.
        names: log-odds of the element's own names: sum, least, greatest.
        inline: by block, the sum of the names of its first inline element.
        path_sums, path_min, path_max, path_far: the same over all ancestors, and how far
            away the least is.
        own, path_repeats, mean, level: siblings like it; the most along the path, with their
            words and distance.
        keys, groups: elements of one kind by block, and [blocks, words, link words] of each.
        wider: the next element up that holds more blocks.
        top: the element that holds the running text.
    """

    def __init__(self, page: PageTables, sums: Sums, lexicon: Lexicon) -> None:
        elements = page.elements
        self.sums = sums
        self.total = max(1, sums.words[-1])
        self.parents = [element.parent for element in elements]
        self.starts = [element.start for element in elements]
        self.ends = [element.end for element in elements]
        self.tags = [element.tag for element in elements]
        self._blocks = [block.element for block in page.blocks]
        self.at = picker(self._blocks)
        self.above = self.at(self.parents)
        inline = [block.inline_name for block in page.blocks]
        self._name_all([element.name for element in elements], inline, lexicon)
        self._walk_paths()
        self._walk_repeats()
        self._group()
        self.top = self._find_top()

    def _name_all(self, names: list[str], inline: list[str], lexicon: Lexicon) -> None:
        """A number for each tag with names without digits: what items of one list share."""
        known: dict[tuple[str, str], tuple[int, Summary]] = {}
        numbers: dict[tuple[str, str], int] = {}
        pairs = list(zip(self.tags, names, strict=True))
        for both in dict.fromkeys(pairs):
            tag, name = both
            plain = (tag, _DIGITS.sub("", name)[:60] if name else "")
            number = numbers.setdefault(plain, len(numbers) + 1)
            known[both] = (number, lexicon.name(name) if name else _NO_NAMES)
        found = [known[both] for both in pairs]
        self.kinds = [number for number, _ in found]
        self.names = [summary for _, summary in found]
        self.inline = [lexicon.name(name)[0] if name else 0 for name in inline]

    def _walk_paths(self) -> None:
        self.path_sums = sums = [0]
        self.path_min = lows = [0]
        self.path_max = highs = [0]
        self.path_far = far = [0]
        self.wider = wider = [0]
        sizes = list(map(sub, self.ends, self.starts))
        for up, size, (total, low, high) in zip(
            self.parents[1:], sizes[1:], self.names[1:], strict=True
        ):
            sums.append(sums[up] * 4 // 5 + total)
            above = lows[up]
            if above <= low:
                lows.append(above)
                far.append(far[up] + 1)
            else:
                lows.append(low)
                far.append(0)
            above = highs[up]
            highs.append(max(above, high))
            wider.append(wider[up] if size == sizes[up] else up)

    def _walk_repeats(self) -> None:
        words = self.sums.words
        pairs = [up << _KIND_BITS | kind for up, kind in zip(self.parents, self.kinds, strict=True)]
        counts = Counter(pairs)
        inside: dict[int, int] = {}
        for pair, start, end in zip(pairs, self.starts, self.ends, strict=True):
            if counts[pair] > 2:
                inside[pair] = inside.get(pair, 0) + words[end] - words[start]
        best = (1, 0)
        for pair, total in inside.items():
            number = counts[pair]
            mean = total // number
            if number * min(mean, 50) > best[0] * min(best[1], 50):
                best = (number, mean)
        self.best_repeat = best
        self.own = own = [counts[pair] for pair in pairs]
        self.path_repeats, self.mean, self.level = counted, means, levels = [1], [0], [1]
        for up, number, pair, tag in zip(
            self.parents[1:], own[1:], pairs[1:], self.tags[1:], strict=True
        ):
            if number > 2 and number >= counted[up] and tag != "p":
                counted.append(number)
                means.append(inside[pair] // number)
                levels.append(0)
            else:
                counted.append(counted[up])
                means.append(means[up])
                levels.append(levels[up] + 1)

    def _group(self) -> None:
        """Blocks whose element, and the two above, are of the same kinds."""
        kinds = [*self.kinds, 0]  # what is above the root has a kind too
        parents, sums = self.parents, self.sums
        self.keys = [
            (kind << _KIND_BITS | kinds[up]) << _KIND_BITS | kinds[parents[up]]
            for kind, up in zip(self.at(kinds), self.above, strict=True)
        ]
        self.groups: dict[int, list[int]] = {}
        known = self.groups.get
        for key, words, links in zip(
            self.keys, map(sub, sums.words[1:], sums.words), map(sub, sums.links[1:], sums.links),
            strict=False,
        ):  # fmt: skip
            entry = known(key)
            if entry is None:
                self.groups[key] = [1, words, links]
            else:
                entry[0] += 1
                entry[1] += words
                entry[2] += links

    def _find_top(self) -> int:
        """The element with the most running text near it, as reader modes look for it."""
        parents, long = self.parents, self.sums.long
        scores: dict[int, float] = {}
        for above, before, after in zip(self.above, long, long[1:], strict=False):
            if before == after:
                continue
            index = above
            gain = 1 + min(float(after - before), 100) / 20
            for share in (1.0, 0.6, 0.3, 0.15):
                if index < 0:
                    break
                scores[index] = scores.get(index, 0.0) + gain * share
                index = parents[index]
        return max(scores, key=scores.__getitem__, default=0)

    def top_depths(self) -> list[int]:
        """How far above an element its path meets the top element."""
        start, end = self.starts[self.top], self.ends[self.top]
        steps: list[int] = []
        for up, first, last in zip(self.parents, self.starts, self.ends, strict=True):
            steps.append(0 if first <= start and last >= end else steps[up] + 1)
        return [min(one, _FARTHEST) for one in steps]

    def rows(self) -> list[bytes]:
        """By block, the figures of the next four wider and wider elements."""
        first = self.first_wider()
        wider, single = self.wider, self._figures
        known: dict[int, bytes] = {}
        chains: dict[int, bytes] = {}
        for start in dict.fromkeys(first):
            index, figures = start, []
            for _ in range(4):
                if index not in known:
                    known[index] = single(index)
                figures.append(known[index])
                index = wider[index]
            chains[start] = b"".join(figures)
        return [chains[index] for index in first]

    def first_wider(self) -> list[int]:
        """By block, the next element that holds more blocks than it."""
        wider = self.wider
        return [
            index if last - first > 1 else wider[index]
            for index, first, last in zip(
                self._blocks, self.at(self.starts), self.at(self.ends), strict=True
            )
        ]

    def _figures(self, index: int) -> bytes:
        sums, start, end = self.sums, self.starts[index], self.ends[index]
        blocks = end - start or 1
        words = sums.words[end] - sums.words[start]
        some = words or 1
        dense = words * 8 // blocks
        return bytes((
            (sums.links[end] - sums.links[start]) // some,
            (sums.long[end] - sums.long[start]) * FULL_SHARE // some,
            LOGS[dense] if dense < LIMIT else 255,
            words * FULL_SHARE // self.total,
            (sums.heads[end] - sums.heads[start]) * FULL_SHARE // blocks,
            CLIPPED[self.names[index][0]],
            (sums.ends[end] - sums.ends[start]) * FULL_SHARE // blocks,
        ))  # fmt: skip
