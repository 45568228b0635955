"""Kinds and encodings of files by their bytes: names, media types, sizes of pictures."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.core.package_data import package_table

# Encodings of files and pages: found by mark, declaration and bytes; how lines end.

Eol = Literal["", "lf", "crlf", "cr", "mixed"]

BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
"""Each byte order mark with its encoding; the longer of two that begin alike comes first."""

_TABLE = package_table("files/content/kinds.toml")
_SINGLE_BYTE_LATIN = {"iso-8859-1", "latin1", "latin-1", "windows-1252", "cp1252", "us-ascii"}

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


_RIVALS = frozenset(
    {"windows-1250", "iso-8859-2", "iso-8859-4", "windows-1257", "iso-8859-13", "big5"}
)
"""Encodings for which frequencies take a short text with signs of the West."""
_SIGNS = re.compile(
    r"""(?<!\w)«(?P<quoted>[^«»\n]+)»(?!\w)
    |£(?=\s?\d)|(?<!\w)[£©«»](?!\w)|©(?=\s?\d{4})
    |(?<!\w)¡(?=\w[^!¡\n]*!)|(?<=\d)\s?[cdk]?m³|(?<=\d)\s?µ(?=[mlsgAFVW]\b)
    |(?<!\w)¿(?!e\b|eb|ad|on|o[ln³]|al|ab|ar|y[^ao]|ó|u)(?=\w[^?¿\n]*\?)
    |(?<=\b[Nn]a)ï(?=[vf])|\x9c(?=[iu])""",
    re.VERBOSE,
)
"""In Latin-1, what is no sign in the alphabets of the East: there a letter would stand so."""
_CARONS = re.compile(rb"[\xa9\xae\xb9\xbe]")


def _measured(head: bytes) -> str:
    """What the text says of itself, or the frequencies of its characters, without signs."""
    from turbohtml.detect import detect as measure

    found = measure(head)
    label = (found.encoding or "").lower()
    says_it = found.confidence == 1 and _DECLARED.search(head)
    if says_it or label not in _RIVALS:
        return label
    bare = _SIGNS.sub(r" \g<quoted> ", head.decode("latin-1")).encode("latin-1")
    if bare.isascii():
        return "windows-1252"
    if bare != head and label != "big5":
        label = (measure(bare).encoding or "").lower()
        name = _python_name(label) or "ascii"
        if bare.decode(name, "replace") == bare.decode("cp1252", "replace"):
            return "windows-1252"
    # Nobody writes in what the Baltic had before 1257; its š and ž are those of iso-8859-2 too.
    is_old = label == "iso-8859-4" and not _CARONS.search(head)
    return "windows-1252" if is_old else label


def _python_name(label: str) -> str:
    try:
        return codecs.lookup(_TABLE["wider"].get(label, label)).name if label else ""
    except LookupError:
        return ""


def _label(declared: str) -> str:
    """What was declared, in the spelling by which the codec of browsers is found."""
    label = declared[:_MAX_LABEL].strip().lower()
    return _TABLE["spellings"].get(label) or (_YEAR.sub("", label) if ":" in label else label)


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


def load_codecs() -> None:
    """Load what decodes text, so that nothing of it is loaded later."""
    for sample, label in (
        (b"\xfcber " * 40, "windows-1252"),
        ("これは日本語の文章です。".encode("shift-jis"), ""),
        ("это русский текст".encode("cp1251"), ""),
    ):
        charset_of(sample, label).decode(sample)
    for name in _TABLE["codecs"].split():
        for form in (name, f"whatwg-{name}"):
            with suppress(LookupError):
                codecs.lookup(form)


SAMPLE_BYTES = 8192
"""How many first bytes are looked at."""
VISIBLE_MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The media types of pictures that a model can see."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file by its first bytes, with its media type where it has one."""

    name: str
    media_type: str = ""

    @property
    def image(self) -> str:
        """The media type of what a model can see; "" for anything else."""
        return self.media_type if self.media_type in VISIBLE_MEDIA_TYPES else ""


