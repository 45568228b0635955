"""The languages whose structure is known, by the names of files."""

from __future__ import annotations

from typing import Final

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

SCRIPTS: Final = ("javascript", "typescript", "tsx")
MIXED: Final = frozenset(["vue", "svelte", "astro", "html", "htm", "ipynb", "mdx"])
"""Extensions of files that hold code of another language, which nothing here understands."""


def ending_of(name: str) -> str:
    """The extension of a file's name, in lower case, without its dot."""
    last = name.rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last.lstrip(".") else ""


def language_of(name: str) -> str:
    """The language of a file; "" where its structure is not known."""
    return LANGUAGES.get(ending_of(name), "")
