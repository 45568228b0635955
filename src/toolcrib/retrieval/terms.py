"""What of a text and of a question goes to the index of words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from toolcrib.text.relevance import content_words

MAX_QUERY_WORDS = 24
MAX_QUESTION_CHARS = 4000
MIN_TERM_CHARS = 4
MAX_TERM_CHARS = 40
_CJK = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_RUN = re.compile(rf"[{_CJK}]+")
_OTHER = re.compile(rf"[^{_CJK}]+")
_HUMP = re.compile(r"[a-z0-9][A-Z]")
_HUMPED = re.compile(r"\b(?=\w*[a-z0-9][A-Z])[^\W_]+\b")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD = re.compile(rf"(?:(?![{_CJK}])[^\W_])+")
_TOKEN = re.compile(r"[^\W_]+(?:[._+#/&@'\u2019-]+[^\W_]+)*")
_SIGN = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word of a question as it was written, and the expression that finds it.

    `optional` words count where they are found, and are not missed elsewhere.
    """

    text: str
    expression: str
    optional: bool = False


def parts_of(text: str) -> str:
    """What the index holds of a text beside its words, joined by blanks.

    Runs of Chinese, Japanese or Korean give their pairs of characters, since no blanks stand
    between their words; names like `readFile` give their parts.
    """
    found: list[str] = []
    if not text.isascii():
        for run in _RUN.findall(text):
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    if _HUMP.search(text):
        for name in _HUMPED.findall(text):
            found += _PART.findall(name)
    return " ".join(found)


def query_words(question: str) -> list[QueryWord]:
    """The words that a question is about, each as an expression of FTS5.

    All of the question is quoted: nothing in it is syntax.
    """
    found: dict[str, QueryWord] = {}
    plain = question[:MAX_QUESTION_CHARS].replace("\0", " ")
    telling = content_words(plain)
    for word in telling:
        for piece in _pieces(word):
            found.setdefault(piece.text.casefold(), piece)
    words = _TOKEN.findall(plain)
    if len(telling) == len(words) - 1 and not _RUN.search(plain):
        # One common word alone may be a rare one of another language ("door").
        for word in words:
            found.setdefault(word.casefold(), QueryWord(word, quoted(word), optional=True))
    return list(found.values())[:MAX_QUERY_WORDS]


def quoted(text: str) -> str:
    """A text as a phrase of FTS5."""
    return '"' + text.replace('"', " ") + '"'


def any_of(words: Iterable[QueryWord]) -> str:
    """The expression for texts with at least one of some words."""
    return " OR ".join(word.expression for word in words)


def vocabulary(texts: Iterable[str], known: set[str]) -> set[str]:
    """The words of texts that a slip of the pen may be compared with.

    Args:
        texts: what is looked through.
        known: pieces between blanks that were looked through before; new ones get in.
    """
    raw: set[str] = set()
    for text in texts:
        raw.update(text.casefold().split())
    raw -= known
    known |= raw
    return {
        word
        for token in raw
        for word in _WORD.findall(token)
        if MIN_TERM_CHARS <= len(word) <= MAX_TERM_CHARS and not word.isdigit()
    }


def _pieces(word: str) -> Iterable[QueryWord]:
    for run in _RUN.findall(word):
        pairs = [run[i : i + 2] for i in range(len(run) - 1)]
        yield from (QueryWord(pair, quoted(pair)) for pair in pairs)
        if not pairs:
            yield QueryWord(run, f"{quoted(run)} *")
    for other in _OTHER.findall(word):
        if _SIGN.search(other):
            names = [quoted(" ".join(_PART.findall(n))) for n in _HUMPED.findall(other)]
            either = " OR ".join([quoted(other), *names])
            yield QueryWord(other, f"({either})" if names else either)
