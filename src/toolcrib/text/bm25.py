"""BM25 over a few fields: which documents speak of a query, best first.

Made for hundreds to some ten thousand short documents (tools, passages of a page).
The index lives in memory and does not change once built.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from functools import cache, lru_cache
from typing import Generic, TypeVar

K = TypeVar("K")
K1 = 1.2
"""How soon a repeated term stops counting."""
B = 0.75
"""How much long fields are held back, from 0 to 1."""

_CJK = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
# The humps of camelCase, "HTTPServer" as two, and digits apart from letters.
_PART = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")
DOUBLED = re.compile(r"([^aeioulsz])\1$")
"""A consonant twice at the end, as "running" has it before its ending."""


@cache
def _chunks() -> re.Pattern[str]:
    """Runs of one kind of writing; those without spaces between words are named."""
    return re.compile(rf"(?P<cjk>[{_CJK}]+)|(?:(?![{_CJK}])\w)+")


def stem(word: str) -> str:
    """A word without its common English endings, so that "searches" meets "search".

    Words of other languages pass nearly unchanged.
    """
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("ches", "shes", "sses", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and re.search("[aeiouy]", rest):
            word = DOUBLED.sub(r"\1", rest)
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def terms(text: str, *, query: bool = False) -> list[str]:
    """The terms of a text: folded, split at humps and underscores, stemmed.

    A compound name gives its parts and itself joined. Runs of Chinese, Japanese or
    Korean give their pairs of characters and, except in a query, the single ones.
    """
    found: list[str] = []
    for match in _chunks().finditer(_fold(text)):
        chunk = match.group()
        if match["cjk"]:
            pairs = [chunk[i : i + 2] for i in range(len(chunk) - 1)]
            found += pairs if query and pairs else [*chunk, *pairs]
            continue
        found += _word_terms(chunk)
    return found


@lru_cache(maxsize=1 << 15)
def _word_terms(word: str) -> tuple[str, ...]:
    parts = [part.casefold() for part in _PART.findall(word)]
    found = tuple(stem(part) for part in parts)
    return (*found, "".join(parts)) if len(parts) > 1 else found


def _fold(text: str) -> str:
    """Compatibility forms and accents folded; case is kept for the humps."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    bare = "".join(c for c in apart if not unicodedata.combining(c) or c in "\u3099\u309a")
    return unicodedata.normalize("NFC", bare)


class Bm25(Generic[K]):
    """An index of documents by their weighted fields.

    Args:
        documents: pairs of a key and the document, a text or texts by field. Terms that
            are made already may stand for a text.
        weights: what a field counts; 1 for those not named.
        held_back: how much long fields are held back, from 0 to 1.
    """

    def __init__(
        self,
        documents: Iterable[tuple[K, str | Mapping[str, str | Sequence[str]]]],
        weights: Mapping[str, float] | None = None,
        held_back: float = B,
    ) -> None:
        self._weights = dict(weights or {})
        self._held_back = held_back
        self._keys: list[K] = []
        self._postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        self._scored: dict[str, Sequence[tuple[int, float]]] = {}
        counted: list[dict[str, Counter[str]]] = []
        for key, document in documents:
            fields = {"": document} if isinstance(document, str) else document
            self._keys.append(key)
            counted.append({name: _counted(text) for name, text in fields.items()})
        self._index(counted)

    def __len__(self) -> int:
        return len(self._keys)

    def search(self, query: str, limit: int = 10) -> list[tuple[K, float]]:
        """The best documents with their scores; equal scores keep the order of the index.

        Documents that share no term with the query are left out.
        """
        wanted = Counter(terms(query, query=True))
        return self.weigh({term: 1 + math.log(n) for term, n in wanted.items()}, limit)

    def weigh(self, wanted: Mapping[str, float], limit: int = 10) -> list[tuple[K, float]]:
        """As `search`, for terms of `terms` that each count as much as is said."""
        scores: defaultdict[int, float] = defaultdict(float)
        for term, weight in sorted(wanted.items()):
            for number, score in self._scores(term):
                scores[number] += score * weight
        return self._best(scores, limit)

    def weigh_words(
        self, words: Iterable[Mapping[str, float]], limit: int = 10
    ) -> list[tuple[K, float]]:
        """As `weigh`, for words that each have several terms: the best one met counts."""
        scores: defaultdict[int, float] = defaultdict(float)
        for alternatives in words:
            best: dict[int, float] = {}
            for term, weight in alternatives.items():
                for number, score in self._scores(term):
                    if score * weight > best.get(number, 0.0):
                        best[number] = score * weight
            for number, score in best.items():
                scores[number] += score
        return self._best(scores, limit)

    def parts(self, term: str) -> Iterator[tuple[K, float]]:
        """What a term alone gives to each document that has it."""
        for number, score in self._scores(term):
            yield self._keys[number], score

    def rarity(self, term: str) -> float:
        """What a term counts: the fewer documents have it, the more."""
        having = len(self._postings.get(term, ()))
        return math.log(1 + (len(self) - having + 0.5) / (having + 0.5))

    @property
    def vocabulary(self) -> KeysView[str]:
        """Every term of the index."""
        return self._postings.keys()

    def _scores(self, term: str) -> Sequence[tuple[int, float]]:
        known = self._scored.get(term)
        if known is None:
            postings, rarity = self._postings.get(term, ()), self.rarity(term)
            known = [(n, rarity * often * (K1 + 1) / (often + K1)) for n, often in postings]
            if known:
                self._scored[term] = known
        return known

    def _best(self, scores: Mapping[int, float], limit: int) -> list[tuple[K, float]]:
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return [(self._keys[number], score) for number, score in best[: max(0, limit)]]

    def _index(self, counted: list[dict[str, Counter[str]]]) -> None:
        lengths: defaultdict[str, int] = defaultdict(int)
        holders: Counter[str] = Counter()
        for fields in counted:
            for name, counts in fields.items():
                lengths[name] += counts.total()
                holders[name] += 1
        for number, fields in enumerate(counted):
            for term, frequency in self._frequencies(fields, lengths, holders):
                self._postings[term].append((number, frequency))

    def _frequencies(
        self,
        fields: Mapping[str, Counter[str]],
        lengths: Mapping[str, int],
        holders: Mapping[str, int],
    ) -> Iterator[tuple[str, float]]:
        """How often each term stands in one document, by weight and length of the fields."""
        total: defaultdict[str, float] = defaultdict(float)
        for name, counts in fields.items():
            usual = lengths[name] / holders[name] or 1.0
            held_back = 1 - self._held_back + self._held_back * counts.total() / usual
            for term, count in counts.items():
                total[term] += self._weights.get(name, 1.0) * count / held_back
        yield from total.items()


def _counted(text: str | Sequence[str]) -> Counter[str]:
    return Counter(terms(text) if isinstance(text, str) else text)
