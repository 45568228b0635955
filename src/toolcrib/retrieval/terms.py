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
_ASCII_WORDS = str.maketrans({n: " " for n in range(128) if not chr(n).isalnum()})
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


def words_of(text: str) -> list[str]:
    """The words of a text as they are written, each once, in its order."""
    if text.isascii():  # far the most text, and several times as fast as an expression
        return list(dict.fromkeys(text.translate(_ASCII_WORDS).split()))
    return list(dict.fromkeys(_WORD.findall(text)))


def parts_of(text: str, words: Iterable[str]) -> str:
    """What the index holds of a text beside its words, joined by blanks.

    Runs of Chinese, Japanese or Korean give their pairs of characters, since no blanks stand
    between their words; names like `readFile` give their parts.

    Args:
        text: all of it.
        words: its words, see `words_of`.
    """
    found: list[str] = []
    if not text.isascii():
        for run in _RUN.findall(text):
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    for name in words:
        if not name.islower() and _HUMP.search(name):
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


def vocabulary(words: Iterable[str], known: set[str]) -> set[str]:
    """What a slip of the pen may be compared with, of some words.

    Args:
        words: see `words_of`.
        known: words that were looked at before; new ones get in.
    """
    new = set(words) - known
    known |= new
    return {
        word.casefold()
        for word in new
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
            humped = [name for name in words_of(other) if _HUMP.search(name)]
            names = [quoted(" ".join(_PART.findall(name))) for name in humped]
            either = " OR ".join([quoted(other), *names])
            yield QueryWord(other, f"({either})" if names else either)
