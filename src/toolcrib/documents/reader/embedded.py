"""Content that a page holds as data for its scripts: JSON-LD and hydration states."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_BODIES = ("articleBody", "text", "description", "reviewBody")
# From the start of a word only, and never back: a word may be megabytes long.
_PROSE = re.compile(r"(?:(?<=[\s<>{}])|^)[^\s<>{}]++(?:\s++[^\s{}]++){9,}")
_MARKUP = re.compile(r"</?[a-z][^>]*>", re.IGNORECASE)
_CODE = re.compile(r"[{};]\s|function\s*\(|=>|https?://\S+\s*,|\bvar\(--|@media")
MAX_STATE = 3_000_000
"""Characters of a script that are parsed."""
_MAX_VALUES = 200_000
_MAX_LINKED = 50_000
"""Objects and lists of JSON-LD that are looked at; real pages have hundreds."""


def linked_text(linked: Any) -> str:
    """The text of the main thing that JSON-LD describes: its body, or else its description."""
    best = ""
    for value in _values(linked, of=(dict, list), most=_MAX_LINKED):
        if isinstance(value, dict) and not value.keys().isdisjoint(_BODIES):
            for name in _BODIES:
                text = value.get(name)
                if isinstance(text, str) and len(text) > len(best):
                    best = text
    return _plain(best)


def state_text(document: Any) -> str:
    """The prose in the JSON that a page's scripts start from, each piece once."""
    pieces: dict[str, None] = {}
    for script in document.find_all("script")[:400]:
        kind = script.attr("type") or ""
        if "json" not in kind or "ld+json" in kind or "importmap" in kind:
            continue
        source = script.text
        if not 200 < len(source) <= MAX_STATE:
            continue
        try:
            state = json.loads(source)
        except (ValueError, RecursionError):
            continue
        for value in _values(state):
            if isinstance(value, str) and _PROSE.search(value) and not _CODE.search(value):
                pieces.setdefault(_plain(value))
    return "\n\n".join(piece for piece in pieces if piece)


def _values(
    root: Any, *, of: tuple[type, ...] = (object,), most: int = _MAX_VALUES
) -> Iterator[Any]:
    """A JSON value and all of these kinds inside it, in order."""
    waiting = [root]
    for _ in range(most):
        if not waiting:
            return
        value = waiting.pop()
        yield value
        if isinstance(value, dict):
            if value:
                waiting += [part for part in reversed(value.values()) if isinstance(part, of)]
        elif isinstance(value, list) and value:
            waiting += [part for part in reversed(value) if isinstance(part, of)]


def _plain(text: str) -> str:
    if _MARKUP.search(text):
        from turbohtml import parse

        text = str(parse(text[:MAX_STATE], positions=False).to_text())
    elif "&" in text:
        from html import unescape

        text = unescape(text)
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())
