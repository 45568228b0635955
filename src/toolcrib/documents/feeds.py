"""Feeds: RSS of every version, Atom and RDF, and their text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from toolcrib.documents.html_text import Format, absolute_url, fragment_text, web_url
from toolcrib.documents.xml_tree import XmlNode, read_tree
from toolcrib.text.cleaner import one_line

MAX_MARKUP_CHARS = 200_000
"""Characters of one item's HTML that are converted."""
_MARKUP = re.compile(r"<[a-zA-Z!/]|&[#\w]{1,30};")
_FOREIGN = ("search.yahoo.com/mrss", "itunes.com", "google.com/schemas/play-podcasts")
_SUMMARIES = ("summary", "description")
_CONTENTS = ("content", "encoded")
_TAGLINES = ("tagline", "subtitle")
_DATES = ("published", "pubDate", "issued", "date", "created", "updated", "modified")
_CHANGES = ("updated", "lastBuildDate", "modified", "pubDate", "date")


@dataclass(frozen=True, slots=True)
class FeedItem:
    """An item of a feed; `markup` is HTML, relative to `base`."""

    title: str
    link: str
    date: str
    author: str
    markup: str
    base: str


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed.

    Attributes:
        items: as many as were asked for, in order.
        total: how many it has.
        broken: what is not well formed in it, and where; empty for nothing.
    """

    title: str
    link: str
    about: str
    changed: str
    language: str
    author: str
    items: Sequence[FeedItem]
    total: int
    broken: str = ""


def read_feed(source: str, base: str, limit: int, *, contents: bool = False) -> Feed | None:
    """The feed in an XML text; None for what is none.

    Args:
        source: the text.
        base: where it comes from; empty where nobody knows.
        limit: items that are read.
        contents: take the content of an item where it has one, not its summary.
    """
    tree = read_tree(source)
    root = tree.root
    if root is None or root.name.lower() not in ("rss", "feed", "rdf", "channel"):
        return None
    channel = next((node for node in root.children if node.name == "channel"), root)
    holders = dict.fromkeys((channel, root))
    nodes = [node for one in holders for node in one.children if node.name in ("item", "entry")]
    own = root.attrs.get("xml:base", "") or channel.attrs.get("xml:base", "")
    base = absolute_url(own, base) or base
    texts = (_CONTENTS + _SUMMARIES if contents else _SUMMARIES + _CONTENTS) + _TAGLINES
    return Feed(
        title=_plain(_child(channel, "title")),
        link=_link(channel, base),
        about=_plain(_child(channel, "description", *reversed(_TAGLINES))),
        changed=_date(channel, _CHANGES),
        language=channel.attrs.get("xml:lang", "") or _text(_child(channel, "language")),
        author=_author(channel),
        items=[_item(node, base, texts) for node in nodes[:limit]],
        total=len(nodes),
        broken=tree.broken,
    )


def format_feed(
    feed: Feed, form: Format, shorten: Callable[[str], str] = lambda text: text
) -> tuple[str, list[tuple[str, str]]]:
    """A feed as text, each item under a heading, and the items that have links by title and URL.

    Args:
        feed: what is shown.
        form: "text" has no marks before headings.
        shorten: what is done to the text of each item.
    """
    marks = ("", "") if form == "text" else ("# ", "## ")
    parts = [f"{marks[0]}{feed.title}" if feed.title else "", feed.about, feed.link]
    links = []
    for number, item in enumerate(feed.items, 1):
        text = shorten(fragment_text(item.markup, item.base, form)) if item.markup else ""
        first = one_line(text.partition("\n")[0], 80)
        title = item.title or first or item.link or f"Item {number}"
        byline = ", ".join(filter(None, (item.date, item.author)))
        details = "\n".join(filter(None, (item.link, byline)))
        parts += [f"{marks[1]}{title}", details, text]
        if item.link:
            links.append((title, item.link))
    return "\n\n".join(filter(None, parts)), links


def _item(node: XmlNode, base: str, names: Sequence[str]) -> FeedItem:
    base = absolute_url(node.attrs.get("xml:base", ""), base) or base
    link = _link(node, base)
    texts = (_child(node, name) for name in names)
    best = next((part for part in texts if part is not None and part.parts), None)
    inner = absolute_url(best.attrs.get("xml:base", ""), base) if best else ""
    return FeedItem(
        title=_plain(_child(node, "title")),
        link=link,
        date=_date(node, _DATES),
        author=_author(node),
        markup=_markup(best),
        base=inner or (base if "xml:base" in node.attrs else "") or link or base,
    )


def _child(node: XmlNode, *names: str) -> XmlNode | None:
    """The first child of the first name; those of media extensions count for nothing."""
    for name in names:
        having = [part for part in node.children if part.name == name]
        own = [part for part in having if part.space == node.space]
        for part in [*own, *having]:
            if not any(space in part.space for space in _FOREIGN):
                return part
    return None


def _text(node: XmlNode | None) -> str:
    return one_line(node.text, 300) if node is not None else ""


def _plain(node: XmlNode | None) -> str:
    """A title without its markup."""
    if node is None:
        return ""
    text = _markup(node)[:20_000]
    return one_line(fragment_text(text, "", "text") if _MARKUP.search(text) else text, 300)


def _markup(node: XmlNode | None) -> str:
    """What an element holds, as HTML, whichever way it is written there."""
    if node is None:
        return ""
    kind = node.attrs.get("type", "").lower()
    if kind == "xhtml" or (node.children and not node.text.lstrip().startswith("<")):
        return node.markup[:MAX_MARKUP_CHARS]
    text = node.text.strip()[:MAX_MARKUP_CHARS]
    literal = kind in ("text", "text/plain") or (not kind and "atom" in node.space.lower())
    if literal or not _MARKUP.search(text):
        return escape(text, quote=False).replace("\n\n", "<p>")
    return text


def _link(node: XmlNode, base: str) -> str:
    """The page of a feed or item; its sound or film where it has no page."""
    found: list[str] = []
    for link in (part for part in node.children if part.name == "link"):
        if link.attrs.get("rel", "alternate") == "alternate":
            text = link.text.strip()
            is_page = text and "html" in link.attrs.get("type", "html")
            found.insert(0 if is_page else len(found), link.attrs.get("href", "") or text)
    identity = _child(node, "guid", "id")
    if identity is not None and identity.attrs.get("isPermaLink", "true") != "false":
        found.append(web_url(identity.text))
    found.append(web_url(node.attrs.get("rdf:about", "")))
    found += [link.attrs.get("url", "") for link in node.children if link.name == "enclosure"]
    return next(filter(None, (absolute_url(url, base) for url in found if url.strip())), "")


def _date(node: XmlNode, names: tuple[str, ...]) -> str:
    texts = (_text(_child(node, name))[:64] for name in names)
    return next((text for text in texts if any(c.isdigit() for c in text)), "")


def _author(node: XmlNode) -> str:
    names = []
    for part in node.children:
        if part.name in ("author", "creator"):
            name = _child(part, "name") or _child(part, "email")
            names.append(_text(name) if name is not None else _text(part))
    return one_line(", ".join(dict.fromkeys(filter(None, names))), 120)
