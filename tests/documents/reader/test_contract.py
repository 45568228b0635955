# ruff: noqa: E501, Q003 - markup reads best in one piece
"""What `extract` promises: types, places, and that it never fails."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toolcrib
from tests.cases import each_case
from tests.documents.reader.fixtures import SENTENCES, article, forum
from toolcrib.documents.reader.extraction import Extraction, extract

pytestmark = pytest.mark.rows("A17", "A19", "B24", "D25")

PIECES = [
    b"<", b">", b"</", b"<p>", b"<div>", b"<table><tr><td>", b"<a href='", b"<!--", b"<script>",
    b"<title>", b"<pre><code class=language-c>", b"<svg>", b"<math><mi>", b"<select><option>",
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b$B", b"&amp;", b"&#x110000;", b"<base href=//[>",
    b"<meta charset=utf-16>", b"<script type=application/ld+json>{\"@graph\":[1,null]}</script>",
    b"<img srcset='a 1x,, 2x'>", b"<ol start=x><li value=9999999999999>", b"<td colspan=-1 rowspan=x>",
    b"<sup><a href=#fn1>1</a></sup><li id=fn1>", b"<noscript>", b"<template shadowrootmode=open>",
    b"<dl><dd>", b"<input type=checkbox>", b"<br>", b"words of the page ", "é日本".encode(), b"\\(x\\) $$y$$",
    b"<h2><a href=#x>", b"<?xml version='1.0'?>", b"<![CDATA[", b"<plaintext>", b"<frameset>",
]  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=12), max_size=30).map(b"".join))
def test_any_bytes_are_read(data: bytes) -> None:
    assert isinstance(extract(data, "https://site.example/a"), Extraction)


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=40), st.text(max_size=40))
def test_any_text_address_and_type_are_taken(html: str, url: str, content_type: str) -> None:
    found = extract(f"<p>{html}</p><a href=x>y</a>", url, content_type)
    assert isinstance(found.markdown, str)
    assert extract(html.encode("utf-8", "surrogatepass"), None, content_type).title == found.title


@each_case("url", [None, "", "x", "https://", "http://[", "file:///a", "javascript:1", "\0"])
def test_a_strange_address_changes_no_text(url: str | None) -> None:
    page = article("<p>See <a href=/other>the other page</a> as well, about the river.</p>")
    assert extract(page, url).text == extract(page).text


def test_the_types_are_those_that_are_promised() -> None:
    page = article("<h2>Costs</h2><p>See <a href=/x>here</a>.</p><img src=/i.png alt=I>")
    found = extract(page.encode(), "https://river.example/a", "text/html; charset=utf-8")
    assert toolcrib.extract is extract
    assert type(found).__name__ == "Extraction"
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        assert isinstance(
            value, tuple if field.name in {"outline", "links", "images", "warnings"} else str
        )
    assert all(isinstance(warning, str) for warning in found.warnings)
    assert found.outline[-1].text == "Costs"
    assert found.markdown[found.outline[-1].offset :].startswith("## Costs")
    assert "https://river.example/x" in [link.url for link in found.links]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.text = "other"  # type: ignore[misc]


def test_text_and_bytes_say_the_same() -> None:
    page = article("<p>Ein Satz über die Brücke, mit Umlauten.</p>")
    assert extract(page) == extract(page.encode()) == extract(b"\xef\xbb\xbf" + page.encode())


def test_the_charset_of_the_header_counts() -> None:
    page = article("<p>Мост закрыт на шесть недель, сказали в городе.</p>").encode(
        "koi8-r", "replace"
    )
    assert "Мост закрыт" in extract(page, None, 'text/html; Charset="KOI8-R"; x=y').text


@each_case("content_type", ["text/html; charset=", "charset", ";;;", "é", "text/html;charset=\0"])
def test_a_broken_type_counts_as_none(content_type: str) -> None:
    page = article().encode()
    assert extract(page, None, content_type).text == extract(page).text


def test_comments_stay_on_forums_and_go_on_articles() -> None:
    comments = "".join(
        f"<li class=comment><b class=author>u{n}</b><p>What a shame for the town, number {n}.</p></li>"
        for n in range(6)
    )
    warnings = extract(
        article(after=f"<section id=comments><h3>6 comments</h3><ol>{comments}</ol></section>")
    )
    assert SENTENCES[3] in warnings.text
    assert "What a shame" not in warnings.text
    thread = extract(forum())
    for sentence in SENTENCES[:5]:
        assert sentence in thread.text


def test_plain_text_has_blocks_on_lines_and_no_marks() -> None:
    part = (
        "<p>A <a href=/x>link</a> and <b>bold</b> words in a line that is not broken anywhere at all, "
        "however long it may get to be.<br>Next line.</p><table><tr><th>Year<th>Cracks<tr><td>2025"
        "<td>Eleven of them</table><ul><li>One thing<li>Another thing</ul><img src=i.png alt=Picture>"
    )
    text = extract(article(part), "https://river.example/").text
    assert (
        "A link and bold words in a line that is not broken anywhere at all, however long" in text
    )
    assert "\nNext line." in text
    assert "Year\tCracks\n2025\tEleven of them" in text
    assert "- One thing\n- Another thing" in text
    for sign in ("river.example", "**", "![", "](", "\n\n\n"):
        assert sign not in text
