"""Feeds: RSS of every version, Atom, RDF and JSON Feed, each item under a heading."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from toolcrib.kit.text import cut, one_line
from toolcrib.tools.web.anchors import absolute, web_url
from toolcrib.tools.web.document import Document, Facts, Format, Link, Raw, decode
from toolcrib.tools.web.handlers.html import fragment
from toolcrib.tools.web.handlers.json import convert as convert_json
from toolcrib.tools.web.handlers.xml import convert as convert_xml
from toolcrib.tools.web.xmltree import Node, read_tree

MAX_ITEMS = 500
SUMMARY_TOKENS = 400
MAX_MARKUP = 200_000
"""Characters of one item's HTML that are converted."""
_MARKUP = re.compile(r"<[a-zA-Z!/]|&[#\w]{1,30};")
_FOREIGN = ("search.yahoo.com/mrss", "itunes.com", "google.com/schemas/play-podcasts")
_TEXTS = ("summary", "description", "content", "encoded", "tagline", "subtitle")
_DATES = ("published", "pubDate", "issued", "date", "created", "updated", "modified")
_CHANGES = ("updated", "lastBuildDate", "modified", "pubDate", "date")


@dataclass(frozen=True, slots=True)
class _Item:
    """What a feed says of one thing; `markup` is HTML."""

    title: str
    link: str
    date: str
    author: str
    markup: str
    base: str


def convert(raw: Raw) -> Document:
    """The title of a feed, and of each item title, link, date, author and summary.

    What is no feed after all is shown as the XML or JSON that it is.
    """
    source, encoding = decode(raw)
    if source.lstrip("\ufeff \t\r\n").startswith("{"):
        return _json_feed(raw, source, encoding)
    tree = read_tree(source)
    root = tree.root
    if root is None or root.name.lower() not in ("rss", "feed", "rdf", "channel"):
        return convert_xml(raw)
    channel = next((node for node in root.children if node.name == "channel"), root)
    nodes = list(_items(root, channel))
    if not nodes and _of(channel, "title") is None:
        return Document(source, "feed", encoding=encoding, notes=_counts(0))
    base = root.attrs.get("xml:base", "") or channel.attrs.get("xml:base", "")
    base = absolute(base, raw.url) or raw.url
    items = [_item(node, base) for node in nodes[:MAX_ITEMS]]
    notes = [f"The feed is not well formed, {tree.broken}."] if tree.broken else []
    head = _Head(
        title=_plain(_of(channel, "title")),
        link=_link(channel, base),
        about=_plain(_of(channel, "description", "subtitle", "tagline")),
        changed=_date(channel, _CHANGES),
        language=channel.attrs.get("xml:lang", "") or _text(_of(channel, "language")),
        author=_author(channel),
    )
    return _document(raw, encoding, head, items, [*notes, *_counts(len(nodes))])


@dataclass(frozen=True, slots=True)
class _Head:
    title: str
    link: str
    about: str
    changed: str
    language: str
    author: str


def _document(
    raw: Raw, encoding: str, head: _Head, items: list[_Item], notes: list[str]
) -> Document:
    marks = ("", "") if raw.format == "text" else ("# ", "## ")
    parts = [f"{marks[0]}{head.title}" if head.title else "", head.about, head.link]
    links = []
    for number, item in enumerate(items, 1):
        summary = _summary(item, raw.format)
        first = one_line(summary.partition("\n")[0], 80)
        title = item.title or first or item.link or f"Item {number}"
        told = ", ".join(filter(None, (item.date, item.author)))
        details = "\n".join(filter(None, (item.link, told)))
        parts += [f"{marks[1]}{title}", details, summary]
        if item.link:
            links.append(Link(title, item.link))
    facts = Facts(
        modified=head.changed,
        description=head.about[:500],
        author=head.author,
        language=head.language,
    )
    return Document(
        "\n\n".join(filter(None, parts)),
        "feed",
        head.title,
        encoding,
        notes,
        links=links,
        facts=facts,
    )


def _counts(number: int) -> list[str]:
    notes = [f"{number:,} item{'' if number == 1 else 's'}."]
    return [*notes, f"Only the first {MAX_ITEMS} are shown."] if number > MAX_ITEMS else notes


def _items(root: Node, channel: Node) -> Iterator[Node]:
    for holder in dict.fromkeys((channel, root)):
        yield from (node for node in holder.children if node.name in ("item", "entry"))


def _item(node: Node, base: str) -> _Item:
    base = absolute(node.attrs.get("xml:base", ""), base) or base
    link = _link(node, base)
    texts = (_of(node, name) for name in _TEXTS)
    best = next((part for part in texts if part is not None and part.parts), None)
    inner = absolute(best.attrs.get("xml:base", ""), base) if best else ""
    return _Item(
        title=_plain(_of(node, "title")),
        link=link,
        date=_date(node, _DATES),
        author=_author(node),
        markup=_markup(best),
        base=inner or (base if "xml:base" in node.attrs else "") or link or base,
    )


