"""Dates of pages: any spelling becomes ISO 8601, and what is no date of the page is none."""

from __future__ import annotations

import pytest
from turbohtml import parse

from tests.cases import each_case
from toolcrib.documents.reader.page_dates import iso_date
from toolcrib.documents.reader.page_metadata import read_meta

DAY = "2026-03-04"
SENTENCE = (
    "<h1>A</h1><p>The king was crowned on 4 March 2026 in the hall of the old town, before"
    " a great many guests."
)
NEWS = "<h1>News</h1>" + "".join(
    f"<i class=date>2026-03-0{day}</i>text " * 9 for day in range(1, 8)
)
SCRIPT = '<script>[{"publishedAt": "2026-03-04"}, {"publishedAt": "2026-03-05"}]</script>'


@each_case(
    ("text", "wanted"),
    [
        ("2026-03-04", DAY),
        ("2026/3/4", DAY),
        ("20260304", DAY),
        ("2026-03-04T05:06:07Z", f"{DAY}T05:06:07Z"),
        ("2026-03-04 05:06:07.123 +0100", f"{DAY}T05:06:07+01:00"),
        ("2026-03-04 05:06 UTC", f"{DAY}T05:06Z"),
        ("Wed, 04 Mar 2026 05:06:07 GMT", DAY),
        ("March 4, 2026", DAY),
        ("Posted by Ann on Mar. 4th 2026 in News", DAY),
        ("4 March 2026", DAY),
        ("4th of March, 2026", DAY),
        ("04-Mar-2026", DAY),
        ("4. März 2026", DAY),
        ("4 de marzo de 2026", DAY),
        ("le 4 mars 2026 à 10h", DAY),
        ("4 marzo 2026", DAY),
        ("4 de março de 2026", DAY),
        ("4 maart 2026", DAY),
        ("2026年3月4日", DAY),
        ("2026년 3월 4일", DAY),
        ("04.03.2026", DAY),
        ("03/04/2026", DAY),
        ("13/11/2025 09:21", "2025-11-13"),
        ("March 2026", ""),
        ("2026", ""),
        ("31 February 2026", ""),
        ("03/04/26", ""),
        ("call 555-2026-0304", ""),
        ("9999-12-31", ""),
        ("version 2026.3.4.1", DAY),
        ("", ""),
    ],
)
def test_a_date_in_a_text(text: str, wanted: str) -> None:
    assert iso_date(text, month_first=True) == wanted


def test_where_the_day_comes_first() -> None:
    assert iso_date("04/03/2026", month_first=False) == DAY
    page = "<html lang={}><h1>A</h1><p class=date>04/03/2026</p>"
    assert read_meta(parse(page.format("fr"))).published == DAY
    assert read_meta(parse(page.format("en-GB"))).published == DAY
    assert read_meta(parse(page.format("en-US"))).published == "2026-04-03"


@each_case(
    ("page", "published", "modified"),
    [
        ("<meta name=published content='March 4, 2026'>", DAY, ""),
        ("<h1>A</h1><span class=post-date>4 March 2026</span>", DAY, ""),
        ("<h1>A</h1><div>By Ann</div><div>March 4, 2026</div><p>Text", DAY, ""),
        ("<div>March 4, 2026</div><h1>A</h1><p>Text", DAY, ""),
        ("<h1>A</h1><p>Updated March 4, 2026</p>", "", DAY),
        ("<h1>A</h1><p class=meta-date>1 May 2025 (updated: 4 March 2026)</p>", "2025-05-01", DAY),
        ("<h1>A</h1><time>4 March 2026</time>", DAY, ""),
        ("<script>x = {publishedDate: '', a: {\"publishedAt\": \"2026-03-04\"}}</script>", DAY, ""),
        # A sentence about another day, lists of days, and days of other things.
        (SENTENCE, "", ""),
        (NEWS, "", ""),
        (SCRIPT, "", ""),
        ("<footer><p class=date>March 4, 2026</p></footer>", "", ""),
    ],
)  # fmt: skip
def test_where_a_page_shows_it(page: str, published: str, modified: str) -> None:
    found = read_meta(parse(page))
    assert (found.published, found.modified) == (published, modified)


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://example.org/2026/03/04/a-title", DAY),
        ("https://example.org/blog/2026-03-04-a-title.html", DAY),
        ("https://example.org/2026/13/04/a", ""),
        ("https://example.org/p/12026/03/045", ""),
    ],
)
def test_the_address_tells_it(url: str, wanted: str) -> None:
    assert read_meta(parse("<p>x"), url=url).published == wanted
    machine = "<meta property='article:published_time' content='2025-01-02'>"
    assert read_meta(parse(machine), url=url).published == "2025-01-02"


def test_hostile_pages_cost_little() -> None:
    """Repeated openings of all patterns, in texts, classes and scripts."""
    for piece in ("1 " * 50, "march " * 50, "2026-" * 80, "4 de " * 80, "2026年" * 60):
        page = "".join(f"<div class=date>{piece}</div>" for _ in range(400))
        found = read_meta(parse(f"<h1>a</h1>{page}<script>{'publishedAt:' * 20_000}</script>"))
        assert found.published == ""
