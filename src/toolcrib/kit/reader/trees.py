"""A sum of symmetric decision trees, for all rows of a page at once, without numpy.

In a symmetric tree all nodes of a level ask the same question, so the answers are the bits of
the number of the leaf. One Python integer holds an answer of every row, sixteen bits a row:
a shift and an addition go on to the next level of a tree for the whole page, and
`bytes.translate` looks all the leaves up.
"""

from __future__ import annotations

from base64 import b85decode
from bisect import bisect_left
from math import exp
from struct import unpack
from typing import Any

_AT_A_TIME = 250
"""Trees whose leaves, a byte each, add up to sixteen bits at most."""
_ABOVE = [bytes(int(code > border + 1) for code in range(256)) for border in range(255)]
"""By border: whether a number of borders passed, plus one, is above it."""


class Trees:
    """Decision trees over some columns.

    Args:
        table: `columns`, `borders` of each of them, `scale`, `bias`, and `trees`, each of them
            [questions, leaves]: [column, border] flattened, and a byte a leaf in base 85.
    """

    def __init__(self, table: dict[str, Any]) -> None:
        self.columns: list[int] = table["columns"]
        self._borders: list[list[float]] = table["borders"]
        self._scale: float = table["scale"]
        self._bias: float = table["bias"]
        self._trees = [(_pairs(asked), _leaves(leaves)) for asked, leaves in table["trees"]]

    def chances(self, rows: list[list[float]], known: list[float]) -> list[float]:
        """The logistic of the sum, for each row.

        Args:
            rows: the first columns.
            known: the columns after those, the same for all rows.
        """
        scale, bias = self._scale, self._bias
        return [
            1 / (1 + exp(-min(max(bias + scale * one, -30), 30))) for one in self._sums(rows, known)
        ]

    def chance(self, row: list[float]) -> float:
        """The same for a single row of all columns."""
        values = [row[column] for column in self.columns]
        total = 0
        for asked, leaves in self._trees:
            place, bit = 64, 1
            for column, border in asked:
                if values[column] > self._borders[column][border]:
                    place += bit
                bit += bit
            total += leaves[place]
        return 1 / (1 + exp(-min(max(self._bias + self._scale * total, -30), 30)))

    def _sums(self, rows: list[list[float]], known: list[float]) -> list[int]:
        count = len(rows)
        if not count:
            return []
        answers = _Answers(rows, known, self.columns, self._borders)
        width = 2 * count
        base = int.from_bytes(b"\x40\x00" * count, "little")
        sums = [0] * count
        for start in range(0, len(self._trees), _AT_A_TIME):
            total = 0
            for asked, leaves in self._trees[start : start + _AT_A_TIME]:
                place = base
                for level, question in enumerate(asked):
                    place += answers[question] << level
                found = place.to_bytes(width, "little").translate(leaves)
                total += int.from_bytes(found, "little")
            packed = unpack(f"<{count}H", total.to_bytes(width, "little"))
            sums = [one + more for one, more in zip(sums, packed, strict=True)]
        return sums


class _Answers(dict[tuple[int, int], int]):
    """The answers of all rows to a question, made when first asked for."""

    def __init__(
        self,
        rows: list[list[float]],
        known: list[float],
        columns: list[int],
        borders: list[list[float]],
    ) -> None:
        super().__init__()
        self._values = list(zip(*rows, strict=True))
        self._known = known
        self._width = len(rows[0])
        self._count = len(rows)
        self._all = int.from_bytes(b"\x01\x00" * len(rows), "little")
        self._columns = columns
        self._borders = borders
        self._passed: dict[int, bytes] = {}

    def __missing__(self, question: tuple[int, int]) -> int:
        column, border = question
        if self._columns[column] >= self._width:
            value = self._known[self._columns[column] - self._width]
            answer = self[question] = self._all if value > self._borders[column][border] else 0
            return answer
        passed = self._passed.get(column)
        if passed is None:
            borders, values = self._borders[column], self._values[self._columns[column]]
            # Most columns have few values: one search for each of them is enough.
            codes = {value: bisect_left(borders, value) + 1 for value in set(values)}
            lanes = bytearray(2 * self._count)
            lanes[::2] = bytes(map(codes.__getitem__, values))
            passed = self._passed[column] = bytes(lanes)
        answer = self[question] = int.from_bytes(passed.translate(_ABOVE[border]), "little")
        return answer


def _pairs(flat: list[int]) -> list[tuple[int, int]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _leaves(text: str) -> bytes:
    """A table for `translate`: leaf numbers start at 64, other bytes mean nothing."""
    values = b85decode(text)
    return bytes(64) + values + bytes(192 - len(values))
