"""Recorded pages, where this machine has them: counted by other means than the parsers."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest

from tests.servers.scripted import Answer

FOLDER = os.environ.get("TOOLCRIB_SERP", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="TOOLCRIB_SERP names no folder of pages")

# The engine of a page, and what stands once in the source of each of its results.
PAGES = {
    "bing.html.gz": ("bing", rb'<li class="b_algo"'),
    "brave.html.gz": ("brave_html", rb'data-type="web"'),
    "duckduckgo-html.html.gz": ("duckduckgo", rb'class="result__a"'),
    "google-nojs-2020.html.gz": ("google", rb'class="egMi0 kCrYT"'),
    "mojeek.html.gz": ("mojeek", rb'<a\s[^>]*class="ob"'),
    "startpage.html.gz": ("startpage", rb'data-testid="gl-title-link"'),
    "yahoo.html.gz": ("yahoo", rb'class="dd [^"]*\balgo-sr\b'),
}
WRAPPED = re.compile(r"uddg=|/ck/a|/RU=|/url\?|aclk|y\.js|/av/proxy|bing\.com|search\.yahoo")


def recorded(name: str) -> bytes:
    return gzip.decompress((Path(FOLDER) / name).read_bytes())


@pytest.mark.parametrize("name", PAGES)
async def test_every_result_of_a_recorded_page(look, name):
    engine, mark = PAGES[name]
    body = recorded(name)
    found = (await look(engine, Answer(body))).results
    assert len(found) == len(re.findall(mark, body)) > 0
    assert all(r.title for r in found)
    assert not [r.url for r in found if WRAPPED.search(r.url)]
    assert sum(not r.snippet for r in found) <= 1
    assert len({r.url for r in found}) == len(found)


async def test_a_recorded_page_without_results(look):
    found = await look("bing", Answer(recorded("bing-no-results-2020.html.gz")))
    assert found.results == ()
    assert not found.more
