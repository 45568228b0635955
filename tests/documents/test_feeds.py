"""Feeds, where what reads them wants more or less of an item."""

from __future__ import annotations

from tests.documents.texts import atom, rss
from toolcrib.documents.feeds import format_feed, read_feed

TWO = """<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>News</title><item><title>One</title><link>/one</link><description>Short</description>
<content:encoded>&lt;p&gt;All &lt;span hidden&gt;unseen&lt;/span&gt;of it</content:encoded></item>
<item><title>Two</title></item></channel></rss>"""


def test_the_summary_or_the_whole_of_an_item():
    short, whole = (read_feed(TWO, "https://a.example/f", 9, contents=c) for c in (False, True))
    assert "Short" in format_feed(short, "markdown")[0]
    assert format_feed(whole, "markdown")[0].endswith(
        "https://a.example/one\n\nAll of it\n\n## Two"
    )


def test_without_a_place_only_whole_addresses_are_links():
    assert read_feed(TWO, "", 9).items[0].link == ""
    for text in (rss(), atom()):
        assert read_feed(text.decode(), "", 9).items[0].link == "https://e.example/1"


def test_no_more_items_than_asked_for_and_how_many_there_are():
    feed = read_feed(TWO, "", 1)
    assert [item.title for item in feed.items] == ["One"]
    assert feed.total == 2


def test_what_each_reader_does_to_the_texts():
    feed = read_feed(TWO, "https://a.example/", 9)
    text, links = format_feed(feed, "text", str.upper)
    assert text == "News\n\nOne\n\nhttps://a.example/one\n\nSHORT\n\nTwo"
    assert links == [("One", "https://a.example/one")]


def test_a_broken_feed_is_told_and_other_xml_is_none():
    assert read_feed(TWO.replace("</rss>", ""), "", 9).broken.startswith("line ")
    assert read_feed("<a><title>x</title></a>", "", 9) is None
    assert read_feed("no markup", "", 9) is None
