"""Source of pages that a parser of HTML would read otherwise than their writers meant."""

from __future__ import annotations

import html
import re

_MAX_BREAKS = 10_000
"""Line breaks in a page from which on rows of them are made short."""
_XML = re.compile(r"\s*<\?xml|[^>]{0,600}<html[^>]{0,600}\sxmlns\s*=", re.IGNORECASE)
_LOOKED_AT = 2_000
_CLOSED = re.compile(
    r"<(title|script|style|textarea|iframe|noscript|xmp|noembed|noframes)\b([^<>]{0,2000}?)/>",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"(?P<code><(?P<tag>script|style)\b.*?</(?P=tag)\s*>)|<!\[CDATA\[(?P<said>.*?)\]\]>",
    re.IGNORECASE | re.DOTALL,
)
_SHADOW = re.compile(r"<template(?=[^<>]{0,500}\sshadowrootmode\b)", re.IGNORECASE)
_OPENED = re.compile(
    r"<(title|textarea|style|script|noembed|noframes|iframe|xmp|noscript)\b[^<>]{0,2000}>|(<!--)",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<(?:p|div|h[1-6]|table|ul|ol|main|article|section|body)\b", re.IGNORECASE)
_ENDS = {"<!--": "-->"}
_MAX_OPENED = 2_000


def repaired(source: str, marks: int) -> str:
    """The source with XHTML and declarative shadow trees as HTML that says the same.

    Rows of line breaks in long pages become short: they are parsed one by one otherwise.

    Args:
        source: the page.
        marks: how many `<` it has, or 0 where they are few.
    """
    head = source[:_LOOKED_AT].lower()
    if ("xmlns" in head or "<?xml" in head) and _XML.match(source[:_LOOKED_AT]):
        source = _CLOSED.sub(r"<\1\2></\1>", source)
        if "<![CDATA[" in source:
            source = _SECTION.sub(_section, source)
    if "shadowrootmode" in source:
        source = _SHADOW.sub("<div", source)
    if marks >= _MAX_BREAKS:
        source = _compacted(source)
    # Text before any tag takes the parser twenty times its memory.
    return source if source[:1] in ("", "<") else f"<body>{source}"


def opened(source: str) -> str:
    """What follows the first element or comment that is never closed; empty if there is none.

    Browsers take all of that for a title, a script or a comment.
    """
    low = source.lower()
    place = 0
    for _ in range(_MAX_OPENED):
        found = _OPENED.search(source, place)
        if found is None:
            return ""
        tag = (found[1] or found[2]).lower()
        place = low.find(_ENDS.get(tag, f"</{tag}"), found.end())
        if place < 0:
            rest = source[found.end() :]
            if tag in ("script", "style"):
                markup = _MARKUP.search(rest)
                return rest[markup.start() :] if markup else ""
            return rest
    return ""


def _compacted(source: str) -> str:
    """The source with two of each row of line breaks, by what is fast and needs no memory."""
    if source.count("<br") + source.count("<BR") < _MAX_BREAKS:
        return source
    for spelling in ("<br/>", "<br />", "<BR>", "<BR/>", "<BR />", "<br>\n", "<br> "):
        source = source.replace(spelling, "<br>")
    for number in (1000, 100, 30, 10, 5, 4, 3, 3):
        source = source.replace("<br>" * number, "<br><br>")
    return source


def _section(found: re.Match[str]) -> str:
    said = found["said"]
    return found[0] if said is None else html.escape(said, quote=False)
