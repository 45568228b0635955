"""`read_file`: ranges, line numbers, outlines, several files, documents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from toolcrib.core.result import Result
from toolcrib.files.handles import fingerprint
from toolcrib.state.sessions import Sessions
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

BUDGET = 4000
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(100)


async def read(box: Toolbox, path: str = "a.txt", **arguments: object) -> Result:
    return await box.call("read_file", {"path": path, **arguments})


@pytest.fixture
def hundred(ws: Path) -> Path:
    (ws / "a.txt").write_text("".join(f"n{n}\n" for n in range(1, 101)))
    return ws


@pytest.mark.rows("E04")
@pytest.mark.usefixtures("hundred")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"start": 3, "end": 4}, "n3\nn4\n[lines 3-4 of 100]"),
        ({"start": 99, "end": 500}, "n99\nn100\n[lines 99-100 of 100]"),
        ({"end": 2}, "n1\nn2\n[lines 1-2 of 100]"),
        ({"start": -3, "end": -2}, "n98\nn99\n[lines 98-99 of 100]"),
        ({"start": 98, "end": -2}, "n98\nn99\n[lines 98-99 of 100]"),
        ({"start": -1000, "end": 1}, "n1\n[line 1 of 100]"),
        ({"start": 9, "end": 10, "numbers": True}, "9|n9\n10|n10\n[lines 9-10 of 100]"),
        ({"start": -1, "numbers": True}, "100|n100\n[line 100 of 100]"),
    ],
)
async def test_ranges(box: Toolbox, arguments: dict[str, Any], text: str) -> None:
    result = await read(box, **arguments)
    assert result.text == text
    assert result.next is None


@pytest.mark.rows("E04")
@pytest.mark.usefixtures("hundred")
@pytest.mark.parametrize(
    "arguments", [{"start": 101}, {"start": 101, "end": 105}, {"start": 9, "end": 3}]
)
async def test_ranges_that_are_none(box: Toolbox, arguments: dict[str, Any]) -> None:
    result = await read(box, **arguments)
    assert result.error is not None
    assert (result.error.code, bool(result.error.hint)) == ("bad_input", True)


@pytest.mark.rows("E04")
@pytest.mark.usefixtures("hundred")
async def test_a_range_by_the_names_of_others(box: Toolbox) -> None:
    result = await box.call(
        "read_file_range", {"file_path": "a.txt", "start_line": 2, "end_line": 3}
    )
    assert result.text == "2|n2\n3|n3\n[lines 2-3 of 100]"


async def test_numbered_pages_lead_through_the_file(box: Toolbox, ws: Path) -> None:
    lines = [f"word {n} " * (n % 9) for n in range(1, 2501)]
    (ws / "a.txt").write_text("\n".join(lines) + "\n")
    result = await read(box, numbers=True)
    seen: list[str] = []
    while True:
        assert estimate(result.text) <= BUDGET
        seen += result.text.split("\n")[:-1]
        if result.next is None:
            break
        result = await box.call(result.next.tool, result.next.arguments)
    assert seen == [f"{n}|{line}" for n, line in enumerate(lines, 1)]


async def test_a_long_range_goes_on_to_its_end_and_no_further(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_text("".join(f"line number {n}\n" for n in range(1, 5001)))
    result, seen = await read(box, start=11, end=3000), 0
    while True:
        *page, _ = result.text.split("\n")
        seen += len(page)
        if result.next is None:
            break
        assert result.next.arguments["end"] == 3000
        result = await box.call(result.next.tool, result.next.arguments)
    assert seen == 2990


SOURCE = "import os\n" + "".join(
    f"\n\nclass Model{n}:\n    def run(self) -> None:\n" + f"        self.x = {n}\n" * 30
    for n in range(80)
)


@pytest.mark.rows("C003")
async def test_a_file_that_is_too_large_comes_with_an_outline(box: Toolbox, ws: Path) -> None:
    (ws / "big.py").write_text(SOURCE)
    result = await read(box, "big.py")
    assert estimate(result.text) <= BUDGET
    head, _, outline = result.text.partition("Outline of the rest")
    assert head.startswith("import os\n\n\nclass Model0:")
    assert result.next is not None
    first = result.next.arguments["start"]
    lines = SOURCE.split("\n")
    entries = re.findall(r"^(\d+): *(.+)$", outline, re.MULTILINE)
    assert len(entries) > 30
    for number, text in entries:
        assert int(number) >= first
        assert lines[int(number) - 1].strip() == text
    assert {"class Model79:", "class Model40:"} <= {text for _, text in entries}
    again = await box.call(result.next.tool, result.next.arguments)
    assert "Outline" not in again.text
    assert again.text.split("\n")[0] == lines[first - 1]


async def test_no_outline_where_there_is_none_or_it_was_not_asked_for(
    box: Toolbox, ws: Path
) -> None:
    (ws / "words.txt").write_text("only words in this line\n" * 5000)
    (ws / "big.py").write_text(SOURCE)
    for path, arguments in {"words.txt": {}, "big.py": {"start": 1}}.items():
        result = await read(box, path, **arguments)
        assert "Outline" not in result.text
        assert estimate(result.text) > BUDGET * 0.9


async def test_several_files(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_text("one\n")
    (ws / "b.txt").write_bytes(b"two\r\n")
    (ws / "p.png").write_bytes(PICTURE)
    (ws / ".env").write_text("SECRET")
    paths = ["b.txt", "nope.txt", "p.png", "../out", ".env", "a.txt"]
    result = await box.call("read_file", {"paths": paths})
    assert result.error is None
    sections = result.text.split("\n\n")
    assert [section.split("\n")[0] for section in sections] == [f"== {path}" for path in paths]
    assert sections[0] == "== b.txt\ntwo\n[CRLF line ends]"
    assert sections[5] == "== a.txt\none"
    assert "Error (not_found)" in sections[1]
    assert "Error (path_denied)" in sections[3]
    assert "SECRET" not in result.text
    assert [image.data for image in result.images] == [PICTURE]
    assert result.data["files"][1]["error"]["code"] == "not_found"
    assert result.data["files"][5]["total_lines"] == 1


async def test_several_files_share_the_budget(box: Toolbox, ws: Path) -> None:
    (ws / "small.txt").write_text("tiny\n")
    for name in ("big1.txt", "big2.txt"):
        (ws / name).write_text(f"a line of {name}\n" * 3000)
    result = await box.call("read_file", {"paths": ["big1.txt", "small.txt", "big2.txt"]})
    assert estimate(result.text) <= BUDGET
    sections = result.text.split("\n\n")
    assert sections[1] == "== small.txt\ntiny"
    sizes = [estimate(section) for section in sections]
    assert sizes[0] == pytest.approx(sizes[2], rel=0.1)
    assert sum(sizes) > BUDGET * 0.85
    displayed = sections[2].count("a line of big2.txt")
    assert f"[to go on: start={displayed + 1}]" in sections[2]
    assert result.next is not None
    assert result.next.arguments["path"] == "big1.txt"


async def test_more_files_than_there_is_room_for(ws: Path) -> None:
    for number in range(40):
        (ws / f"f{number}.txt").write_text("some words here\n" * 30)
    async with Toolbox({"results": {"max_tokens": 1000}}, workspace=ws) as box:
        paths = [f"f{number}.txt" for number in range(40)]
        call: dict[str, Any] = {"paths": paths}
        seen: list[str] = []
        while True:
            result = await box.call("read_file", call)
            assert estimate(result.text) <= 1000
            seen += re.findall(r"^== (\S+)$", result.text, re.MULTILINE)
            if result.next is None or "paths" not in result.next.arguments:
                break
            call = dict(result.next.arguments)
    assert seen == paths


async def test_when_none_of_several_can_be_read(box: Toolbox) -> None:
    result = await box.call("read_file", {"paths": ["nope.txt", "../out"]})
    assert result.error is not None
    assert result.error.code == "not_found"
    assert "path_denied" in result.text
    answer = result.render()
    assert answer.count("nope.txt does not exist") == 1
    assert answer.endswith(
        "Error (not_found): None of the 2 files could be read.\n"
        "Mend each path by the reason given with it."
    )
    alone = await box.call("read_file", {"paths": ["../out"]})
    assert alone.render().count("../out") == 1


async def test_several_files_are_remembered_as_read(box: Toolbox, ws: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (ws / name).write_text("x")
    await box.call("read_file", {"files": ["a.txt", "b.txt", "nope"]}, session="one")
    session = await box.use(Sessions).load("one")
    assert session.reads == {
        str(ws / name): fingerprint((ws / name).stat()) for name in ("a.txt", "b.txt")
    }


async def test_the_folder_of_the_files_is_none_of_them(box: Toolbox, ws: Path) -> None:
    (ws / "src").mkdir()
    (ws / "src/a.txt").write_text("one\n")
    for folder in (".", "src", str(ws)):
        call = {"path": folder, "paths": ["src/a.txt"], "focus": "nowhere"}
        text = (await box.call("read_file", call)).render()
        assert text.startswith("one\n"), text
    other = (await box.call("read_file", {"path": "src", "paths": ["src"]})).render()
    assert "is a folder" in other


@pytest.mark.parametrize(
    "arguments",
    [{}, {"paths": []}, {"path": None}, {"paths": [f"a{n}" for n in range(101)]}, {"lines": 0}],
)
async def test_nothing_to_read(box: Toolbox, arguments: dict[str, Any]) -> None:
    result = await box.call("read_file", arguments)
    assert result.error is not None
    assert (result.error.code, bool(result.error.hint)) == ("bad_input", True)


@pytest.mark.rows("C181", "C187")
@pytest.mark.parametrize("at", [0, 1000, 8191])
async def test_a_zero_byte_among_the_first_8192_is_binary(box: Toolbox, ws: Path, at: int) -> None:
    data = bytearray(b"words " * 2000)
    data[at] = 0
    (ws / "a.txt").write_bytes(data)
    result = await read(box)
    assert result.error is not None
    assert result.error.code == "unsupported_content"
    assert "binary file, 12,000 bytes" in result.error.message


@pytest.mark.rows("C181")
async def test_a_zero_byte_later_on_is_text(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_bytes(b"words\n" * 2000 + b"\0")
    assert (await read(box, lines=1)).error is None


@pytest.mark.rows("C187")
async def test_the_check_can_be_switched_off(ws: Path) -> None:
    (ws / "a.bin").write_bytes(b"\x7fELF words\0more\n")
    async with Toolbox({"workspace": {"refuse_binary": False}}, workspace=ws) as box:
        assert "words" in (await read(box, "a.bin")).text


async def test_a_document(box: Toolbox, ws: Path) -> None:
    (ws / "a.pdf").write_bytes(pdf("Quarterly figures"))
    result = await read(box, "a.pdf")
    assert result.error is None, result.render()
    assert "Quarterly figures" in result.text
    assert result.data["kind"] == "PDF document"
    assert result.source == "a.pdf"
    focused = await read(box, "a.pdf", focus="quarterly")
    assert re.search(r"\d+\|.*Quarterly figures", focused.text)


async def test_a_broken_document_says_so(box: Toolbox, ws: Path) -> None:
    (ws / "a.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    result = await read(box, "a.pdf")
    assert result.error is not None
    assert result.error.hint


def pdf(words: str) -> bytes:
    """A page with some words, as small as a PDF can be."""
    stream = f"BT /F1 24 Tf 72 700 Td ({words}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
            b"/Resources << /Font << /F1 5 0 R >> >> >>"
        ),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(out)
    return out + b"xref\n0 6\n0000000000 65535 f \n" + table + end
