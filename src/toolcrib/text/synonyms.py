"""English words that say much the same, so that a question may use others than its page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from toolcrib.core.package_data import package_table
from toolcrib.text.bm25 import terms

_WORDS = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
MAX_PHRASE_WORDS = 3


@cache
def _groups() -> dict[str, frozenset[str]]:
    """The terms that go with each term or phrase of the table; phrases as `called off`."""
    found: dict[str, set[str]] = {}
    for line in package_table("text/synonyms.toml")["groups"].splitlines():
        entries = [entry.replace("_", " ") for entry in line.split()]
        group = {term for entry in entries if " " not in entry for term in terms(entry)}
        for entry in entries:
            for key in [entry] if " " in entry else terms(entry):
                found.setdefault(key, set()).update(group)
    return {key: frozenset(group) for key, group in found.items()}


def synonyms(question: str) -> dict[str, frozenset[str]]:
    """The terms that say much the same as each word of a question, as the word is written.

    Both words of a phrase such as "called off" have those of the phrase.
    """
    groups = _groups()
    words = _WORDS.findall(question)
    found: dict[str, set[str]] = {}
    for at, word in enumerate(words):
        _add(found, [word], (groups.get(term, frozenset()) for term in terms(word)))
        for length in range(2, MAX_PHRASE_WORDS + 1):
            phrase = words[at : at + length]
            _add(found, phrase, [groups.get(" ".join(phrase).casefold(), frozenset())])
    return {word: frozenset(group) for word, group in found.items()}


def _add(
    found: dict[str, set[str]], words: Iterable[str], groups: Iterable[frozenset[str]]
) -> None:
    for group in groups:
        for word in words if group else ():
            found.setdefault(word, set()).update(group)
