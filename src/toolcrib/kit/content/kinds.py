"""What kind of file some first bytes belong to."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.kit.content.encoding import MARKS

SNIFFED = 8192
"""How many first bytes are looked at."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file by its first bytes. `image` is the media type of what a model can see."""

    name: str
    image: str = ""


# Unmistakable: no text starts like this.
_SURE = (
    (0, b"\x89PNG\r\n\x1a\n", Kind("PNG image", "image/png")),
    (0, b"\xff\xd8\xff", Kind("JPEG image", "image/jpeg")),
    (0, b"GIF87a", Kind("GIF image", "image/gif")),
    (0, b"GIF89a", Kind("GIF image", "image/gif")),
    (8, b"WEBP", Kind("WebP image", "image/webp")),
    (0, b"%PDF-", Kind("PDF document")),
    (0, b"PK\x03\x04", Kind("ZIP archive")),
    (0, b"\x1f\x8b\x08", Kind("gzip archive")),
    (0, b"\xfd7zXZ\x00", Kind("xz archive")),
    (0, b"\x28\xb5\x2f\xfd", Kind("Zstandard archive")),
    (0, b"7z\xbc\xaf\x27\x1c", Kind("7z archive")),
    (0, b"Rar!\x1a\x07", Kind("RAR archive")),
    (0, b"SQLite format 3\x00", Kind("SQLite database")),
    (0, b"\x7fELF", Kind("ELF program")),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind("old Office document")),
)

# Short or wordlike: believed only of what is binary for other reasons.
_LIKELY = (
    (0, b"BZh", Kind("bzip2 archive")),
    (257, b"ustar", Kind("tar archive")),
    (0, b"MZ", Kind("Windows program")),
    (0, b"\xcf\xfa\xed\xfe", Kind("Mach-O program")),
    (0, b"\xca\xfe\xba\xbe", Kind("Java class or Mach-O program")),
    (0, b"\x00asm", Kind("WebAssembly module")),
    (0, b"BM", Kind("BMP image")),
    (0, b"II*\x00", Kind("TIFF image")),
    (0, b"MM\x00*", Kind("TIFF image")),
    (0, b"\x00\x00\x01\x00", Kind("icon")),
    (8, b"WAVE", Kind("WAV sound")),
    (8, b"AVI ", Kind("AVI video")),
    (4, b"ftyp", Kind("MP4 or QuickTime media")),
    (0, b"\x1aE\xdf\xa3", Kind("Matroska or WebM video")),
    (0, b"OggS", Kind("Ogg media")),
    (0, b"fLaC", Kind("FLAC sound")),
    (0, b"ID3", Kind("MP3 sound")),
    (0, b"\xff\xfb", Kind("MP3 sound")),
    (0, b"wOFF", Kind("font")),
    (0, b"wOF2", Kind("font")),
    (0, b"\x00\x01\x00\x00", Kind("font")),
    (0, b"OTTO", Kind("font")),
    (0, b"\x93NUMPY", Kind("NumPy array")),
    (0, b"\x89HDF", Kind("HDF5 data")),
    (0, b"PAR1", Kind("Parquet table")),
    (0, b"GGUF", Kind("GGUF model")),
)

_INSIDE_ZIP = (
    (b"word/", Kind("Word document")),
    (b"xl/", Kind("Excel workbook")),
    (b"ppt/", Kind("PowerPoint presentation")),
    (b"application/epub", Kind("EPUB book")),
    (b"application/vnd.oasis", Kind("OpenDocument file")),
    (b"META-INF/MANIFEST.MF", Kind("Java archive")),
)

_MARKS = tuple(mark for mark, _ in MARKS)
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")


def kind_of(head: bytes) -> Kind | None:
    """What a file is by its first bytes (at most SNIFFED are used); None for text.

    Binary is what has a NUL byte there, or is full of control characters, and does not
    start with a byte order mark.
    """
    head = head[:SNIFFED]
    for offset, magic, kind in _SURE:
        if head[offset : offset + len(magic)] == magic and _fits(head, kind):
            return _inside_zip(head, kind)
    if head.startswith(_MARKS) or not _is_binary(head):
        return None
    for offset, magic, kind in _LIKELY:
        if head[offset : offset + len(magic)] == magic:
            return kind
    return Kind("binary file")


def _fits(head: bytes, kind: Kind) -> bool:
    return kind.image != "image/webp" or head.startswith(b"RIFF")


def _inside_zip(head: bytes, kind: Kind) -> Kind:
    if kind.name != "ZIP archive":
        return kind
    return next((inner for sign, inner in _INSIDE_ZIP if sign in head), kind)


def _is_binary(head: bytes) -> bool:
    if b"\0" in head:
        return True
    controls = sum(head.count(code) for code in range(32) if code not in _TEXT_CONTROLS)
    return controls * 10 > len(head)
