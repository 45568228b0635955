"""PDF files written by hand, so that the readers under test did not write them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from hashlib import md5
from zlib import crc32

Line = tuple[int, int, int, str]
"""Font size, x, y and text."""


def page_of(lines: Sequence[Line]) -> bytes:
    """The drawing of a page with some lines of text."""
    parts = []
    for size, x, y, text in lines:
        escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        font = "F2" if size > 12 else "F1"
        parts.append(f"BT /{font} {size} Tf {x} {y} Td ({escaped}) Tj ET")
    return "\n".join(parts).encode("latin-1")


def grid(rows: Sequence[Sequence[str]], x: int = 72, top: int = 500) -> bytes:
    """A table with drawn lines, as programs make it."""
    wide, high = 130, 24
    lines: list[Line] = []
    marks = []
    for r in range(len(rows) + 1):
        y = top - r * high
        marks.append(f"{x} {y} m {x + wide * len(rows[0])} {y} l S")
    for c in range(len(rows[0]) + 1):
        marks.append(f"{x + c * wide} {top} m {x + c * wide} {top - high * len(rows)} l S")
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            lines.append((10, x + c * wide + 4, top - r * high - 16, cell))
    return "\n".join(marks).encode() + b"\n" + page_of(lines)


def pdf(
    pages: Sequence[bytes],
    title: str = "",
    *,
    extra: str = "",
    resources: str = "",
    more: Sequence[bytes] = (),
) -> bytes:
    """A whole file.

    `extra` stands in the catalog, `resources` in each page; `more` are further objects,
    from number 5 on.
    """
    objects: list[bytes] = []
    first_page = 5 + len(more)
    kids = " ".join(f"{first_page + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(f"<< /Type /Catalog /Pages 2 0 R {extra} >>".encode())
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>")
    objects += more
    for number, drawing in enumerate(pages):
        content = first_page + 2 * number + 1
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R "
            f"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> {resources} >> >>".encode()
        )
        packed = zlib.compress(drawing)
        head = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
        objects.append(head + packed + b"\nendstream")
    objects.append(f"<< /Title ({title}) >>".encode())
    return assembled(objects, f"/Info {len(objects)} 0 R")


REPORT_PAGES = (
    page_of(
        [
            (24, 72, 700, "Annual Harbour Report"),
            (11, 72, 660, "The harbour handled 4,211 ships in the year of this report, which"),
            (11, 72, 646, "is more than ever before. This paragraph has the marker KESTREL."),
            (18, 72, 600, "Methods"),
            (11, 72, 570, "- first item of the list"),
            (11, 72, 556, "- second item of the list"),
        ]
    ),
    page_of([(18, 72, 700, "Figures")])
    + b"\n"
    + grid([["Quarter", "Ships", "Tons"], ["Q1", "1,001", "52"], ["Q2", "1,210", "61"]]),
)


def report() -> bytes:
    """Two pages with headings, a list and a table."""
    return pdf(REPORT_PAGES, "Harbour Report")


def picture(width: int, height: int, grey: bytes) -> bytes:
    """An image object: eight bits of grey a pixel."""
    packed = zlib.compress(grey)
    return (
        (
            f"<< /Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace "
            f"/DeviceGray /BitsPerComponent 8 /Length {len(packed)} /Filter /FlateDecode >>\n"
            "stream\n"
        ).encode()
        + packed
        + b"\nendstream"
    )


def scan(width: int, height: int, grey: bytes, pages: int = 1) -> bytes:
    """Pages that hold one picture each and no text."""
    return pdf(
        [b"q 612 0 0 792 0 0 cm /Im1 Do Q"] * pages,
        resources="/XObject << /Im1 5 0 R >>",
        more=[picture(width, height, grey)],
    )


PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def rc4(key: bytes, data: bytes) -> bytes:
    """The cipher of old PDF files."""
    box = list(range(256))
    j = 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    i = j = 0
    out = bytearray()
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)


def encrypted(user: str, text: str = "Hidden words, marker KESTREL") -> bytes:
    """One page under a password (revision 2, 40 bits); with an empty one it opens by itself."""
    mark = b"0123456789abcdef"
    password = (user.encode() + PADDING)[:32]
    owner = rc4(md5((b"owner" + PADDING)[:32]).digest()[:5], password)
    permissions = (-4).to_bytes(4, "little", signed=True)
    key = md5(password + owner + permissions + mark).digest()[:5]
    content = 4
    per_object = md5(key + content.to_bytes(3, "little") + bytes(2)).digest()[:10]
    drawing = rc4(per_object, page_of([(12, 72, 700, text)]))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "  # noqa: ISC004
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(drawing)} >>\nstream\n".encode() + drawing + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Filter /Standard /V 1 /R 2 /O <"
        + owner.hex().encode()
        + b"> /U <"
        + rc4(key, PADDING).hex().encode()
        + b"> /P -4 >>",
    ]
    trailer = f"/Encrypt 6 0 R /ID [<{mark.hex()}> <{mark.hex()}>]"
    return assembled(objects, trailer)


def assembled(objects: Sequence[bytes], trailer: str = "") -> bytes:
    """The file around some objects, of which the first is the catalog."""
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    out += (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\n"
        f"startxref\n{start}\n%%EOF\n"
    ).encode()
    return bytes(out)


def png(width: int, height: int, grey: bytes) -> bytes:
    """A picture in eight bits of grey."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc32(name + data))

    lines = b"".join(b"\0" + grey[y * width : (y + 1) * width] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines))
        + chunk(b"IEND", b"")
    )


def drawn(text: str) -> tuple[int, int, bytes]:
    """A page with a line of large text, as the pixels that a scanner would see."""
    import pypdfium2

    page = pypdfium2.PdfDocument(pdf([page_of([(32, 60, 700, text)])]))[0]
    bitmap = page.render(scale=1.5, grayscale=True)
    data = bytes(bitmap.buffer)
    rows = [data[y * bitmap.stride :][: bitmap.width] for y in range(bitmap.height)]
    return bitmap.width, bitmap.height, b"".join(rows)
