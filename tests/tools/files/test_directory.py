"""`list_directory` through the whole pipeline."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cases import each_case
from toolcrib.core.result import Result
from toolcrib.text.display import size_of
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("C001", "E02")


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
    entries = {entry["path"]: entry for entry in result.data["entries"]}
    assert entries["a.py"].items() >= {"name": "a.py", "kind": "file", "size": 1}.items()
    assert entries["out"].items() >= {"target": "/etc", "leads": "outside"}.items()
    assert entries["src"]["kind"] == "folder"
    assert entries[".git"]["ignored"]
    assert entries["a.py"]["modified"].startswith("20")
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
        ({"glob": "**/*.py", "depth": 4}, ["src/deep/deeper/leaf.py", "src/main.py", "a.py"]),
        ({"glob": "src/*.py", "depth": 4}, ["src/deep/deeper/leaf.py", "src/main.py"]),
        ({"path": "src", "depth": 2}, ["deep", "deep/deeper", "main.py"]),
        ({"path": "link"}, ["deep", "main.py"]),
    ],
)
async def test_choosing(box: Toolbox, arguments: dict[str, object], paths: list[str]) -> None:
    result = await listed(box, **arguments)
    assert [entry["path"] for entry in result.data["entries"]] == paths


async def test_sorted_by_size_and_by_time(box: Toolbox, ws: Path) -> None:
    (ws / "folder").mkdir()
    for number, name in enumerate(("b", "a", "c")):
        (ws / name).write_bytes(bytes([10, 30, 20][number]))
        os.utime(ws / name, (1_000_000 * number, 1_000_000 * number))
    os.utime(ws / "folder", (5, 5))
    by_size = await listed(box, sort="size")
    assert [entry["path"] for entry in by_size.data["entries"]] == ["folder", "a", "c", "b"]
    by_time = await listed(box, sort="modified")
    assert [entry["path"] for entry in by_time.data["entries"]] == ["c", "a", "folder", "b"]
    assert by_time.text.split("\n")[1] == "c  20 bytes  1970-01-24 03:33"


async def test_what_programs_made_is_named_and_not_opened(box: Toolbox, ws: Path) -> None:
    for name in ("node_modules/left", "src/__pycache__", ".git/objects"):
        (ws / name).mkdir(parents=True)
    (ws / "src" / "a.py").touch()
    deep = await listed(box, depth=5)
    paths = [entry["path"] for entry in deep.data["entries"]]
    assert paths == [".git", "node_modules", "src", "src/__pycache__", "src/a.py"]
    assert "node_modules/ (not opened)" in deep.text
    assert [e["path"] for e in (await listed(box, path="node_modules")).data["entries"]] == ["left"]
    assert "not opened" not in (await listed(box)).text


async def test_paging_keeps_the_order_asked_for(box: Toolbox, ws: Path) -> None:
    for number in range(800):
        (ws / f"a file with quite a long name, number {number:04}.txt").write_bytes(bytes(number))
    first = await listed(box, sort="size")
    assert first.next is not None
    assert first.next.arguments["sort"] == "size"
    second = await box.call(first.next.tool, first.next.arguments)
    sizes = [e["size"] for e in first.data["entries"] + second.data["entries"]]
    assert sizes == sorted(sizes, reverse=True)


async def test_nothing_there(box: Toolbox, ws: Path) -> None:
    assert (await listed(box)).text == "(. holds nothing)"
    (ws / "a.txt").touch()
    (ws / "src").mkdir()
    found = await listed(box, glob="*.py")
    assert found.text == "(. holds nothing like *.py; it holds src/, a.txt)"
    for glob, query in (("*.py", "*.py"), (r".*\.py", "*.py"), (".*py", "*py"), (".*rc", "*rc")):
        beneath = (await listed(box, glob=glob)).next
        assert beneath is not None
        assert (beneath.tool, beneath.arguments["query"]) == ("find_files", query)
    assert (await listed(box, path="src", glob="*.py")).next is None
    deeper = await listed(box, glob="src/**/*.py")
    assert deeper.next is not None
    assert (deeper.next.tool, deeper.next.arguments["query"]) == ("find_files", "src/**/*.py")


async def test_nothing_fits_in_a_folder_of_which_only_a_part_is_listed(
    box: Toolbox, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.tools.files.list_directory.MAX_ENTRIES", 2)
    for number in range(4):
        (ws / f"{number}.txt").touch()
    found = await listed(box, glob="*.py", depth=2)
    assert found.text.startswith("(. holds nothing like *.py; it holds 0.txt, 1.txt, 2.txt, 3.txt)")
    assert "Only the first 2 entries" in found.text


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


@each_case(
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


@pytest.mark.rows("C021", "C022")
async def test_totals_of_a_folder_with_more_than_is_listed(box: Toolbox, ws: Path) -> None:
    for number in range(20_100):
        (ws / f"f{number}.txt").touch()
    (ws / "folder").mkdir()
    whole = await listed(box)
    assert whole.text.startswith(".: 1 folder, 20,100 files; entries 1-")
    assert whole.data["total"] == 20_101
    some = await listed(box, glob="*99.txt")
    assert some.data["total"] == 201
    deeper = await listed(box, depth=2)
    assert deeper.text.startswith(".: at least 1 folder, 19,999 files")
    other = await box.call("diff_files", {"a": ".", "b": "."})
    assert other.data["same"] is False
