"""Learned log-odds of main content for words of class names and of short texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_LOWER = re.compile(r"[a-z]{2,}")
_CAMEL = re.compile(r"[A-Z]+[a-z]*|[a-z]+")
_WORD = re.compile(r"[^\W\d_]+|[$€£¥©|•#%@]")
_ASCII_WORD = re.compile(r"[a-z]+|[$|#%@]")
"""The same in a text without other letters, where it is quicker."""
MAX_SHORT_WORDS = 30
"""Texts up to this many words are looked at word by word."""
_MAX_CACHED_WORDS = 5
"""Texts up to this many words come again on other pages."""
_MAX_WORD_LETTERS = 20
"""Letters of a word of a name that is learned."""
MAX_CACHED = 4_000
MAX_ODDS = 127
"""The greatest sum, in tenths."""
Summary = tuple[int, int, int]
_NOTHING: Summary = (0, 0, 0)


def name_words(name: str) -> frozenset[str]:
    """The words of class names and ids: `relatedPosts` has `related` and `posts`."""
    return frozenset(word for word in _words_in(name) if 2 <= len(word) <= _MAX_WORD_LETTERS)


def _words_in(name: str) -> Iterable[str]:
    return _LOWER.findall(name) if name.islower() else map(str.lower, _CAMEL.findall(name))


def text_words(text: str, words: int) -> frozenset[str]:
    """The words of a text; those of short ones as a phrase too."""
    lowered = text[:400].lower()
    found = (_ASCII_WORD if lowered.isascii() else _WORD).findall(lowered)
    if words <= 4:
        found.append("=" + "_".join(found))
    return frozenset(found[: MAX_SHORT_WORDS + 1])


@dataclass(slots=True)
class Lexicon:
    """Log-odds of main content by word, of names and of texts, in tenths."""

    names: dict[str, int]
    texts: dict[str, int]
    _seen: dict[str, Summary] = field(default_factory=dict)
    _read: dict[str, tuple[int, int]] = field(default_factory=dict)

    def name(self, name: str) -> Summary:
        """Sum, least and greatest of the words of a class name."""
        known = self._seen.get(name)
        if known is None:
            if len(self._seen) >= MAX_CACHED:
                self._seen.clear()
            odds = self.names
            found = {word: odds[word] for word in _words_in(name) if word in odds}
            known = self._seen[name] = _summary([*found.values()]) if found else _NOTHING
        return known

    def text(self, text: str, words: int) -> tuple[int, int]:
        """Mean, finer by three, and least of the words of a text; zeros where it is long."""
        if words > MAX_SHORT_WORDS:
            return 0, 0
        known = self._read.get(text)
        if known is None:
            odds = self.texts
            values = [odds[word] for word in text_words(text, words) if word in odds]
            known = _mean_and_min(values, words) if values else (0, 0)
            if words <= _MAX_CACHED_WORDS:
                if len(self._read) >= MAX_CACHED:
                    self._read.clear()
                self._read[text] = known
        return known


def _mean_and_min(values: list[int], words: int) -> tuple[int, int]:
    mean = 3 * _bounded(sum(values)) // (words + 1)
    return _bounded(mean), _bounded(min(0, *values))


def _summary(values: list[int]) -> Summary:
    return _bounded(sum(values)), _bounded(min(0, *values)), _bounded(max(0, *values))


def _bounded(odds: int) -> int:
    return max(-MAX_ODDS, min(MAX_ODDS, odds))
