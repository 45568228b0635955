"""JSON, laid out for reading."""

from __future__ import annotations

import json
import re
from typing import Any

from toolcrib.core.errors import UnsupportedContent
from toolcrib.tools.web.document import MAX_TEXT, Document, Raw, decode

MAX_DEPTH = 40
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
    return Document(_laid_out(value), "json", encoding=encoding)


def _laid_out(value: Any) -> str:
    # Indenting a deep value multiplies it, and a reader gains nothing.
    if _is_deep(value):
        return json.dumps(value, ensure_ascii=False)
    parts: list[str] = []
    size = 0
    for part in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(value):
        parts.append(part)
        size += len(part)
        if size > MAX_TEXT:
            return json.dumps(value, ensure_ascii=False)
    return "".join(parts)


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
