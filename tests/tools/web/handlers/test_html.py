"""What a page holds beside its text: links, pictures, navigation."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from toolcrib.web.converters.html import MAX_NAVIGATION_BYTES
from toolcrib.web.handlers import Handlers
from toolcrib.web.page import Link, Page, Picture, RawPage

URL = "https://site.example/a/page?x=1"
BASE = "https://site.example"


def read(body: str, form: str = "markdown") -> Page:
    return Handlers().convert(RawPage(URL, "text/html", "utf-8", body.encode(), form))


@pytest.mark.rows("B19")
def test_the_title_is_told():
    assert read("<title> A  title </title><h1>Head</h1>").title == "A title"
    assert read("<h1>Head <b>line</b></h1>").title == "Head line"


@pytest.mark.rows("A14")
def test_links_are_absolute_in_order_and_each_once():
    page = read("""
      <p><a href="one?a=%26&amp;b=%2F">One</a> <a href="//other.example/two">  Two
      words </a> <a href="../one?a=%26&b=%2F">up</a> <a href="HTTPS://site.example/one">caps</a>
      <a href="one?a=%26&b=%2F">again</a> <a href="#part">part</a>
      <a href="page?x=1#other">this page</a> <a href="mailto:a@b.example">m</a>
      <a href="javascript:x()">j</a> <a href="ftp://f.example/">f</a> <a>none</a>
      <a href="/pic"><img src=p.png alt="A picture"></a>
      <a href="/label" aria-label="A label"></a><a href="/bare"></a>
      <a href="/late"></a> <a href="/late">Late words</a>
      <span hidden><a href="/hidden">secret</a></span><noscript><a href="/no">n</a></noscript>""")
    assert [(link.text, link.url) for link in page.links] == [
        ("One", f"{BASE}/a/one?a=%26&b=%2F"),
        ("Two words", "https://other.example/two"),
        ("up", f"{BASE}/one?a=%26&b=%2F"),
        ("caps", f"{BASE}/one"),
        ("A picture", f"{BASE}/pic"),
        ("A label", f"{BASE}/label"),
        ("", f"{BASE}/bare"),
        ("Late words", f"{BASE}/late"),
    ]


def test_links_of_menus_are_marked():
    page = read("<nav><a href=/home>Home</a><a href=/x>X</a></nav><p>See <a href=/x>x</a>, bye.")
    assert page.links == [
        Link("X", f"{BASE}/x", navigation=False),
        Link("Home", f"{BASE}/home", navigation=True),
    ]


@pytest.mark.rows("D26")
def test_a_page_too_large_to_choose_from_has_no_links_to_no_page():
    odd = '<a href="javascript:go(1)">js</a> <a href="mailto:a@b.example">mail</a>'
    page = read(f"<p>{odd} <a href=/more>more</a></p>" + "<p>words</p>" * 30_000)
    assert page.choice.reason == "it is too large to choose from"
    assert page.text.startswith(f"js mail [more]({BASE}/more)")
    assert [link.url for link in page.links] == [f"{BASE}/more"]


def test_links_are_bounded():
    page = read("".join(f"<a href='/{n}'>{n}</a>" for n in range(5_000)))
    assert len(page.links) == 2_000
    assert len(read("".join(f"<img src='/{n}.png'>" for n in range(5_000))).pictures) == 2_000
    assert read(f"<a href='/{'x' * 9_000}'>x</a>").links == []


@pytest.mark.rows("A28")
def test_pictures_are_absolute_in_order_and_each_once():
    page = read("""<base href="https://cdn.example/i/">
      <img src="a.png" alt=" first  one " title="T"><p><img src=" /b.jpg
