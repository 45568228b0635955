"""HTML documents, by the reader of web pages. Another process, a child, runs this module."""

from __future__ import annotations

from typing import Any

from toolcrib.documents.text import MAX_TEXT_CHARS, DocumentPage, DocumentText
from toolcrib.files.content.kinds import load_codecs


def prepare() -> None:
    """Load the reader, and use it once."""
    load_codecs()
    page = b"<html><body><h1>One</h1><p>" + b"Some words of a text. " * 20 + b"</p></body></html>"
    convert({"charset": ""}, page)


def convert(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The main content of a page as `DocumentText`."""
    from toolcrib.documents.reader.extraction import extract

    charset = request["charset"]
    found = extract(data, None, f"text/html; charset={charset}" if charset else None)
    known = {
        "author": found.byline,
        "published": found.published,
        "site": found.site_name,
        "language": found.language,
    }
    return DocumentText(
        "html",
        found.title or "",
        pages=(DocumentPage(1, found.markdown[:MAX_TEXT_CHARS]),),
        metadata={name: value for name, value in known.items() if value},
        warnings=tuple(found.warnings),
    ).to_json(), b""
