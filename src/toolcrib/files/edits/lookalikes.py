"""Characters that look alike (quotes, dashes, spaces), and texts aligned part by part."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

from toolcrib.files.content.difference import common_ends

# What two texts have in common, part by part, in bounded time.

MAX_PAIRS = 100_000
"""Pairs of equal parts. The matcher takes time by them, again for each gap that it finds."""
Opcode = tuple[str, int, int, int, int]


def opcodes(a: Sequence[str], b: Sequence[str]) -> list[Opcode]:
    """How to turn one sequence into the other, as `SequenceMatcher.get_opcodes` says it.

    Where that could take long, what both begin and end with is taken first; what is between
    is then compared, part beside part where there are as many, or replaced as a whole.
    """
    if _pairs(a, b) <= MAX_PAIRS:
        return list(SequenceMatcher(None, a, b, autojunk=False).get_opcodes())
    head, tail = common_ends(a, b)
    stop, end = len(a) - tail, len(b) - tail
    found: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    inner_a, inner_b = a[head:stop], b[head:end]
    if _pairs(inner_a, inner_b) <= MAX_PAIRS:
        matcher = SequenceMatcher(None, inner_a, inner_b, autojunk=False)
        found += [
            (tag, i1 + head, i2 + head, j1 + head, j2 + head)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        ]
    elif len(inner_a) == len(inner_b):
        found += _side_by_side(inner_a, inner_b, head)
    else:
        found.append(("replace", head, stop, head, end))
    return [*found, ("equal", stop, len(a), end, len(b))] if tail else found


def _side_by_side(a: Sequence[str], b: Sequence[str], start: int) -> Iterator[Opcode]:
    at = start
    for same, run in groupby(zip(a, b, strict=True), key=lambda pair: pair[0] == pair[1]):
        end = at + sum(1 for _ in run)
        yield "equal" if same else "replace", at, end, at, end
        at = end


def _pairs(a: Sequence[str], b: Sequence[str]) -> int:
    counts = Counter(b)
    return sum(counts[part] for part in a)


_ALIKE = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\uff02",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63",
    " ": "\u00a0\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))),
}
_TABLE = {ord(char): plain for plain, chars in _ALIKE.items() for char in chars}
_TABLE |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if code not in _TABLE}
_UNSEEN = dict.fromkeys(map(ord, "\u200b\ufeff\u2060\u00ad"))
_TOKEN = re.compile(r"\n|[^\S\n]+|\.\.\.|\w+(?:['\u2018\u2019]\w+)*|[^\w\s]")


def fold_each(text: str) -> str:
    """The text with each character replaced by the plain one that it looks like.

    Its length is the same, so that a place in it is the same place in the text.
    """
    return text if text.isascii() else text.translate(_TABLE)


def fold(text: str) -> str:
    """The text as it is compared: `fold_each`, one composition, nothing invisible."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text.translate(_UNSEEN))
    return composed.translate(_TABLE).replace("\u2026", "...")


def spaced(line: str) -> str:
    """The line with the look-alikes of a space before its first word made spaces."""
    width = len(line) - len(line.lstrip())
    return fold(line[:width]) + line[width:]


def respelt(old: str, file: str, text: str) -> str:
    """A text without the look-alikes that a quote has where the file has plain characters.

    A sign of the quote that stands for one and the same ASCII character wherever it occurs
    is taken for that in all that was sent along with it.

    Args:
        old: what was meant to be there.
        file: what is there.
        text: what was sent: the quote itself, or what shall be there.
    """
    if old.isascii():
        return text
    composed = unicodedata.normalize("NFC", old)
    if composed != old and unicodedata.normalize("NFC", file) == file:
        text = unicodedata.normalize("NFC", text)
    stands_for: dict[str, set[str]] = {}
    for sent, there in zip(_TOKEN.findall(composed), _TOKEN.findall(file), strict=False):
        if len(sent) == len(there):
            for a, b in zip(sent, there, strict=True):
                stands_for.setdefault(a, set()).add(b)
    table = {
        ord(sign): meant.copy().pop()
        for sign, meant in stands_for.items()
        if len(meant) == 1 and not sign.isascii() and all(map(str.isascii, meant))
    }
    return text.translate(table)


def with_file_spelling(old: str, file: str, new: str) -> str:
    """The new text, in the file's spelling where it says the same as the old one.

    Args:
        old: what was meant to be there.
        file: what is there: the same but for white space and look-alikes.
        new: what shall be there.
    """
    if old == file:
        return new
    words, there, after = _words(old), _words(file), _words(new)
    if len(words) != len(there):
        return new
    if any(fold(a.text) != fold(b.text) for a, b in zip(words, there, strict=True)):
        return new
    result = list(after)
    for tag, i1, i2, j1, j2 in opcodes([w.text for w in words], [w.text for w in after]):
        if tag == "equal" or (tag == "replace" and i2 - i1 == j2 - j1):
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                text = there[i].text if tag == "equal" else after[j].text
                same = after[j].space == words[i].space
                result[j] = _Word(there[i].space if same else after[j].space, text)
    return "".join(f"{word.space}{word.text}" for word in result)


class _Word(NamedTuple):
    space: str
    text: str


def _words(text: str) -> list[_Word]:
    """Words, single signs and line ends, each with the space before it."""
    found: list[_Word] = []
    space = ""
    for part in _TOKEN.findall(text):
        if part.isspace() and part != "\n":
            space = part
        else:
            found.append(_Word(space, part))
            space = ""
    return [*found, _Word(space, "")]
