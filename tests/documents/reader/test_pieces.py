"""Very long pages are read in pieces, and read as if they were not cut."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from toolcrib.documents.reader import large_pages
from toolcrib.documents.reader.extraction import extract
from toolcrib.documents.reader.large_pages import FIRST_PIECE_CHARS, MIN_CHARS, Pieces

pytestmark = pytest.mark.rows("D27")
NUMBER = 80_000
AGAIN = "the same again"


def _texts(source: str) -> list[str]:
    """The text of each tree; `AGAIN` for one that says the same as the one before."""
    return [AGAIN if document is None else document.text for _, document in Pieces(source)]


def test_every_item_of_a_long_list_is_kept_once_and_in_order() -> None:
    items = "".join(f"<li>item {n} of a list</li>\n" for n in range(NUMBER))
    found = extract(f"<title>T</title><ol>{items}</ol><p>The end of it.</p>")
    assert "too large" in found.warnings[0]
    assert found.title == "T"
    lines = found.markdown.splitlines()
    assert lines[:NUMBER] == [f"{n + 1}. item {n} of a list" for n in range(NUMBER)]
    assert lines[NUMBER:] == ["", "The end of it."]


def test_paragraphs_between_pieces_stay_apart() -> None:
    found = extract("".join(f"<p>paragraph {n}, of some words</p>" for n in range(NUMBER)))
    wanted = [f"paragraph {n}, of some words" for n in range(NUMBER)]
    assert found.markdown.split("\n\n") == found.text.split("\n\n") == wanted


def test_what_is_shown_after_a_long_hidden_part_is_kept() -> None:
    visible = "".join(f"<p>shown {n} for all to read</p>" for n in range(2 * NUMBER))
    hidden = "<p>never seen</p>" * (FIRST_PIECE_CHARS // 20)
    found = extract(f"<div style='display:none'>{hidden}</div>{visible}")
    assert found.text.count("shown") == 2 * NUMBER


@each_case(
    "around",
    [("<script>var a = '", "';</script>"), ("<table><tr><td>", "</table>"), ("<!-- ", "-->")],
)
def test_what_cannot_be_cut_is_one_tree(around: tuple[str, str]) -> None:
    source = f"<p>first</p>{around[0]}{'<p>x</p>' * (MIN_CHARS // 8)}{around[1]}<p>last</p>"
    texts = _texts(source)
    assert len(texts) == 1
    assert texts[0].startswith("first")
    assert texts[0].endswith("last")


def test_addresses_and_headings_of_all_pieces_are_listed() -> None:
    part = "<h2>One of the headings</h2><p>See <a href=/a/{0}>{0}</a> and <a href=b/{0}>it</a></p>"
    found = extract("".join(map(part.format, range(NUMBER // 2))), "https://site.example/x/y")
    assert f"[{NUMBER // 2 - 1}](https://site.example/a/{NUMBER // 2 - 1})" in found.markdown
    assert f"(https://site.example/x/b/{NUMBER // 2 - 1})" in found.markdown
    assert found.links[1].url == "https://site.example/x/b/0"
    for heading in found.outline[-3:]:
        assert found.markdown.startswith("## One", heading.offset)


def test_a_long_listing_is_cut_and_stays_one_block() -> None:
    lines = [f"line {n} of the code, and more" for n in range(100_000)]
    code = "\n".join(lines)
    source = f"<h1>It</h1><pre>{code}</pre><p>The end.</p>"
    assert len(_texts(source)) > 2
    found = extract(source)
    assert found.markdown == f"# It\n\n```\n{code}\n```\n\nThe end."
    assert found.text.splitlines()[2:-2] == lines


@pytest.mark.parametrize("unit", ["word ", "\u65e5\u672c"])
def test_a_long_paragraph_is_cut_between_words_or_characters(unit: str) -> None:
    text = (unit * 3_000_000)[:3_000_000].strip()
    source = f"<title>T</title><p>{text}</p><p>The end.</p>"
    assert len(_texts(source)) > 2
    found = extract(source)
    assert found.text == f"{text}\n\nThe end."
    assert found.markdown == found.text


@each_case(
    ("unit", "end"),
    [
        ("<a href=/a>link</a> ", ""),
        ("<p>One and <b>the</b> same.</p>\n", ""),
        ("<p>One.</p>", "<p>And another."),
        ("<ul><li>item</ul>", "<h2>End</h2>"),
    ],
)
def test_a_page_that_repeats_itself_loses_none_of_it(unit: str, end: str) -> None:
    number = 3 * MIN_CHARS // len(unit)
    source = unit * number + end
    assert AGAIN in _texts(source)
    words = unit.replace(">", "> ").count("link") + unit.count("One") + unit.count("item")
    found = extract(source, "https://site.example/")
    for joined in (found.text, found.markdown):
        assert joined.count("link") + joined.count("One") + joined.count("item") == words * number
    assert found.text.endswith(("link", "same.", "And another.", "End"))
    assert len(found.links) == ("href" in unit)


def test_a_list_goes_on_counting_where_its_items_are_all_the_same() -> None:
    found = extract("<ol>" + "<li>item\n" * (3 * MIN_CHARS // 9))
    lines = found.markdown.splitlines()
    assert lines == [f"{n + 1}. item" for n in range(len(lines))]
    assert len(lines) == 3 * MIN_CHARS // 9


@pytest.mark.parametrize("around", [("", ""), ("<p>One ", " two.</p><p>The end.</p>")])
def test_a_row_of_less_signs_is_cut_and_none_is_lost(around: tuple[str, str]) -> None:
    signs = "<" * large_pages.MANY_MARKS
    source = f"{around[0]}{signs}<{around[1]}"
    texts = _texts(f"<body>{source}")
    assert len(texts) > 1
    assert "".join(texts).count("<") == len(signs) + 1
    found = extract(source)
    before, after = (part for part in (around[0][3:], around[1].split("<")[0]))
    assert found.text.split("\n")[0] == f"{before}{signs}<{after}"
    assert found.markdown.count("<") == len(signs) + 1


@each_case("opening", ["<script>", "<!-- ", "<p title='", "<textarea>"])
def test_less_signs_that_are_no_text_are_not_cut(opening: str) -> None:
    texts = _texts(f"<p>Before.</p>{opening}{'<' * large_pages.MANY_MARKS}")
    assert len(texts) == 1


def test_pieces_that_are_few_words_after_all_are_read_whole() -> None:
    source = "<p>Only this.</p>" + "<!-- x -->" * 300_000 + "<p></p>" * 70_000
    assert extract(source).text == "Only this."


def test_the_limits_are_in_order() -> None:
    assert large_pages.FIRST_PIECE_CHARS < large_pages.PIECE_CHARS < large_pages.MIN_CHARS
