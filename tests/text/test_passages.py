from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.text.passages import MAX_PASSAGE_TOKENS, WHOLE, bare, has_headings, outline, split
from toolcrib.text.tokens import estimate

PAGES = [
    p.read_text(encoding="utf-8") for p in sorted(Path(__file__).parent.glob("retrieval/*.md"))
]
SENTENCE = "The crib keeps every tool in a place of its own, with a tag of brass for each. "


def test_passages_stand_under_their_headings():
    page = "Intro.\n\n# A\n\nOne.\n\n## B [x](http://y/)\n\nTwo.\n\nThree.\n\n# C\n\nFour."
    assert [(p.headings, p.text) for p in split(page)] == [
        ((), "Intro."),
        (("A",), "One."),
        (("A", "B x"), "Two.\n\nThree."),
        (("C",), "Four."),
    ]


def test_offsets_lead_back_to_the_page():
    for page in PAGES:
        for passage in split(page):
            assert page[passage.start : passage.end] == passage.text


@given(
    st.lists(
        st.sampled_from(
            [
                *("# A\n", "## B\n", "text here\n", "\n", "| a | b |\n", "| - | - |\n", "```\n"),
                *("~~~\n", "- item\n", "x" * 700, SENTENCE * 12, "語" * 300, "   \n", "\r\n"),
                *("#\n", "####### x\n", "Intro:\n", "\u2028", "`code`\n", "|\n"),
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_every_word_is_in_exactly_one_passage(page):
    passages = split(page)
    covered = "".join(p.text for p in passages)
    headings = {(h.start, page[h.start :].splitlines()[0]) for h in outline(page)}
    displayed = {p.start for p in passages}
    rest = page
    for start, line in sorted(headings, reverse=True):
        if not any(p.start <= start < p.end for p in passages):
            rest = rest[:start] + rest[start + len(line) :]
    assert re.sub(r"\s", "", covered) == re.sub(r"\s", "", rest)
    assert len(displayed) == len(passages)
    for before, after in pairwise(passages):
        assert before.end <= after.start
    for passage in passages:
        assert page[passage.start : passage.end] == passage.text
        assert passage.text.strip()


def test_paragraphs_are_grouped_and_long_ones_are_cut_at_sentences():
    page = "\n\n".join([SENTENCE * 2] * 12 + [SENTENCE * 60])
    passages = split(page)
    sizes = [estimate(p.text) for p in passages]
    assert max(sizes) <= MAX_PASSAGE_TOKENS
    assert min(sizes[:-1]) >= 40
    assert all(p.text.endswith("each.") for p in passages)


def test_tables_and_code_stay_whole_where_they_fit():
    table = "| tool | count |\n| --- | --- |\n" + "".join(f"| t{n} | {n} |\n" for n in range(30))
    code = "```python\n" + "".join(f"def f{n}():\n\n    return {n}\n\n" for n in range(20)) + "```"
    assert MAX_PASSAGE_TOKENS < estimate(table) < WHOLE
    assert MAX_PASSAGE_TOKENS < estimate(code) < WHOLE
    found = [p.text for p in split(f"Before.\n\n{table}\nBetween.\n\n{code}\n\nAfter.")]
    assert any(table.strip() in text for text in found)
    assert any(code in text for text in found)


def test_a_long_table_goes_on_under_its_header():
    lead = "| tool | count |\n| --- | --- |"
    table = lead + "".join(f"\n| tool number {n} | {n} |" for n in range(300))
    passages = split(table)
    assert len(passages) > 5
    assert passages[0].lead == ""
    for passage in passages[1:]:
        assert passage.text_with_headings.startswith(f"{lead}\n| tool number")
        assert passage.text_with_headings.endswith("|")


def test_code_is_not_taken_for_headings():
    page = "# A\n\n```sh\n# not a heading\n\nls\n```\n\ntext\n"
    assert [h.text for h in outline(page)] == ["A"]
    (passage,) = split(page)
    assert "# not a heading\n\nls" in passage.text


def test_what_a_line_announces_stays_with_it():
    listing = "```\n" + "x = 1\n" * 40 + "```"
    page = f"{SENTENCE * 4}\n\n{SENTENCE * 4} So run this:\n\n{listing}"
    assert any("So run this:" in p.text and listing in p.text for p in split(page))


def test_headings_without_text_below_are_kept_as_text():
    page = "# News\n\n### [One](http://a/1)\n\n### [Two](http://a/2)\n\n### [Three](http://a/3)"
    (passage,) = split(page)
    assert passage.headings == ("News",)
    assert all(word in passage.text for word in ("One", "Two", "Three"))


def test_a_page_in_one_piece_without_spaces():
    page = "工具管理系统会记录每一件工具的去向。" * 200
    sizes = [estimate(p.text) for p in split(page)]
    assert max(sizes) <= MAX_PASSAGE_TOKENS
    assert all(p.text.endswith("。") for p in split(page))


@each_case("page", ["", "\n\n", "   "])
def test_nothing_gives_nothing(page):
    assert split(page) == []
    assert outline(page) == []


@each_case(
    ("text", "wanted"),
    [
        ("see [the **page**](http://x/a_(b)) now", "see the page now"),
        ("![alt](http://x/y.png) and `code_name`", "alt and code_name"),
        ("snake_case_name * 3", "snake_case_name * 3"),
    ],
)
def test_bare(text, wanted):
    assert bare(text) == wanted


@pytest.mark.timeout(120)
def test_a_page_of_two_million_characters_is_split():
    page = "\n\n".join(f"# H{n}\n\n{SENTENCE * 8}" for n in range(3000))
    assert len(page) > 1_900_000
    assert len(split(page)) >= 3000
    assert len(split(SENTENCE * 25_000)) > 1000


@each_case(
    ("page", "wanted"),
    [
        ("# One\n\n```sh\n# no\n```\n\n~~~\n## nor\n~~~\n## Two ##\n#hash\n", ["One", "Two"]),
        ("````\n```\n# no\n````\n# A", ["A"]),
        ("```\n```x\n# no\n```\n# A", ["A"]),
        ("- item\n\n      ```\n# no\n      ```\n# A", ["A"]),
        ("# C#\n\nx\n\n## F # #\n\ny", ["C#", "F #"]),
        ("# #\n\n## [a *b*](http://x/)\n\nx", ["a b"]),
    ],
)
def test_headings_are_the_same_everywhere(page, wanted):
    assert [h.text for h in outline(page)] == wanted
    assert [page[h.start] for h in outline(page)] == ["#"] * len(wanted)
    assert {h for passage in split(page) for h in passage.headings} <= set(wanted)


def test_a_page_of_marks_is_read_in_no_time():
    assert len(outline("# x" + "#" * 1_000_000 + "\n# " + "# " * 500_000)) == 2


@each_case(
    ("kind", "content_type", "url", "wanted"),
    [
        ("html", "text/html", "https://a.example/", True),
        ("json", "application/json", "https://a.example/x.md", False),
        ("csv", "text/csv", "https://a.example/x", False),
        ("text", "text/markdown", "https://a.example/x.py", True),
        ("text", "text/plain", "https://a.example/x.md?raw=1", True),
        ("text", "text/plain", "https://a.example/x.py", False),
        ("text", "text/x-python", "https://a.example/x", False),
    ],
)
def test_where_a_hash_is_a_heading(kind, content_type, url, wanted):
    assert has_headings(kind, content_type, url) is wanted


def test_a_wide_table_is_not_headed_again():
    """Its header would stand before each of its parts, and be read with each."""
    row = "| x " * 20_000 + "|"
    rule = "| - " * 20_000 + "|"
    passages = split(f"{row}\n{rule}\n{row}\n")
    assert len(passages) > 100
    assert sum(len(p.text_with_headings) for p in passages) < 2 * 3 * len(row)


def test_it_can_be_stopped():
    """A page of millions of characters takes long; the caller's time may be over before."""
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls > 50:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        split("a line\n" * 100_000, check)