def _sign(row: dict[str, Any]) -> tuple[int, bytes, Kind]:
    """Where in a file bytes stand, and the kind that they tell."""
    kind = Kind(row["name"], row.get("media_type", ""))
    return row.get("at", 0), row["bytes"].encode("latin-1"), kind


_UNMISTAKABLE = tuple(map(_sign, _TABLE["unmistakable"]))
"""No text starts like this."""
_LIKELY = tuple(map(_sign, _TABLE["likely"]))
"""Short or wordlike: believed only of what is binary for other reasons."""
_INSIDE_ZIP = tuple(map(_sign, _TABLE["inside_zip"]))
_MARKS = tuple(mark for mark, _ in BYTE_ORDER_MARKS)
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")


def kind_of(head: bytes) -> Kind | None:
    """What a file is by its first bytes (at most SNIFFED are used); None for text.

    Binary is what has a NUL byte there, or is full of control characters, and does not
    start with a byte order mark.
    """
    head = head[:SAMPLE_BYTES]
    for offset, magic, kind in _UNMISTAKABLE:
        if head[offset : offset + len(magic)] == magic and _fits(head, kind):
            return _inside_zip(head, kind)
    if head.startswith(_MARKS) or not _is_binary(head):
        return None
    for offset, magic, kind in _LIKELY:
        if head[offset : offset + len(magic)] == magic:
            return kind
    return Kind("binary file")


