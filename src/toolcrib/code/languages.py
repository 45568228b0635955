"""The languages whose structure is known, by the names of files, and their syntax trees."""

from __future__ import annotations

import re
from typing import Any, Final

from toolcrib.code.trial_parse import syntax_tree
from toolcrib.core.errors import MissingExtra
from toolcrib.files.content.outline import ending_of

_ENDINGS: Final = {
    "python": "py pyi pyw",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hpp hh hxx ipp inl cu",
    "csharp": "cs csx",
    "ruby": "rb rake gemspec",
    "php": "php phtml",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala sc",
    "lua": "lua",
    "bash": "sh bash bats ksh",
}
LANGUAGES: Final = {
    ending: language for language, endings in _ENDINGS.items() for ending in endings.split()
}
"""The language of a file, by its extension in lower case."""

_SURROGATE = re.compile("[\ud800-\udfff]")

SCRIPTS: Final = ("javascript", "typescript", "tsx")
MIXED: Final = frozenset(["vue", "svelte", "astro", "html", "htm", "ipynb", "mdx"])
"""Extensions of files that hold code of another language, which nothing here understands."""


def language_of(name: str) -> str:
    """The language of a file; "" where its structure is not known."""
    return LANGUAGES.get(ending_of(name), "")


def parse(text: str, language: str) -> Any:
    """The root node of a text; its positions count characters.

    Raises:
        MissingExtra: ast-grep is not installed.
        ValueError: the language is unknown.
    """
    if language not in LANGUAGES.values():
        raise ValueError(language)
    # Half a character has no UTF-8; another sign of the same length takes its place.
    whole = _SURROGATE.sub("\ufffd", text)
    try:
        return syntax_tree(whole, language)
    except ImportError:
        raise MissingExtra("code", "Understanding the structure of code") from None


def characters(line: str, offset: int) -> int:
    """The characters of a line before an offset in bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode("utf-8", "ignore"))
