"""Small pictures of every kind, and a provider of images on a scripted server."""

from __future__ import annotations

import struct
import zlib

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider import (
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    records,
)


def png(width: int = 3, height: int = 2, extra: bytes = b"") -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(b"\0" + b"\x10\x20\x30" * width for _ in range(height))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
        + extra
    )


GIF = (
    b"GIF89a\x04\x00\x05\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,"
    b"\x00\x00\x00\x00\x04\x00\x05\x00\x00\x02\x05\x84\x8f\xa9\xcb\xed\x00;"
)
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    b"\xff\xc0\x00\x11\x08\x00\x07\x00\x06\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xff\xd9"
)
WEBP = (
    b"RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00"
    b"\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"
)
SVG = (
    b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="8">'
    b"<script>alert(1)</script></svg>"
)
AVIF = b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf" + b"\0" * 40
BMP = b"BM" + struct.pack("<IHHIIiiHH", 70, 0, 0, 54, 40, 2, 2, 1, 24) + b"\0" * 40


class Recorded(Provider):
    """Images from a JSON list, thirty a page."""

    name = "recorded"
    about = "Images of the tests."
    kind = "images"
    base_url = "http://images.invalid"

    async def search(self, ask: SearchRequest, reach: ProviderClient) -> ResultPage:
        response = await reach.send("/images", params={"q": ask.words, "page": str(ask.page)})
        found = [
            SearchResult(one_line(item.get("title")), item["url"], extra=item.get("extra", {}))
            for item in records(reach.json(response).get("images"))
        ]
        return ResultPage(tuple(found), more=bool(reach.json(response).get("more")))
