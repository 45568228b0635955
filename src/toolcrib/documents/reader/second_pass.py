"""The second look: each block beside what the first look thought of the blocks around it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import log
from operator import mul

from toolcrib.documents.reader.byte_codes import ROOTS, SHARE
from toolcrib.documents.reader.chains import Chains
from toolcrib.documents.reader.features import around, strided
from toolcrib.documents.reader.tree import Page

NAMES = (
    "chance", "m3", "m2", "m1", "q1", "q2", "q3", "rank", "w2", "w5", "w15", "before", "after",
    "a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "up_best", "group", "kin",
)  # fmt: skip
"""The columns."""
SHARED_NAMES = ("page", "most", "expected", "top", "mean")


def second_columns(
    page: Page, chains: Chains, chances: list[float]
) -> tuple[list[bytes], list[float]]:
    """Columns named by NAMES, and what all blocks share, named by SHARED_NAMES.

    Args:
        page: the page.
        chains: its elements.
        chances: of all blocks.
    """
    words = chains.sums.words
    sizes = [block.words for block in page.blocks]
    weights = list(map(mul, chances, sizes))
    hits = list(accumulate(weights, initial=0.0))
    rows = b"".join(_beyond(chains, hits))
    top = page.elements[chains.top]
    shared = [
        hits[-1] / max(1, words[-1]),
        max(chances),
        log(1 + hits[-1]),
        _mean(hits, words, top.start, top.end),
        sum(chances) / len(chances),
    ]
    columns = _near(chances, hits, words) + strided(rows, 9)
    alike = [_ratios(keys, weights, sizes) for keys in (chains.keys, chains.above)]
    return columns + alike, shared


def _near(chances: list[float], hits: list[float], words: list[int]) -> list[bytes]:
    """What was thought of a block and of those before and after it."""
    count = len(chances)
    own = bytes([ROOTS[int(1000 * chance)] for chance in chances])
    ranks = bytearray(count)
    for place, number in enumerate(sorted(range(count), key=chances.__getitem__)):
        ranks[number] = place * SHARE // count
    windows = [
        bytes([
            ROOTS[int(1000 * hit / size)]
            for hit, size in zip(around(hits, reach), around(words, reach), strict=True)
        ])
        for reach in (2, 5, 15)
    ]  # fmt: skip
    share = SHARE / max(hits[-1], 1e-6)
    before = bytes([int(one * share) for one in hits])
    back = [(b"\x00" * step + own)[:count] for step in (3, 2, 1)]
    on = [(own + b"\x00" * step)[step:] for step in (1, 2, 3)]
    return [own, *back, *on, bytes(ranks), *windows, before[:-1], before[1:]]


def _beyond(chains: Chains, hits: list[float]) -> list[bytes]:
    """By block, of the next four wider and wider elements: means, shares, the best product."""
    wider, words = chains.wider, chains.sums.words
    expected = max(hits[-1], 1e-6)
    first = chains.first_wider()
    known: dict[int, bytes] = {}
    figures: dict[int, tuple[float, float]] = {}
    for start in dict.fromkeys(first):
        index, found = start, []
        for _ in range(4):
            figure = figures.get(index)
            if figure is None:
                low, high = chains.starts[index], chains.ends[index]
                share = (hits[high] - hits[low]) / expected
                figure = figures[index] = (_mean(hits, words, low, high), share)
            found.append(figure)
            index = wider[index]
        best = max([mean * share for mean, share in found])
        (a, b), (c, d), (e, f), (g, h) = found
        known[start] = bytes([
            ROOTS[int(1000 * min(max(one, 0.0), 1.0))] for one in (a, c, e, g, b, d, f, h, best)
        ])  # fmt: skip
    return [known[index] for index in first]


def _ratios(keys: Sequence[int], weights: list[float], sizes: list[int]) -> bytes:
    """By block, what was thought of all blocks with its key."""
    hits: dict[int, float] = {}
    words: dict[int, int] = {}
    for key, weight, size in zip(keys, weights, sizes, strict=True):
        hits[key] = hits.get(key, 0.0) + weight
        words[key] = words.get(key, 0) + size
    coded = {key: ROOTS[int(1000 * total / words[key])] for key, total in hits.items()}
    return bytes([coded[key] for key in keys])


def _mean(hits: list[float], words: list[int], low: int, high: int) -> float:
    return (hits[high] - hits[low]) / max(1, words[high] - words[low])