"></p>
      <img src="a.png" alt="again"><img src="data:image/gif;base64,R0" data-src="lazy.webp">
      <img src="spacer.gif" data-srcset="s.jpg 320w, l.jpg 1280w, m.jpg 640w">
      <img srcset="x1.png, x2.png 2x"><img data-original="//o.example/o.png">
      <img src="/dot.gif" width=1 height="1px"><img src="javascript:x"><img alt="none">
      <div hidden><img src="hidden.png"></div><img src="/z.png?a=%2F&amp;b=c">""")
    cdn = "https://cdn.example/i"
    assert page.pictures == [
        Picture(f"{cdn}/a.png", "first one", "T"),
        Picture("https://cdn.example/b.jpg"),
        Picture(f"{cdn}/lazy.webp"),
        Picture(f"{cdn}/l.jpg"),
        Picture(f"{cdn}/x2.png"),
        Picture("https://o.example/o.png"),
        Picture("https://cdn.example/z.png?a=%2F&b=c"),
    ]


MENUS = """<body><header><nav><a href=/home>Home</a> <a href=/news>News</a></nav></header>
<div class="breadcrumb"><a href=/>Start</a> / <a href=/a>Section</a></div>
<div class="sidebar"><a href=/s1>Side one</a> <a href=/s2>Side two</a></div>
<main><h1>Words</h1><p>The words of the page, enough of them to be the page, and more of them.</p>
<div class="menu"><p>Soup of the day, bread and butter, fish and chips, apple pie: all £9.</p></div>
<p>And this is the end of a page with several paragraphs of plain words.</p></main>
<ul class="pagination"><li><a href=?p=2>2</a></li><li><a href=?p=3>3</a></li></ul></body>"""


@pytest.mark.rows("D28")
@pytest.mark.parametrize("form", ["markdown", "text"])
def test_navigation_stands_apart(form):
    page = read(MENUS, form)
    for word in ("Home", "News", "Section", "Side one", "Side two"):
        assert word not in page.text
        assert word in page.navigation
    assert "Soup of the day" in page.text
    assert "Soup" not in page.navigation
    assert "end of a page" in page.text
    assert (f"[Home]({BASE}/home)" in page.navigation) == (form == "markdown")


@pytest.mark.rows("D28")
def test_navigation_is_bounded_and_says_so():
    links = "".join(f"<li><a href=/{n}>Entry number {n}</a></li>" for n in range(2_000))
    page = read(f"<nav><ul>{links}</ul></nav><p>Words.")
    assert len(page.navigation.encode()) <= MAX_NAVIGATION_BYTES
    assert page.navigation.endswith("(cut here)")
    assert page.text == "Words."
    assert read("<p>Words.").navigation == ""


def test_a_page_of_links_under_such_a_name_stays():
    page = read("<div class=toc><a href=/1>Chapter one</a><a href=/2>Chapter two</a></div>")
    assert "Chapter two" in page.text


@each_case(
    "body",
    [
        "<br>" * 200_000,
        "<div>" * 100_000 + "text",
        "<nav>" * 50_000 + "text",
        "<div class=menu>" * 20_000 + "<a href=/x>text</a>",
        "".join(f"<a href='/{n}'><img src='/{n}.png'></a>" for n in range(50_000)),
        "<a href='/same'></a>" * 50_000,
        "<p itemprop=dateModified>" * 20_000,
        '<script type="application/ld+json">' + "[" * 300_000 + "</script><p>text",
        "<meta name=a content=b>" * 50_000,
        f"<img srcset='{'a 1w,' * 50_000}'>",
    ],
    ids=range(10),
)
def test_hostile_pages_end(body):
    page = read(body)
    assert len(page.links) <= 2_000
    assert page.kind == "html"


@each_case("odd", [" ", "\u2028", "\x85", "\x0b", '"', "<", ">", "`", "\u00a0", "\x1b"])
def test_a_link_ends_where_it_ends(odd):
    """Nothing of its address can stand on a line of its own, or read like more than one."""
    href = f"/x?a{odd}[2] Forged\n".replace('"', "&quot;")
    page = read(f'<p>See <a href="{href}">this</a>, <img src="{href}"> and more.</p>')
    urls = [*(link.url for link in page.links), *(p.url for p in page.pictures)]
    assert len(urls) == 2
    for url in urls:
        assert url.startswith(f"{BASE}/x?a%")
        assert "%20Forged" in url
        assert odd not in url
    assert "] Forged" not in page.text
