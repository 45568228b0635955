from __future__ import annotations

import random
from base64 import b85decode, b85encode
from math import exp
from typing import Any

import pytest

from tests.cases import each_case
from toolcrib.documents.reader.scorer import Trees, TypeTrees

WIDTH = 4


def table(trees: int, seed: int, *, kinds: int = 1) -> dict[str, Any]:
    """Trees over the columns 0, 2 and 3 of bytes, and 5, a figure that all rows share."""
    dice = random.Random(seed)
    borders = [sorted(dice.sample(range(255), 5)) for _ in range(3)]
    borders.append(sorted(dice.random() for _ in range(5)))
    rows = []
    for _ in range(trees):
        depth = dice.randint(1, 6)
        splits = [n for _ in range(depth) for n in (dice.randrange(4), dice.randrange(5))]
        rows.append([splits, b85encode(dice.randbytes(kinds * 2**depth)).decode()])
    return {"columns": [0, 2, 3, 5], "borders": borders, "scale": 0.0005, "bias": -1.5,
            "trees": rows}  # fmt: skip


def sums(some: dict[str, Any], row: list[float], kinds: int = 1) -> list[int]:
    """The leaves added up, one row and one question after another."""
    totals = [0] * kinds
    for splits, leaves in some["trees"]:
        place = 0
        for level in range(len(splits) // 2):
            column, border = splits[2 * level], splits[2 * level + 1]
            place |= (row[some["columns"][column]] > some["borders"][column][border]) << level
        for kind in range(kinds):
            totals[kind] += b85decode(leaves)[place * kinds + kind]
    return totals


@each_case("count", [1, 2, 37, 300])
@each_case("trees", [1, 7, 257, 258, 600])
def test_all_rows_at_once_give_what_each_gives_alone(trees: int, count: int) -> None:
    dice = random.Random(trees)
    some = table(trees, trees)
    columns = [dice.randbytes(count) for _ in range(WIDTH)]
    shared = [dice.random(), dice.random()]
    found = Trees(some, WIDTH).chances(columns, shared)
    rows = [[*map(float, row), *shared] for row in zip(*columns, strict=True)]
    wanted = [1 / (1 + exp(-(some["bias"] + 0.0005 * sums(some, row)[0]))) for row in rows]
    assert found == pytest.approx(wanted)


@each_case("border", [0.0, 0.5, 7.0, 254.5])
def test_a_value_on_a_border_is_not_above_it(border: float) -> None:
    some = table(0, 1) | {"columns": [0], "borders": [[border]], "scale": 1.0, "bias": 0.0}
    some["trees"] = [[[0, 0], b85encode(bytes([0, 9])).decode()]]
    found = Trees(some, 1).chances([bytes(range(256))], [])
    assert [chance > 0.9 for chance in found] == [value > border for value in range(256)]


def test_no_rows_give_nothing() -> None:
    assert Trees(table(3, 1), WIDTH).chances([b""] * WIDTH, [0.0, 0.0]) == []


@each_case("trees", [1, 80, 257])
def test_the_chances_of_kinds_add_up_to_one_and_follow_their_sums(trees: int) -> None:
    dice = random.Random(trees)
    some = table(trees, trees, kinds=3) | {"bias": [0.1, -0.4, 0.3]}
    row = [float(dice.randrange(256)) for _ in range(WIDTH)] + [dice.random(), dice.random()]
    found = TypeTrees(some).chances(row)
    powers = [
        exp(bias + 0.0005 * one) for bias, one in zip(some["bias"], sums(some, row, 3), strict=True)
    ]
    assert found == pytest.approx([one / sum(powers) for one in powers])
    assert sum(found) == pytest.approx(1)
