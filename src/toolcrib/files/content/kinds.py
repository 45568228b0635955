"""What kind of file some first bytes belong to."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.files.content.encodings import MARKS

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

_OPEN_XML = "application/vnd.openxmlformats-officedocument"
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


_MEDIA_TYPES = {
    "PDF document": "application/pdf",
    "ZIP archive": "application/zip",
    "gzip archive": "application/gzip",
    "xz archive": "application/x-xz",
    "Zstandard archive": "application/zstd",
    "7z archive": "application/x-7z-compressed",
    "RAR archive": "application/vnd.rar",
    "SQLite database": "application/vnd.sqlite3",
    "ELF program": "application/x-elf",
    "old Office document": "application/x-ole-storage",
    "bzip2 archive": "application/x-bzip2",
    "tar archive": "application/x-tar",
    "Windows program": "application/vnd.microsoft.portable-executable",
    "Mach-O program": "application/x-mach-binary",
    "WebAssembly module": "application/wasm",
    "BMP image": "image/bmp",
    "TIFF image": "image/tiff",
    "icon": "image/x-icon",
    "WAV sound": "audio/wav",
    "AVI video": "video/x-msvideo",
    "MP4 or QuickTime media": "video/mp4",
    "Matroska or WebM video": "video/x-matroska",
    "Ogg media": "application/ogg",
    "FLAC sound": "audio/flac",
    "MP3 sound": "audio/mpeg",
    "HDF5 data": "application/x-hdf5",
    "Parquet table": "application/vnd.apache.parquet",
    "Word document": f"{_OPEN_XML}.wordprocessingml.document",
    "Excel workbook": f"{_OPEN_XML}.spreadsheetml.sheet",
    "PowerPoint presentation": f"{_OPEN_XML}.presentationml.presentation",
    "EPUB book": "application/epub+zip",
    "Java archive": "application/java-archive",
}
_TEXTS = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "ipynb": "application/x-ipynb+json",
    "xml": "application/xml",
    "svg": "image/svg+xml",
    "html": "text/html",
    "htm": "text/html",
    "css": "text/css",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "ts": "text/x-typescript",
    "py": "text/x-python",
    "sh": "text/x-shellscript",
    "c": "text/x-c",
    "h": "text/x-c",
    "rs": "text/x-rust",
    "go": "text/x-go",
    "java": "text/x-java",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "toml": "application/toml",
    "sql": "application/sql",
    "rtf": "application/rtf",
    "eml": "message/rfc822",
    "patch": "text/x-diff",
    "diff": "text/x-diff",
}


def media_type_of(head: bytes, name: str) -> str:
    """The media type of a file: by its first bytes, and of a text by its name."""
    kind = kind_of(head)
    if kind is not None:
        return kind.image or _MEDIA_TYPES.get(kind.name, "application/octet-stream")
    if not head:
        return "application/x-empty"
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    start = head[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    if start.startswith(b"{\\rtf"):
        return "application/rtf"
    return _TEXTS.get(ending, "text/plain")


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
