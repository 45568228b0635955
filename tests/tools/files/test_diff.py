"""`diff_files`: texts by lines, others by bytes, folders by names and content."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from toolcrib.core.result import Result
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("C021")


async def diff(box: Toolbox, a: str = "a", b: str = "b") -> Result:
    return await box.call("diff_files", {"a": a, "b": b})


async def test_a_unified_diff(box: Toolbox, ws: Path) -> None:
    (ws / "a").write_text("".join(f"{n}\n" for n in range(1, 21)))
    (ws / "b").write_text("".join(f"{n}\n" for n in range(1, 21) if n != 5) + "new\n")
    result = await diff(box)
    assert result.text == (
        "1 line removed, 1 line added\n--- a\n+++ b\n"
        "@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n"
        "@@ -18,3 +17,4 @@\n 18\n 19\n 20\n+new"
    )
    assert result.data["same"] is False


@pytest.mark.rows("C029")
@pytest.mark.parametrize(
    ("a", "b", "reply"),
    [
        (b"x\ny\n", b"x\ny\n", "The files are the same."),
        (b"x\ny\n", b"x\r\ny\r\n", "line ends lf and crlf"),
        (b"x\ny\n", b"\xef\xbb\xbfx\ny\n", "only b has a byte order mark"),
        (b"x\ny\n", b"x\ny", "last line of b has no line end"),
        ("zwö\n".encode(), "zwö\n".encode("utf-16"), "encoding utf-8 and utf-16-le"),
        (b"x\r\ny\nz\n", b"x\ny\r\nz\n", "some line ends"),
        (b"", b"", "The files are the same."),
    ],
)
async def test_what_lines_do_not_show(
    box: Toolbox, ws: Path, a: bytes, b: bytes, reply: str
) -> None:
    (ws / "a").write_bytes(a)
    (ws / "b").write_bytes(b)
    result = await diff(box)
    assert reply in result.text
    assert result.data["same"] == (a == b)
    assert "@@" not in result.text


async def test_binary_files(box: Toolbox, ws: Path) -> None:
    (ws / "a").write_bytes(b"\0" * 3000)
    (ws / "b").write_bytes(b"\0" * 2000 + b"x" + b"\0" * 10)
    result = await diff(box)
    assert "differ from byte 2,000 on" in result.text
    assert "a: binary file, 3,000 bytes, sha256 " in result.text
    (ws / "c").write_bytes(b"\0" * 3000)
    same = await diff(box, "a", "c")
    assert same.data["same"] is True
    assert "3,000 bytes, sha256 " in same.text


async def test_very_large_files(box: Toolbox, ws: Path) -> None:
    for name in ("a", "b"):
        with (ws / name).open("wb") as file:
            file.write(b"text\n")
            file.truncate(30_000_000)
            if name == "b":
                file.seek(29_000_000)
                file.write(b"!")
    assert "differ from byte 29,000,000 on" in (await diff(box)).text


async def test_a_long_diff_fits_and_goes_on(box: Toolbox, ws: Path) -> None:
    chance = random.Random(3)
    (ws / "a").write_text("".join(f"{chance.random()} words\n" for _ in range(5000)))
    (ws / "b").write_text("".join(f"{chance.random()} words\n" for _ in range(5000)))
    result = await diff(box)
    assert estimate(result.text) <= 4000
    assert result.next is not None
    assert (await box.call(result.next.tool, result.next.arguments)).error is None


async def test_folders(box: Toolbox, ws: Path) -> None:
    for name in ("a", "b"):
        (ws / name / "sub").mkdir(parents=True)
        (ws / name / "same.txt").write_text("same")
        (ws / name / "sub" / "size.txt").write_text(name * (1 if name == "a" else 2))
        (ws / name / "content.txt").write_text(name)
        (ws / name / ".env").write_text("SECRET")
    (ws / "a" / "gone" / "deep").mkdir(parents=True)
    (ws / "a" / "gone" / "deep" / "x").touch()
    (ws / "b" / "new").touch()
    result = await diff(box)
    assert result.data["only_a"] == ["gone"]
    assert result.data["only_b"] == ["new"]
    assert result.data["differing"] == [
        "content.txt (other content)",
        "sub/size.txt (1 and 2 bytes)",
    ]
    assert result.data["unread"] == [".env"]
    assert result.data["same_files"] == 1
    assert "only in a: 1\n  gone" in result.text


async def test_a_file_and_a_folder(box: Toolbox, ws: Path) -> None:
    (ws / "a").touch()
    (ws / "b").mkdir()
    result = await diff(box)
    assert result.error is not None
    assert (result.error.code, bool(result.error.hint)) == ("bad_input", True)


async def test_other_names(box: Toolbox, ws: Path) -> None:
    (ws / "a").write_text("1\n")
    result = await box.call("file_diff", {"file_a": "a", "file_b": "a"})
    assert result.text == "a and b are the same file."
