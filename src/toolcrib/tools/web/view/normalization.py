"""Texts brought to one form for comparing: case, accents, quotes, dashes, spaces."""

from __future__ import annotations

import re
import unicodedata

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "\u2026": "...",
    }
)
_SPACES = re.compile(r"\s+")


def folded(text: str) -> str:
    """The text in lower case, without accents, with plain signs and single spaces."""
    if not text.isascii():
        text = text.translate(_SIGNS)
        apart = unicodedata.normalize("NFKD", text)
        bare = "".join(c for c in apart if not unicodedata.combining(c) or c in "\u3099\u309a")
        text = unicodedata.normalize("NFC", bare)
    return _SPACES.sub(" ", text.casefold())
