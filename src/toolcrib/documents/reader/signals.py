"""Data of a page beside its text: signals of its type, and content in JSON-LD and scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from toolcrib.core.package_data import package_table

PAGE_TYPES = (
    "article", "collection", "documentation", "forum", "listing", "product", "service",
)  # fmt: skip

_OG = ("article", "website", "product", "product.group")
_NAMES = package_table("documents/reader/signals.toml")
_LD_KINDS: list[list[str]] = _NAMES["linked_kinds"]
_PATH_WORDS: list[list[str]] = _NAMES["path_words"]
_HOST_WORDS: list[list[str]] = _NAMES["host_words"]
_WORD = re.compile(r"[a-z]+")
MAX_TITLE = 500

SIGNAL_NAMES = (
    *(f"ld{number}" for number in range(len(_LD_KINDS))),
    *(f"og_{kind}" for kind in _OG), "og_other", "byline_meta", "date_meta", "product_meta",
    *(f"path{number}" for number in range(len(_PATH_WORDS))),
    *(f"host{number}" for number in range(len(_HOST_WORDS))),
    "u_depth", "u_hyphens", "u_last", "u_digits", "u_query", "u_html", "u_known", "discourse",
)  # fmt: skip


def page_signals(metas: dict[str, str], linked: Any, url: str) -> list[float]:
    """A row of figures, named by SIGNAL_NAMES.

    Args:
        metas: the page's meta elements, name or property in lower case to content.
        linked: its JSON-LD.
        url: its address, or empty.
    """
    types = set(_linked_types(linked))
    row = [float(any(kind in types for kind in kinds)) for kinds in _LD_KINDS]
    og = metas.get("og:type", "").lower()
    row += [float(og == kind) for kind in _OG]
    row.append(float(bool(og) and og not in _OG))
    row.append(float("author" in metas or "article:author" in metas))
    row.append(float("article:published_time" in metas))
    row.append(float(any(name.startswith("product:") for name in metas)))
    try:
        parts = urlsplit(url.lower())
        host, path = parts.hostname or "", parts.path
    except ValueError:
        parts, host, path = urlsplit(""), "", ""
    segments = [segment for segment in path.split("/") if segment]
    words = set(_WORD.findall(" ".join(segments[:-1])))
    if segments and len(segments[-1]) < 20:
        words.update(_WORD.findall(segments[-1]))
    row += [float(not words.isdisjoint(group)) for group in _PATH_WORDS]
    in_host = set(_WORD.findall(host))
    row += [float(not in_host.isdisjoint(group)) for group in _HOST_WORDS]
    last = segments[-1] if segments else ""
    row += [
        float(len(segments)),
        float(last.count("-") + last.count("_")),
        float(len(last)),
        float(sum(char.isdigit() for char in last)),
        float(bool(parts.query)),
        float(last.endswith((".html", ".htm", ".php", ".aspx"))),
        float(bool(url)),
        float("discourse" in metas.get("generator", "").lower()),
    ]
    return row


def meta_values(document: Any) -> dict[str, str]:
    """Name or property, in lower case, to content; the first of each."""
    found: dict[str, str] = {}
    for node in document.find_all("meta", limit=300):
        name = node.attr("property") or node.attr("name") or node.attr("itemprop")
        content = node.attr("content")
        if name and content:
            found.setdefault(name.lower(), content)
    return found


def title_of(document: Any) -> str:
    """The text of the title element, on one line, as the scorer compares blocks with it."""
    node = document.find("title")
    return " ".join(node.text.split())[:MAX_TITLE] if node is not None else ""


# Content that a page holds as data for its scripts: JSON-LD and hydration states.

_BODIES = ("articleBody", "text", "description", "reviewBody")
# From the start of a word only, and never back: a word may be megabytes long.
_PROSE = re.compile(r"(?:(?<=[\s<>{}])|^)[^\s<>{}]++(?:\s++[^\s{}]++){9,}")
_MARKUP = re.compile(r"</?[a-z][^>]*>", re.IGNORECASE)
_CODE = re.compile(r"[{};]\s|function\s*\(|=>|https?://\S+\s*,|\bvar\(--|@media")
MAX_STATE = 3_000_000
"""Characters of a script that are parsed."""
_MAX_VALUES = 200_000
_MAX_LINKED = 50_000
"""Objects and lists of JSON-LD that are looked at; real pages have hundreds."""


def linked_text(linked: Any) -> str:
    """The longest body or description in JSON-LD, as text."""
    best = ""
    for thing in _linked_things(linked):
        for name in _BODIES:
            text = thing.get(name)
            if isinstance(text, str) and len(text) > len(best):
                best = text
    return _plain(best)


def _linked_types(linked: Any) -> Iterator[str]:
    """Every @type in JSON-LD."""
    for thing in _linked_things(linked):
        kind = thing.get("@type")
        kinds = kind if isinstance(kind, list) else [kind]
        yield from (one for one in kinds if isinstance(one, str))


def _linked_things(linked: Any) -> Iterator[dict[str, Any]]:
    for value in _values(linked, of=(dict, list), limit=_MAX_LINKED):
        if isinstance(value, dict):
            yield value


def state_text(document: Any) -> str:
    """The prose in the JSON that a page's scripts start from, each piece once."""
    pieces: dict[str, None] = {}
    for script in document.find_all("script")[:400]:
        kind = script.attr("type") or ""
        if "json" not in kind or "ld+json" in kind or "importmap" in kind:
            continue
        source = script.text
        if not 200 < len(source) <= MAX_STATE:
            continue
        try:
            state = json.loads(source)
        except (ValueError, RecursionError):
            continue
        for value in _values(state):
            if isinstance(value, str) and _PROSE.search(value) and not _CODE.search(value):
                pieces.setdefault(_plain(value))
    return "\n\n".join(piece for piece in pieces if piece)


def _values(
    root: Any, *, of: tuple[type, ...] = (object,), limit: int = _MAX_VALUES
) -> Iterator[Any]:
    """A JSON value and all of these kinds inside it, in order."""
    waiting = [root]
    for _ in range(limit):
        if not waiting:
            return
        value = waiting.pop()
        yield value
        if isinstance(value, dict | list):
            parts = value.values() if isinstance(value, dict) else value
            waiting += [part for part in reversed(parts) if isinstance(part, of)]


def _plain(text: str) -> str:
    if _MARKUP.search(text):
        from turbohtml import parse

        text = str(parse(text[:MAX_STATE], positions=False).to_text())
    elif "&" in text:
        from html import unescape

        text = unescape(text)
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())
