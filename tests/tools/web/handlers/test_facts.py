"""What a page says of itself, from seven places for its date."""

from __future__ import annotations

import itertools
import json

import pytest

from tests.cases import each_case
from toolcrib.web.handlers import Handlers
from toolcrib.web.page import Facts, RawPage


def facts(body: str) -> Facts:
    raw = RawPage("https://site.example/", "text/html", "utf-8", body.encode())
    return Handlers().convert(raw).facts


def linked(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


DATES = [
    '<meta property="article:modified_time" content="2024-01-07">',
    '<time itemprop="dateModified" datetime="2024-01-06">a while ago</time>',
    linked({"@type": "Article", "dateModified": "2024-01-05"}),
    '<meta property="article:published_time" content="2024-01-04">',
    '<span itemprop="datePublished">2024-01-03</span>',
    linked({"@type": "Article", "datePublished": "2024-01-02"}),
    '<meta name="date" content="2024-01-01">',
]


@pytest.mark.rows("A07")
@each_case("first", range(7))
def test_the_date_comes_from_the_first_of_seven_places(first):
    parts = DATES[first:]
    for order in (parts, parts[::-1]):
        assert facts("".join(order)).date == f"2024-01-0{7 - first}"


def test_both_dates_are_kept():
    for one, other in itertools.product(DATES[:3], DATES[3:]):
        found = facts(one + other)
        assert found.modified in one
        assert found.published in other
        assert found.modified
        assert found.published


@pytest.mark.rows("A07")
@each_case(
    ("value", "date"),
    [
        (
            [{"@type": "WebSite"}, {"@type": "NewsArticle", "dateModified": "2024-02-01"}],
            "2024-02-01",
        ),
        ({"@graph": [{"x": 1}, {"@type": "WebPage", "dateModified": "2024-02-02"}]}, "2024-02-02"),
        ({"mainEntity": {"@type": ["Article"], "dateModified": "2024-02-03"}}, "2024-02-03"),
        ('<!--\n{"dateModified": "2024-02-04",}\n//-->', "2024-02-04"),
        ('//<![CDATA[\n{"dateModified": "2024-02-05"}\n//]]>', "2024-02-05"),
        ('{"dateModified": "2024-02-06", "articleBody": "broken "quotes" here"', "2024-02-06"),
        ('{"description": "a\nb", "dateModified": "2024-02-07"}', "2024-02-07"),
        (
            [
                {"@type": "Comment", "dateModified": "1999"},
                {"@type": "Article", "dateModified": "2024"},
            ],
            "2024",
        ),
        ({"dateModified": ["2024-02-08"]}, "2024-02-08"),
        ({"dateModified": {"@value": "2024-02-09"}}, "2024-02-09"),
        ({"dateModified": 5}, ""),
        ({"dateModified": "yesterday"}, ""),
        ("", ""),
        ("nothing at all", ""),
        ("null", ""),
        ("[" * 50_000, ""),
        ('{"a":' * 50_000, ""),
        (json.dumps({"x": "y" * 600_000, "dateModified": "2024-03-01"}), ""),
    ],
)
def test_linked_data_in_every_shape(value, date):
    assert facts(linked(value)).date == date


def test_one_broken_script_does_not_hide_the_next():
    page = linked("{broken") + linked({"@type": "Article", "dateModified": "2024-01-05"})
    assert facts(page).modified == "2024-01-05"


@pytest.mark.rows("A07")
def test_the_description_comes_from_the_first_of_four_places():
    places = [
        '<meta property="og:description" content="one">',
        '<meta name="Description" content="two">',
        linked({"@type": "Article", "description": "three"}),
        '<meta name="twitter:description" content="four">',
    ]
    for first, expected in enumerate(("one", "two", "three", "four")):
        assert facts("".join(reversed(places[first:]))).description == expected


def test_the_description_is_clean_and_short():
    words = "  A\u200b text &lt;b&gt;with&lt;/b&gt;\n marks &amp;amp; more "
    assert (
        facts(f'<meta name=description content="{words}">').description
        == "A text with marks & more"
    )
    long = facts(f'<meta name=description content="{"word " * 300}">').description
    assert len(long) <= 500
    assert long.endswith("word…")


def test_the_rest_of_the_head():
    found = facts(
        '<html lang="de-CH"><meta property="og:type" content="article">'
        '<meta property="og:site_name" content="The Site"><meta name="author" content="Ann">'
    )
    assert (found.type, found.site, found.author, found.language) == (
        "article",
        "The Site",
        "Ann",
        "de-CH",
    )
    found = facts(
        linked(
            {
                "@type": "Article",
                "headline": "h",
                "author": [{"name": "Ann"}, {"name": "Bob"}],
                "publisher": {"name": "The Site"},
            }
        )
        + '<meta property="og:locale" content="en_GB"><meta property="article:author" content="https://x.example/ann">'
    )
    assert (found.site, found.author, found.language) == ("The Site", "Ann, Bob", "en-GB")
    assert facts("<p>nothing") == Facts()


def test_a_script_of_spaces_takes_no_longer_than_reading_it():
    assert facts(linked(f'{{"a":{" " * 400_000}1]]')) == Facts()
