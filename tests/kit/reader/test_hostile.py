"""Pages made to exhaust a reader. The ceilings are generous; a quadratic step misses them far."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from toolcrib.kit.reader import extract

CEILING = 10.0
"""CPU seconds; the aim on an idle machine is half of one."""

PAGES: dict[str, Callable[[], str]] = {
    "unclosed divs": lambda: "<div>" * 200_000 + "visible text",
    "closed divs": lambda: "<div>" * 100_000 + "visible text" + "</div>" * 100_000,
    "bold italics": lambda: "<b><i>" * 50_000 + "visible text",
    "nested lists": lambda: "<ul><li>" * 20_000 + "visible text",
    "nested quotes": lambda: "<blockquote>" * 20_000 + "visible text",
    "nested tables": lambda: "<table><tr><td>" * 10_000 + "visible text",
    "deep svg": lambda: "<svg>" + "<g>" * 50_000 + "</svg><p>visible text",
    "one attribute": lambda: f"<p title='{'x' * 5_000_000}'>visible text</p>",
    "attributes": lambda: "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">visible text",
    "class names": lambda: "<p class='" + "a b " * 500_000 + "'>visible text",
    "options": lambda: "<select>" + "<option>x" * 200_000 + "</select><p>visible text",
    "paragraphs": lambda: "<p>An identical paragraph of text.</p>" * 250_000 + "visible text",
    "links": lambda: '<a href="/some/path/to/a/page">link text</a> ' * 200_000 + "visible text",
    "items": lambda: "<ul>" + "<li><a href=/a>link" * 39_000 + "</ul><p>visible text",
    "colspans": lambda: "<table>" + "<tr><td colspan=100000>visible text" * 200 + "</table>",
    "entities": lambda: "&amp;&lt;&#x26;" * 300_000 + " visible text",
    "NULs": lambda: "\0" * 200_000 + "visible text",
    "surrogates": lambda: "\ud800\udfff" * 1000 + "visible text",
    "long word": lambda: "x" * 5_000_000 + " visible text",
    "unclosed script": lambda: "<p>visible text</p><script>" + "var a;" * 300_000,
    "comments": lambda: "<!-- c -->" * 200_000 + "visible text",
    "frames": lambda: "<frameset><frame src=a><noframes><p>visible text</noframes></frameset>",
    "no tags": lambda: "visible text",
    "cdata": lambda: "<?xml version='1.0'?><p><![CDATA[x]]></p><p>visible text</p>",
    "json bomb": lambda: (
        "<script type='application/json'>" + "[" * 200_000 + "</script><p>visible text"
    ),
    "linked bomb": lambda: (
        "<script type='application/ld+json'>" + '{"a":' * 100_000 + "</script><p>visible text"
    ),
    "hidden": lambda: "<p hidden>no</p>" * 30_000 + "<p>visible text",
    "styles": lambda: f"<p style='{'opacity : ' * 200_000}'>visible text",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_is_read_in_time_and_keeps_its_text(name: str) -> None:
    html = PAGES[name]()
    started = time.process_time()
    found = extract(html, "https://site.example/")
    assert time.process_time() - started < CEILING
    assert "visible text" in found.text
    assert "visible text" in found.markdown
