"""XML as it is, and feeds: RSS of every version, Atom, RDF and JSON Feed."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from toolcrib.documents.feeds import MAX_MARKUP_CHARS, Feed, FeedItem, format_feed, read_feed
from toolcrib.documents.html_text import absolute_url, web_url
from toolcrib.documents.xml_tree import Tree, XmlNode, read_tree
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted
from toolcrib.text.truncation import cut
from toolcrib.web.converters.data import convert_json
from toolcrib.web.page import MAX_PAGE_CHARS, Facts, Link, Page, RawPage, decode

MAX_ITEMS = 500
SUMMARY_TOKENS = 400
LONG_LINE_CHARS = 500
"""Characters of the average line above which XML is laid out anew."""
MAX_INDENTED_LEVELS = 20
"""Levels that are indented."""


def convert_xml(raw: RawPage) -> Page:
    """The source, laid out where it comes on one line; for plain text its texts alone.

    Entities stay unexpanded.
    """
    source, encoding = decode(raw)
    source = source.replace("\r\n", "\n")
    long = len(source) > LONG_LINE_CHARS * (source.count("\n") + 1)
    if not long and raw.format != "text":
        return Page(source, "xml", encoding=encoding)
    tree = read_tree(source)
    whole = not tree.broken and not tree.cut
    if tree.root is None or (not whole and raw.format != "text"):
        return Page(source, "xml", encoding=encoding, notes=_notes(tree, raw))
    text = _texts(tree.root) if raw.format == "text" else _laid_out(tree.root)
    return Page(text or source, "xml", encoding=encoding, notes=_notes(tree, raw))


def _notes(tree: Tree, raw: RawPage) -> list[str]:
    notes = [f"The XML is not well formed, {tree.broken}."] if tree.broken else []
    if tree.cut and raw.format == "text":
        notes.append("The XML has more elements than are shown.")
    return notes


def _texts(root: XmlNode) -> str:
    """The texts, one a line."""
    found = (" ".join(part.split()) for part, _ in root.walk() if isinstance(part, str))
    return "\n".join(filter(None, found))


def _laid_out(root: XmlNode) -> str:
    lines: list[str] = []
    depth = size = 0
    leaf: XmlNode | None = None
    for part, leaves in root.walk():
        if leaf is not None:
            # An element without others in it was written where it opened.
            leaf = None if part is leaf else leaf
            continue
        if isinstance(part, str):
            text = escape(part.strip(), quote=False)
        elif leaves:
            depth -= 1
            text = f"</{part.label}>"
        else:
            leaf = None if part.children else part
            text = _opened(part)
        if text:
            lines.append("  " * min(depth, MAX_INDENTED_LEVELS) + text)
            size += len(lines[-1])
        if size > MAX_PAGE_CHARS:
            break
        depth += isinstance(part, XmlNode) and not leaves and leaf is None
    return "\n".join(lines)


def _opened(node: XmlNode) -> str:
    attrs = "".join(f' {name}="{escape(value)}"' for name, value in node.attrs.items())
    if node.children:
        return f"<{node.label}{attrs}>"
    text = escape(node.text.strip(), quote=False)
    return f"<{node.label}{attrs}>{text}</{node.label}>" if text else f"<{node.label}{attrs}/>"


def convert_feed(raw: RawPage) -> Page:
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
        return Page(source, "feed", encoding=encoding, notes=_feed_notes(feed))
    return _document(raw, encoding, feed)


def _document(raw: RawPage, encoding: str, feed: Feed) -> Page:
    text, links = format_feed(feed, raw.format, _shortened)
    facts = Facts(
        modified=feed.changed,
        description=feed.about[:500],
        author=feed.author,
        language=feed.language,
    )
    return Page(
        text,
        "feed",
        feed.title,
        encoding,
        _feed_notes(feed),
        links=[Link(title, url) for title, url in links],
        facts=facts,
    )


def _feed_notes(feed: Feed) -> list[str]:
    notes = [f"The feed is not well formed, {feed.broken}."] if feed.broken else []
    notes.append(f"{counted(feed.total, 'item')}.")
    return [*notes, f"Only the first {MAX_ITEMS} are shown."] if feed.total > MAX_ITEMS else notes


def _shortened(text: str) -> str:
    head, used = cut(text, SUMMARY_TOKENS)
    return text if used == len(text) else f"{head.rstrip()} …"


def _json_feed(raw: RawPage, source: str, encoding: str) -> Page:
    try:
        value = json.loads(source.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return convert_json(raw)
    if not isinstance(value, dict) or not isinstance(value.get("items"), list):
        return convert_json(raw)

    def item(entry: dict[str, Any]) -> FeedItem:
        link = absolute_url(_word(entry, "url", "external_url"), raw.url) or web_url(
            _word(entry, "id")
        )
        markup = _word(entry, "summary", "content_text")
        html = escape(markup, quote=False).replace("\n\n", "<p>") or _word(entry, "content_html")
        return FeedItem(
            title=one_line(_word(entry, "title"), 300),
            link=link,
            date=one_line(_word(entry, "date_published", "date_modified"), 64),
            author=_authors(entry),
            markup=html[:MAX_MARKUP_CHARS],
            base=link or raw.url,
        )

    entries = [entry for entry in value["items"] if isinstance(entry, dict)]
    feed = Feed(
        title=one_line(_word(value, "title"), 300),
        link=absolute_url(_word(value, "home_page_url"), raw.url),
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
