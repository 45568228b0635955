"""What words in class names and in short texts say about a block, learned from pages."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

_CAMEL = re.compile(r"([a-z])([A-Z])")
_NAME = re.compile(r"[a-z]{2,20}")
_WORD = re.compile(r"[^\W\d_]+|[$€£¥©|•#%@]")
SHORT = 30
"""Texts up to this many words are looked at word by word."""
_FEW = 5
"""Texts up to this many words come again on other pages."""
MAX_CACHED = 20_000
MOST = 127
"""The greatest sum, in tenths."""
Summary = tuple[int, int, int]
_NONE: frozenset[str] = frozenset()


def name_words(name: str) -> frozenset[str]:
    """The words of class names and ids: `relatedPosts` has `related` and `posts`."""
    return frozenset(_words_in(name))


def _words_in(name: str) -> list[str]:
    lowered = name.lower()
    if lowered != name:
        lowered = _CAMEL.sub(r"\1 \2", name).lower()
    return _NAME.findall(lowered)


def text_words(text: str, words: int) -> frozenset[str]:
    """The words of a text; those of short ones as a phrase too."""
    lowered = text[:400].lower()
    found = _WORD.findall(lowered)
    if words <= 4:
        found.append("=" + "_".join(found))
    return frozenset(found[: SHORT + 1])


@dataclass(slots=True)
class Lexicon:
    """Log-odds of main content by word, of names and of texts, in tenths."""

    names: dict[str, int]
    texts: dict[str, int]
    _seen: dict[str, Summary] = field(default_factory=dict)
    _read: dict[str, tuple[int, int]] = field(default_factory=dict)
    _singles: dict[str, AbstractSet[str]] = field(default_factory=dict)

    def name(self, name: str) -> Summary:
        """Sum, least and greatest of the words of a class name."""
        known = self._seen.get(name)
        if known is None:
            known = _summary(self.names, self._known_words(name))
            if len(self._seen) < MAX_CACHED:
                self._seen[name] = known
        return known

    def _known_words(self, name: str) -> AbstractSet[str]:
        """Those of its words that say something; classes come again in other names."""
        words: AbstractSet[str] = _NONE
        names = self.names
        for single in name.split():
            known = self._singles.get(single)
            if known is None:
                known = _NONE.union([word for word in _words_in(single) if word in names])
                if len(self._singles) < MAX_CACHED:
                    self._singles[single] = known
            if known:
                words = words | known if words else known
        return words

    def text(self, text: str, words: int) -> tuple[int, int]:
        """Mean, finer by three, and least of the words of a text; zeros where it is long."""
        if words > SHORT:
            return 0, 0
        known = self._read.get(text)
        if known is None:
            odds = self.texts
            values = [odds[word] for word in text_words(text, words) if word in odds]
            known = _mean_and_least(values, words) if values else (0, 0)
            if words <= _FEW and len(self._read) < MAX_CACHED:
                self._read[text] = known
        return known


def _mean_and_least(values: list[int], words: int) -> tuple[int, int]:
    total, least = max(-MOST, min(MOST, sum(values))), min(values)
    return max(-MOST, min(MOST, 3 * total // (words + 1))), max(-MOST, least) if least < 0 else 0


def _summary(table: dict[str, int], words: AbstractSet[str]) -> Summary:
    values = [table[word] for word in words if word in table] if words else ()
    if not values:
        return 0, 0, 0
    if len(values) == 1:
        value = max(-MOST, min(MOST, values[0]))
        return (value, value, 0) if value < 0 else (value, 0, value)
    total, least, most = sum(values), min(values), max(values)
    return (
        max(-MOST, min(MOST, total)),
        max(-MOST, least) if least < 0 else 0,
        min(MOST, most) if most > 0 else 0,
    )
