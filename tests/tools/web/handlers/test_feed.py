# ruff: noqa: E501 - feeds as they are sent
"""Feeds, tidy and odd."""

from __future__ import annotations

import itertools
import json

import pytest

from tests.cases import each_case
from toolcrib.web.handlers import Handlers
from toolcrib.web.page import Link, Page, RawPage

URL = "https://site.example/feeds/all.xml"
DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
RSS = f"""<?xml version="1.0" encoding="utf-8"?>
<?xml-stylesheet href="x.xsl"?>
<rss version="2.0" {DC} xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:media="http://search.yahoo.com/mrss/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><atom:link href="https://site.example/self" rel="self"/><title>News &amp; views</title>
<link>https://site.example/</link><description>What happens</description><language>en</language>
<lastBuildDate>Tue, 02 Jan 2024 00:00:00 GMT</lastBuildDate>
<image><title>Logo</title><url>x.png</url></image>
<item><media:title>Wrong</media:title><title><![CDATA[First <b>bold</b> &amp; title]]></title>
 <link> /one?a=%26 </link><dc:creator>Ann</dc:creator><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate>
 <description>&lt;h1&gt;Big&lt;/h1&gt;&lt;p&gt;See &lt;a href="two"&gt;two&lt;/a&gt;.&lt;/p&gt;
 &lt;script&gt;evil()&lt;/script&gt;</description><content:encoded>Longer</content:encoded></item>
<item><description>No title here, only words.</description><guid>https://site.example/guid</guid></item>
<item><title>Sound</title><guid isPermaLink="false">urn:1</guid><enclosure url="/s.mp3"/>
 <author>bob@site.example (Bob)</author><content:encoded><![CDATA[<p>All of it</p>]]></content:encoded></item>
</channel></rss>"""


def read(body: str | bytes, kind: str = "application/xml", form: str = "markdown") -> Page:
    body = body.encode() if isinstance(body, str) else body
    return Handlers().convert(RawPage(URL, kind, "", body, form))


def test_rss_has_a_heading_for_each_item():
    page = read(RSS)
    assert (
        page.text
        == """# News & views

What happens

https://site.example/

## First bold & title

https://site.example/one?a=%26
Mon, 01 Jan 2024 00:00:00 GMT, Ann

#### Big

See [two](https://site.example/two).

## No title here, only words.

https://site.example/guid

No title here, only words.

## Sound

https://site.example/s.mp3
bob@site.example (Bob)

All of it"""
    )
    assert (page.kind, page.title, page.facts.language) == ("feed", "News & views", "en")
    assert page.facts.modified == "Tue, 02 Jan 2024 00:00:00 GMT"
    assert page.notes == ["3 items."]
    assert page.links[0] == Link("First bold & title", "https://site.example/one?a=%26")


def test_plain_text_has_no_marks():
    text = read(RSS, form="text").text
    assert text.startswith("News & views\n")
    assert "#" not in text
    assert "](" not in text


