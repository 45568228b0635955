"""Syntax trees of source code, by ast-grep."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.code.languages import LANGUAGES
from toolcrib.core.errors import MissingExtra

_KNOWN = frozenset(LANGUAGES.values())
_SURROGATE = re.compile("[\ud800-\udfff]")


def parse(text: str, language: str) -> Any:
    """The root node of a text; its positions count characters.

    Raises:
        MissingExtra: ast-grep is not installed.
        ValueError: the language is unknown.
    """
    if language not in _KNOWN:
        raise ValueError(language)
    try:
        from ast_grep_py import SgRoot
    except ImportError:
        raise MissingExtra("code", "Understanding the structure of code") from None
    # Half a character has no UTF-8; another sign of the same length takes its place.
    return SgRoot(_SURROGATE.sub("\ufffd", text), language).root()