def media_type_of(head: bytes, name: str) -> str:
    """The media type of a file: by its first bytes, and of a text by its name."""
    kind = kind_of(head)
    if kind is not None:
        return kind.media_type or "application/octet-stream"
    if not head:
        return "application/x-empty"
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    start = head[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    if start.startswith(b"{\\rtf"):
        return "application/rtf"
    return str(_TABLE["texts"].get(ending, "text/plain"))


def _fits(head: bytes, kind: Kind) -> bool:
    return kind.image != "image/webp" or head.startswith(b"RIFF")


def _inside_zip(head: bytes, kind: Kind) -> Kind:
    if kind.name != "ZIP archive":
        return kind
    return next((inner for _, sign, inner in _INSIDE_ZIP if sign in head), kind)


def _is_binary(head: bytes) -> bool:
    if b"\0" in head:
        return True
    controls = sum(head.count(code) for code in range(32) if code not in _TEXT_CONTROLS)
    return controls * 10 > len(head)


_MARKERS = 2_000
"""How many segments of a JPEG file are passed over in search of its size."""
_SVG_HEAD = 4_096
_PROLOG = re.compile(
    r"\s+|<\?[^>]*>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>", re.DOTALL | re.IGNORECASE
)
_LENGTH = re.compile(r"\s*(\d{1,6}(?:\.\d{0,6})?)\s*(?:px)?\s*")
_BMP_HEADERS = (12, 16, 40, 52, 56, 64, 108, 124)


@dataclass(frozen=True, slots=True)
class PictureHead:
    """What the start of a picture says; sizes in pixels, 0 where it does not say them."""

    media_type: str
    name: str
    width: int = 0
    height: int = 0


def picture_of(data: bytes) -> PictureHead | None:
    """The format and size of a picture; None for anything else. Nothing is decoded.

    Args:
        data: the file, or at least its first 4 KiB (the size of a JPEG may come later).
    """
    for read in (_png, _gif, _jpeg, _webp, _bmp, _icon, _tiff, _avif, _svg):
        found = read(data)
        if found is not None:
            return found
    return None


def _png(data: bytes) -> PictureHead | None:
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return None
    sized = data[12:16] == b"IHDR" and len(data) >= 24
    width, height = (_big(data, 16, 4), _big(data, 20, 4)) if sized else (0, 0)
    return PictureHead("image/png", "PNG image", width, height)


def _gif(data: bytes) -> PictureHead | None:
    if not data.startswith((b"GIF87a", b"GIF89a")):
        return None
    return PictureHead("image/gif", "GIF image", _little(data, 6, 2), _little(data, 8, 2))


def _jpeg(data: bytes) -> PictureHead | None:
    if not data.startswith(b"\xff\xd8\xff"):
        return None
    at = 2
    for _ in range(_MARKERS):
        while data[at : at + 2] == b"\xff\xff":
            at += 1
        if at + 9 > len(data) or data[at] != 0xFF:
            break
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return PictureHead(
                "image/jpeg", "JPEG image", _big(data, at + 7, 2), _big(data, at + 5, 2)
            )
        if marker in (0xD9, 0xDA):
            break
        alone = marker == 0x01 or 0xD0 <= marker <= 0xD8
        at += 2 if alone else 2 + max(_big(data, at + 2, 2), 2)
    return PictureHead("image/jpeg", "JPEG image")


def _webp(data: bytes) -> PictureHead | None:
    if not (data.startswith(b"RIFF") and data[8:12] == b"WEBP"):
        return None
    width = height = 0
    if data[12:16] == b"VP8X" and len(data) >= 30:
        width, height = _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
    elif data[12:16] == b"VP8L" and len(data) >= 25:
        packed = _little(data, 21, 4)
        width, height = (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    elif data[12:16] == b"VP8 " and len(data) >= 30:
        width, height = _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
    return PictureHead("image/webp", "WebP image", width, height)


def _bmp(data: bytes) -> PictureHead | None:
    header = _little(data, 14, 4)
    if not data.startswith(b"BM") or len(data) < 26 or header not in _BMP_HEADERS:
        return None
    if header == 12:
        return PictureHead("image/bmp", "BMP image", _little(data, 18, 2), _little(data, 20, 2))
    height = int.from_bytes(data[22:26], "little", signed=True)  # negative: from the top
    return PictureHead("image/bmp", "BMP image", _little(data, 18, 4), abs(height))


def _icon(data: bytes) -> PictureHead | None:
    if not data.startswith(b"\0\0\1\0") or not 0 < _little(data, 4, 2) < 100 or len(data) < 22:
        return None
    return PictureHead("image/x-icon", "icon", data[6] or 256, data[7] or 256)


def _tiff(data: bytes) -> PictureHead | None:
    if not data.startswith((b"II*\0", b"MM\0*")):
        return None
    return PictureHead("image/tiff", "TIFF image")


def _avif(data: bytes) -> PictureHead | None:
    brand = data[8:12]
    if data[4:8] != b"ftyp" or brand not in (b"avif", b"avis", b"heic", b"heix", b"mif1"):
        return None
    at = data.find(b"ispe", 0, 65_536)
    sized = at > 0 and len(data) >= at + 16
    width, height = (_big(data, at + 8, 4), _big(data, at + 12, 4)) if sized else (0, 0)
    kind = (
        ("image/avif", "AVIF image") if brand.startswith(b"avi") else ("image/heic", "HEIC image")
    )
    return PictureHead(*kind, width, height)


def _svg(data: bytes) -> PictureHead | None:
    head = data[:_SVG_HEAD].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    at = 0
    while (passed := _PROLOG.match(head, at)) is not None and passed.end() > at:
        at = passed.end()
    tag = re.compile(r"<(?:\w+:)?svg[\s/>]", re.IGNORECASE).match(head, at)
    if tag is None:
        return None
    inside = head[tag.end() - 1 :].partition(">")[0]
    width, height = _length(inside, "width"), _length(inside, "height")
    if not (width and height):
        box = re.search(r"\sviewBox\s*=\s*[\"']\s*([-\d.eE,\s]{1,80})[\"']", inside)
        sizes = re.split(r"[\s,]+", box[1].strip()) if box else []
        width, height = map(_pixels, sizes[2:]) if len(sizes) == 4 else (0, 0)
    return PictureHead("image/svg+xml", "SVG image", width, height)


def _length(tag: str, name: str) -> int:
    found = re.search(rf"\s{name}\s*=\s*[\"']([^\"']{{0,40}})[\"']", tag)
    return _pixels(found[1]) if found else 0


def _pixels(text: str) -> int:
    number = _LENGTH.fullmatch(text)
    return round(float(number[1])) if number else 0


def _big(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")


def _little(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")
