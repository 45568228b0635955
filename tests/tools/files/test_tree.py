"""`directory_tree`: all of it where it fits, else folded, with the way to the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcrib.core.result import Result
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("C022")


async def tree(box: Toolbox, **arguments: object) -> Result:
    return await box.call("directory_tree", arguments)


@pytest.fixture
def project(ws: Path) -> Path:
    for name in ("src/app/models", "node_modules/left", ".git/objects", "docs", ".ssh"):
        (ws / name).mkdir(parents=True)
    for name in ("src/app/models/user.py", "src/main.py", "docs/a.md", "node_modules/left/x"):
        (ws / name).write_text("12345")
    (ws / "readme.md").write_text("hello")
    (ws / "link").symlink_to("src")
    return ws


@pytest.mark.usefixtures("project")
async def test_the_tree(box: Toolbox) -> None:
    result = await tree(box)
    assert result.text.split("\n") == [
        ".: 7 folders, 4 files",
        ".git/ (not opened)",
        ".ssh/ (protected)",
        "docs/",
        "  a.md",
        "node_modules/ (not opened)",
        "src/",
        "  app/",
        "    models/ (1 entry)",
        "  main.py",
        "link -> src",
        "readme.md",
    ]
    assert not result.truncated
    assert {e["path"] for e in result.data["entries"]} >= {"src/app/models", "docs/a.md"}


@pytest.mark.usefixtures("project")
async def test_depth_and_sizes(box: Toolbox) -> None:
    flat = await tree(box, depth=1)
    assert "src/ (2 entries)" in flat.text
    assert "main.py" not in flat.text
    deep = await tree(box, path="src", depth=20, sizes=True)
    assert "    user.py  5 bytes" in deep.text
    assert (await tree(box, depth=-1)).error is not None
    assert "'depth' is at most 20" in (await tree(box, depth=21)).text


@pytest.mark.usefixtures("project")
async def test_what_is_left_out_is_shown_when_asked_for(box: Toolbox) -> None:
    assert "x" in (await tree(box, path="node_modules")).text


async def test_a_large_tree_fits_and_leads_on(box: Toolbox, ws: Path) -> None:
    for folder in range(40):
        (ws / f"folder number {folder}").mkdir()
        for number in range(100):
            (ws / f"folder number {folder}" / f"a file called {number}.txt").touch()
    result = await tree(box)
    assert estimate(result.render()) <= 4000
    assert result.text.startswith(".: 40 folders, 4,000 files")
    assert all(f"folder number {n}" in result.text for n in range(40))
    assert result.next is not None
    again = await box.call(result.next.tool, result.next.arguments)
    assert again.error is None
    assert "a file called" in again.text


async def test_one_folder_too_large_leads_on_exactly(box: Toolbox, ws: Path) -> None:
    names = [f"a file with a name, number {number:04}.txt" for number in range(3000)]
    for name in names:
        (ws / name).touch()
    result = await tree(box)
    assert result.next is not None
    assert result.next.tool == "list_directory"
    displayed = [line for line in result.text.split("\n") if line.endswith(".txt")]
    again = await box.call(result.next.tool, result.next.arguments)
    assert displayed == names[: len(displayed)]
    assert again.data["entries"][0]["path"] == names[len(displayed)]


async def test_a_narrow_budget(ws: Path) -> None:
    for folder in range(30):
        (ws / f"folder{folder}" / "inner").mkdir(parents=True)
    async with Toolbox({"results": {"max_tokens": 200}}, workspace=ws) as box:
        result = await tree(box)
        assert estimate(result.text) <= 200
        assert result.truncated


async def test_an_empty_folder_and_a_file(box: Toolbox, ws: Path) -> None:
    assert (await tree(box)).text == "(. holds nothing)"
    (ws / "a").touch()
    refused = await tree(box, path="a")
    assert refused.error is not None
    assert refused.error.code == "bad_input"


async def test_an_unreadable_folder_is_named(box: Toolbox, ws: Path) -> None:
    (ws / "closed").mkdir()
    (ws / "open").mkdir()
    (ws / "open" / "a").touch()
    (ws / "closed").chmod(0)
    result = await tree(box)
    (ws / "closed").chmod(0o755)
    assert result.error is None
    assert "  a" in result.text
    if os.geteuid() != 0:
        assert "closed/ (Access denied" in result.text


async def test_a_deep_tree(box: Toolbox, ws: Path) -> None:
    (ws / "/".join(["d"] * 300)).mkdir(parents=True)
    result = await tree(box, depth=20)
    assert result.text.count("d/") == 20


async def test_other_names(box: Toolbox, ws: Path) -> None:
    (ws / "a").touch()
    assert (await box.call("tree", {"directory": ".", "max_depth": 2, "show_size": True})).text == (
        ".: 0 folders, 1 file\na  0 bytes"
    )
