"""Kinds of files by their first bytes."""

from __future__ import annotations

import gzip
import io
import random
import sqlite3
import sys
import zipfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.files.content.kinds import SAMPLE_BYTES, kind_of

TEXTS = [
    b"",
    b"plain\n",
    "ünïcödé 文件\n".encode(),
    b"\xef\xbb\xbfwith a mark",
    "with NULs between\n".encode("utf-16"),
    "with many NULs\n".encode("utf-32"),
    b"caf\xe9\n",
    "日本語".encode("cp932"),
    b"\x1b[31mred\x1b[0m\n",
    b"%!PS-Adobe\n",
    b"BMW is a car",
    b"MZ starts this text",
    b"GGUF is a format",
    b"<svg xmlns='http://www.w3.org/2000/svg'/>",
]


@each_case("head", TEXTS)
def test_text(head: bytes) -> None:
    assert kind_of(head) is None


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


def database(folder: Path) -> bytes:
    file = folder / "x.db"
    connection = sqlite3.connect(file)
    connection.execute("create table x (y)")
    connection.commit()
    connection.close()
    return file.read_bytes()


def test_real_files(tmp_path: Path) -> None:
    assert kind_of(Path(sys.executable).read_bytes()[:SAMPLE_BYTES]).name == "ELF program"
    assert kind_of(gzip.compress(b"short")).name == "gzip archive"
    assert kind_of(zipped("a.txt")).name == "ZIP archive"
    assert kind_of(zipped("[Content_Types].xml", "word/document.xml")).name == "Word document"
    assert kind_of(zipped("xl/workbook.xml")).name == "Excel workbook"
    assert kind_of(database(tmp_path)).name == "SQLite database"


@each_case(
    ("head", "name", "image"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG image", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG image", "image/jpeg"),
        (b"GIF89a\1\0\1\0", "GIF image", "image/gif"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "WebP image", "image/webp"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "WAV sound", ""),
        (b"%PDF-1.7\n", "PDF document", ""),
        (b"\0\0\0\x20ftypisom", "MP4 or QuickTime media", ""),
        (b"\0\1\2\3", "binary file", ""),
        (b"\1\2\3\4\5\6\7text", "binary file", ""),
    ],
)
def test_magic(head: bytes, name: str, image: str) -> None:
    kind = kind_of(head)
    assert kind is not None
    assert (kind.name, kind.image) == (name, image)


def test_random_bytes_are_binary() -> None:
    for seed in range(50):
        assert kind_of(random.Random(seed).randbytes(SAMPLE_BYTES)) is not None


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=200))
def test_any_readable_text_is_text(text: str) -> None:
    if not text.startswith(("%PDF-", "PK\x03")):
        assert kind_of(text.encode()) is None
