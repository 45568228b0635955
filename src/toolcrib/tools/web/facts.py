"""What a page says of itself in its head: dates, type, description, site, author, language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from toolcrib.kit.text import one_line
from toolcrib.tools.web.document import Facts

if TYPE_CHECKING:
    from turbohtml import Document as Tree

MAX_DESCRIPTION = 500
MAX_METAS = 2_000
MAX_SCRIPTS = 30
MAX_JSON = 500_000
"""Characters of JSON-LD that are read, all scripts together."""
MAX_ITEMS = 2_000
"""Objects of JSON-LD that are looked at."""
_OPENED = re.compile(r"<!--|(?:/[/*]\s*)?<!\[CDATA\[(?:\s*\*/)?")
_CLOSED = re.compile(r"(?:-->|(?:/[/*])?\s*\]\]>(?:\s*\*/)?)[;\s]*$")
END = 100
"""Characters in which what closes a script is looked for: a search of all takes too long."""
_TRAILING = re.compile(r",(?=\s*[}\]])")
_FLAT = re.compile(
    r"\"(dateModified|datePublished|description)\"\s*:\s*\"((?:[^\"\\\n]|\\[^\n]){1,600})\""
)
_MAIN = re.compile(
    r"article|posting|page|report|recipe|product|event|movie|book|howto", re.IGNORECASE
)
_NESTED = ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement", "item")


def facts_of(tree: Tree) -> Facts:
    """The facts in the head of a page; call it before scripts are removed from the tree."""
    metas = _metas(tree)
    linked = _linked_data(tree)
    item = _first_item(linked, "dateModified", "datePublished", "description", "headline")

    def meta(*names: str) -> str:
        return next((metas[name] for name in names if metas.get(name)), "")

    return Facts(
        published=_first_date(
            meta("article:published_time"),
            _item_property(tree, "datePublished"),
            _from(linked, "datePublished"),
            meta("date", "dc.date", "dc.date.issued", "dcterms.date", "pubdate", "publish-date"),
        ),
        modified=_first_date(
            meta("article:modified_time"),
            _item_property(tree, "dateModified"),
            _from(linked, "dateModified"),
        ),
        type=one_line(meta("og:type"), 60),
        description=_shortened(
            meta("og:description")
            or meta("description")
            or _from(linked, "description")
            or meta("twitter:description")
        ),
        site=one_line(
            meta("og:site_name", "application-name") or _name(item.get("publisher")), 120
        ),
        author=one_line(_author(meta, item), 120),
        language=one_line(_language(tree, meta), 35),
    )


def _metas(tree: Tree) -> dict[str, str]:
    """The first text of each meta element, by name in lower case."""
    found: dict[str, str] = {}
    for element in tree.find_all("meta", limit=MAX_METAS):
        content = (element.attr("content") or "").strip()
        if not content:
            continue
        for attribute in ("property", "name", "http-equiv"):
            name = (element.attr(attribute) or "").strip().lower()
            if name:
                found.setdefault(name, content)
    return found


def _item_property(tree: Tree, name: str) -> str:
    """The first value of an `itemprop`: its machine form, else its text."""
    for element in islice(tree.select(f'[itemprop~="{name}" i]'), 20):
        value = element.attr("content") or element.attr("datetime")
        value = value or "".join(islice(element.strings, 20))
        if value.strip():
            return value
    return ""


def _linked_data(tree: Tree) -> list[dict[str, Any]]:
    """The objects of the JSON-LD scripts, those of lists and graphs as well."""
    found: list[dict[str, Any]] = []
    left = MAX_JSON
    scripts = tree.select('script[type="application/ld+json" i]')
    for script in scripts[:MAX_SCRIPTS]:
        source = script.text
        left -= len(source)
        if left < 0:
            break
        found += islice(_objects(_parsed(source)), MAX_ITEMS - len(found))
    return found


def _parsed(source: str) -> Any:
    """The value of a script, mended where that is simple; of broken ones what is flat."""
    source = source.strip()
    opened = _OPENED.match(source)
    source = source[opened.end() :] if opened else source
    source = source[:-END] + _CLOSED.sub("", source[-END:])
    source = source.strip().rstrip(";")
    for attempt in (source, _TRAILING.sub("", source)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    flat: dict[str, str] = {}
    for name, value in _FLAT.findall(source):
        flat.setdefault(name, value.replace('\\"', '"').replace("\\/", "/"))
    return flat


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    todo = [value]
    for _ in range(MAX_ITEMS):
        if not todo:
            return
        part = todo.pop(0)
        if isinstance(part, dict):
            yield part
            todo += [part[name] for name in _NESTED if name in part]
        elif isinstance(part, list):
            todo += part[:MAX_ITEMS]


def _first_item(items: list[dict[str, Any]], *names: str) -> dict[str, Any]:
    """The object that speaks of the page rather than of a part of it or of the site."""
    having = [item for item in items if any(item.get(name) for name in names)]
    main = (item for item in having if _MAIN.search(str(item.get("@type", ""))[:200]))
    return next(main, having[0] if having else {})


def _from(items: list[dict[str, Any]], name: str) -> str:
    value = _first_item(items, name).get(name, "")
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("@value", "")
    return value if isinstance(value, str) else ""


def _first_date(*candidates: str) -> str:
    """The first that can be a date, as it stands."""
    dates = (one_line(text, 64) for text in candidates)
    return next((text for text in dates if any(c.isdigit() for c in text)), "")


def _shortened(text: str) -> str:
    text = one_line(_without_tags(text[: 8 * MAX_DESCRIPTION]), 2 * MAX_DESCRIPTION)
    if len(text) <= MAX_DESCRIPTION:
        return text
    head = text[: MAX_DESCRIPTION - 1]
    return f"{head.rpartition(' ')[0] or head}…"


def _without_tags(text: str) -> str:
    if "<" not in text and "&" not in text:
        return text
    from turbohtml import parse_fragment

    return parse_fragment(text).text


def _author(meta: Any, item: dict[str, Any]) -> str:
    named = [meta("author"), meta("article:author"), _name(item.get("author")), meta("dc.creator")]
    return next((text for text in named if text and "://" not in text), "")


def _name(value: Any) -> str:
    """The name of a person or organisation, or those of several."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_name, value[:5])))
    if isinstance(value, dict):
        value = value.get("name")
    return value if isinstance(value, str) else ""


def _language(tree: Tree, meta: Any) -> str:
    root = tree.select_one("html")
    told = root.attr("lang") or root.attr("xml:lang") if root else ""
    return told or meta("content-language", "og:locale").replace("_", "-")
