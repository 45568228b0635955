"""Feeds: RSS of every version, Atom, RDF and JSON Feed, each item under a heading."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from toolcrib.documents.markup.addresses import absolute, web_url
from toolcrib.documents.markup.feeds import MAX_MARKUP, Feed, Item, read_feed, written
from toolcrib.files.content.sizes import counted
from toolcrib.text.cleaner import one_line
from toolcrib.text.truncation import cut
from toolcrib.web.conversion.document import Document, Facts, Link, Raw, decode
from toolcrib.web.handlers.json import convert as convert_json
from toolcrib.web.handlers.xml import convert as convert_xml

MAX_ITEMS = 500
SUMMARY_TOKENS = 400


def convert(raw: Raw) -> Document:
    """The title of a feed, and of each item title, link, date, author and summary.

    What is no feed after all is shown as the XML or JSON that it is.
    """
    source, encoding = decode(raw)
    if source.lstrip("\ufeff \t\r\n").startswith("{"):
        return _json_feed(raw, source, encoding)
    feed = read_feed(source, raw.url, MAX_ITEMS)
    if feed is None:
        return convert_xml(raw)
    if not feed.total and not feed.title:
        return Document(source, "feed", encoding=encoding, notes=_notes(feed))
    return _document(raw, encoding, feed)


def _document(raw: Raw, encoding: str, feed: Feed) -> Document:
    text, links = written(feed, raw.format, _shortened)
    facts = Facts(
        modified=feed.changed,
        description=feed.about[:500],
        author=feed.author,
        language=feed.language,
    )
    return Document(
        text,
        "feed",
        feed.title,
        encoding,
        _notes(feed),
        links=[Link(title, url) for title, url in links],
        facts=facts,
    )


def _notes(feed: Feed) -> list[str]:
    notes = [f"The feed is not well formed, {feed.broken}."] if feed.broken else []
    notes.append(f"{counted(feed.total, 'item')}.")
    return [*notes, f"Only the first {MAX_ITEMS} are shown."] if feed.total > MAX_ITEMS else notes


def _shortened(text: str) -> str:
    head, used = cut(text, SUMMARY_TOKENS)
    return text if used == len(text) else f"{head.rstrip()} …"


def _json_feed(raw: Raw, source: str, encoding: str) -> Document:
    try:
        value = json.loads(source.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return convert_json(raw)
    if not isinstance(value, dict) or not isinstance(value.get("items"), list):
        return convert_json(raw)

    def item(entry: dict[str, Any]) -> Item:
        link = absolute(_word(entry, "url", "external_url"), raw.url) or web_url(_word(entry, "id"))
        markup = _word(entry, "summary", "content_text")
        html = escape(markup, quote=False).replace("\n\n", "<p>") or _word(entry, "content_html")
        return Item(
            title=one_line(_word(entry, "title"), 300),
            link=link,
            date=one_line(_word(entry, "date_published", "date_modified"), 64),
            author=_authors(entry),
            markup=html[:MAX_MARKUP],
            base=link or raw.url,
        )

    entries = [entry for entry in value["items"] if isinstance(entry, dict)]
    feed = Feed(
        title=one_line(_word(value, "title"), 300),
        link=absolute(_word(value, "home_page_url"), raw.url),
        about=one_line(_word(value, "description"), 500),
        changed="",
        language=one_line(_word(value, "language"), 35),
        author=_authors(value),
        items=[item(entry) for entry in entries[:MAX_ITEMS]],
        total=len(entries),
    )
    return _document(raw, encoding, feed)


def _word(entry: dict[str, Any], *names: str) -> str:
    return next((v for v in (entry.get(name) for name in names) if isinstance(v, str) and v), "")


def _authors(entry: dict[str, Any]) -> str:
    listed = entry.get("authors")
    authors = listed if isinstance(listed, list) else [entry.get("author")]
    names = [_word(one, "name") for one in authors[:10] if isinstance(one, dict)]
    return one_line(", ".join(filter(None, names)), 120)
