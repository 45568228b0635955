"""How the text of a file is encoded, and how its lines end."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal

Eol = Literal["", "lf", "crlf", "cr", "mixed"]

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)

# Where Python's codec of the standard's name knows fewer characters than the standard.
_WIDER = {
    "shift_jis": "cp932",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "macintosh": "mac_roman",
    "iso-8859-8-i": "iso-8859-8",
    "utf-8-sig": "utf-8",
}


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding by its Python name. `mark` is the byte order mark that the file has.

    `guessed` says that nothing but the look of the bytes speaks for it.
    """

    name: str
    mark: bytes = b""
    guessed: bool = False

    @property
    def wide(self) -> bool:
        """Whether a line end is not the single byte that it is in ASCII."""
        return self.name.startswith(("utf-16", "utf-32"))


def detect(head: bytes, *, complete: bool) -> Encoding:
    """The encoding of a text by its first bytes.

    In this order: a byte order mark; valid UTF-8; what the frequencies of characters
    say, if every byte of it can be decoded; windows-1252, or latin-1 where a byte has
    no meaning in that.

    Args:
        head: the start of the file.
        complete: whether that is all of it; otherwise its last character may be cut.
    """
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name, mark)
    if decodes(head, "utf-8", complete=complete):
        return Encoding("utf-8")
    for name in (_by_frequency(head), "cp1252"):
        if name and name != "utf-8" and decodes(head, name, complete=complete):
            return Encoding(name, guessed=True)
    return Encoding("latin-1", guessed=True)


def decodes(data: bytes, name: str, *, complete: bool) -> bool:
    """Whether bytes are valid in an encoding."""
    try:
        codecs.getincrementaldecoder(name)("strict").decode(data, final=complete)
    except (UnicodeError, LookupError):
        return False
    return True


def _by_frequency(head: bytes) -> str:
    try:
        from turbohtml.detect import detect as measure
    except ImportError:
        return ""
    found = (measure(head).encoding or "").lower()
    name = _WIDER.get(found, found)
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""


def eol_of(text: bytes | str) -> Eol:
    """How lines end; "" where there is only one."""
    if isinstance(text, str):
        text = text.encode("utf-8", "replace")
    pairs = text.count(b"\r\n")
    feeds = text.count(b"\n") - pairs
    returns = text.count(b"\r") - pairs
    if pairs and feeds:
        return "mixed"
    if pairs:
        return "crlf"
    if feeds:
        return "lf"
    return "cr" if returns else ""
