"""Turns of phrase made of words that alone say nothing: "where am I", "wer ruft", "有哪些"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from toolcrib.text.stems import bare, english
from toolcrib.tools.meta.tool_index.lexicon import LANGUAGES, lexicon
from toolcrib.tools.meta.tool_index.words import is_han, pieces

Heads = tuple[str, ...]
"""English stems that a turn of phrase means."""


def idioms(listed: Sequence[str]) -> dict[int, list[Heads]]:
    """What turns of phrase mean, by the place of the piece that they begin in."""
    words, runs = _table()
    plain = ["" if is_han(piece) else bare(piece.casefold()) for piece in listed]
    found: dict[int, list[Heads]] = {}
    for at, piece in enumerate(listed):
        if is_han(piece):
            met = [
                heads
                for i, first in enumerate(piece)
                for phrase, heads in runs.get(first, ())
                if piece.startswith(phrase, i)
            ]
        else:
            met = [
                heads
                for phrase, heads in words.get(plain[at], ())
                if tuple(plain[at : at + len(phrase)]) == phrase
            ]
        if met:
            found[at] = met
    return found


_Words = dict[str, list[tuple[tuple[str, ...], Heads]]]
_Runs = dict[str, list[tuple[str, Heads]]]


@cache
def _table() -> tuple[_Words, _Runs]:
    """The phrases of all languages by their first word, and those of Chinese by character."""
    words: _Words = {}
    runs: _Runs = {}
    for language in LANGUAGES:
        for head, phrases in lexicon(language).idioms.items():
            heads = tuple(english(word) for word in head.split())
            for phrase in phrases:
                listed = pieces(phrase)
                if is_han(listed[0]):
                    runs.setdefault(phrase[0], []).append((phrase, heads))
                else:
                    parts = tuple(bare(piece.casefold()) for piece in listed)
                    words.setdefault(parts[0], []).append((parts, heads))
    return words, runs
