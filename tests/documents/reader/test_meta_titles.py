"""The title of a page, by the rules of reader modes."""

from __future__ import annotations

from tests.cases import each_case
from tests.documents.reader.heads import CONTEXT, article, linked, meta, name_meta, property_meta


@each_case(
    ("whole", "title"),
    [
        ("A tale of five old friends - News | The Site", "A tale of five old friends - News"),
        ("A tale of five old friends — The Site", "A tale of five old friends"),
        ("The Site | A tale of five old friends", "A tale of five old friends"),
        ("Site » A tale of five old friends", "A tale of five old friends"),
        ("A well-known story of us | Site", "A well-known story of us"),
        ("Site: a tale of five old friends", "a tale of five old friends"),
        ("Some: thing: a tale of five old friends", "a tale of five old friends"),
        ("  Site -\n a tale of   five old&nbsp;friends ", "a tale of five old friends"),
    ],
)
def test_the_title_element_gives_the_part_that_names_the_page(whole, title):
    assert meta(f"<title>{whole}</title>").title == title


@each_case(
    "whole",
    [
        "A story of three | The Site",
        "Home / Section / A page",
        "One | Two",
        "Very short title",
        "One of the many long words before: the rest of it here",
        "A tale of five old friends",
        "A|B without any space around it",
    ],
)
def test_the_whole_title_element_stands_where_its_parts_say_too_little(whole):
    assert meta(f"<title>{whole}</title>").title == whole


def test_a_path_of_sections_may_leave_few_words():
    assert meta("<title>The quick guide » The Site</title>").title == "The quick guide"
    whole = "The quick guide | The Site"
    assert meta(f"<title>{whole}</title>").title == whole


def test_a_colon_stays_where_a_heading_has_it():
    whole = "Fathom: a framework for web pages"
    assert meta(f"<title>{whole}</title>").title == "a framework for web pages"
    for tag in ("h1", "h2"):
        page = f"<title>{whole}</title><{tag}>\nFathom: a <i>framework</i> for web pages </{tag}>"
        assert meta(page).title == whole


def test_two_colons_take_the_longer_rest():
    assert meta("<title>Guide: making things: a story</title>").title.startswith("Guide: making")
    assert meta("<title>Guide: making some more things: now</title>").title == (
        "making some more things: now"
    )


def test_the_only_heading_replaces_a_title_that_is_too_short_or_long():
    heading = "<h1>A heading that is <b>really</b> the title</h1>"
    expected = "A heading that is really the title"
    assert meta(f"<title>Start</title>{heading}").title == expected
    assert meta(f"<title>{'keyword ' * 30}</title>{heading}").title == expected
    assert meta(f"<title>Start</title>{heading}<h1>Other</h1>").title == "Start"
    assert meta(f"<title>An ordinary title here</title>{heading}").title == "An ordinary title here"


def test_the_title_of_an_icon_is_not_the_page_s():
    assert meta("<svg><title>icon</title></svg><title>Real</title>").title == "Real"


TITLES = [
    article(headline="one"),
    name_meta("dc.title", "two"),
    name_meta("dcterm.title", "three"),
    property_meta("og:title", "four"),
    name_meta("weibo:article:title", "five"),
    name_meta("weibo:webpage:title", "six"),
    name_meta("title", "seven"),
    name_meta("twitter:title", "eight"),
    name_meta("parsely-title", "nine"),
    "<title>The title element, in full</title>",
]


@each_case("first", range(len(TITLES)))
def test_the_title_comes_from_the_first_of_ten_places(first):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    expected = [*words, "The title element, in full"][first]
    for parts in (TITLES[first:], TITLES[first:][::-1]):
        assert meta("".join(parts)).title == expected


def test_the_last_meta_of_a_name_counts_and_empty_ones_do_not():
    page = (
        property_meta("og:title", "one")
        + property_meta("OG : Title", "two")
        + property_meta("og:title", " ")
    )
    assert meta(page).title == "two"
    assert meta(property_meta("og:title twitter:title", "both")).title == "both"
    assert meta(name_meta("subtitle", "no") + name_meta("og.title", "dotted")).title == "dotted"


def test_entities_are_resolved_once_more():
    page = property_meta("og:title", "Tom &amp;amp; Jerry&amp;#39;s AT&amp;T?a=1&amp;copy=2")
    assert meta(page).title == "Tom & Jerry's AT&T?a=1&copy=2"


@each_case(
    ("name", "headline", "expected"),
    [
        ("The Site", "A tale of five old friends", "A tale of five old friends"),
        ("A tale of five old friends", "a tagline", "A tale of five old friends"),
        ("The Site", "something else", "The Site"),
        (
            "A tale of five old friends!",
            "A tale of five old friends",
            "A tale of five old friends!",
        ),
        ("A tale", None, "A tale"),
        (None, "A tale", "A tale"),
        (5, ["x"], "A tale of five old friends"),
        ("", "", "A tale of five old friends"),
    ],
)
def test_the_article_s_name_or_the_headline_if_only_that_is_like_the_title(
    name, headline, expected
):
    page = "<title>A tale of five old friends | News</title>"
    assert meta(page + article(name=name, headline=headline)).title == expected


POST = {"@type": "Article", "name": "x"}


@each_case(
    ("value", "found"),
    [
        ({"@context": CONTEXT, "@type": "Article", "name": "x"}, True),
        ({"@context": "http://schema.org/", "@type": "BlogPosting", "name": "x"}, True),
        ({"@context": {"@vocab": CONTEXT}, "@type": "TechArticle", "name": "x"}, True),
        ([{"@type": "Person"}, {"@context": CONTEXT, "@type": "Report", "name": "x"}], True),
        ({"@context": CONTEXT, "@graph": [{"@type": "WebPage"}, POST]}, True),
        ({"@context": CONTEXT, "@graph": [{"@type": ["WebPage"]}, POST]}, False),
        ({"@context": CONTEXT, "@graph": [{"@type": "Thing", "name": "x"}, 5, None]}, False),
        ({"@context": "https://example.org", "@type": "Article", "name": "x"}, False),
        ({"@type": "Article", "name": "x"}, False),
        ({"@context": CONTEXT, "@type": "Product", "name": "x"}, False),
        ({"@context": CONTEXT, "@type": ["Article"], "name": "x"}, False),
        ([{"@type": "Article", "name": "x"}], False),
        ('<![CDATA[{"@context":"https://schema.org","@type":"Article","name":"x"}]]>', True),
        ('{"@context":"https://schema.org","@type":"Article","name":"x",}', False),
        ("{", False),
    ],
)  # fmt: skip
def test_only_an_article_of_schema_org_comes_before_the_metas(value, found):
    page = property_meta("og:title", "y") + linked(value) + article(name="later")
    assert meta(page).title == ("x" if found else "later")
