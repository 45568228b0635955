# ruff: noqa: RUF001 - texts in many scripts
from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.samples import TEXTS
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut, head_and_tail

WORDS = st.sampled_from(
    ["one ", "two. ", "three\n", "four\n\n", "人人", "。", "é", "😀", "\r\n", " "]
)
TEXT = st.lists(WORDS | st.text(max_size=8), max_size=60).map("".join)
BUDGET = st.integers(1, 60)


@given(TEXT, BUDGET)
def test_a_cut_is_never_over_budget_and_never_under_half(text, budget):
    head, used = cut(text, budget)
    assert head == text[:used]
    assert estimate(head) <= budget
    longer = estimate(text[: used + 1])
    assert used == len(text) or estimate(head) * 2 >= budget or longer > budget


@given(TEXT, BUDGET)
def test_cutting_on_and_on_gives_the_text_again(text, budget):
    parts, rest = [], text
    while rest:
        head, used = cut(rest, max(budget, 4))
        assert used > 0
        parts.append(head)
        rest = rest[used:]
    assert "".join(parts) == text


@each_case("text", ["0000AAAA  \t", "AAAA  \tx", "0000AAAA0000AAAA  \t"])
def test_blanks_that_cost_more_at_the_end_than_within_do_not_exceed_the_budget(text):
    for budget in range(2, 12):
        assert estimate(cut(text, budget)[0]) <= budget


def test_a_text_that_fits_comes_back_whole():
    assert cut("short", 10) == ("short", 5)
    assert cut("", 1) == ("", 0)


def test_an_early_blank_line_does_not_end_the_cut():
    text = "Title\n\n" + "word " * 5000
    head, used = cut(text, 1000)
    assert estimate(head) > 900
    assert head.endswith("word ")
    assert used == len(head)


def test_paragraphs_come_before_sentences_and_words():
    paragraph = "A sentence of some words. Another one here!\n\n"
    head, _ = cut(paragraph * 100, 500)
    assert head.endswith("!\n\n")
    sentence = "A sentence of some words. "
    head, _ = cut(sentence * 100, 200)
    assert head.endswith("words. ")
    head, _ = cut("人人生而自由，在尊严和权利上一律平等。" * 50, 200)
    assert head.endswith("。")


def test_one_long_word_is_cut_hard_within_the_budget():
    head, used = cut("x" * 100_000, 100)
    assert estimate(head) == 100
    assert used == len(head)


def test_a_hard_cut_does_not_tear_a_character():
    head, _ = cut("👨‍👩‍👧‍👦" * 200, 100)
    assert len(head) % len("👨‍👩‍👧‍👦") == 0
    head, _ = cut("e\u0301" * 500, 100)
    assert head.endswith("\u0301")


def test_line_ends_of_windows_are_not_torn():
    head, _ = cut("\r\n" * 2000, 20)
    assert head.endswith("\r\n")


@each_case("name", TEXTS)
def test_half_the_budget_is_used_on_every_kind_of_text(name):
    text = TEXTS[name] * 20
    head, _ = cut(text, 300)
    assert 150 <= estimate(head) <= 300


@given(TEXT, BUDGET, st.sampled_from([0.0, 0.3, 0.7, 1.0]))
@example("0000:\r\n\r\n", 1, 0.0)
def test_head_and_tail_stay_within_the_budget(text, budget, share):
    head, tail, (start, end) = head_and_tail(text, budget, share)
    assert head == text[:start]
    assert tail == text[end:]
    assert start <= end
    assert estimate(head) + estimate(tail) <= budget
    if estimate(text) <= budget:
        assert (head, tail, start, end) == (text, "", len(text), len(text))


def test_head_and_tail_keep_both_ends():
    lines = [f"line {n} of the log" for n in range(5000)]
    head, tail, (start, end) = head_and_tail("\n".join(lines), 400)
    assert head.startswith("line 0 ")
    assert tail.startswith("line ")
    assert tail.endswith("line 4999 of the log")
    assert 250 <= estimate(head) <= 280
    assert 60 <= estimate(tail) <= 150
    assert end - start > 10_000


@pytest.mark.rows("B26", "X7")
@each_case(
    ("text", "ends"),
    [
        ("Title\n\n" + "word " * 5000, "word "),
        ("Title\n\n" + "x" * 25_000, "x"),
        ("one " + "x" * 25_000, "x"),
        ("A. " + "word " * 5000, "word "),
        ("word " * 1500 + "\n\n" + "word " * 4000, "\n\n"),
        ("word " * 1500 + "end. " + "word " * 4000, "end. "),
        ("word " * 700 + "\n\n" + "word " * 4000, "word "),
    ],
)
def test_an_early_boundary_is_passed_over_and_a_late_one_is_taken(text, ends):
    head, used = cut(text, 2000)
    assert head.endswith(ends)
    assert used == len(head)
    assert 1000 <= estimate(head) <= 2000
    assert cut(text, 1)[1] <= 8
