"""Who wrote a page, by the rules of reader modes."""

from __future__ import annotations

from tests.cases import each_case
from tests.documents.reader.heads import article, linked, meta, name_meta, property_meta

BYLINES = [
    article(author={"name": "one"}),
    name_meta("DC.creator", "two"),
    name_meta("dcterm:creator", "three"),
    name_meta("Author", "four"),
    name_meta("parsely-author", "five"),
    property_meta("article:author", "six"),
    '<div class="post-byline">seven</div>',
    linked({"@type": "Article", "author": "eight"}),
    '<div class="entry-header"><a rel="author external">nine</a></div>',
]


@each_case("first", range(len(BYLINES)))
def test_the_byline_comes_from_the_first_of_nine_places(first):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    expected = words[first]
    parts = BYLINES[first:]
    for order in (parts, parts[::-1]):
        assert meta("".join(order)).byline == expected


def test_what_is_shown_comes_before_data_that_reader_modes_do_not_believe():
    data = linked({"@type": "Article", "author": "Ann Doe"})
    assert meta('<p class="byline">By ann doe, Paris</p>' + data).byline == "By ann doe, Paris"
    assert meta('<p class="byline">Bob</p>' + data).byline == "Bob"
    assert meta("<p>Bob</p>" + data).byline == "Ann Doe"


def test_several_authors_and_strange_ones():
    authors = [{"name": " Ann "}, {"name": "Bob"}, None, {"name": 5}, "Eve"]
    assert meta(article(author=authors)).byline == "Ann, Bob"
    graph = [{"@type": "WebPage", "author": {"@id": "#1"}}, {"@id": "#1", "name": "Ann"}]
    assert meta(linked({"@graph": graph})).byline == "Ann"


@each_case(
    "name",
    [
        "https://x.example/ann",
        "//x.example",
        "www.x.example",
        "undefined",
        "By",
        "{{author}}",
        "12",
    ],
)
def test_no_address_and_no_placeholder_is_an_author(name):
    assert meta(name_meta("author", name) + property_meta("article:author", name)).byline == ""
    assert meta(name_meta("author", name) + '<b class="author">Ann</b>').byline == "Ann"


@each_case(
    "marked",
    [
        '<a rel="author">Ann</a>',
        '<span itemprop="author">Ann</span>',
        '<p class="the-ByLine">Ann</p>',
        '<p id="p-author">Ann</p>',
        '<p class="dateline">Ann</p>',
        '<p id="writtenby">Ann</p>',
        '<div class="author"><img><span itemprop="name">Ann</span> writes about boats</div>',
        '<div class="author"><meta itemprop="name" content="Ann">writes about boats</div>',
        f'<div class="author">{"x" * 100}</div><p class="author">Ann</p>',
        '<p class="author"> </p><p class="author">Ann</p>',
        '<p class="author">Author:</p><p class="author">Ann</p>',
        '<p class="author"><script>x = "Bob"</script>Ann</p>',
        '<p class="author" hidden>Bob</p><p class="author">Ann</p>',
        '<p class="author" style="Display: none">Bob</p><p class="author">Ann</p>',
        '<div aria-hidden="true"><p class="author">Bob</p></div><p class="author">Ann</p>',
        '<div class="sidebar"><p class="author">Bob</p></div><p class="author">Ann</p>',
        '<div role="navigation"><p class="author">Bob</p></div><p class="author">Ann</p>',
        '<template><p class="author">Bob</p></template><p class="author">Ann</p>',
        '<div class="sidebar main"><p class="author">Ann</p></div><p class="author">Bob</p>',
        '<div class="header"><p class="author">Bob</p></div><p class="author">Ann</p>',
        '<div class="post-header"><p class="author">Ann</p></div>',
        '<meta itemprop="author" content="Ann">',
        '<a class="username">Ann</a>',
    ],
)
def test_a_byline_that_is_shown(marked):
    assert meta(f"<body><div>{marked}</div>").byline == "Ann"


@each_case(
    "marked",
    [
        '<div class="comment"><b class="author">Bob</b></div>',
        '<div class="footer"><b class="author">Bob</b></div>',
        '<aside><a class="username">Bob</a></aside>',
        '<div class="header"><b class="author">12 May 2020</b></div>',
        '<div class="header"><b class="author">About the author</b></div>',
    ],
)
def test_what_is_no_byline(marked):
    assert meta(f"<body><div>{marked}</div>").byline == ""


def test_a_table_keeps_what_its_names_would_drop():
    page = '<table><tr><td><div class="header"><i class="author">Ann</i></div></table>'
    assert meta(f'{page}<p class="author">Bob</p>').byline == "Ann"
