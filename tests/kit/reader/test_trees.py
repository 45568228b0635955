from __future__ import annotations

import random
from base64 import b85encode
from math import exp
from typing import Any

import pytest

from toolcrib.kit.reader.trees import Trees


def table(trees: int, seed: int) -> dict[str, Any]:
    dice = random.Random(seed)
    borders = [sorted(dice.random() for _ in range(5)) for _ in range(4)]
    rows = []
    for _ in range(trees):
        depth = dice.randint(1, 6)
        asked = [n for _ in range(depth) for n in (dice.randrange(4), dice.randrange(5))]
        rows.append([asked, b85encode(dice.randbytes(2**depth)).decode()])
    return {"columns": [0, 2, 3, 5], "borders": borders, "scale": 0.0005, "bias": -1.5,
            "trees": rows}  # fmt: skip


def plainly(some: dict[str, Any], row: list[float]) -> float:
    """The same sum, one row and one question after another."""
    from base64 import b85decode

    total = 0
    for asked, leaves in some["trees"]:
        place = 0
        for level in range(len(asked) // 2):
            column, border = asked[2 * level], asked[2 * level + 1]
            place |= (row[some["columns"][column]] > some["borders"][column][border]) << level
        total += b85decode(leaves)[place]
    return 1 / (1 + exp(-(some["bias"] + some["scale"] * total)))


@pytest.mark.parametrize("trees", [1, 7, 250, 251, 600])
def test_all_rows_at_once_give_what_each_gives_alone(trees: int) -> None:
    dice = random.Random(trees)
    some = table(trees, trees)
    known = [dice.random(), dice.random()]
    rows = [[dice.random() for _ in range(4)] for _ in range(37)]
    found = Trees(some).chances(rows, known)
    assert found == pytest.approx([plainly(some, row + known) for row in rows])


def test_a_value_on_a_border_is_not_above_it() -> None:
    some = table(0, 1) | {"columns": [0], "borders": [[0.5]], "scale": 1.0, "bias": 0.0}
    some["trees"] = [[[0, 0], b85encode(bytes([0, 9])).decode()]]
    low, high = Trees(some).chances([[0.5], [0.5001]], [])
    assert low == 0.5
    assert high > 0.99


def test_no_rows_give_nothing() -> None:
    assert Trees(table(3, 1)).chances([], []) == []
