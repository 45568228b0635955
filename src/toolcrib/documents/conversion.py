"""Conversion of documents without extras. Another process, a child, runs this module."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolcrib.documents import pdf, text_formats
from toolcrib.documents.kinds import NAMES
from toolcrib.files.content.kinds import load_codecs

_FEED = (
    b"<rss version='2.0'><channel><title>one</title><item><link>https://e.example/</link>"
    b"<description>&lt;p&gt;two</description></item></channel></rss>"
)


def prepare() -> None:
    """Load the libraries, and use each once."""
    import pdf_oxide
    import pypdfium2  # type: ignore[import-untyped]

    load_codecs()
    pdf_oxide.disable_logging()
    pypdfium2.PdfDocument.new().close()
    for data, kind in ((b"a,b\n1,2", "csv"), (_FEED, "rss")):
        convert({"kind": kind, "pages": "", "charset": ""}, data)
    convert({"kind": "eml", "pages": "", "charset": ""}, b"Subject: =?utf-8?q?one?=\n\ntwo")


def convert(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """A document as `DocumentText`; `request` has `kind`, `pages` and `charset`.

    Raises:
        ToolError: it cannot be read.
    """
    kind = request["kind"]
    if kind == "pdf":
        found = pdf.convert(request, data)
    elif kind == "ipynb":
        found = text_formats.convert_notebook(data)
    elif kind == "eml":
        found = text_formats.convert_mail(data)
    else:
        found = text_formats.convert_text(request, data)
    if request["pages"] and not found.unit:
        note = f"A document of this kind ({NAMES[kind]}) has no pages: all of it is given."
        found = replace(found, warnings=(*found.warnings, note))
    return found.to_json(), b""


def render(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """A page of a PDF as a picture; see `pdf.render`."""
    return pdf.render(request, data)
