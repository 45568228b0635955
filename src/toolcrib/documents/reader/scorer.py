"""The learned scorer: how likely each block of a page is main content, and the page's type."""

from __future__ import annotations

import json
import pkgutil
import zlib
from base64 import b85decode
from bisect import bisect_left
from functools import cache
from math import exp
from struct import unpack
from typing import Any

from toolcrib.documents.reader import features
from toolcrib.documents.reader.lexicon import Lexicon
from toolcrib.documents.reader.signals import PAGE_TYPES
from toolcrib.documents.reader.tree import PageTables

# A sum of symmetric decision trees, for all rows of a page at once, without numpy.
#
# In a symmetric tree all nodes of a level ask the same question, so the answers are the bits of
# the number of the leaf. A column is a byte a row, and so is a part of a big integer: an addition
# answers a question for the whole page, a shift and an OR go on to the next level of a tree, and
# `bytes.translate` looks all the leaves up.

DEPTH = 6
"""Questions of a tree."""
_AT_A_TIME = 257
"""Trees whose leaves, a byte each, add up to sixteen bits at most."""
_TOP = 128
"""The bit of a byte that holds an answer."""

Tree = tuple[int, int, int, int, int, int, bytes]


class Trees:
    """Decision trees over columns of bytes, and over some figures that all rows share.

    Args:
        table: `columns`, `borders` of each of them, `scale`, `bias`, and `trees`, each of them
            [questions, leaves]: [column, border] flattened, and a byte a leaf in base 85.
        width: how many columns there are; those after them are the shared figures.
    """

    def __init__(self, table: dict[str, Any], width: int) -> None:
        self._scale: float = table["scale"]
        self._bias: float = table["bias"]
        self._own: list[tuple[int, bytes, int]] = []
        self._shared: list[tuple[int, list[float]]] = []
        first: list[int] = []
        question_count = 1
        both = list(zip(table["columns"], table["borders"], strict=True))
        assert table["columns"] == sorted(table["columns"])
        for column, borders in both:
            first.append(question_count)
            question_count += len(borders)
            if column < width:
                self._own.append((column, _codes(borders), len(borders)))
            else:
                self._shared.append((column - width, borders))
        self._max_borders = max((count for _, _, count in self._own), default=0)
        self._trees = [
            _tree(question_count, leaves, first) for question_count, leaves in table["trees"]
        ]
        self._logistics = _Logistics(self._scale, self._bias)

    def chances(self, columns: list[bytes], shared: list[float]) -> list[float]:
        """The logistic of the sum, for each row."""
        known = self._logistics
        return [known[one] for one in self._sums(columns, shared)]

    def _sums(self, columns: list[bytes], shared: list[float]) -> list[int]:
        count = len(columns[0])
        if not count:
            return []
        answers = self._answers(columns, shared, count)
        width = count + 1 & ~1
        low = int.from_bytes(b"\xff\x00" * (width // 2), "little")
        sums = [0] * count
        for start in range(0, len(self._trees), _AT_A_TIME):
            even = both = 0
            for a, b, c, d, e, f, leaves in self._trees[start : start + _AT_A_TIME]:
                place = (
                    answers[a] >> 7 | answers[b] >> 6 | answers[c] >> 5
                    | answers[d] >> 4 | answers[e] >> 3 | answers[f] >> 2
                )  # fmt: skip
                found = int.from_bytes(place.to_bytes(width, "little").translate(leaves), "little")
                even += found & low
                both += found
            for first, total in enumerate((even, both - even >> 8)):
                packed = unpack(f"<{width // 2}H", total.to_bytes(width, "little"))
                more = packed[: len(sums[first::2])]
                sums[first::2] = map(int.__add__, sums[first::2], more)
        return sums

    def _answers(self, columns: list[bytes], shared: list[float], count: int) -> list[int]:
        """By question, the top bit of each row's byte: whether its value is above the border."""
        ones = int.from_bytes(b"\x01" * count, "little")
        top = ones * _TOP
        reach = [ones * (_TOP - border) for border in range(1, self._max_borders + 1)]
        answers = [0]
        for column, codes, number in self._own:
            coded = int.from_bytes(columns[column].translate(codes), "little")
            answers += [coded + more & top for more in reach[:number]]
        for place, borders in self._shared:
            value = shared[place]
            answers += [top if value > border else 0 for border in borders]
        return answers


class _Logistics(dict[int, float]):
    """The chance for each sum of leaves, worked out once; there are some tens of thousands."""

    def __init__(self, scale: float, bias: float) -> None:
        self._scale = scale
        self._bias = bias

    def __missing__(self, total: int) -> float:
        self[total] = chance = 1 / (1 + exp(-min(max(self._bias + self._scale * total, -30), 30)))
        return chance


class TypeTrees:
    """Trees over one row, the figures of a page, that give the chances of the page types.

    Args:
        table: as for `Trees`, but a tree is [[column, border, ...], leaves], and leaves
            has a byte for each leaf and kind; `bias` is one for each kind.
    """

    def __init__(self, table: dict[str, Any]) -> None:
        self._scale: float = table["scale"]
        self._bias: list[float] = table["bias"]
        self._lanes = f"<{len(self._bias)}H"
        self._trees = [_kind_tree(table, tree, len(self._bias)) for tree in table["trees"]]

    def chances(self, row: list[float]) -> list[float]:
        """One chance for each kind; they add up to one."""
        total = 0
        for splits, leaves in self._trees:
            place, bit = 0, 1
            for column, border in splits:
                if row[column] > border:
                    place += bit
                bit += bit
            total += leaves[place]
        packed = unpack(self._lanes, total.to_bytes(2 * len(self._bias), "little"))
        sums = [bias + self._scale * one for bias, one in zip(self._bias, packed, strict=True)]
        highest = max(sums)
        powers = [exp(one - highest) for one in sums]
        return [one / sum(powers) for one in powers]


def _codes(borders: list[float]) -> bytes:
    """By value of a byte, how many borders it is above."""
    return bytes(bisect_left(borders, value) for value in range(256))


def _tree(splits: list[int], leaves: str, first: list[int]) -> Tree:
    questions = [
        first[column] + border for column, border in zip(splits[::2], splits[1::2], strict=True)
    ]
    a, b, c, d, e, f = questions + [0] * (DEPTH - len(questions))
    values = b85decode(leaves)
    return a, b, c, d, e, f, values + bytes(256 - len(values))


def _kind_tree(
    table: dict[str, Any], tree: tuple[list[int], str], kinds: int
) -> tuple[list[tuple[int, float]], list[int]]:
    splits, leaves = tree
    questions = [
        (table["columns"][column], table["borders"][column][border])
        for column, border in zip(splits[::2], splits[1::2], strict=True)
    ]
    values = b85decode(leaves)
    lanes = [b"".join(bytes((one, 0)) for one in values[at : at + kinds])
             for at in range(0, len(values), kinds)]  # fmt: skip
    return questions, [int.from_bytes(lane, "little") for lane in lanes]


MODEL = "model.json.z"
"""The learned tables; scripts/train_reader.py makes them."""

RUNNING = (PAGE_TYPES.index("article"), PAGE_TYPES.index("documentation"))
"""Types with one running text: there the second pass helps, elsewhere it does harm."""


class Scorer:
    """The learned tables, ready to use.

    Args:
        table: what `scripts/train_reader.py` writes.
    """

    def __init__(self, table: dict[str, Any]) -> None:
        self.lexicon = Lexicon(table["names"], table["texts"])
        self._types = TypeTrees(table["types"])
        self._first = Trees(table["first"], len(features.NAMES))
        self._second = Trees(table["second"], len(features.SECOND_NAMES) + len(features.TEXT_NAMES))

    @staticmethod
    @cache
    def shared() -> Scorer:
        """The scorer of this package."""
        data = pkgutil.get_data(__package__ or "", MODEL)
        assert data is not None
        return Scorer(json.loads(zlib.decompress(data)))

    def read(
        self, page: PageTables, title: str, signals: list[float]
    ) -> tuple[list[float], list[float]]:
        """Chances of the blocks, and of the page types in the order of PAGE_TYPES."""
        sheet = features.PageFeatures(page, title, self.lexicon)
        figures = sheet.page_row()
        types = self._types.chances(figures + signals)
        chances = self._first.chances(sheet.columns(), types + figures)
        if sum(types[number] for number in RUNNING) > 0.5:
            columns, shared = features.second_columns(page, sheet.chains, chances)
            chances = self._second.chances(columns + sheet.texts, shared + types)
        return chances, types
