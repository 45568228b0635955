# ruff: noqa: E501 - markup reads best in one piece
"""Odd pages, and what the reader modes of browsers say of them."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from tests.documents.reader.heads import (
    CONTEXT,
    STORY,
    article,
    linked,
    meta,
    name_meta,
    property_meta,
)

LONG = "A tale of five old friends"
pytestmark = pytest.mark.rows("B25")
FIRST = "The first paragraph of the story, which is long enough to count as one, says this."
BODY = f"<article>{STORY * 4}</article>"


def graph(*things: object) -> str:
    return linked({"@context": CONTEXT, "@graph": list(things)})


TITLES = [
    # Separators: only with white space around them, the last one, and three words at least.
    (f"<title>{LONG} \\ The Site</title>", LONG),
    (f"<title>{LONG} > The Site</title>", LONG),
    (f"<title>{LONG} / The Site</title>", LONG),
    (f"<title>{LONG} \u2013 The Site</title>", LONG),
    (f"<title>{LONG} \u00b7 The Site</title>", f"{LONG} \u00b7 The Site"),
    (f"<title>{LONG} :: The Site</title>", f"{LONG} :: The Site"),
    (f"<title>{LONG}| The Site</title>", f"{LONG}| The Site"),
    (f"<title>{LONG} - a well-known one - Site</title>", f"{LONG} - a well-known one"),
    (f"<title>Site - {LONG}</title>", LONG),
    (f"<title>My Site - {LONG}</title>", LONG),
    (f"<title>- {LONG}</title>", f"- {LONG}"),
    ("<title>One two three - Site</title>", "One two three - Site"),
    ("<title>One two three four - Site</title>", "One two three four - Site"),
    ("<title>One two three four five - Site</title>", "One two three four five"),
    ("<title>One two three / Site</title>", "One two three / Site"),
    ("<title>One two three / My Site</title>", "One two three"),
    ("<title>One two three / Some / Site</title>", "One two three / Some"),
    ("<title>One two / Site</title>", "Site"),
    # Colons, only where there is no separator.
    (f"<title>Opinion: {LONG}</title>", LONG),
    (f"<title>Opinion: {LONG} | Site</title>", f"Opinion: {LONG}"),
    (f"<title>{LONG}: done now</title>", f"{LONG}: done now"),
    ("<title>How they did it all: a report on it all</title>", "a report on it all"),
    ("<title>A report on it: how they did</title>", "A report on it: how they did"),
    ("<title>Ratio 16:9 is what we all want</title>", "Ratio 16:9 is what we all want"),
    (f"<title>Opinion: {LONG}</title><h2> Opinion: {LONG} </h2>", f"Opinion: {LONG}"),
    (f"<title>Opinion: {LONG}</title><h3>Opinion: {LONG}</h3>", LONG),
    (f"<title>Opinion: {LONG}</title><h1>Opinion:\n{LONG}</h1>", LONG),
    # Length.
    ("<title>Site</title><h1>A heading of this page</h1>", "A heading of this page"),
    ("<title>Site</title><h1>Two words</h1>", "Site"),
    ("<title>Site</title>", "Site"),
    ("<title></title><h1>A heading of this page</h1>", "A heading of this page"),
    ("<h1>A heading of this page</h1>", "A heading of this page"),
    ("<p>No title at all.</p>", ""),
    (f"<title>{'a long list of words, ' * 9}</title><h1>One heading of many words</h1>",
     "One heading of many words"),
    # Metas, by the names that count.
    (name_meta("og-title", "no") + f"<title>{LONG}</title>", LONG),
    (name_meta("parsely:title", "no") + f"<title>{LONG}</title>", LONG),
    (name_meta("DC.Title", "yes") + f"<title>{LONG}</title>", "yes"),
    (name_meta(" twitter : title ", "yes"), "yes"),
    (property_meta("title", "no") + f"<title>{LONG}</title>", LONG),
    (property_meta("twitter:title", "t") + property_meta("og:title", "o"), "o"),
    (name_meta("title", "n") + name_meta("twitter:title", "t"), "n"),
    (property_meta("og:title", "a") + f"<body>{property_meta('og:title', 'b')}", "b"),
    (property_meta("article:title", "no") + f"<title>{LONG}</title>", LONG),
    (property_meta("og:title", "Ben &amp;#8220;B&amp;#8221; &amp;quot;C&amp;quot;"), 'Ben \u201cB\u201d "C"'),
    # JSON-LD before metas.
    (article(headline="yes") + property_meta("og:title", "no"), "yes"),
    (graph({"@type": "WebSite", "name": "no"}, {"@type": "NewsArticle", "headline": "yes"}), "yes"),
    (linked({"@context": "http://schema.org", "@type": "WebPage", "name": "no"})
     + f"<title>{LONG}</title>", LONG),
    (linked("{broken") + article(headline="yes"), "yes"),
    ("<title>Пять старых друзей и море | Сайт</title>"
     + article(name="Сайт", headline="Пять старых друзей и море"), "Сайт"),
]  # fmt: skip


@each_case(("page", "title"), TITLES)
def test_the_title(page: str, title: str) -> None:
    assert meta(page).title == title


def by(markup: str) -> str:
    return f"<body><article>{markup}{STORY * 4}</article>"


BYLINES = [
    (by("<p class=byline>By Ann Lee</p>"), "By Ann Lee"),
    (by("<p class='post-Author'>Ann Lee</p>"), "Ann Lee"),
    (by("<p id=dateline>Paris, May 5</p>"), "Paris, May 5"),
    (by("<p class=writtenBy>Ann Lee</p>"), "Ann Lee"),
    (by("<a rel=author href=/x>Ann Lee</a>"), "Ann Lee"),
    (by("<a rel='author nofollow' href=/x>Ann Lee</a><p class=byline>Bob</p>"), "Bob"),
    (by("<p itemprop='author creator'>By <i itemprop=name>Ann Lee</i></p>"), "Ann Lee"),
    (by("<p class=byline>By <i itemprop=name>Ann Lee</i>, <i itemprop=name>Bob</i></p>"), "Ann Lee"),
    (by(f"<p class=byline>{'long ' * 21}</p><p class=author>Ann Lee</p>"), "Ann Lee"),
    (by("<p class=byline> </p><p class=author>Ann Lee</p>"), "Ann Lee"),
    (by("<p class=byline hidden>No</p><p class=author>Ann Lee</p>"), "Ann Lee"),
    (by("<p class=byline style='display:none'>No</p><p class=author>Ann Lee</p>"), "Ann Lee"),
    (by("<div class=sidebar><p class=byline>No</p></div><p class=author>Ann Lee</p>"), "Ann Lee"),
    (by("<div class='sidebar content'><p class=byline>Ann Lee</p></div>"), "Ann Lee"),
    (by("<div role=menu><p class=byline>No</p></div><p class=author>Ann Lee</p>"), "Ann Lee"),
    (by("<p class=author>Ann Lee</p><p class=byline>Bob</p>"), "Ann Lee"),
    (by("<p class='sidebar author'>Ann Lee</p>"), "Ann Lee"),
    # Metas before what is shown.
    (name_meta("author", "Bob") + by("<p class=byline>Ann</p>"), "Bob"),
    (property_meta("article:author", "Bob Roe") + by("<p class=byline>Ann</p>"), "Bob Roe"),
    (property_meta("article:author", "https://x.example/bob") + by("<p class=byline>Ann</p>"), "Ann"),
    (property_meta("author", "Bob") + by("<p class=byline>Ann</p>"), "Ann"),
    (name_meta("dc.creator", "One") + name_meta("author", "Two"), "One"),
    (name_meta("parsely-author", "One") + property_meta("article:author", "Two"), "One"),
    (name_meta("author", "One") + name_meta("author", "Two"), "Two"),
    # JSON-LD before both, by its narrow rules.
    (article(author={"name": " Cy Poe "}) + name_meta("author", "Bob"), "Cy Poe"),
    (article(author=[{"name": "Cy"}, {"name": "Di"}, {"x": 1}]) + name_meta("author", "Bob"), "Cy, Di"),
    (article(author=[{"x": 1}, {"name": "Di"}]) + name_meta("author", "Bob"), "Bob"),
    (article(author="Cy Poe") + name_meta("author", "Bob"), "Bob"),
    (article(author={"name": ["Cy"]}) + name_meta("author", "Bob"), "Bob"),
    (linked({"@context": CONTEXT, "@type": "WebPage", "author": {"name": "No"}})
     + by("<p class=byline>Ann</p>"), "Ann"),
]  # fmt: skip


@each_case(("page", "byline"), BYLINES)
def test_the_byline(page: str, byline: str) -> None:
    assert meta(page).byline == byline


@each_case(
    ("page", "name"),
    [
        (property_meta("og:site_name", "Post"), "Post"),
        (property_meta("og:site_name", "Tom &amp;amp; Co"), "Tom & Co"),
        (article(publisher={"name": "Paper"}) + property_meta("og:site_name", "Post"), "Paper"),
        (article(publisher={"name": 5}) + property_meta("og:site_name", "Post"), "Post"),
        (article(publisher=[{"name": "x"}]) + property_meta("og:site_name", "Post"), "Post"),
        (name_meta("og:site_name", "Post"), "Post"),
        (property_meta("og:site_name", "One") + property_meta("og:site_name", "Two"), "Two"),
    ],
)
def test_the_name_of_the_site(page: str, name: str) -> None:
    assert meta(page).site_name == name


@each_case(
    ("page", "excerpt"),
    [
        (article(description=" said ") + property_meta("og:description", "no"), "said"),
        (name_meta("description", "no") + property_meta("og:description", "said"), "said"),
        (name_meta("twitter:description", "no") + name_meta("description", "said"), "said"),
        (name_meta("dcterm.description", "said") + name_meta("description", "no"), "said"),
        (property_meta("description", "no") + BODY, FIRST),
        ("<nav><p>Skip this</p></nav>" + BODY, FIRST),
        ("<div class=comment><p>No, it was, I think, all wrong.</p></div>" + BODY, FIRST),
        ("<p>Only this.</p>", "Only this."),
        ("<div>No paragraph here</div>", ""),
    ],
)  # fmt: skip
def test_the_excerpt(page: str, excerpt: str) -> None:
    assert meta(page).excerpt == excerpt


@each_case(
    ("page", "published", "modified"),
    [
        (property_meta("article:published_time", "2026-01-02") + property_meta("article:modified_time", "2026-01-03"),
         "2026-01-02", "2026-01-03"),
        (article(datePublished="2026-01-02", dateModified="2026-01-03"), "2026-01-02", "2026-01-03"),
        (name_meta("parsely-pub-date", "2026-01-02T10:00:00Z"), "2026-01-02T10:00:00Z", ""),
        (BODY + "<p>No date at all, in 2026.</p>", "", ""),
        (by("<time datetime=2026-01-02>yesterday</time>"), "2026-01-02", ""),
        (by("<time class=updated datetime=2026-01-03>x</time><time datetime=2026-01-02>y</time>"),
         "2026-01-02", "2026-01-03"),
        (name_meta("date", "some day"), "", ""),
    ],
)  # fmt: skip
def test_the_dates(page: str, published: str, modified: str) -> None:
    found = meta(page)
    assert (found.published, found.modified) == (published, modified)
