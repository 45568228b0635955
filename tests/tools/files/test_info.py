"""`file_info`: what a file is, without its content."""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from pathlib import Path

import pytest

from toolcrib.core.result import Result
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("C017", "E20")


async def info(box: Toolbox, path: str) -> Result:
    return await box.call("file_info", {"path": path})


def png(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + header
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    )


async def test_a_text(box: Toolbox, ws: Path) -> None:
    data = b"\xef\xbb\xbfone\r\ntwo\r\n"
    (ws / "a.py").write_bytes(data)
    os.utime(ws / "a.py", (0, 86_400))
    (ws / "a.py").chmod(0o640)
    result = await info(box, "a.py")
    assert (
        result.data.items()
        >= {
            "path": "a.py",
            "kind": "file",
            "size": 13,
            "modified": "1970-01-02T00:00:00+00:00",
            "mode": "-rw-r-----",
            "type": "text",
            "media_type": "text/x-python",
            "encoding": "utf-8",
            "bom": True,
            "eol": "crlf",
            "lines": 2,
            "sha256": hashlib.sha256(data).hexdigest(),
        }.items()
    )
    for reply in ("size: 13 bytes", "byte order mark", "line ends: crlf", "lines: 2"):
        assert reply in result.text


@pytest.mark.parametrize(
    ("data", "eol"), [(b"a\nb\n", "lf"), (b"a\r\nb\n", "mixed"), (b"a\rb", "cr"), (b"a", "")]
)
async def test_line_ends(box: Toolbox, ws: Path, data: bytes, eol: str) -> None:
    (ws / "a").write_bytes(data)
    assert (await info(box, "a")).data["eol"] == eol


async def test_a_picture(box: Toolbox, ws: Path) -> None:
    (ws / "a.dat").write_bytes(png(640, 480))
    result = await info(box, "a.dat")
    assert result.data.items() >= {"media_type": "image/png", "width": 640, "height": 480}.items()
    assert "640 x 480" in result.text


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"%PDF-1.7", "application/pdf"),
        (b"PK\x03\x04....word/document.xml", "application/vnd.openxmlformats"),
        (b"\x7fELF\0\0", "application/x-elf"),
        (b"\0\1\2\3" * 20, "application/octet-stream"),
        (b"<!DOCTYPE html><p>", "text/html"),
        (b"plain words", "text/plain"),
        (b"", "application/x-empty"),
    ],
)
async def test_media_types_by_content(box: Toolbox, ws: Path, data: bytes, media_type: str) -> None:
    (ws / "a.bin").write_bytes(data)
    assert (await info(box, "a.bin")).data["media_type"].startswith(media_type)


async def test_folders_links_and_pipes(box: Toolbox, ws: Path) -> None:
    (ws / "folder").mkdir()
    (ws / "folder" / "a").write_text("x")
    (ws / "link").symlink_to("folder/a")
    (ws / "broken").symlink_to("nowhere")
    (ws / "out").symlink_to("/etc/passwd")
    os.mkfifo(ws / "fifo")
    os.link(ws / "folder" / "a", ws / "second")
    assert (await info(box, "folder")).data.items() >= {"kind": "folder", "entries": 1}.items()
    assert (await info(box, "link")).data.items() >= {"target": "folder/a", "size": 1}.items()
    assert "a named pipe" in (await info(box, "fifo")).text
    assert "hard links: 2" in (await info(box, "second")).text
    assert (await info(box, ".")).data["kind"] == "folder"
    for path, code in {"broken": "not_found", "out": "path_denied", "nope": "not_found"}.items():
        refused = await info(box, path)
        assert refused.error is not None
        assert refused.error.code == code


async def test_a_huge_file_is_not_read(box: Toolbox, ws: Path) -> None:
    with (ws / "huge").open("wb") as file:
        file.write(b"text\n" * 20_000)
        file.truncate(1 << 40)
    result = await info(box, "huge")
    assert result.data["sha256"] is None
    assert result.data["lines"] is None
    assert "not computed" in result.text


async def test_other_names(box: Toolbox, ws: Path) -> None:
    (ws / "a").write_text("x")
    for name in ("get_file_metadata", "stat", "get_file_info"):
        assert (await box.call(name, {"file_path": "a"})).data["size"] == 1