def _of(node: Node, *names: str) -> Node | None:
    """The first child of the first name; those of media extensions count for nothing."""
    for name in names:
        having = [part for part in node.children if part.name == name]
        own = [part for part in having if part.space == node.space]
        for part in [*own, *having]:
            if not any(space in part.space for space in _FOREIGN):
                return part
    return None


def _text(node: Node | None) -> str:
    return one_line(node.text, 300) if node is not None else ""


def _plain(node: Node | None) -> str:
    """A title without its markup."""
    if node is None:
        return ""
    text = _markup(node)[:20_000]
    return one_line(fragment(text, "", "text") if _MARKUP.search(text) else text, 300)


def _markup(node: Node | None) -> str:
    """What an element holds, as HTML, whichever way it is written there."""
    if node is None:
        return ""
    kind = node.attrs.get("type", "").lower()
    if kind == "xhtml" or (node.children and not node.text.lstrip().startswith("<")):
        return node.markup[:MAX_MARKUP]
    text = node.text.strip()[:MAX_MARKUP]
    literal = kind in ("text", "text/plain") or (not kind and "atom" in node.space.lower())
    if literal or not _MARKUP.search(text):
        return escape(text, quote=False).replace("\n\n", "<p>")
    return text


def _link(node: Node, base: str) -> str:
    """The page of a feed or item; its sound or film where it has no page."""
    found: list[str] = []
    for link in (part for part in node.children if part.name == "link"):
        if link.attrs.get("rel", "alternate") == "alternate":
            html = "html" in link.attrs.get("type", "html")
            found.insert(0 if html and link.text.strip() else len(found), _target(link))
    identity = _of(node, "guid", "id")
    if identity is not None and identity.attrs.get("isPermaLink", "true") != "false":
        found.append(web_url(identity.text))
    found.append(web_url(node.attrs.get("rdf:about", "")))
    found += [link.attrs.get("url", "") for link in node.children if link.name == "enclosure"]
    return next(filter(None, (absolute(url, base) for url in found if url.strip())), "")


def _target(link: Node) -> str:
    return link.attrs.get("href", "") or link.text.strip()


def _date(node: Node, names: tuple[str, ...]) -> str:
    texts = (_text(_of(node, name))[:64] for name in names)
    return next((text for text in texts if any(c.isdigit() for c in text)), "")


def _author(node: Node) -> str:
    names = []
    for part in node.children:
        if part.name in ("author", "creator"):
            name = _of(part, "name") or _of(part, "email")
            names.append(_text(name) if name is not None else _text(part))
    return one_line(", ".join(dict.fromkeys(filter(None, names))), 120)


def _summary(item: _Item, form: Format) -> str:
    if not item.markup:
        return ""
    text = fragment(item.markup, item.base, form)
    head, used = cut(text, SUMMARY_TOKENS)
    return text if used == len(text) else f"{head.rstrip()} …"


def _json_feed(raw: Raw, source: str, encoding: str) -> Document:
    try:
        value = json.loads(source.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return convert_json(raw)
    if not isinstance(value, dict) or not isinstance(value.get("items"), list):
        return convert_json(raw)

    def item(entry: dict[str, Any]) -> _Item:
        link = absolute(_word(entry, "url", "external_url"), raw.url) or web_url(_word(entry, "id"))
        markup = _word(entry, "summary", "content_text")
        html = escape(markup, quote=False).replace("\n\n", "<p>") or _word(entry, "content_html")
        return _Item(
            title=one_line(_word(entry, "title"), 300),
            link=link,
            date=one_line(_word(entry, "date_published", "date_modified"), 64),
            author=_authors(entry),
            markup=html[:MAX_MARKUP],
            base=link or raw.url,
        )

    entries = [entry for entry in value["items"] if isinstance(entry, dict)]
    items = [item(entry) for entry in entries[:MAX_ITEMS]]
    head = _Head(
        title=one_line(_word(value, "title"), 300),
        link=absolute(_word(value, "home_page_url"), raw.url),
        about=one_line(_word(value, "description"), 500),
        changed="",
        language=one_line(_word(value, "language"), 35),
        author=_authors(value),
    )
    return _document(raw, encoding, head, items, _counts(len(entries)))


def _word(entry: dict[str, Any], *names: str) -> str:
    return next((v for v in (entry.get(name) for name in names) if isinstance(v, str) and v), "")


def _authors(entry: dict[str, Any]) -> str:
    listed = entry.get("authors")
    authors = listed if isinstance(listed, list) else [entry.get("author")]
    names = [_word(one, "name") for one in authors[:10] if isinstance(one, dict)]
    return one_line(", ".join(filter(None, names)), 120)
