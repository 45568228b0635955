"""What a picture is by its first bytes: its format and its size in pixels."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The media types of pictures that a model can see."""
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
    for read in _READERS:
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


_READERS: tuple[Callable[[bytes], PictureHead | None], ...] = (
    _png,
    _gif,
    _jpeg,
    _webp,
    _bmp,
    _icon,
    _tiff,
    _avif,
    _svg,
)
