"""Pages made to hurt whoever reads what they say of themselves."""

from __future__ import annotations

import json
from dataclasses import fields

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tests.documents.reader.heads import CONTEXT, article, linked, meta, name_meta, property_meta
from toolcrib.documents.reader.page_metadata import PageMetadata

LIMITS = {"title": 500, "byline": 300, "site_name": 120, "excerpt": 2000, "description": 500}


def check(found: PageMetadata) -> None:
    for field in fields(found):
        text = getattr(found, field.name)
        assert isinstance(text, str)
        assert len(text) <= LIMITS.get(field.name, 2000)
        assert "\n" not in text
        text.encode()


@each_case(
    "page",
    [
        property_meta("og:title", "x") * 100_000,
        linked(json.dumps({"@context": CONTEXT, "@type": "Article", "name": "x" * 10_000_000})),
        linked('{"@graph":' * 40_000),
        linked("[" * 50_000),
        linked('{"a":1}') * 20_000,
        linked("[1," + " " * 400_000 + "x"),
        linked('{"a":1,' + "//]]> " * 60_000 + "x"),
        linked('"description":"' * 30_000),
        linked({"@graph": [{"@id": f"#{n}", "author": {"@id": f"#{1 - n}"}} for n in (0, 1)]}),
        linked({"author": [[[{"name": []}]], {"name": {"@value": {}}}], "@type": {"x": 1}}),
        linked({"@context": CONTEXT, "@type": "Article", "name": "a\ud800b"}),
        "<div class=author>" * 500 + "<p>hello " * 20_000,
        "<p>" + "word, " * 500_000,
        "<p>a paragraph, as many are" * 100_000,
        "<title>word: " + "word - " * 300_000 + "</title><h1>" + "zz " * 500_000,
        '<div class="' + "author " * 300_000 + '">x</div>',
        name_meta("description", "&amp;lt;a " * 200_000) + name_meta("author", " " * 900_000),
        "<div>" * 200_000 + "<p>x",
        "\x00" * 1000,
    ],
)
def test_hostile_pages_give_short_clean_texts(page):
    check(meta(page))


def test_where_the_limits_are():
    assert (
        meta(property_meta("og:title", "x") * 1_999 + property_meta("og:title", "y")).title == "y"
    )
    assert (
        meta(property_meta("og:title", "x") * 2_000 + property_meta("og:title", "y")).title == "x"
    )
    assert meta(article(name="x", more="y" * 400_000)).title == "x"
    assert meta(article(name="x", more="y" * 600_000)).title == ""


PROPERTIES = ["@context", "@type", "@graph", "@id", "name", "author", "image", "mainEntity"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "@context",
                    "@type",
                    "@graph",
                    "@id",
                    "name",
                    "author",
                    "datePublished",
                    "mainEntity",
                ]
            ),
            inner | st.sampled_from([CONTEXT, "Article", "WebPage"]),
            max_size=6,
        )
    ),
    max_leaves=25,
)


@settings(deadline=None)
@given(VALUES)
def test_any_linked_data_can_be_read(value):
    check(meta(linked({"@context": CONTEXT, "@type": "Article", "author": value, "x": 1})))
    check(meta(linked(value)))


PIECES = st.sampled_from([
    "<p>", "</p>", "<div class=author>", "</div>", "<table>", "<td>", "<title>", "</title>", "<h1>",
    "<meta name=author content=", "<meta property=og:title content='", "'>", '"', ">", "<script",
    ' type="application/ld+json">', '{"@type":"Article"', "</script>", "&#x", "&amp;", "<template>",
    "<time datetime=2024-01-01>", "<span itemprop=author>", "<b itemprop='name date'>", "<svg>",
    " | ", ": ", " - ", "By", "Ann", "\ud800", "\x00", "<link rel=canonical href=",
    "<base href='//[",
])  # fmt: skip


@settings(deadline=None)
@given(st.lists(PIECES | st.text(max_size=10), max_size=40))
def test_any_page_can_be_read(pieces):
    check(meta("".join(pieces)))


@settings(deadline=None)
@given(st.text(alphabet="ab |-\u2013:/\u00bb>.\u00a0", max_size=60))
def test_a_title_is_a_part_of_the_title_element(text):
    whole = " ".join(text.split())
    title = meta(f"<title>{text.replace('>', '&gt;')}</title>").title
    assert title in whole
    assert bool(title) == bool(whole)
