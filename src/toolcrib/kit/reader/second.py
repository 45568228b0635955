"""The second look: each block beside what the first look thought of the blocks around it."""

from __future__ import annotations

from math import log

from toolcrib.kit.reader.chains import Chains
from toolcrib.kit.reader.tree import Page

NAMES = (
    "chance", "m3", "m2", "m1", "q1", "q2", "q3", "w2", "w5", "w15", "a0", "a1", "a2", "a3",
    "b0", "b1", "b2", "b3", "group", "page", "most", "expected", "before", "after", "rank",
    "top", "mean", "up_best", "kin",
)  # fmt: skip


def second_rows(
    page: Page, chains: Chains, chances: list[float], numbers: list[int]
) -> list[list[float]]:
    """A row for each of some blocks, named by NAMES.

    Args:
        page: the page.
        chains: its elements.
        chances: of all blocks.
        numbers: the blocks that rows are wanted of.
    """
    blocks, elements, words = page.blocks, page.elements, chains.sums.words
    count = len(blocks)
    hits, plain = [0.0], [0.0]
    groups: dict[str, list[float]] = {}
    parents: dict[int, list[float]] = {}
    for chance, block in zip(chances, blocks, strict=True):
        hits.append(hits[-1] + chance * block.words)
        plain.append(plain[-1] + chance)
        _add(groups.setdefault(chains.keys[block.element], [0.0, 0.0]), chance, block.words)
        _add(parents.setdefault(elements[block.element].parent, [0.0, 0.0]), chance, block.words)
    total, expected = max(1, words[-1]), hits[-1]
    ranks = [0.0] * count
    for place, number in enumerate(sorted(range(count), key=chances.__getitem__)):
        ranks[number] = place / count
    most = max(chances)
    top = elements[chains.top]
    in_top = _mean(hits, words, top.start, top.end)
    around = _Around(page, chains, hits)
    padded = [-0.1] * 3 + chances + [-0.1] * 3
    share = max(expected, 1e-6)
    fixed = [expected / total, most, log(1 + expected)]
    rows = []
    for number in numbers:
        block = blocks[number]
        above = around.row(block.element)
        group = groups[chains.keys[block.element]]
        kin = parents[elements[block.element].parent]
        row = [chances[number], *padded[number : number + 3], *padded[number + 4 : number + 7]]
        for reach in (2, 5, 15):
            low, high = max(0, number - reach), min(count, number + reach + 1)
            row.append((hits[high] - hits[low]) / max(1, words[high] - words[low]))
        row += above[:8]
        row.append(group[0] / group[1])
        row += fixed
        row += (
            hits[number] / share,
            (expected - hits[number + 1]) / share,
            ranks[number],
            in_top,
            plain[-1] / count,
            above[8],
            kin[0] / kin[1],
        )
        rows.append(row)
    return rows


class _Around:
    """What was thought of the next four wider and wider elements, and the best of them."""

    def __init__(self, page: Page, chains: Chains, hits: list[float]) -> None:
        self._elements = page.elements
        self._wider = chains.wider
        self._words = chains.sums.words
        self._hits = hits
        self._rows: dict[int, list[float]] = {}

    def row(self, index: int) -> list[float]:
        """Four means, four shares of all that is expected, and the greatest product."""
        element = self._elements[index]
        if element.end - element.start < 2:
            index = self._wider[index]
        known = self._rows.get(index)
        if known is not None:
            return known
        start, hits = index, self._hits
        expected = max(hits[-1], 1e-6)
        means, shares = [], []
        for _ in range(4):
            element = self._elements[index]
            means.append(_mean(hits, self._words, element.start, element.end))
            shares.append((hits[element.end] - hits[element.start]) / expected)
            index = self._wider[index]
        best = max(0.0, *(mean * share for mean, share in zip(means, shares, strict=True)))
        row = self._rows[start] = [*means, *shares, best]
        return row


def _add(entry: list[float], chance: float, words: int) -> None:
    entry[0] += chance * words
    entry[1] += words


def _mean(hits: list[float], words: list[int], low: int, high: int) -> float:
    return (hits[high] - hits[low]) / max(1, words[high] - words[low])
