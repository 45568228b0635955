"""Images by their first bytes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.files.content.kinds import picture_of
from toolcrib.web.handlers import Handlers
from toolcrib.web.page import Page, RawPage

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + b"\x08\x06\0\0\0"
GIF = b"GIF89a" + struct.pack("<HH", 30, 20) + bytes(10)
JPEG = (
    b"\xff\xd8\xff\xe0\0\x10JFIF\0"
    + bytes(9)
    + b"\xff\xff\xe1\x20\0"
    + bytes(0x1FFE)
    + b"\xff\xc2\0\x11\x08"
    + struct.pack(">HH", 300, 400)
    + bytes(20)
)
BMP = b"BM" + struct.pack("<IHHIIiiHH", 99, 0, 0, 54, 40, 12, -8, 1, 24) + bytes(30)
VP8X = (
    b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0"
    + (99).to_bytes(3, "little")
    + (49).to_bytes(3, "little")
)
VP8L = b"RIFF\x24\0\0\0WEBPVP8L\x0a\0\0\0\x2f" + (99 | 49 << 14).to_bytes(4, "little") + bytes(9)
VP8 = b"RIFF\x24\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 100, 50)
AVIF = b"\0\0\0\x1cftypavif" + bytes(30) + b"\0\0\0\x14ispe\0\0\0\0" + struct.pack(">II", 7, 9)


def read(body: bytes | str, kind: str = "image/png", form: str = "markdown") -> Page:
    body = body.encode() if isinstance(body, str) else body
    return Handlers().convert(RawPage("https://site.example/i", kind, "", body, form))


@pytest.mark.rows("A24", "D23")
@each_case(
    ("body", "displayed", "text"),
    [
        (PNG, "image/png", "PNG image, 640 x 480 pixels"),
        (GIF, "image/gif", "GIF image, 30 x 20 pixels"),
        (JPEG, "image/jpeg", "JPEG image, 400 x 300 pixels"),
        (VP8X, "image/webp", "WebP image, 100 x 50 pixels"),
        (VP8L, "image/webp", "WebP image, 100 x 50 pixels"),
        (VP8, "image/webp", "WebP image, 100 x 50 pixels"),
        (BMP, "", "BMP image, 12 x 8 pixels"),
        (AVIF, "", "AVIF image, 7 x 9 pixels"),
        (b"\0\0\1\0\1\0\x10\x20" + bytes(14), "", "icon, 16 x 32 pixels"),
        (b"II*\0" + bytes(20), "", "TIFF image"),
        (PNG[:10], "image/png", "PNG image"),
        (JPEG[:30], "image/jpeg", "JPEG image"),
    ],
)
@each_case("declared", ["image/png", "application/octet-stream", "", "text/html"])
def test_kind_size_and_bytes(body, displayed, text, declared):
    page = read(body, declared)
    assert page.text == f"{text}, {len(body):,} bytes"
    assert (page.kind, page.image) == ("image", displayed)
    reported = declared and displayed != declared
    assert bool(page.notes) == bool(reported)


@each_case(
    ("tag", "size"),
    [
        ('width="30" height="20px"', "30 x 20 pixels, "),
        ('viewBox="0 0 64.4 32"', "64 x 32 pixels, "),
        ('width="100%" height="100%" viewBox="0,0,8,9"', "8 x 9 pixels, "),
        ("", ""),
    ],
)
def test_drawings_tell_their_words(tag, size):
    body = (
        '<?xml version="1.0"?><!-- c --><!DOCTYPE svg PUBLIC "x" "y">\n'
        f"<svg {tag}><title>Chart</title><text>10 <tspan>%</tspan></text><script>x()</script></svg>"
    )
    page = read(body, "image/svg+xml")
    assert page.text == f"SVG image, {size}{len(body):,} bytes\n\nChart\n10 %"
    assert (page.title, page.image) == ("Chart", "")
    assert read(body, "image/svg+xml", "raw").text == body


@given(
    st.binary(max_size=60),
    st.sampled_from([b"", PNG[:12], b"\xff\xd8\xff", VP8X[:12], b"BM", b"<svg ", GIF[:6]]),
)
def test_no_bytes_break_it(body, start):
    found = picture_of(start + body)
    assert found is None or (found.width >= 0 and found.height >= 0)


def test_a_jpeg_of_markers_ends():
    assert picture_of(b"\xff\xd8" + b"\xff\xd0" * 500_000).width == 0
    assert picture_of(b"\xff\xd8" + b"\xff" * 1_000_000).width == 0
