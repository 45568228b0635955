"""Plain text, Markdown, source code, lines of JSON: as it is."""

from __future__ import annotations

from toolcrib.web.conversion.document import Document, Raw, decode


def convert(raw: Raw) -> Document:
    """The text itself, with line feeds as line ends."""
    text, encoding = decode(raw)
    return Document(text.replace("\r\n", "\n"), "text", encoding=encoding)
