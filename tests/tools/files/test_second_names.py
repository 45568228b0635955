"""What is protected does not become readable by way of another name, a copy or an undo."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tools.files.test_tree_changes import ok, refused
from toolcrib.toolbox import Toolbox

SECRET = "the secret"


@pytest.fixture
def linked(ws: Path) -> Path:
    (ws / ".env").write_text(SECRET)
    (ws / "d").mkdir()
    (ws / "d/ok.txt").write_text("fine")
    os.link(ws / ".env", ws / "d/notes.txt")
    return ws / "d/notes.txt"


@pytest.mark.parametrize("path", ["d/notes.txt", "d"])
async def test_deleting_and_undoing_makes_no_copy(box: Toolbox, linked: Path, path: str) -> None:
    await refused(box, "delete_path", "path_denied", path=path)
    await refused(box, "undo_changes", "no_results")
    await refused(box, "read_file", "path_denied", path="d/notes.txt")
    assert linked.stat().st_nlink == 2


async def test_a_move_over_it_makes_no_copy(box: Toolbox, ws: Path, linked: Path) -> None:
    (ws / "other").write_text("x")
    await refused(
        box,
        "move_path",
        "path_denied",
        source="other",
        destination="d/notes.txt",
        overwrite=True,
    )
    assert linked.read_text() == SECRET


async def test_a_move_to_another_root_keeps_the_rule(tmp_path: Path, linked: Path) -> None:
    (tmp_path / "more").mkdir()
    config = {"workspace": {"roots": [str(tmp_path / "ws"), str(tmp_path / "more")]}}
    async with Toolbox(config) as box:
        there = str(tmp_path / "more/x")
        for source in ("d", "d/notes.txt"):
            await refused(box, "move_path", "path_denied", source=source, destination=there)
    assert linked.exists()


async def test_it_is_left_out_where_the_rest_is_wanted(
    box: Toolbox, ws: Path, linked: Path
) -> None:
    assert linked.exists()
    copied = await ok(box, "copy_path", source="d", destination="e")
    assert "notes.txt" in copied.text
    packed = await ok(box, "archive_files", action="pack", archive="a.zip", paths=["d"])
    assert "d/notes.txt" in packed.text
    made = await ok(box, "create_backup", name="b")
    assert "d/notes.txt" in made.text
    assert sorted(p.name for p in (ws / "e").iterdir()) == ["ok.txt"]


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="names of any bytes")
async def test_a_name_that_is_no_text(box: Toolbox, ws: Path) -> None:
    (ws / "d").mkdir()
    (ws / "d/ok.txt").write_text("fine")
    Path(os.fsdecode(os.fsencode(ws / "d") + b"/bad\xff.txt")).write_text("x")
    await ok(box, "copy_path", source="d", destination="e")
    assert len(list((ws / "e").iterdir())) == 2
    await ok(box, "delete_path", path="e")
    await ok(box, "undo_changes")
    packed = await ok(box, "archive_files", action="pack", archive="a.zip", paths=["d"])
    assert "bad\\udcff.txt" in packed.text
    listed = await ok(box, "archive_files", action="list", archive="a.zip")
    assert "ok.txt" in listed.text
    assert "bad" not in listed.text
    await ok(box, "create_backup", name="b")
    await ok(box, "read_file", path="d/ok.txt")


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="names of any bytes")
async def test_a_workspace_whose_name_is_no_text(tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/work\xff"))
    root.mkdir()
    async with Toolbox(workspace=root, profile="all") as box:
        await ok(box, "write_file", path="a.txt", content="one")
        await ok(box, "track_event", type="decision", title="use one")
        await ok(box, "save_session_note", note="half done")
        assert "a.txt" in (await ok(box, "list_directory")).text
        await ok(box, "undo_changes")
    async with Toolbox(workspace=root, profile="all") as box:
        assert "use one" in (await ok(box, "list_context")).text


@pytest.mark.parametrize(
    "path", [".git/commondir", "x.git/commondir", ".git/rebase-merge/git-rebase-todo"]
)
async def test_what_git_takes_its_settings_and_commands_from(
    box: Toolbox, ws: Path, path: str
) -> None:
    (ws / ".git").mkdir()
    await refused(box, "write_file", "path_denied", path=path, content="../evil\n")
