"""One small file for each kind of content, and the table that says which is which."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.core.errors import UnsupportedContent
from toolcrib.tools.web.document import Document, Handler, Raw
from toolcrib.tools.web.handlers import html, json, text

HANDLERS: Mapping[str, Handler] = {
    "text/html": html.convert,
    "application/xhtml+xml": html.convert,
    "application/json": json.convert,
    "text/json": json.convert,
    "+json": json.convert,
    "application/xml": text.convert,
    "+xml": text.convert,
    "application/javascript": text.convert,
    "application/ecmascript": text.convert,
    "application/x-javascript": text.convert,
    "application/x-ndjson": text.convert,
    "application/jsonl": text.convert,
    "application/yaml": text.convert,
    "application/x-yaml": text.convert,
    "application/toml": text.convert,
    "application/sql": text.convert,
    "application/x-sh": text.convert,
    "text/*": text.convert,
}
"""By media type, then by its suffix, then by its family."""


def convert(raw: Raw) -> Document:
    """The document in an answer.

    Raises:
        UnsupportedContent: no handler takes this kind, or the bytes are not of it.
    """
    if raw.format == "raw":
        handler_for(raw)
        return text.convert(raw)
    return handler_for(raw)(raw)


def handler_for(raw: Raw) -> Handler:
    """The handler of an answer's kind; what has no type is judged by its look.

    Raises:
        UnsupportedContent: there is none.
    """
    kind = raw.media_type or _guessed(raw.body)
    family, _, rest = kind.partition("/")
    suffix = f"+{rest.rpartition('+')[2]}" if "+" in rest else ""
    found = HANDLERS.get(kind) or HANDLERS.get(suffix) or HANDLERS.get(f"{family}/*")
    if found is None:
        raise UnsupportedContent(
            f"The page is {raw.kind}, which cannot be read as text.",
            hint="HTML, JSON, XML and plain text can be read.",
            content_type=raw.kind,
        )
    return found


def _guessed(body: bytes) -> str:
    head = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<title")):
        return "text/html"
    return "application/json" if head.startswith((b"{", b"[")) else "text/plain"
