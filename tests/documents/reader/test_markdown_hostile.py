from __future__ import annotations

import time

from turbohtml import parse

from tests.cases import each_case
from toolcrib.documents.reader.markdown.writer import write

NEEDLE = "<p>NEEDLE here</p>"
PAGES = {
    "unclosed divs": "<div>x" * 200_000,
    "deep phrases": "<b><i>t " * 50_000,
    "deep lists": "<ul><li>x" * 20_000,
    "deep quotes": "<blockquote>x" * 20_000,
    "deep tables": "<table><tr><td>x" * 10_000,
    "deep tables of data": "<table><tr><th>h<td>" * 10_000,
    "deep links": "<a href=x><div>" * 250,
    "deep formulas": "<math><mfrac>" * 5000 + "x" + "</mfrac></math>" * 5000,
    "deep rows of formulas": "<math>" + "<mrow>" * 20_000 + "x</math>",
    "wide cells": "<table>" + "<tr><td colspan=100000>a" * 200 + "</table>",
    "high cells": "<table>" + "<tr><td colspan=99999 rowspan=65000>a<td>b" * 200 + "</table>",
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">x</p>",
    "attributes of a picture": "<img " + " ".join(f"a{n}=1" for n in range(100_000)) + " src=x>",
    "long word": "<p>" + "w" * 5_000_000 + "</p>",
    "links": "".join(f'<a href="/a/long/path/to/{n}.html">link {n}</a> ' for n in range(200_000)),
    "options": "<select>" + "<option>x" * 200_000 + "</select>",
    "breaks": "<p>" + "<br>" * 50_000 + "x</p>",
    "more breaks": "<p>" + "<br>\n" * 100_000 + "x</p>",
    "signs": "<p>" + "*_`[~\\ " * 300_000 + "</p>",
    "brackets": "<p>" + "[[[[a" * 100_000 + "</p>",
    "ticks": "<code>" + "`" * 100_000 + "</code>" + "<code>`</code>" * 10_000,
    "fences": "<pre>" + "```\n" * 100_000 + "</pre>",
    "open formulas": "<p>" + "\\(" * 300_000 + "</p>",
    "notes": "".join(f"<sup><a href=#fn{n}>{n}</a></sup>" for n in range(8000))
    + "".join(f"<p id=fn{n}>note {n}</p>" for n in range(8000)),
    "sources": "<picture>" + "<source srcset=data:x>" * 20_000 + "<img>" * 5000 + "</picture>",
    "boxes": "<ul><li>" + "<input type=checkbox>" * 20_000 + "</ul>",
    "svg": "<svg>" + "<g>" * 50_000 + "</svg>",
    "hash signs": "<pre>" + "# " * 500_000 + "</pre>",
}
CEILING = 5
"""Seconds; a busy machine needs a tenth, what grows with the square of a page far more."""


@each_case("name", PAGES)
def test_a_hostile_page_is_written_soon_and_keeps_its_text(name: str):
    body = parse(PAGES[name] + NEEDLE, positions=False).find("body")
    assert body is not None
    before = time.process_time()
    written = write(body, "https://site.example/").markdown
    assert time.process_time() - before < CEILING
    assert "NEEDLE here" in written


def test_wide_cells_do_not_fill_the_table():
    body = parse(PAGES["wide cells"], positions=False).find("body")
    assert body is not None
    assert len(write(body).markdown) < 2000
