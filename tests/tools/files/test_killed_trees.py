"""Killed in the middle of a tool that changes a whole tree: all of it or nothing."""

from __future__ import annotations

import random
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.files.changes.conftest import Picture, picture
from toolcrib.toolbox import Toolbox

pytestmark = [pytest.mark.rows("C028", "E05"), pytest.mark.timeout(180)]
FILES = 200
HERE = Path(__file__).parents[3]
PROGRAM = """
import asyncio, json, sys
from toolcrib.toolbox import Toolbox
async def main():
    async with Toolbox(workspace=sys.argv[1]) as box:
        await box.call("list_directory", {})
        print("ready", flush=True)
        result = await box.call(sys.argv[2], json.loads(sys.argv[3]))
        print(result.error.code if result.error else "done", flush=True)
asyncio.run(main())
"""
CALLS = {
    "move_path": '{"source": "tree", "destination": "moved/tree"}',
    "copy_path": '{"source": "tree", "destination": "copied/tree"}',
    "delete_path": '{"path": "tree"}',
    "archive_files": '{"action": "unpack", "archive": "a.zip", "folder": "out"}',
    "replace_in_files": '{"pattern": "old", "replacement": "new", "dry_run": false}',
    "undo_changes": '{"path": "tree"}',
    "restore_backup": '{"name": "b", "confirm": true}',
}


def whole(root: Path) -> Picture:
    """Kinds, bits and contents; what is put back may have another time."""
    return {name: (found[0], *found[1:2], found[-1]) for name, found in picture(root).items()}


def ready(ws: Path, tool: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", PROGRAM, str(ws), tool, CALLS[tool]]
    process = subprocess.Popen(argv, cwd=HERE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def fill(ws: Path) -> None:
    for folder in "ab":
        (ws / "tree" / folder).mkdir(parents=True)
    for number in range(FILES):
        (ws / f"tree/{'ab'[number % 2]}/f{number}").write_text(f"old {number}\n" * 20)
    with zipfile.ZipFile(ws / "a.zip", "w") as archive:
        for number in range(FILES):
            archive.writestr(f"d{number % 7}/m{number}", f"{number}\n" * 30)


async def take_back(box: Toolbox) -> None:
    """Undo the last step by its number: an undo too, which `undo_changes` alone passes over."""
    listed = await box.call("list_changes", {"limit": 1})
    result = await box.call("undo_changes", {"id": listed.data["steps"][0]["step"]})
    assert result.error is None


@pytest.mark.parametrize("tool", CALLS)
async def test_all_or_nothing(ws: Path, tmp_path: Path, tool: str) -> None:
    fill(ws)
    async with Toolbox(workspace=ws) as box:
        if tool == "undo_changes":
            assert (await box.call("delete_path", {"path": "tree"})).error is None
        if tool == "restore_backup":
            assert (await box.call("create_backup", {"name": "b"})).error is None
            for number in range(0, FILES, 2):
                (ws / f"tree/a/f{number}").write_text("changed")
    before = whole(ws)
    process = ready(ws, tool)
    began = time.monotonic()
    reply, _ = process.communicate()
    taken = time.monotonic() - began
    assert reply == "done\n"
    after = whole(ws)
    assert after != before
    async with Toolbox(workspace=ws) as box:
        await take_back(box)
    assert whole(ws) == before
    chooser = random.Random(tool)
    for share in (0.3, 0.8):
        process = ready(ws, tool)
        # The moment is the subject.
        time.sleep(taken * share * chooser.uniform(0.5, 1.2))
        process.kill()
        reply, _ = process.communicate()
        async with Toolbox(workspace=ws) as box:
            assert (await box.call("list_directory", {})).error is None
            now = whole(ws)
            assert now in (before, after)
            if reply:
                assert now == after
            if now == after:
                await take_back(box)
        assert whole(ws) == before
        assert not list((tmp_path / "state").rglob("*.part"))
