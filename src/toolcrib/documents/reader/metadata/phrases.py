"""The text of a page's elements and values: without markup, on one line, never too long."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from toolcrib.text.cleaner import clean

if TYPE_CHECKING:
    from turbohtml import Node

_SILENT = frozenset({"script", "style", "noscript", "template", "textarea", "select"})
"""Elements whose text is not on the page."""
_MAX_NODES = 5_000
"""Nodes of an element that are looked at for its text."""
# Only with its semicolon: "AT&T" and "?a=1&copy=2" are no entities.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# What needs no cleaning; the rest is looked at character by character.
_PLAIN = re.compile(r"[\t\n -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2015\u2018-\u201f\u2026]*")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>|<!--.{0,300}?-->", re.DOTALL)


def line(text: str, limit: int) -> str:
    """The text on one line, without what cannot be seen, at most `limit` characters."""
    short = text[: 4 * limit]
    if not _PLAIN.fullmatch(short):
        short = clean(short).text
    return " ".join(short.split())[:limit].rstrip()


def unescaped(text: str) -> str:
    """The text with its character references resolved, once."""
    if "&" not in text:
        return text
    return _ENTITY.sub(lambda found: html.unescape(found.group()), text)


def phrase(text: str, limit: int) -> str:
    """A value that a page gives, as a line of text: pages escape some of them twice."""
    return line(unescaped(text[: 8 * limit]), limit)


def shortened(text: str, limit: int) -> str:
    """The text on one line without tags, cut between words; an ellipsis says so."""
    text = unescaped(text[: 8 * limit])
    if "<" in text:
        text = _TAG.sub("", text)
    text = line(unescaped(text), 2 * limit)
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return f"{head.rpartition(' ')[0] or head}…"


def text_of(node: Node, limit: int) -> str:
    """The text of an element as it stands, without its scripts.

    Hardly more than `limit` characters are gathered, so that a large element costs no more
    than a small one.
    """
    parts: list[str] = []
    size = 0
    for count, text in enumerate(_texts(node)):
        parts.append(text)
        size += len(text)
        if size > limit or count > _MAX_NODES:
            break
    return "".join(parts)[: 4 * limit]


def _texts(node: Any) -> Any:
    from turbohtml import Element, Text

    for count, part in enumerate(node.descendants):
        if count > _MAX_NODES:
            return
        if type(part) is Text:
            holder = part.parent
            if type(holder) is Element and holder.tag not in _SILENT:
                yield part.data
