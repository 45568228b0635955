"""Encodings of files and pages: found by mark, declaration and bytes; how lines end."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

Eol = Literal["", "lf", "crlf", "cr", "mixed"]

BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
"""Each byte order mark with its encoding; the longer of two that begin alike comes first."""

_SINGLE_BYTE_LATIN = {"iso-8859-1", "latin1", "latin-1", "windows-1252", "cp1252", "us-ascii"}

# Where Python's codec of that name knows fewer characters than the standard.
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
    for mark, name in BYTE_ORDER_MARKS:
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


MAX_SAMPLE_BYTES = 250_000
"""How many bytes of a longer page tell its charset."""
WIDE_SAMPLE_BYTES = 4096
"""How many first bytes are searched for the zeros of UTF-16."""
_DECLARED = re.compile(rb"charset|encoding", re.IGNORECASE)
_NOT_ASCII = bytes(range(128, 256))
_ASCII = bytes(range(128))
# The escapes of ISO-2022-JP are ASCII.
_PLAIN = _ASCII.replace(b"\x1b", b"")
_UTF8 = Encoding("utf-8", label="utf-8")
_UTF8_NAMES = frozenset({"", "utf-8", "utf8"})
"""What is declared of nearly all pages."""
_MIN_UTF8_CHARS = 6
"""So many characters of valid UTF-8 are no accident of another charset."""


def decoded(body: bytes, declared: str = "") -> str:
    """The text of a whole page, in the encoding that `charset_of` finds.

    What is plainly UTF-8 is read once, rather than looked at and then read.
    """
    if _may_be_plain(body, declared):
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            if "\ufffd" not in text:
                return text
    return charset_of(body, declared).decode(body)


def charset_of(body: bytes, declared: str = "") -> Encoding:
    """The encoding of a whole page, as browsers find it, but not against its bytes.

    A byte order mark comes first, then what the headers declare, then what the page
    says, then how the bytes look. A declaration is passed over where the bytes are
    mostly valid UTF-8 and it says otherwise, or where they are not valid in it.

    Args:
        body: all of it, or as much as arrived.
        declared: the charset that the headers name, in lower case; empty for none.
    """
    body = _sample(body)
    if _may_be_plain(body, declared) and _is_plain(body):
        return _UTF8
    found = detect(body, complete=len(body) < MAX_SAMPLE_BYTES, declared=declared, lenient=True)
    if found.mark:
        return found
    wide = _wide(body[:WIDE_SAMPLE_BYTES])
    if wide:
        return found if found.name == wide else Encoding(wide, label=wide.replace("-16-", "-16"))
    if found.wide or body.isascii():
        return found
    valid, broken = _utf8_characters(body)
    if valid and valid >= 5 * broken and (valid >= _MIN_UTF8_CHARS or found.guessed):
        return _UTF8
    candidates = [found]
    if _share_broken(found, body) > 0.05:
        complete = len(body) < MAX_SAMPLE_BYTES
        candidates += [detect(body, complete=complete, lenient=True), _guessed(body)]
    return min(candidates, key=lambda encoding: _share_broken(encoding, body))


def _may_be_plain(body: bytes, declared: str) -> bool:
    """Whether valid UTF-8 would settle it: no mark, no wide characters, no escapes."""
    return (
        declared in _UTF8_NAMES
        and b"\x1b" not in body
        and b"\0" not in body[:WIDE_SAMPLE_BYTES]
        and not body.startswith(b"\xef\xbb\xbf")
    )


def _is_plain(body: bytes) -> bool:
    """Whether the start of a page is UTF-8 without a replacement character, from any tool."""
    if body.isascii():
        return True
    return b"\xef\xbf\xbd" not in body and decodes(
        body, "utf-8", complete=len(body) < MAX_SAMPLE_BYTES
    )


def _sample(body: bytes) -> bytes:
    """The start of a long page, and what follows on the first byte that is not ASCII."""
    if len(body) <= MAX_SAMPLE_BYTES:
        return body
    strange = len(body) - len(body.lstrip(_PLAIN))
    if strange < MAX_SAMPLE_BYTES - WIDE_SAMPLE_BYTES:
        return body[:MAX_SAMPLE_BYTES]
    return body[:WIDE_SAMPLE_BYTES] + body[strange : strange + MAX_SAMPLE_BYTES - WIDE_SAMPLE_BYTES]


def _wide(head: bytes) -> str:
    """UTF-16 without a mark, by the zeros that Latin letters and markup have in it."""
    half = len(head) // 2
    even, odd = head[: 2 * half : 2].count(0), head[1 : 2 * half : 2].count(0)
    if half < 4 or b"\0\0\0" in head:
        return ""
    if odd * 4 > half and even * 50 < half:
        return "utf-16-le"
    return "utf-16-be" if even * 4 > half and odd * 50 < half else ""


def _utf8_characters(body: bytes) -> tuple[int, int]:
    """How many characters beyond ASCII are valid UTF-8, and how many bytes or so are not."""
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    return len(text) - len(body.translate(None, _NOT_ASCII)) - broken, broken


def _share_broken(encoding: Encoding, body: bytes) -> float:
    """How much of what is not ASCII has no meaning in an encoding."""
    strange = len(body.translate(None, _ASCII)) or 1
    return encoding.decode(body).count("\ufffd") / strange


def _guessed(body: bytes) -> Encoding:
    """The encoding by the bytes alone, whatever the page says of itself."""
    head = _DECLARED.sub(b"xxxxxxx", body[:1024])
    found = detect(head + body[1024:], complete=len(body) < MAX_SAMPLE_BYTES, lenient=True)
    return Encoding(found.name, guessed=True, label=found.label)


CODEC_NAMES = [
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "ascii",
    "latin-1", "cp437", "cp850", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255",
    "cp1256", "cp1257", "cp1258", "cp866", "cp874", "iso8859-2", "iso8859-3", "iso8859-4",
    "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-10", "iso8859-13", "iso8859-14",
    "iso8859-15", "iso8859-16", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "gbk", "gb18030",
    "gb2312", "big5", "big5hkscs", "euc-jp", "iso2022-jp", "shift-jis", "cp932", "euc-kr",
    "cp949", "idna", "punycode", "unicode-escape",
]  # fmt: skip


def load_codecs() -> None:
    """Load what decodes text, so that nothing of it is loaded later."""
    for sample, label in (
        (b"\xfcber " * 40, "windows-1252"),
        ("これは日本語の文章です。".encode("shift-jis"), ""),
        ("это русский текст".encode("cp1251"), ""),
    ):
        charset_of(sample, label).decode(sample)
    for name in CODEC_NAMES:
        for form in (name, f"whatwg-{name}"):
            with suppress(LookupError):
                codecs.lookup(form)
