"""What is known of the words of a language: data files beside this module, one a language.

A file has sections. `[stop]`: words that say nothing. `[weak]`: words that say little.
`[glossary]`: `english words = their words, …`. `[idioms]`: the same for turns of phrase whose
words are in `[stop]` or `[weak]`. `[tools]`: `tool = phrases, …`; a tool may come again.
`[fold]`, of Chinese: pairs of a traditional and a simplified character. `#` begins a comment.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

LANGUAGES = ("en", "de", "es", "zh")


@dataclass(frozen=True, slots=True)
class ToolLexicon:
    """The words of one language. `glossary` and `idioms` lead from English to its words."""

    language: str
    stop: frozenset[str]
    weak: frozenset[str]
    glossary: Mapping[str, tuple[str, ...]]
    idioms: Mapping[str, tuple[str, ...]]
    tools: Mapping[str, tuple[str, ...]]
    fold: dict[int, str]


@cache
def lexicon(language: str) -> ToolLexicon:
    """The words of a language, read once."""
    data = pkgutil.get_data(__package__, f"{language}.txt") or b""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for raw in data.decode().splitlines():
        line = raw.partition("#")[0].strip()
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line:
            current.append(line)
    pairs = " ".join(sections.get("fold", ())).split()
    return ToolLexicon(
        language,
        _words(sections.get("stop", ())),
        _words(sections.get("weak", ())),
        _entries(sections.get("glossary", ())),
        _entries(sections.get("idioms", ())),
        _entries(sections.get("tools", ())),
        {ord(pair[0]): pair[1] for pair in pairs},
    )


def _words(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


def _entries(lines: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Lines `head = phrase, …`; a head that comes again is continued."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        head, _, rest = line.partition("=")
        phrases = tuple(phrase.strip() for phrase in rest.split(",") if phrase.strip())
        found[head.strip()] = found.get(head.strip(), ()) + phrases
    return found
