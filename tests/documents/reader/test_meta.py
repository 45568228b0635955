"""What a page says of itself: site, summary, dates, language, addresses."""

from __future__ import annotations

import itertools

from tests.cases import each_case
from tests.documents.reader.heads import STORY, article, linked, meta, name_meta, property_meta
from toolcrib.documents.reader.page_metadata import PageMetadata


def test_a_page_without_anything_says_nothing():
    assert meta("<p>nothing") == PageMetadata(excerpt="nothing")
    assert meta("") == PageMetadata()


def test_the_site_s_name():
    parts = [
        article(publisher={"name": "one"}),
        property_meta("og:site_name", "two"),
        name_meta("application-name", "three"),
        linked({"@type": "WebPage", "publisher": {"name": "four"}}),
    ]
    for first, expected in enumerate(("one", "two", "three", "four")):
        assert meta("".join(parts[first:][::-1])).site_name == expected
    assert meta(article(publisher="a name")).site_name == "a name"


EXCERPTS = [
    article(description="one"),
    name_meta("dc:description", "two"),
    name_meta("dcterm.description", "three"),
    property_meta("og:description", "four"),
    name_meta("weibo:article:description", "five"),
    name_meta("weibo:webpage:description", "six"),
    name_meta("Description", "seven"),
    name_meta("twitter:description", "eight"),
    f"<article>{STORY}</article>",
]


@each_case("first", range(len(EXCERPTS)))
def test_the_excerpt_comes_from_the_first_of_nine_places(first):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    lead = "The first paragraph of the story, which is long enough to count as one, says this."
    parts = EXCERPTS[first:]
    for order in (parts, parts[::-1]):
        assert meta("".join(order)).excerpt == [*words, lead][first]


def test_the_first_paragraph_is_one_of_the_story():
    sections = "".join(f"<section>{STORY.replace('first', word)}</section>" for word in "abcde")
    page = (
        "<body><div class=banner><p>Subscribe to our letter, which comes each week.</p></div>"
        "<div><p>Hi.</p></div><p hidden>Nobody sees this paragraph, which is long enough.</p>"
        f"<main>{sections}</main><div class=comments>{STORY * 3}</div>"
    )
    assert meta(page).excerpt.startswith("The a paragraph of the story")


def test_names_that_would_drop_all_drop_nothing():
    page = f'<body><div class="layout-with-sidebar">{STORY}</div>'
    assert meta(page).excerpt.startswith("The first paragraph")


def test_the_description_is_short_and_the_excerpt_is_not():
    long = "word " * 300
    found = meta(name_meta("description", long))
    assert found.excerpt == long.strip()
    assert len(found.description) <= 500
    assert found.description.endswith("word…")
    found = meta(
        name_meta("description", "A &lt;b&gt;bold&lt;/b&gt; 1 &lt; 2 \u200bmove &amp;amp; more")
    )
    assert found.description == "A bold 1 < 2 move & more"


DATES = [
    property_meta("article:modified_time", "2024-01-07"),
    '<time itemprop="dateModified" datetime="2024-01-06">a while ago</time>',
    linked({"@type": "Article", "dateModified": "2024-01-05"}),
    property_meta("article:published_time", "2024-01-04"),
    '<span itemprop="datePublished">2024-01-03</span>',
    article(datePublished="2024-01-02"),
    name_meta("date", "2024-01-01"),
]


@each_case("first", range(7))
def test_the_date_comes_from_the_first_of_seven_places(first):
    for order in (DATES[first:], DATES[first:][::-1]):
        found = meta("".join(order))
        assert (found.modified or found.published) == f"2024-01-0{7 - first}"


def test_both_dates_are_kept():
    for one, other in itertools.product(DATES[:3], DATES[3:]):
        found = meta(one + other)
        assert found.modified
        assert found.published
        assert found.modified in one
        assert found.published in other


def test_a_time_on_the_page_is_the_last_resort():
    page = (
        '<nav><time datetime="2020-01-01">x</time></nav>'
        '<div class="comments"><time datetime="2020-01-02">x</time></div>'
        '<time datetime="10:30">x</time><time>2020-01-03</time>'
        '<time class="updated" datetime="2024-02-02">x</time>'
        '<time class="entry-date" datetime="2024-02-01T10:00">x</time>'
    )
    found = meta(page)
    assert (found.published, found.modified) == ("2024-02-01T10:00", "2024-02-02")
    assert meta(name_meta("date", "yesterday") + page).published == "2024-02-01T10:00"


@each_case(
    "source",
    [
        '<!--\n{"dateModified": "2024-02-04",}\n//-->',
        '//<![CDATA[\n{"dateModified": "2024-02-04"}\n//]]>',
        '/*<![CDATA[*/ {"dateModified": "2024-02-04"} /*]]>*/;',
        '\ufeff{"dateModified": "2024-02-04"}',
        '{"dateModified": "2024-02-04", "articleBody": "broken "quotes" here"',
        '{"description": "a\nb", "dateModified": "2024-02-04"}',
        '{"dateModified": ["2024-02-04"]}',
        '[[{"dateModified": {"@value": "2024-02-04"}}]]',
    ],
)
def test_broken_scripts_are_mended(source):
    assert meta(linked("{broken") + linked(source)).modified == "2024-02-04"


@each_case(
    ("page", "language"),
    [
        ('<html lang="de-CH">', "de-CH"),
        ('<html lang="" xml:lang="pt_BR">', "pt-BR"),
        ('<html lang="{{lang}}">' + property_meta("og:locale", "en_GB"), "en-GB"),
        ('<meta http-equiv="Content-Language" content="fr">', "fr"),
        (
            """<p>Der schnelle braune Fuchs springt über den faulen Hund, und danach geht er nach
            Hause, weil es dort etwas zu essen gibt und das Wetter nicht mehr schön bleibt.""",
            "de",
        ),
        (
            """<div>Le renard brun et rapide saute par-dessus le chien paresseux, puis il rentre à
            la maison, parce qu'il y a une soupe chaude et que le temps est mauvais.""",
            "fr",
        ),
        ("<p>too short", ""),
    ],
)
def test_the_language_as_declared_or_as_the_text_shows(page, language):
    assert meta(page).language == language


def test_the_type():
    assert meta(property_meta("og:type", "article")).type == "article"
