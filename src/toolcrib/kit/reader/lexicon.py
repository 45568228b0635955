"""What words in class names and in short texts say about a block, learned from pages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_CAMEL = re.compile(r"([a-z])([A-Z])")
_NAME = re.compile(r"[a-z]{2,20}")
_WORD = re.compile(r"[^\W\d_]+|[$€£¥©|•#%@]")
SHORT = 30
"""Texts up to this many words are looked at word by word."""
_FEW = 5
"""Texts up to this many words come again on other pages."""
MAX_CACHED = 20_000


def name_words(name: str) -> frozenset[str]:
    """The words of class names and ids: `relatedPosts` has `related` and `posts`."""
    return frozenset(_NAME.findall(_CAMEL.sub(r"\1 \2", name).lower()))


def text_words(text: str, words: int) -> frozenset[str]:
    """The words of a text; those of short ones as a phrase too."""
    lowered = text[:400].lower()
    found = _WORD.findall(lowered)
    if words <= 4:
        found.append("=" + "_".join(found))
    return frozenset(found[: SHORT + 1])


@dataclass(slots=True)
class Lexicon:
    """Log-odds of main content by word, of names and of texts."""

    names: dict[str, float]
    texts: dict[str, float]
    _seen: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    _read: dict[str, tuple[float, float, float]] = field(default_factory=dict)

    def name(self, name: str) -> tuple[float, float, float]:
        """Sum, least and greatest of the words of a class name."""
        if not name:
            return 0.0, 0.0, 0.0
        known = self._seen.get(name)
        if known is None:
            known = _summary(self.names, name_words(name))
            if len(self._seen) < MAX_CACHED:
                self._seen[name] = known
        return known

    def text(self, text: str, words: int) -> tuple[float, float, float]:
        """Mean, least and greatest of the words of a text; zeros where it is long."""
        if words > SHORT:
            return 0.0, 0.0, 0.0
        known = self._read.get(text)
        if known is None:
            total, least, most = _summary(self.texts, text_words(text, words))
            known = (total / (words + 1), least, most)
            if words <= _FEW and len(self._read) < MAX_CACHED:
                self._read[text] = known
        return known


def _summary(table: dict[str, float], words: frozenset[str]) -> tuple[float, float, float]:
    total = least = most = 0.0
    for word in words:
        value = table.get(word, 0.0)
        total += value
        if value < least:
            least = value
        elif value > most:
            most = value
    return total, least, most
