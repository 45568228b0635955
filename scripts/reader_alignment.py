"""Which blocks of a page its reviewed main content holds: labels for training the reader."""

from __future__ import annotations

import collections
import re
from itertools import pairwise

WORD = re.compile(r"\w+")
SHINGLE = 5
REACH = 400
"""Words of the truth in which a short block between two known places is looked for."""

Words = list[str]
Anchor = tuple[int, int, int, int]
"""Block, start and end in the truth, weight."""


def words_of(text: str) -> Words:
    """The words that scores count."""
    return WORD.findall(text.lower())


def align(blocks: list[Words], truth: Words) -> list[float]:
    """The share of each block that is in the truth.

    Long blocks are found by runs of five words. Short ones count where they stand in the
    truth between two blocks that are known to be in it, since their words are everywhere.
    """
    labels, anchors = _long(blocks, truth)
    anchors += _unique(blocks, truth)
    chain = _in_order(sorted(anchors), len(truth))
    for block, _, _, _ in chain:
        labels[block] = max(labels[block], 1.0)
    ends = [(-1, 0, 0, 0), *chain, (len(blocks), len(truth), len(truth), 0)]
    for before, after in pairwise(ends):
        _fill(blocks, labels, truth[before[2] : after[1]], range(before[0] + 1, after[0]))
    return labels


def _long(blocks: list[Words], truth: Words) -> tuple[list[float], list[Anchor]]:
    places = _places(truth, SHINGLE)
    labels, anchors = [0.0] * len(blocks), []
    for number, block in enumerate(blocks):
        hit = [False] * len(block)
        first = last = None
        for at in range(len(block) - SHINGLE + 1):
            found = places.get(tuple(block[at : at + SHINGLE]))
            if found:
                hit[at : at + SHINGLE] = [True] * SHINGLE
                if len(found) == 1:
                    first = max(0, found[0] - at) if first is None else first
                    last = found[0] + SHINGLE
        if block and len(block) >= SHINGLE:
            labels[number] = sum(hit) / len(block)
            if labels[number] >= 0.5 and first is not None and last is not None:
                anchors.append((number, first, last, len(block)))
    return labels, anchors


def _unique(blocks: list[Words], truth: Words) -> list[Anchor]:
    """Short blocks that are once on the page and once in the truth."""
    counts = collections.Counter(tuple(block) for block in blocks if len(block) < SHINGLE)
    places = {size: _places(truth, size) for size in range(2, SHINGLE)}
    anchors = []
    for number, block in enumerate(blocks):
        size = len(block)
        if 2 <= size < SHINGLE and counts[tuple(block)] == 1:
            found = places[size].get(tuple(block), [])
            if len(found) == 1:
                anchors.append((number, found[0], found[0] + size, size))
    return anchors


def _places(truth: Words, size: int) -> dict[tuple[str, ...], list[int]]:
    places: dict[tuple[str, ...], list[int]] = collections.defaultdict(list)
    for at in range(len(truth) - size + 1):
        places[tuple(truth[at : at + size])].append(at)
    return places


def _in_order(anchors: list[Anchor], size: int) -> list[Anchor]:
    """The heaviest subsequence whose places in the truth do not go back."""
    tree: list[tuple[int, int]] = [(0, -1)] * (size + 2)
    before = []
    best, last = 0, -1
    for number, (_, start, _, weight) in enumerate(anchors):
        at, found = start + 1, (0, -1)
        while at > 0:
            found = max(found, tree[at])
            at -= at & -at
        before.append(found[1])
        total = found[0] + weight
        if total > best:
            best, last = total, number
        at = start + 1
        while at < len(tree):
            tree[at] = max(tree[at], (total, number))
            at += at & -at
    chain = []
    while last >= 0:
        chain.append(anchors[last])
        last = before[last]
    return chain[::-1]


def _fill(blocks: list[Words], labels: list[float], gap: Words, numbers: range) -> None:
    used = 0
    for number in numbers:
        block = blocks[number]
        size = len(block)
        if not block or labels[number] > 0.5 or size > 40:
            continue
        for at in range(used, min(len(gap) - size, used + REACH) + 1):
            if gap[at] == block[0] and gap[at : at + size] == block:
                labels[number] = 1.0
                used = at + size
                break
