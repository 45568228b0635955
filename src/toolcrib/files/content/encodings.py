"""How the text of a file or page is encoded, and how its lines end."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Literal

Eol = Literal["", "lf", "crlf", "cr", "mixed"]

MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
"""Each byte order mark with its encoding; the longer of two that begin alike comes first."""

_SINGLE_BYTE_LATIN = {"iso-8859-1", "latin1", "latin-1", "windows-1252", "cp1252", "us-ascii"}

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


# Labels of browsers whose signs Python's lookup of codecs mixes up.
_SPELLINGS = {
    "ks_c_5601-1987": "euc-kr",
    "ks_c_5601-1989": "euc-kr",
    "gb_2312-80": "gbk",
    "ansi_x3.4-1968": "windows-1252",
}
_YEAR = re.compile(r":(?:19)\d\d$")
_MAX_LABEL = 60


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding by its Python name. `mark` is the byte order mark that the file has.

    `guessed` says that nothing but the look of the bytes speaks for it. `label` is the
    name that browsers use; empty where they have none.
    """

    name: str
    mark: bytes = b""
    guessed: bool = False
    label: str = ""

    @property
    def wide(self) -> bool:
        """Whether a line end is not the single byte that it is in ASCII."""
        return self.name.startswith(("utf-16", "utf-32"))

    def decode(self, data: bytes) -> str:
        """A whole text without its mark, as browsers read it: U+FFFD for what is not valid."""
        body = data.removeprefix(self.mark)
        codec = _browsers_codec(self.label)
        return body.decode(codec) if codec else body.decode(self.name, "replace")


def detect(head: bytes, *, complete: bool, declared: str = "", lenient: bool = False) -> Encoding:
    """The encoding of a text by its first bytes.

    In this order: a byte order mark; the declared charset, if it is known and the bytes
    do not contradict it; valid UTF-8; what the text says of itself or the frequencies of
    its characters, if every byte can be decoded; windows-1252, or latin-1 where a byte
    has no meaning in that.

    Args:
        head: the start of the text.
        complete: whether that is all of it; otherwise its last character may be cut.
        declared: what came with the text says of it; empty for nothing.
        lenient: take what the frequencies say even if some bytes are not valid in it.
    """
    for mark, name in MARKS:
        if head.startswith(mark):
            return Encoding(name, mark, label=name.replace("utf-16-", "utf-16"))
    declared = _label(declared)
    if _browsers_codec(declared) and not _is_contradicted(declared, head, complete=complete):
        return Encoding(_python_name(declared) or "utf-8", label=declared)
    # Text in ISO-2022-JP is ASCII with escapes, so valid UTF-8 as well.
    label = _measured(head) if b"\x1b" in head else ""
    if label != "iso-2022-jp" and decodes(head, "utf-8", complete=complete):
        return Encoding("utf-8", label="utf-8")
    label = label or _measured(head)
    name = _python_name(label)
    if name and (lenient or (name != "utf-8" and decodes(head, name, complete=complete))):
        return Encoding(name, guessed=True, label=label)
    if decodes(head, "cp1252", complete=complete):
        return Encoding("cp1252", guessed=True, label="windows-1252")
    return Encoding("latin-1", guessed=True, label="windows-1252")


def decodes(data: bytes, name: str, *, complete: bool) -> bool:
    """Whether bytes are valid in an encoding."""
    try:
        codecs.getincrementaldecoder(name)("strict").decode(data, final=complete)
    except (UnicodeError, LookupError):
        return False
    return True


def _is_contradicted(charset: str, body: bytes, *, complete: bool) -> bool:
    """Whether the bytes cannot be in a charset, or are in UTF-8 rather."""
    valid = decodes(body, "utf-8", complete=complete)
    if charset in ("utf-8", "utf8"):
        return not valid
    return charset in _SINGLE_BYTE_LATIN and not body.isascii() and valid


def _measured(head: bytes) -> str:
    from turbohtml.detect import detect as measure

    return (measure(head).encoding or "").lower()


def _python_name(label: str) -> str:
    try:
        return codecs.lookup(_WIDER.get(label, label)).name if label else ""
    except LookupError:
        return ""


def _label(declared: str) -> str:
    """What was declared, in the spelling by which the codec of browsers is found."""
    label = declared[:_MAX_LABEL].strip().lower()
    return _SPELLINGS.get(label) or (_YEAR.sub("", label) if ":" in label else label)


def _browsers_codec(label: str) -> str:
    """The codec that reads a label as browsers do; empty where there is none."""
    if not label:
        return ""
    import turbohtml.detect  # noqa: F401 - registers the codecs

    try:
        return codecs.lookup(f"whatwg-{label}").name
    except (LookupError, ValueError):
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
