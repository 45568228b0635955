"""`list_directory` through the whole pipeline."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcrib.core.call import Result
from toolcrib.kit.tokens import estimate
from toolcrib.toolbox import Toolbox
from toolcrib.tools.files.directory import size_of


@pytest.fixture
def full(ws: Path) -> Path:
    for name in ("src/deep/deeper", ".git", "B-folder", ".ssh"):
        (ws / name).mkdir(parents=True)
    (ws / "readme.md").write_bytes(bytes(1234))
    (ws / "a.py").write_text("x")
    (ws / ".hidden").touch()
    (ws / ".env").touch()
    (ws / "src" / "main.py").write_text("print()\n")
    (ws / "src" / "deep" / "deeper" / "leaf.py").touch()
    (ws / "link").symlink_to("src")
    (ws / "out").symlink_to("/etc")
    (ws / "broken").symlink_to("nowhere")
    os.mkfifo(ws / "fifo")
    (ws / ".ssh" / "id_rsa").touch()
    return ws


async def listed(box: Toolbox, **arguments: object) -> Result:
    return await box.call("list_directory", arguments)


@pytest.mark.usefixtures("full")
async def test_one_level(box: Toolbox) -> None:
    result = await listed(box)
    assert result.text.split("\n") == [
        ".: 4 folders, 8 files",
        ".git/",
        ".ssh/ (protected)",
        "B-folder/",
        "src/",
        ".env  0 bytes (protected)",
        ".hidden  0 bytes",
        "a.py  1 byte",
        "broken -> nowhere (missing)",
        "fifo (not a plain file)",
        "link -> src",
        "out -> /etc (outside)",
        "readme.md  1.2 KB",
    ]
    assert result.data["total"] == 12
    assert {"path": "a.py", "kind": "file", "size": 1} in result.data["entries"]
    assert {"path": "out", "kind": "link", "target": "/etc", "leads": "outside"} in result.data[
        "entries"
    ]
    assert not result.truncated


@pytest.mark.usefixtures("full")
async def test_several_levels_without_links_or_secrets(box: Toolbox) -> None:
    result = await listed(box, depth=9)
    paths = [entry["path"] for entry in result.data["entries"]]
    at = paths.index("src")
    assert paths[at : at + 5] == [
        "src",
        "src/deep",
        "src/deep/deeper",
        "src/deep/deeper/leaf.py",
        "src/main.py",
    ]
    assert not [p for p in paths if p.startswith(("link/", "out/", ".ssh/"))]


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({"glob": "*.py"}, ["a.py"]),
        ({"glob": "*.PY", "depth": 4}, ["src/deep/deeper/leaf.py", "src/main.py", "a.py"]),
        ({"glob": "src/*.py", "depth": 4}, ["src/deep/deeper/leaf.py", "src/main.py"]),
        ({"path": "src", "depth": 2}, ["deep", "deep/deeper", "main.py"]),
        ({"path": "link"}, ["deep", "main.py"]),
    ],
)
async def test_choosing(box: Toolbox, arguments: dict[str, object], paths: list[str]) -> None:
    result = await listed(box, **arguments)
    assert [entry["path"] for entry in result.data["entries"]] == paths


async def test_nothing_there(box: Toolbox, ws: Path) -> None:
    assert (await listed(box)).text == "(. holds nothing)"
    (ws / "a.txt").touch()
    assert (await listed(box, glob="*.py")).text == "(. holds nothing like *.py)"


async def test_pages_lead_through_all_entries(box: Toolbox, ws: Path) -> None:
    names = [f"a rather long name of a file, number {n:04}.txt" for n in range(1500)]
    for name in names:
        (ws / name).touch()
    result = await listed(box)
    seen: list[str] = []
    while True:
        assert estimate(result.text) <= 4000
        seen += [entry["path"] for entry in result.data["entries"]]
        assert result.text.startswith(".: 0 folders, 1,500 files; entries ")
        if result.next is None:
            break
        assert result.next.arguments["start"] == len(seen)
        result = await box.call(result.next.tool, result.next.arguments)
    assert seen == names


async def test_a_folder_that_may_not_be_read_is_named(box: Toolbox, full: Path) -> None:
    (full / "src" / "deep" / "deeper").chmod(0)
    result = await listed(box, depth=5)
    assert result.error is None
    assert "src/main.py" in result.text
    if os.geteuid() != 0:
        assert "src/deep/deeper/ (Access denied" in result.text
    (full / "src" / "deep" / "deeper").chmod(0o755)


async def test_names_that_are_not_text(box: Toolbox, ws: Path) -> None:
    Path(os.fsdecode(os.fsencode(ws) + b"/bad\xff")).touch()
    (ws / "new\nline").touch()
    result = await listed(box)
    assert "bad\\udcff  0 bytes (its name cannot be written in a path)" in result.text
    assert "new\\nline  0 bytes (its name cannot be written in a path)" in result.text
    result.text.encode()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("..", "path_denied"),
        ("out", "path_denied"),
        (".ssh", "path_denied"),
        ("fifo", "path_denied"),
        ("nope", "not_found"),
        ("a.py", "bad_input"),
        ("", "bad_input"),
    ],
)
async def test_what_cannot_be_listed(box: Toolbox, full: Path, path: str, code: str) -> None:
    result = await listed(box, path=path)
    assert result.error is not None
    assert result.error.code == code


@pytest.mark.parametrize("name", ["ls", "list_files", "list_dir", "LS"])
async def test_other_names(box: Toolbox, full: Path, name: str) -> None:
    result = await box.call(name, {"directory": "src"})
    assert result.text == "src: 1 folder, 1 file\ndeep/\nmain.py  8 bytes"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 KB"),
        (1_260_000, "1.3 MB"),
        (5 * 10**15, "5000.0 TB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert size_of(count) == text


async def test_a_long_glob_is_refused(box: Toolbox, ws: Path) -> None:
    (ws / "a.py").touch()
    assert (await listed(box, glob="[" * 500)).error is None
    refused = await listed(box, glob="[" * 501)
    assert refused.error is not None
    assert refused.error.code == "bad_input"
    assert "500" in refused.error.message
