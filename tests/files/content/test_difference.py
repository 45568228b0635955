"""Differences of lines: right whatever the input, in the usual form, in bounded time."""

from __future__ import annotations

import difflib
import random
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.conftest import absent
from toolcrib.files.content.difference import DifferenceBlock, differences, unified

LINES = st.lists(st.sampled_from(["a", "b", "c", "x", "", "def f():", "}"]), max_size=40)


def rebuilt(a: list[str], b: list[str], blocks: list[DifferenceBlock]) -> list[str]:
    """The second side, made from the first and what differs."""
    out: list[str] = []
    at = 0
    for block in blocks:
        out += a[at : block.a1] + b[block.b1 : block.b2]
        at = block.a2
    return out + a[at:]


@given(LINES, LINES)
def test_what_differs_leads_from_one_to_the_other(a: list[str], b: list[str]) -> None:
    blocks = differences(a, b)
    assert rebuilt(a, b, blocks) == b
    for before, after in pairwise(blocks):
        assert before.a2 < after.a1 or before.b2 < after.b1
    assert (blocks == []) == (a == b)


@given(LINES, LINES)
def test_no_worse_than_removing_and_adding_all(a: list[str], b: list[str]) -> None:
    blocks = differences(a, b)
    assert sum(block.a2 - block.a1 for block in blocks) <= len(a)
    assert sum(block.b2 - block.b1 for block in blocks) <= len(b)


@pytest.mark.parametrize("seed", range(12))
def test_the_form_is_what_patch_takes(tmp_path: Path, seed: int) -> None:
    if shutil.which("patch") is None:
        absent("patch is not installed")
    chance = random.Random(seed)
    a = [f"line {chance.randrange(30)}" for _ in range(chance.randrange(1, 60))]
    b = [line for line in a if chance.random() > 0.2]
    for _ in range(chance.randrange(8)):
        b.insert(chance.randrange(len(b) + 1), f"new {chance.randrange(30)}")
    if a == b or not b:
        return
    (tmp_path / "f").write_text("\n".join(a) + "\n")
    hunks = "\n".join(["--- f", "+++ f", *unified(a, b, differences(a, b))]) + "\n"
    done = subprocess.run(["patch", "-s", "f"], input=hunks, text=True, cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "f").read_text() == "\n".join(b) + "\n"


def test_the_same_as_the_standard_library_where_there_is_one_answer() -> None:
    a = [f"line {n}" for n in range(60)]
    b = [*a[:10], "new", *a[10:30], *a[33:]]
    ours = list(unified(a, b, differences(a, b)))
    theirs = list(difflib.unified_diff(a, b, lineterm=""))[2:]
    assert ours == theirs


@each_case(
    ("a", "b", "head"),
    [
        ([], ["x"], "@@ -0,0 +1 @@"),
        (["x"], [], "@@ -1 +0,0 @@"),
        (["a", "b"], ["a", "c"], "@@ -1,2 +1,2 @@"),
    ],
)
def test_ranges(a: list[str], b: list[str], head: str) -> None:
    assert next(iter(unified(a, b, differences(a, b)))) == head


def test_input_made_to_be_slow_ends() -> None:
    chance = random.Random(1)
    a = [str(chance.randrange(3)) for _ in range(60_000)]
    b = chance.sample(a, len(a))
    steps = 0

    def check() -> None:
        nonlocal steps
        steps += 1
        assert steps < 100_000

    assert rebuilt(a, b, differences(a, b, check)) == b
