"""`read_file` through the whole pipeline."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.core.result import Result
from toolcrib.files.handles import fingerprint
from toolcrib.state.sessions import Sessions
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox
from toolcrib.tools.files.file_reader import MAX_IMAGE_BYTES

BUDGET = 4000


async def read(box: Toolbox, path: str, **arguments: object) -> Result:
    return await box.call("read_file", {"path": path, **arguments})


async def test_a_small_file_is_exact(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_bytes("one\n\n  zwö\n".encode())
    result = await read(box, "a.txt")
    assert result.text == "one\n\n  zwö\n"
    assert result.error is None
    assert not result.truncated
    assert result.next is None
    assert result.data == {
        "path": "a.txt",
        "size": 12,
        "encoding": "utf-8",
        "bom": False,
        "eol": "lf",
        "start": 1,
        "lines": 3,
        "total_lines": 3,
        "tokens": 6,
    }


async def test_pages_lead_through_the_whole_file(box: Toolbox, ws: Path) -> None:
    lines = [f"line {n}: " + "word " * (n % 17) for n in range(1, 3001)]
    (ws / "big.txt").write_text("\n".join(lines) + "\n")
    result = await read(box, "big.txt")
    seen: list[str] = []
    while True:
        assert estimate(result.text) <= BUDGET
        *page, footer = result.text.split("\n")
        seen += page
        assert footer == f"[lines {len(seen) - len(page) + 1:,}-{len(seen):,} of 3,000]"
        assert result.truncated == (result.next is not None)
        if result.next is None:
            break
        assert result.next.arguments == {"path": "big.txt", "start": len(seen) + 1}
        result = await box.call(result.next.tool, result.next.arguments)
    assert seen == lines


async def test_pages_lead_through_one_long_line(box: Toolbox, ws: Path) -> None:
    text = "[" + ", ".join(str(n) for n in range(20_000)) + "]"
    (ws / "long.json").write_text(text)
    result = await read(box, "long.json")
    seen = ""
    while True:
        assert estimate(result.text) <= BUDGET
        page, _, footer = result.text.rpartition("\n")
        seen += page
        assert footer.startswith("[line 1 of 1")
        if result.next is None:
            break
        assert result.next.arguments == {"path": "long.json", "start": 1, "column": len(seen)}
        result = await box.call(result.next.tool, result.next.arguments)
    assert seen == text


async def test_some_lines_go_on_with_as_many(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 101)))
    result = await read(box, "a.txt", start=11, lines=5)
    assert result.text == "11\n12\n13\n14\n15\n[lines 11-15 of 100]"
    assert result.next is not None
    assert result.next.arguments == {"path": "a.txt", "start": 16, "lines": 5}


async def test_the_end_of_a_file(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 101)))
    result = await read(box, "a.txt", start=-2)
    assert result.text == "99\n100\n[lines 99-100 of 100]"
    assert not result.truncated


async def test_past_the_end(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_text("1\n2\n")
    result = await read(box, "a.txt", start=3)
    assert result.error is not None
    assert (result.error.code, result.error.message) == ("bad_input", "a.txt has 2 lines.")
    (ws / "a.txt").write_text("1\n")
    result = await read(box, "a.txt", start=3)
    assert result.error is not None
    assert result.error.message == "a.txt has 1 line."


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\r\nb\r\n", "a\nb\n[CRLF line ends]"),
        (b"a\r\nb\n", "a\nb\n[mixed line ends]"),
        (b"a\rb\r", "a\nb\n[CR line ends]"),
        (b"\xef\xbb\xbfa\n", "a\n[byte order mark]"),
        ("zwö\n".encode("utf-16"), "zwö\n[utf-16-le, byte order mark]"),
        ("café\r\n".encode("cp1252"), "café\n[cp1252 (guessed), CRLF line ends]"),
    ],
)
async def test_what_cannot_be_seen_is_said(box: Toolbox, ws: Path, data: bytes, text: str) -> None:
    (ws / "a.txt").write_bytes(data)
    assert (await read(box, "a.txt")).text == text


async def test_an_empty_file_says_so(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").touch()
    assert (await read(box, "a.txt")).text == "(a.txt is empty)"


async def test_an_image(box: Toolbox, ws: Path) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(1000)
    (ws / "a.png").write_bytes(data)
    result = await read(box, "a.png")
    assert result.text == "a.png: PNG image, 1,008 bytes"
    assert [(i.mime_type, i.data) for i in result.images] == [("image/png", data)]


async def test_an_image_that_is_too_large(box: Toolbox, ws: Path) -> None:
    (ws / "a.gif").write_bytes(b"GIF89a" + bytes(MAX_IMAGE_BYTES))
    result = await read(box, "a.gif")
    assert result.error is not None
    assert result.error.code == "too_large"
    assert result.images == ()


async def test_a_binary_file_is_named(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_bytes(b"\x7fELF\x02\x01....")
    result = await read(box, "a.txt")
    assert result.error is not None
    assert result.error.code == "unsupported_content"
    assert "a.txt: ELF program, 10 bytes" in result.error.message


async def test_a_folder_and_a_missing_file(box: Toolbox, ws: Path) -> None:
    (ws / "src").mkdir()
    (ws / "src" / "main.py").touch()
    folder, missing = await read(box, "src"), await read(box, "src/mian.py")
    assert folder.error is not None
    assert (folder.error.code, "list_directory" in folder.error.hint) == ("bad_input", True)
    assert missing.error is not None
    assert missing.error.code == "not_found"
    assert missing.error.hint == "Did you mean src/main.py?"


async def test_a_huge_sparse_file_gives_its_page(box: Toolbox, ws: Path) -> None:
    with (ws / "huge.log").open("wb") as file:
        file.write(b"begin\n" * 20_000)
        file.truncate(1 << 40)
        file.seek(-4, os.SEEK_END)
        file.write(b"end\n")
    result = await read(box, "huge.log", lines=2)
    assert result.text == "begin\nbegin\n[lines 1-2, file of 1,099,511,627,776 bytes]"
    assert result.truncated


@pytest.mark.parametrize("name", ["cat", "read_text_file", "view", "view_file", "Read-Text-File"])
async def test_other_names(box: Toolbox, ws: Path, name: str) -> None:
    (ws / "a.txt").write_text("1\n2\n3\n")
    result = await box.call(name, {"file_path": "a.txt", "offset": "2", "limit": 1})
    assert result.text == "2\n[line 2 of 3]"


async def test_remembers_how_the_file_looked(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_text("x")
    (ws / "link").symlink_to("a.txt")
    await box.call("read_file", {"path": "link"}, session="one")
    session = await box.use(Sessions).load("one")
    assert session.reads == {str(ws / "a.txt"): fingerprint((ws / "a.txt").stat())}


async def test_per_tool_budget(ws: Path) -> None:
    (ws / "a.txt").write_text("some words in a line\n" * 1000)
    config = {"results": {"per_tool": {"read_file": 400}}}
    async with Toolbox(config, workspace=ws) as box:
        result = await read(box, "a.txt")
    assert 200 < estimate(result.text) <= 400
    assert result.next is not None
    assert result.next.tool == "read_file"


@settings(max_examples=60)
@given(
    st.one_of(st.binary(max_size=3000), st.text(max_size=800).map(str.encode)), st.integers(1, 40)
)
async def test_whatever_a_file_holds_the_answer_fits(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, times: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "file").write_bytes(data * times)
    async with Toolbox({"results": {"max_tokens": 300}}, workspace=folder) as box:
        result = await read(box, "file")
        assert estimate(result.text) <= 300
        if result.next:
            assert result.next.tool == "read_file"
            again = await box.call(result.next.tool, result.next.arguments)
            assert again.error is None
