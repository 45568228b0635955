"""Characters that look alike: quotes, dashes, spaces, full-width letters."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from toolcrib.files.edits.alignment import opcodes

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


def kept_spelling(old: str, file: str, new: str) -> str:
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
    kept = list(after)
    for tag, i1, i2, j1, j2 in opcodes([w.text for w in words], [w.text for w in after]):
        if tag == "equal" or (tag == "replace" and i2 - i1 == j2 - j1):
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                text = there[i].text if tag == "equal" else after[j].text
                same = after[j].space == words[i].space
                kept[j] = _Word(there[i].space if same else after[j].space, text)
    return "".join(f"{word.space}{word.text}" for word in kept)


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
