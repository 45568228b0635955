"""Pages made to exhaust a reader. The ceilings are generous; a quadratic step misses them far."""

from __future__ import annotations

import time

import pytest

from tests.cases import each_case
from tests.documents.reader.hostile_pages import MARKER, PAGES, REPLY_PHRASE
from toolcrib.documents.reader.extraction import extract
from toolcrib.documents.reader.large_pages import MAX_ELEMENTS

pytestmark = pytest.mark.rows("D27")
CEILING = 10.0
"""CPU seconds; the aim on an idle machine is half of one, and `bench` measures that."""
FULL = (
    "unclosed divs", "attributes", "options", "links", "identical paragraphs", "colspans", "rows",
    "breaks", "deep tables", "strings without space", "formulas in text", "cyclic graph",
    "comments of users",
)  # fmt: skip
"""Pages that are read at their full size; the others at a tenth."""


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_is_read_in_time_and_keeps_its_text(name: str) -> None:
    page = PAGES[name](1.0 if name in FULL else 0.1)
    data = page if isinstance(page, bytes) else page.encode("utf-8", "surrogatepass")
    started = time.process_time()
    found = extract(data, "https://site.example/")
    assert time.process_time() - started < CEILING
    assert MARKER in found.text
    assert MARKER in found.markdown


def _large(part: str, number: int = MAX_ELEMENTS) -> str:
    return f"<body>{part}<ul>{'<li>An item of a list</li>' * number}</ul>{REPLY_PHRASE}"


def test_a_page_too_large_to_choose_from_keeps_its_structure() -> None:
    part = (
        "<h1>Large</h1><p>See <a href='/x'>this</a> and <b>that</b>.</p><pre>a\n  b</pre>"
        "<table><tr><th>a<th>b<tr><td>1<td>2</table><img src=i.png alt=P>"
    )
    found = extract(_large(part), "https://site.example/docs/")
    assert "too large" in found.warnings[0]
    for piece in (
        "# Large\n", "See [this](https://site.example/x) and **that**.", "\n  b\n", "- An item",
        "| a | b |\n| --- | --- |\n| 1 | 2 |", "![P](https://site.example/docs/i.png)",
    ):  # fmt: skip
        assert piece in found.markdown
    assert "a\tb\n1\t2" in found.text
    assert found.outline[0].text == "Large"
    assert found.links[0].url == "https://site.example/x"
    assert found.images[0].url == "https://site.example/docs/i.png"


def test_addresses_are_absolute_however_many_there_are() -> None:
    links = "".join(f"<a href=/p/{n}>l</a> <a href=q/{n}>m</a> " for n in range(MAX_ELEMENTS))
    found = extract(
        f"<p>{links}<a href=//h.example/r>n</a> [x](y) {REPLY_PHRASE}", "https://site.example/a/b"
    )
    for url in ("https://site.example/p/7", "https://site.example/a/q/8", "https://h.example/r"):
        assert f"]({url})" in found.markdown
    assert found.links[1].url == "https://site.example/a/q/0"
    assert "x](y)" in found.markdown.replace("\\", "")


def test_a_large_table_is_text_with_tabs() -> None:
    rows = "<tr><td>one<td>two | <a href=/x>three</a>" * MAX_ELEMENTS
    found = extract(f"<table>{rows}</table>{REPLY_PHRASE}", "https://site.example/")
    assert found.text.startswith("one\ttwo | three\none\ttwo | three\n")


def test_what_a_large_page_hides_is_left_out_and_counted() -> None:
    found = extract(_large("<p style='display:none'>never seen words</p>"))
    assert "never seen" not in found.markdown + found.text
    assert "3 words that the page hides are left out." in found.warnings


@each_case(
    "html",
    [
        f"<title>{REPLY_PHRASE}",
        f"<textarea>{REPLY_PHRASE}",
        f"<!-- {REPLY_PHRASE}",
        f"<style>p {{ }} {REPLY_PHRASE}",
        f"<script>var a; {REPLY_PHRASE}",
        f"<noembed>{REPLY_PHRASE}",
        f"<!-- a --><title>b</title><script>c</script><!-- {REPLY_PHRASE}",
        f"<?xml version='1.0'?><html><head><title/></head><body>{REPLY_PHRASE}</body></html>",
        f"<?xml version='1.0'?><html><body><p><![CDATA[{MARKER} < & ]]></p></body></html>",
        f"<x-a><template shadowrootmode=open>{REPLY_PHRASE}</template><p>light</p></x-a>",
        f"<frameset><noframes>{REPLY_PHRASE}</noframes></frameset>",
        f"<noscript>{REPLY_PHRASE}</noscript>",
        f"<plaintext>{REPLY_PHRASE}",
        MARKER,
    ],
)
def test_text_is_found_where_a_browser_might_show_none(html: str) -> None:
    found = extract(html)
    assert MARKER in found.text
    assert MARKER in found.markdown


def test_scripts_of_xhtml_stay_scripts() -> None:
    html = (
        "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head>"
        "<script src='x.js'/><script>//<![CDATA[\nvar secret = 1;\n//]]></script></head>"
        f"<body>{REPLY_PHRASE}<p><![CDATA[a < b]]></p></body></html>"
    )
    found = extract(html)
    assert "secret" not in found.text
    assert "a < b" in found.text