def test_raw_is_the_source():
    assert read(RSS, form="raw").text == RSS


ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://other.example/blog/">
<title type="html">A &lt;i&gt;blog&lt;/i&gt;</title><link rel="self" href="self"/><link href="./"/>
<updated>2024-02-01</updated>
<entry><title>Entry</title><link rel="edit" href="edit"/><link rel="enclosure" href="e.mp3"/>
<link rel="alternate" type="text/html" href="e1"/><id>urn:x</id><updated>2024-01-02</updated>
<published>2024-01-01</published><author><name>Ann</name></author><author><name>Bob</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">One <a href="l">link</a><br/>two
<table><tr><td>cell</td></tr></table></div></content></entry>
<entry><title type="text">1 &lt; 2</title><summary>plain &lt;b&gt; words</summary></entry></feed>"""


def test_atom():
    text = read(ATOM).text
    assert text.startswith("# A blog\n\nhttps://other.example/blog/\n\n## Entry\n\n")
    assert "https://other.example/blog/e1\n2024-01-01, Ann, Bob" in text
    assert "One [link](https://other.example/blog/l)" in text
    assert "cell" in text
    assert "## 1 < 2\n\nplain <b> words" in text


RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'


@each_case(
    "body",
    [
        (
            f'<rdf:RDF {RDF} xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><title>Old</title>'
            "</channel><item><title>One</title><link>http://x.example/1</link></item></rdf:RDF>"
        ),
        (
            f'<rdf:RDF {RDF} {DC} xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><title>Old'
            '</title></channel><item rdf:about="http://x.example/1"><title>One</title></item></rdf:RDF>'
        ),
        (
            '<rss version="0.91"><channel><title>Old</title><item><title>One</title>'
            "<link>http://x.example/1</link></item></channel></rss>"
        ),
        (
            "<rss><channel><title>Old</title></channel><item><title>One</title>"
            "<link>http://x.example/1</link></item></rss>"
        ),
        (
            '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>Old</title><entry><title>One'
            '</title><link rel="alternate" href="http://x.example/1"/></entry></feed>'
        ),
        (
            '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>Old</a:title><a:entry><a:title>One'
            '</a:title><a:link href="http://x.example/1"/></a:entry></a:feed>'
        ),
        (
            '\n\n<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY nbsp "&#160;">]><rss version="2.0"><channel>'
            "<title>Old</title><item><title>One</title><link>http://x.example/1</link></item></channel></rss>"
        ),
    ],
    ids=(
        "rss 0.9",
        "rss 1.0",
        "rss 0.91",
        "rss without version",
        "atom 0.3",
        "prefixed",
        "doctype",
    ),
)
def test_old_and_odd_versions(body):
    page = read(body)
    assert page.text == "# Old\n\n## One\n\nhttp://x.example/1"
    assert page.kind == "feed"


def test_what_is_not_well_formed_is_read_as_far_as_it_goes():
    page = read(RSS.replace("News &amp; views", "News & views&nbsp;\x01<3"))
    assert page.title == "News & views <3"
    assert len(page.links) == 3
    assert "not well formed" in page.notes[0]
    cut_off = read(RSS[: RSS.index("<item><title>Sound") + 20])
    assert [link.url for link in cut_off.links[:2]] == [
        "https://site.example/one?a=%26",
        "https://site.example/guid",
    ]


@pytest.mark.rows("X6")
def test_charsets_of_feeds():
    body = RSS.replace('encoding="utf-8"', 'encoding="iso-8859-1"').replace(
        "happens", "happens à côté"
    )
    assert "à côté" in read(body.encode("latin-1")).text
    assert "à côté" in read(body.encode("utf-16")).text


def test_json_feed():
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "J",
        "home_page_url": "https://j.example/",
        "items": [
            {"id": "1", "url": "/a", "title": "A", "content_html": "<p>x <a href='b'>b</a></p>"},
            {
                "id": "https://j.example/2",
                "content_text": "1 < 2\n\nmore",
                "date_published": "2024",
            },
            {"id": 3, "authors": [{"name": "Ann"}], "external_url": "https://x.example/"},
            "broken",
        ],
    }
    page = read(json.dumps(feed), "application/feed+json")
    assert (
        page.text
        == """# J

https://j.example/

## A

https://site.example/a

x [b](https://site.example/b)

## 1 < 2

https://j.example/2
2024

1 < 2

more

## https://x.example/

https://x.example/
Ann"""
    )


def test_a_long_summary_is_cut_and_many_items_are_bounded():
    items = "".join(f"<item><title>T{n}</title></item>" for n in range(600))
    long = f"<item><title>Long</title><description>{'word ' * 5000}</description></item>"
    page = read(f"<rss><channel>{long}{items}</channel></rss>", "application/rss+xml")
    assert len(page.text) < 20_000
    assert " …\n" in page.text
    assert page.notes == ["601 items.", "Only the first 500 are shown."]


BOMB = """<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa">{entities}
<!ENTITY file SYSTEM "file:///etc/passwd">]>
<rss version="2.0"><channel><title>T</title><item><title x="&e9;">&e9;&file;&amp;</title></item>
</channel></rss>"""


@pytest.mark.rows("B21")
@each_case("form", ["markdown", "text", "raw"])
@each_case("root", ["rss", "other"])
def test_entities_are_not_expanded(root, form):
    names = ["a", *(f"e{n}" for n in range(10))]
    entities = "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in itertools.pairwise(names)
    )
    body = BOMB.replace("{entities}", entities).replace("rss", root)
    page = read(body, form=form)
    assert len(page.text) <= len(body) + 100
    assert "root:" not in page.text
    assert "&e9;" in page.text


def test_deep_and_wide_feeds_end():
    assert read("<rss><channel>" + "<a>" * 60_000, "application/rss+xml").kind == "feed"
    wide = read("<rss><channel><title>T</title>" + "<item/>" * 120_000, "application/rss+xml")
    assert wide.title == "T"
    assert read("<rss>" + "<description>&" * 20_000, "application/rss+xml").kind == "feed"
