"""`fetch_url` and `extract` take the same of a page for its content."""

from __future__ import annotations

import re

import pytest

from tests.documents.reader.fixtures import SENTENCES, article, forum
from toolcrib.documents.reader.extraction import extract
from toolcrib.web.converters.html import convert_html
from toolcrib.web.page import RawPage

ROWS = "".join(f"<tr><td>pillar {n}</td><td>{s}</td></tr>" for n, s in enumerate(SENTENCES))
LINKS = "".join(f'<li><a href="/{n}">Chapter {n} of the report</a></li>' for n in range(8))
PAGES = {
    "article": article(),
    "table": article(f"<table>{ROWS}</table>"),
    "aria-hidden": article("<p aria-hidden=true>Again and again.</p>"),
    "noscript": article(f"<noscript><p>{SENTENCES[1]} Without scripts.</p></noscript>"),
    "menu by name": article(f"<div class='toc'><ul>{LINKS}</ul></div>"),
    "nav inside": article(f"<nav><ul>{LINKS}</ul></nav>"),
    "forum": forum(),
    "short": f"<body><nav><ul>{LINKS}</ul></nav><p>{SENTENCES[0]}</p><footer>Imprint</footer>",
}
URL = "https://river.example/2026/bridge-closed-for-weeks"


@pytest.mark.parametrize("name", PAGES)
def test_both_ways_give_the_same_words(name: str) -> None:
    page = PAGES[name].encode()
    fetched = convert_html(RawPage(URL, "text/html", "utf-8", page, "text"))
    extracted = extract(page, URL)
    assert fetched.text.split() == re.sub(r"^- ", "", extracted.text, flags=re.MULTILINE).split()


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("aria-hidden", "Again and"),
        ("noscript", "Without scripts."),
        ("menu by name", "Chapter 3"),
        ("nav inside", "Chapter 3"),
        ("short", "Imprint"),
    ],
)
def test_what_is_not_for_all_readers_is_left_out(name: str, left_out: str) -> None:
    text = extract(PAGES[name], URL).text
    assert left_out not in text
    assert SENTENCES[0] in text
