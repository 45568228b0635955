"""Backups: what they hold, what they leave out, and that restoring can be undone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.files.changes.conftest import picture
from tests.tools.files.test_tree_changes import ok, refused
from toolcrib.toolbox import Toolbox


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    (root / "src/deep").mkdir(parents=True)
    (root / "src/a.py").write_bytes(b"one")
    (root / "src/a.py").chmod(0o755)
    (root / "src/deep/b").write_bytes(b"two" * 1000)
    (root / "src/.env").write_bytes(b"SECRET")
    (root / ".git").mkdir()
    (root / ".git/HEAD").write_bytes(b"ref")
    return root


@pytest.fixture
async def box(ws: Path) -> AsyncIterator[Toolbox]:
    async with Toolbox(workspace=ws) as opened:
        yield opened


@pytest.mark.rows("C118", "C119", "C120")
async def test_there_and_back(box: Toolbox, ws: Path, tmp_path: Path) -> None:
    preview = await ok(box, "create_backup", confirm=False)
    assert "2 files" in preview.text
    assert (await ok(box, "list_backups")).text == "(no backups)"
    result = await ok(box, "create_backup", name="first")
    assert result.data["left_out"] == 2
    stored = list((tmp_path / "state").rglob("*.zip"))
    assert len(stored) == 1
    assert stored[0].stat().st_mode & 0o777 == 0o600
    assert b"SECRET" not in stored[0].read_bytes()
    (ws / "src/a.py").write_bytes(b"changed")
    await ok(box, "delete_path", path="src/deep")
    (ws / "later").write_bytes(b"x")
    changed = picture(ws)
    displayed = await ok(box, "restore_backup", name="first")
    assert "1 missing, 1 changed, 0 the same" in displayed.text
    assert picture(ws) == changed
    await ok(box, "restore_backup", backupFile="first.zip", confirm=True)
    assert (ws / "src/a.py").read_bytes() == b"one"
    assert (ws / "src/a.py").stat().st_mode & 0o777 == 0o755
    assert (ws / "src/deep/b").read_bytes() == b"two" * 1000
    assert (ws / "later").exists()
    assert (ws / "src/.env").read_bytes() == b"SECRET"
    await ok(box, "undo_changes")
    assert picture(ws) == changed


async def test_parts_of_a_backup(box: Toolbox, ws: Path) -> None:
    await ok(box, "create_backup", name="older")
    await ok(box, "create_backup", name="newer")
    (ws / "src/a.py").write_bytes(b"work since then")
    (ws / "src/deep/b").unlink()
    await ok(box, "restore_backup", id="latest", path="src/deep", confirm=True)
    assert (ws / "src/deep/b").exists()
    assert (ws / "src/a.py").read_bytes() == b"work since then"
    before = picture(ws)
    for paths in (["src/a.py", "nowhere"], ["src/de"]):  # part of a name is none
        await refused(box, "restore_backup", "not_found", name="newer", paths=paths, confirm=True)
    assert picture(ws) == before
    assert (await ok(box, "restore_backup", name="newest", paths=["."])).data["name"] == "newer"
    await ok(box, "create_backup", name="latest")
    (ws / "src/a.py").write_bytes(b"x")
    await ok(box, "create_backup", name="still-newer")
    assert (await ok(box, "restore_backup", name="latest")).data["name"] == "latest"


@pytest.mark.rows("C119", "C121")
async def test_listing_and_deleting(ws: Path, tmp_path: Path) -> None:
    rules = {"policy": {"rules": [{"action": "allow", "rights": ["erase"]}]}}
    async with Toolbox(workspace=ws) as box:
        await ok(box, "create_backup", name="large")
        await ok(box, "create_backup", name="small", paths=["src/a.py"])
        await refused(box, "create_backup", "conflict", name="small")
        newest = (await ok(box, "list_backups")).data["backups"]
        assert [b["name"] for b in newest] == ["small", "large"]
        largest = (await ok(box, "list_backups", sortBy="size", limit=1)).data["backups"]
        assert [b["name"] for b in largest] == ["large"]
        assert "Would delete" in (await ok(box, "delete_backup", name="small")).text
        await refused(box, "delete_backup", "needs_approval", name="small", confirm=True)
    async with Toolbox(rules, workspace=ws) as box:
        await ok(box, "delete_backup", name="small", confirm=True)
        assert "small" not in (await ok(box, "list_backups")).text
        for tool in ("delete_backup", "restore_backup"):
            await refused(box, tool, "not_found", name="small")
            for name in ("../first", "a/b", ".hidden", "x" * 200, "a\0b", "..", ""):
                await refused(box, tool, "bad_input", name=name)


async def test_a_place_that_the_user_names(ws: Path) -> None:
    place = ws / "backups"
    async with Toolbox({"backup": {"folder": str(place)}}, workspace=ws) as box:
        await ok(box, "create_backup", name="one")
        assert os.listdir(place) == ["one.zip"]
        await refused(box, "read_file", "path_denied", path="backups/one.zip")
        await refused(box, "delete_path", "path_denied", path="backups")
        (place / "two.zip").write_bytes(b"not a zip at all")
        await refused(box, "restore_backup", "bad_input", name="two")


async def test_another_workspace(ws: Path, tmp_path: Path) -> None:
    place = {"backup": {"folder": str(tmp_path / "all")}}
    async with Toolbox(place, workspace=ws) as box:
        await ok(box, "create_backup", name="one")
    (tmp_path / "else").mkdir()
    async with Toolbox(place, workspace=tmp_path / "else") as box:
        await refused(box, "restore_backup", "not_found", name="one", confirm=True)


async def test_too_much(ws: Path) -> None:
    async with Toolbox({"backup": {"max_bytes": 100}}, workspace=ws) as box:
        await refused(box, "create_backup", "too_large")


async def test_what_a_killed_process_left_is_swept(box: Toolbox, ws: Path, tmp_path: Path) -> None:
    """A backup that was cut off is no backup; the next one removes what is left of it."""
    await ok(box, "create_backup", name="first")
    folder = next((tmp_path / "state").rglob("first.zip")).parent
    for number in range(60):
        (ws / f"src/more{number}").write_bytes(os.urandom(50_000))
    program = (
        "import asyncio, sys\nfrom toolcrib.toolbox import Toolbox\n"
        "async def main():\n"
        "    async with Toolbox(workspace=sys.argv[1]) as box:\n"
        "        for n in range(500): await box.call('create_backup', {'name': f'n{n}'})\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(ws)]) as process:
        while not list(folder.glob(".*.part")) and process.poll() is None:
            pass  # a part is there for a moment only
        process.kill()
    for backup in (await ok(box, "list_backups")).data["backups"]:
        await ok(box, "restore_backup", name=backup["name"])  # each one is whole
    await ok(box, "create_backup", name="last")
    assert not list(folder.glob(".*.part"))
