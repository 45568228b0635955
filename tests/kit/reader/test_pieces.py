"""Very long pages are read in pieces, and read as if they were not cut."""

from __future__ import annotations

import pytest

from toolcrib.kit.reader import extract, pieces
from toolcrib.kit.reader.pieces import FIRST, MIN_CHARS, Pieces

pytestmark = pytest.mark.rows("D27")
NUMBER = 80_000


def _texts(source: str) -> list[str]:
    return [document.text for _, document in Pieces(source)]


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
    shown = "".join(f"<p>shown {n} for all to read</p>" for n in range(2 * NUMBER))
    hidden = "<p>never seen</p>" * (FIRST // 20)
    found = extract(f"<div style='display:none'>{hidden}</div>{shown}")
    assert found.text.count("shown") == 2 * NUMBER


@pytest.mark.parametrize(
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


def test_the_limits_are_in_order() -> None:
    assert pieces.FIRST < pieces.OTHERS < pieces.MIN_CHARS
