"""JSON, laid out for reading."""

from __future__ import annotations

import json
import re

from toolcrib.core.errors import UnsupportedContent
from toolcrib.files.content.json_text import laid_out
from toolcrib.web.conversion.document import MAX_TEXT, Document, Raw, decode

_GUARD = re.compile(r"\s*(?:\)\]\}'?,?|for\s?\(;;\);|while\s?\(1\);)\s*")
"""What some services write first, so that no script can use the answer."""


def convert(raw: Raw) -> Document:
    """The value with two spaces a level; deep or huge ones on one line.

    Raises:
        UnsupportedContent: not valid JSON.
    """
    text, encoding = decode(raw)
    try:
        guard = _GUARD.match(text)
        value = json.loads(text[guard.end() if guard else 0 :])
    except (ValueError, RecursionError) as error:
        raise UnsupportedContent(
            "JSON could not be parsed. "
            f"The page is labelled as {raw.kind} and is not valid JSON: {error}.",
            hint='Use another source, or fetch_url with format="raw" to see it as it is.',
            content_type=raw.kind,
        ) from None
    laid, whole = laid_out(value, MAX_TEXT) or ("", False)
    # A deep or huge one would be multiplied, and a reader gains nothing.
    shown = laid if whole else json.dumps(value, ensure_ascii=False)
    return Document(shown, "json", encoding=encoding)
