"""`search_files` through the whole pipeline."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("C023", "C024", "C025", "E16")


@pytest.fixture
def tree(ws: Path) -> Path:
    (ws / "src").mkdir()
    (ws / "src" / "a.py").write_text("one\ndef needle():\n\tpass\nfour\nfive\nneedle()\n")
    (ws / "b.md").write_text("a needle in a haystack\n")
    (ws / ".env").write_text("needle=secret\n")
    return ws


@pytest.mark.usefixtures("tree")
async def test_lines_by_file(box: Toolbox) -> None:
    result = await box.call("search_files", {"pattern": "needle"})
    assert result.text.split("\n") == [
        "3 lines in 2 files; not searched: 1 protected (.env)",
        "b.md",
        "  1: a needle in a haystack",
        "src/a.py",
        "  2: def needle():",
        "  6: needle()",
    ]
    assert result.data["pattern_mode"] == "regex"
    assert result.data["aborted"] is False
    assert not result.truncated


@pytest.mark.usefixtures("tree")
async def test_context(box: Toolbox) -> None:
    result = await box.call("search_files", {"pattern": "needle", "glob": "*.py", "context": 1})
    assert result.text.split("\n")[1:] == [
        "src/a.py",
        "  1- one",
        "  2: def needle():",
        "  3- \tpass",
        "--",
        "  5- five",
        "  6: needle()",
    ]


@pytest.mark.rows("E17")
@pytest.mark.usefixtures("tree")
async def test_one_file(box: Toolbox) -> None:
    result = await box.call("search_in_file", {"query": "needle", "file_path": "src/a.py"})
    assert result.data["total_lines"] == 2
    assert result.data["files"][0]["path"] == "src/a.py"
    refused = await box.call("search_files", {"pattern": "needle", "path": ".env"})
    assert refused.error is not None
    assert refused.error.code == "path_denied"


async def test_a_file_in_another_encoding_is_found_and_displayed(ws: Path, box: Toolbox) -> None:
    (ws / "a.csv").write_bytes(("Stadt;Preis\n" + "Köln;3,50 €\n" * 3).encode("cp1252"))
    for path in ("a.csv", "."):
        found = await box.call("search_files", {"pattern": "Köln", "path": path, "limit": 1})
        assert found.data["total_lines"] == 3, path
        assert "  2: Köln;3,50 €" in found.text
    plain = await box.call("search_files", {"pattern": "Stadt", "context": 1})
    assert "  2- Köln;3,50 €" in plain.text


@pytest.mark.usefixtures("tree")
async def test_files_and_count(box: Toolbox) -> None:
    files = await box.call("search_files", {"pattern": "needle", "show": "files"})
    head = "3 lines in 2 files; not searched: 1 protected (.env)"
    assert files.text == f"{head}\nb.md  1\nsrc/a.py  2"
    count = await box.call("search_files", {"pattern": "needle", "show": "count"})
    assert count.text == head


async def test_any_case_is_any_case(ws: Path, box: Toolbox) -> None:
    (ws / "a.txt").write_text("Needle\nneedle\nNEEDLE\n")
    for more, lines in (({}, 1), ({"case_sensitive": False}, 3), ({"case_sensitive": True}, 1)):
        for literal in (False, True):
            arguments = {"pattern": "Needle", "literal": literal} | more
            found = await box.call("search_files", arguments)
            assert found.data["total_lines"] == lines
    first = await box.call("search_files", arguments | {"case_sensitive": False, "limit": 2})
    assert first.next is not None
    assert first.next.arguments["case_sensitive"] is False


async def test_a_large_file_is_read_block_by_block(ws: Path, box: Toolbox) -> None:
    line = "x" * 99 + "\n"
    with (ws / "big.log").open("w") as file:
        for number in range(3):
            file.write(f"before {number}\nneedle {number}\nafter {number}\n" + line * 100_000)
    for path in ("big.log", "."):
        arguments = {"pattern": "needle", "path": path, "context": 1, "limit": 2, "start": 1}
        found = await box.call("search_files", arguments)
        assert found.data["total_lines"] == 3
        lines = found.data["files"][0]["lines"]
        numbers = [100_003 * block + place for block in (1, 2) for place in (1, 2, 3)]
        assert [one["line"] for one in lines] == numbers
        assert [one["text"] for one in lines if one["fits"]] == ["needle 1", "needle 2"]
        assert next(one["text"] for one in lines if not one["fits"]) == "before 1"


async def test_pages_give_each_line_once(ws: Path, box: Toolbox) -> None:
    for number in range(30):
        (ws / f"f{number:02}.txt").write_text(f"needle {number} {'x' * 200}\n" * 10)
    seen: list[tuple[str, int]] = []
    arguments: dict[str, object] = {"pattern": "needle", "limit": 120, "literal": True}
    for _ in range(40):
        result = await box.call("search_files", arguments)
        assert estimate(result.text) <= 4000
        files = result.data["files"]
        seen += [(f["path"], line["line"]) for f in files for line in f["lines"]]
        if result.next is None:
            break
        arguments = dict(result.next.arguments)
    assert len(seen) == 300
    assert len(set(seen)) == 300


async def test_a_long_line_is_cut_around_the_place(ws: Path, box: Toolbox) -> None:
    (ws / "long.txt").write_text("x" * 250_000 + "needle" + "y" * 250_000)
    result = await box.call("search_files", {"pattern": "needle"})
    assert "needle" in result.text
    assert len(result.text) < 500


@pytest.mark.usefixtures("tree")
async def test_no_expression_is_told(box: Toolbox) -> None:
    result = await box.call("search_files", {"pattern": "needle("})
    assert result.data["pattern_mode"] == "literal"
    assert result.data["total_lines"] == 2
    assert "plain text" in result.text


@pytest.mark.usefixtures("tree")
async def test_nothing_found_says_what_was_left_out(box: Toolbox) -> None:
    result = await box.call("search_files", {"pattern": "absent"})
    assert result.error is None
    assert "left out" in result.text


async def test_a_folder_that_flips_to_a_link_leaks_nothing(
    ws: Path, box: Toolbox, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    for folder, text in ((ws / "sub", "public\n"), (outside, "public TOPSECRET\n")):
        folder.mkdir()
        (folder / "a.txt").write_text(text)
    done = threading.Event()

    def flip() -> None:
        while not done.is_set():
            (ws / "sub").rename(ws / "real")
            (ws / "sub").symlink_to(outside)
            done.wait(0.0005)
            (ws / "sub").unlink()
            (ws / "real").rename(ws / "sub")
            done.wait(0.0005)

    flipping = threading.Thread(target=flip)
    flipping.start()
    try:
        displayed = [
            (await box.call("search_files", {"pattern": "public"})).render() for _ in range(150)
        ]
    finally:
        done.set()
        flipping.join()
    assert any("public" in text for text in displayed)
    assert not any("TOPSECRET" in text for text in displayed)


async def test_code_with_signs_of_expressions_is_found(box: Toolbox, ws: Path) -> None:
    """As small models paste it; and alternatives in the way of grep."""
    code = "def add(self, item):\n    self.items.append(item)\n    assert c.total() == 6.0\n"
    (ws / "a.py").write_text(code)
    for line in code.splitlines():
        found = await box.call("search_files", {"pattern": line.strip()})
        assert found.data["total_lines"] == 1, line
        assert "searched as plain text, since nothing fits it as an expression" in found.text
    basic = await box.call("search_files", {"pattern": r"items\|total", "limit": 1})
    assert basic.data["total_lines"] == 2
    assert "searched as items|total" in basic.text
    assert basic.next is not None
    assert basic.next.arguments["pattern"] == "items|total"
    around = await box.call("search_files", {"pattern": r"def (?!test)\w+"})
    assert "RE2 has no lookaround" in around.text


@pytest.mark.usefixtures("tree")
async def test_globs_with_whole_paths_and_without_files(box: Toolbox, ws: Path) -> None:
    for glob in (f"{ws}/src/*.py", f"*.md, {ws}/src/**"):
        found = await box.call("search_files", {"pattern": "def", "glob": glob})
        assert found.data["total_files"] == 1, glob
    left_out = await box.call("search_files", {"pattern": "def", "glob": f"!{ws}/src/**"})
    assert left_out.data["total_files"] == 0
    named = await box.call("find_files", {"query": f"{ws}/src/**/*.py"})
    assert named.data["paths"] == ["src/a.py"]
    none = await box.call("search_files", {"pattern": "needle", "glob": "*.rs"})
    assert none.text.startswith("No file in . fits the glob *.rs")


async def test_a_document_is_said_not_to_be_searched(box: Toolbox, ws: Path) -> None:
    (ws / "long.pdf").write_bytes(b"%PDF-1.7\n\0\1\2warranty\0")
    found = await box.call("search_files", {"pattern": "warranty", "path": "long.pdf"})
    assert found.text.startswith("long.pdf was not searched; not searched: 1 binary (long.pdf); ")
    assert 'read_file path="long.pdf" focus=' in found.text
    (ws / "core.bin").write_bytes(b"\0\1\2warranty\0")
    both = await box.call("search_files", {"pattern": "warranty", "glob": "*.{bin,pdf}"})
    assert 'read_file path="long.pdf" focus=' in both.text
    plain = await box.call("search_files", {"pattern": "warranty", "path": "core.bin"})
    assert "1 binary (core.bin)" in plain.text and "read_file" not in plain.text


async def test_capitals_that_nothing_has_are_said(box: Toolbox, ws: Path) -> None:
    (ws / "a.py").write_text("timeoutms = 1\n")
    for given in ({"pattern": "TimeoutMs"}, {"pattern": "TimeoutMs", "literal": True}):
        found = (await box.call("search_files", given)).text
        head, *lines = found.split("\n")
        assert head == "1 line in 1 file; searched in any case, since nothing has its capitals"
        assert lines == ["a.py", "  1: timeoutms = 1"]
    exact = await box.call("search_files", {"pattern": "TimeoutMs", "case_sensitive": True})
    assert exact.text.startswith("No line")
