"""Quotes that would take forever to compare: an answer within the time of a test."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.core.errors import TooLarge
from toolcrib.files.edits.edits import Edit, resolve_edits
from toolcrib.files.edits.indentation import Unmapped
from toolcrib.files.edits.lookalikes import opcodes


def changed(text: str, old: str, new: str) -> str:
    outcome = resolve_edits(text, [Edit(old, new)])
    for splice in reversed(outcome.splices):
        text = text[: splice.start] + splice.new + text[splice.end :]
    return text


@pytest.mark.parametrize(("file", "sent"), [("value", "value"), ("“value” é", '"value" é')])
def test_many_lines_indented_in_another_way(file: str, sent: str) -> None:
    text = "".join(f"    line {i} {file}\n" for i in range(5000))
    old = "".join(f"  line {i} {sent}\n" for i in range(5000))
    assert changed(text, old, old.replace("line", "row")) == text.replace("line", "row")


def test_a_line_of_few_words_said_often() -> None:
    words = "a , a , " * 400
    new = words.replace("a", "b")
    assert changed(f"\t{words}“z”\n", f'{words}"z"', f'{new}"z"') == f"\t{new}“z”\n"


def test_lines_that_are_all_the_same() -> None:
    old = "\n".join([*["}"] * 999, "the end of it"])
    text = "\n".join(f"\t{line}" for line in old.split("\n"))
    new = "\n".join([*["}", "{"] * 499, "the end of it"])
    assert changed(text, old, new) == "\n".join(f"\t{line}" for line in new.split("\n"))
    with pytest.raises(TooLarge):
        resolve_edits("x = 1; y\n" * 20_000, [Edit("  x  = 1; y\n" * 10_000, "q")])


@given(st.lists(st.sampled_from("ab"), max_size=400), st.lists(st.sampled_from("ab"), max_size=400))
def test_opcodes_turn_one_into_the_other(a: list[str], b: list[str]) -> None:
    a, b = a * 3, b * 3
    made: list[str] = []
    at = 0
    for tag, i1, i2, j1, j2 in opcodes(a, b):
        assert i1 == at
        at = i2
        assert tag != "equal" or a[i1:i2] == b[j1:j2]
        made += b[j1:j2]
    assert at == len(a)
    assert made == b


def test_a_line_further_out_is_not_put_between_two_levels() -> None:
    text = "def f():\n    if x:\n        foo_long(1)\n        bar_long(2)\n"
    with pytest.raises(Unmapped):
        changed(text, "  foo_long(1)\n  bar_long(2)\n", "  foo_long(1)\nbaz_long(3)\n")
    old, new = "    foo_long(1)\n    bar_long(2)\n", "    foo_long(1)\nbaz_long(3)\n"
    assert changed(text, old, new).endswith("        foo_long(1)\n    baz_long(3)\n")
