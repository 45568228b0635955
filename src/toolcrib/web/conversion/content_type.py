"""What an answer is, where its headers do not say so or are plainly wrong."""

from __future__ import annotations

import json
import re

from toolcrib.files.content.charset import charset_of
from toolcrib.files.content.image_formats import picture_of
from toolcrib.files.content.kinds import Kind, kind_of
from toolcrib.web.conversion.document import Raw

SNIFFED = 4_096
"""How many first bytes are looked at."""
_UNTOLD = {
    "",
    "*/*",
    "application/download",
    "application/force-download",
    "application/octet-stream",
    "application/octetstream",
    "application/unknown",
    "application/x-download",
    "application/x-octet-stream",
    "application/x-unknown",
    "binary/octet-stream",
    "content/unknown",
    "unknown/unknown",
}
"""Types that say nothing."""
_OFFICE = "application/vnd.openxmlformats-officedocument"
_TYPES = {
    "PDF document": "application/pdf",
    "Word document": f"{_OFFICE}.wordprocessingml.document",
    "Excel workbook": f"{_OFFICE}.spreadsheetml.sheet",
    "PowerPoint presentation": f"{_OFFICE}.presentationml.presentation",
    "OpenDocument file": "application/vnd.oasis.opendocument.text",
    "EPUB book": "application/epub+zip",
    "old Office document": "application/msword",
    "ZIP archive": "application/zip",
    "gzip archive": "application/gzip",
}
_HTML = re.compile(
    r"<(?:!doctype\s+html|html|head|body|title|meta|script|style|h1|div|p|a|table|br|ul)\b",
    re.IGNORECASE,
)
_SKIPPED = re.compile(
    r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE\s+(?!html)[^>\[]*(?:\[[^\]]*\]\s*)?>",
    re.DOTALL | re.IGNORECASE,
)
_FEED = re.compile(r"<(?:\w+:)?(rss|feed|rdf)\b([^>]*)", re.IGNORECASE)
_FEED_SPACES = ("purl.org/rss", "netscape.com/rdf", "purl.org/atom", "w3.org/2005/atom")
_JSON_FEED = re.compile(r"\"version\"\s*:\s*\"https?:\\?/\\?/(?:www\.)?jsonfeed\.org")


def media_type_of(raw: Raw) -> str:
    """The media type by which an answer is read: the declared one, unless it cannot be.

    Bytes are looked at where no type or one that says nothing is declared (missing
    counts as plain text unless it looks like more), and where they start like what no
    text does. XML and JSON that is a feed is called one.
    """
    head = raw.body[:SNIFFED]
    declared = raw.media_type if "/" in raw.media_type else ""
    picture = picture_of(head)
    if picture is not None and (picture.media_type != "image/svg+xml" or declared != "text/plain"):
        return picture.media_type
    kind = kind_of(head)
    if kind is not None and kind.name in _TYPES and _is_mistaken(declared):
        return _TYPES[kind.name]
    if declared in _UNTOLD:
        return _guessed(raw, head, kind) if kind is None or _is_wide(raw, head) else declared
    return _refined(raw, declared, head)


def kind_name(raw: Raw) -> str:
    """What the bytes start like ("ZIP archive"); empty for text and the unknown."""
    kind = kind_of(raw.body[:SNIFFED])
    return "" if kind is None or kind.name == "binary file" else kind.name


def _is_mistaken(declared: str) -> bool:
    """Whether a type cannot be right for an archive or a document."""
    return declared in _UNTOLD or declared.startswith(("text/", "image/")) or "json" in declared


def _is_wide(raw: Raw, head: bytes) -> bool:
    return charset_of(head[: len(head) // 4 * 4], raw.charset).wide


def _guessed(raw: Raw, head: bytes, kind: Kind | None) -> str:
    """The type of text that comes without one."""
    if kind is not None and not _is_wide(raw, head):
        return "application/octet-stream"
    text = _text(raw, head)
    start = text[_begin(text) :]
    if _feed_type(start):
        return _feed_type(start)
    if re.match(r"<!doctype\s+html|<html\b", start, re.IGNORECASE):
        return "text/html"
    if text.lstrip("\ufeff \t\r\n").startswith("<?xml"):
        return "application/xml"
    if _HTML.match(start):
        return "text/html"
    if text.lstrip()[:1] in ("{", "["):
        return _json_type(raw, text) or "text/plain"
    return "text/plain"


def _refined(raw: Raw, declared: str, head: bytes) -> str:
    """Feeds and JSON under a type that is wider than they are."""
    markup = declared == "text/html"
    if markup or declared in ("application/xml", "text/xml") or declared.endswith("+xml"):
        text = _text(raw, head)
        start = text[_begin(text) :]
        feed = _feed_type(start)
        if feed:
            return feed
        if not markup and re.match(r"<!doctype\s+html|<html\b", start, re.IGNORECASE):
            return "application/xhtml+xml"
        if markup and start[:1] in ("{", "["):
            return _json_type(raw, text) or declared
    elif declared in ("application/json", "text/json") and _JSON_FEED.search(_text(raw, head)):
        return "application/feed+json"
    return declared


def _text(raw: Raw, head: bytes) -> str:
    return charset_of(head[: len(head) // 4 * 4 or len(head)], raw.charset).decode(head)


def _begin(text: str) -> int:
    """Where the first element starts, behind declaration, comments and document type."""
    at = 0
    while (passed := _SKIPPED.match(text, at)) is not None and passed.end() > at:
        at = passed.end()
    return at


def _feed_type(start: str) -> str:
    found = _FEED.match(start)
    if found is None:
        return ""
    name, rest = found[1].lower(), found[2].lower()
    if name == "rss":
        return "application/rss+xml"
    if any(space in rest for space in _FEED_SPACES):
        return "application/atom+xml" if name == "feed" else "application/rdf+xml"
    return ""


def _json_type(raw: Raw, head: str) -> str:
    """JSON that is valid as a whole."""
    try:
        json.loads(charset_of(raw.body, raw.charset).decode(raw.body))
    except (ValueError, RecursionError):
        return ""
    return "application/feed+json" if _JSON_FEED.search(head) else "application/json"
