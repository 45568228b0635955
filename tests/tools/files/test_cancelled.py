"""Cancelled in the middle, or gone on with as a job: all of it or nothing, and nothing is left."""

from __future__ import annotations

import asyncio
import random
import re
import time
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.conditions import until
from tests.files.changes.conftest import Picture, picture
from toolcrib.core.context import Caller
from toolcrib.system.processes import Processes
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.timeout(180)
FILES = 120
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("move_path", {"source": "tree", "destination": "moved/tree"}),
    ("copy_path", {"source": "tree", "destination": "copied/tree"}),
    ("delete_path", {"path": "tree"}),
    ("delete_path", {"path": "tree", "pattern": "**/f*", "confirm": True}),
    ("archive_files", {"action": "unpack", "archive": "a.zip", "folder": "out"}),
    ("archive_files", {"action": "pack", "archive": "b.tar.gz", "paths": ["tree"]}),
    ("replace_in_files", {"pattern": "old", "replacement": "new", "dry_run": False}),
    ("restore_backup", {"name": "first", "confirm": True}),
    ("create_backup", {"name": "second", "paths": ["tree"]}),
    ("search_files", {"pattern": "o.d 1"}),
    ("undo_changes", {}),
]
LONG = [CALLS[1], CALLS[4], CALLS[5], CALLS[8], CALLS[9]]


def whole(root: Path) -> Picture:
    return {name: (found[0], *found[1:2], found[-1]) for name, found in picture(root).items()}


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    (root / "tree/deep").mkdir(parents=True)
    for number in range(FILES):
        (root / f"tree/{'deep/' * (number % 2)}f{number}").write_text(f"old {number}\n" * 40)
    with zipfile.ZipFile(root / "a.zip", "w") as archive:
        for number in range(FILES):
            archive.writestr(f"d{number % 7}/m{number}", f"{number}\n" * 30)
    return root


@pytest.fixture
async def box(ws: Path) -> AsyncIterator[Toolbox]:
    async with Toolbox(workspace=ws) as opened:
        assert (await opened.call("create_backup", {"name": "first"})).error is None
        for number in range(0, FILES, 2):
            (ws / f"tree/f{number}").write_text("changed, old")
        (ws / "gone").write_text("x")
        assert (await opened.call("delete_path", {"path": "gone"})).error is None
        yield opened


def leftovers(ws: Path) -> list[str]:
    state = ws.parent / "state"
    parts = [path for path in state.rglob("*") if path.name.startswith("new-")]
    parts += state.rglob("*.part")
    return [str(path) for path in [*parts, *ws.rglob("*.toolcrib-*"), *ws.rglob(".toolcrib-*")]]


async def nothing_is_left(ws: Path) -> None:
    """A thread whose call was cancelled ends at its next check, a moment after the call."""
    await until(lambda: not leftovers(ws))


@pytest.mark.parametrize("case", range(len(CALLS)))
async def test_cancelled(box: Toolbox, ws: Path, case: int) -> None:
    name, arguments = CALLS[case]
    before = whole(ws)
    began = time.monotonic()
    assert (await box.call(name, arguments)).error is None
    taken = time.monotonic() - began
    after = whole(ws)
    back = {"create_backup": "", "search_files": "", "undo_changes": ""}
    if back.get(name, "undo_changes"):
        assert (await box.call("undo_changes", {})).error is None
    if name == "undo_changes":
        (ws / "gone").unlink(missing_ok=True)
        (ws / "gone").write_text("x")
        assert (await box.call("delete_path", {"path": "gone"})).error is None
    assert whole(ws) == before
    chooser = random.Random(case)
    for share in (0.4,):
        if name == "create_backup":
            arguments = {**arguments, "name": f"at-{share}"}
        task = asyncio.create_task(box.call(name, arguments))
        # The moment is the subject.
        await asyncio.sleep(taken * share * chooser.uniform(0.5, 1.5))
        task.cancel()
        (outcome,) = await asyncio.gather(task, return_exceptions=True)
        now = whole(ws)
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, asyncio.CancelledError)
            assert now in (before, after)
        else:
            assert outcome.error is None
        await nothing_is_left(ws)
        assert box.use(Processes).running == 0
        if now != before and name != "undo_changes":  # what is undone is not undone again
            assert (await box.call("undo_changes", {})).error is None
            assert whole(ws) == before
            return


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.parametrize("case", range(len(LONG)))
async def test_gone_on_with_as_a_job(box: Toolbox, ws: Path, case: int, stopped: bool) -> None:
    name, arguments = LONG[case]
    before = whole(ws)
    caller = Caller("mcp", answer_within=0.002)
    result = await box.call(name, arguments, caller=caller)
    assert result.error is None
    found = re.search(r'"id": ?"([^"]+)"|\bjob ([\w-]+)', result.render())
    assert found, result.render()
    job = found[1] or found[2]
    if stopped:
        assert (await box.call("stop_job", {"id": job})).error is None
    else:
        done = await box.call("read_job", {"id": job, "wait": "exit", "timeout": 40})
        assert done.data["state"] == "done", done.render()
        assert (whole(ws) != before) == (name not in ("create_backup", "search_files"))
    state = (await box.call("read_job", {"id": job, "wait": "exit", "timeout": 30})).data["state"]
    assert state in (("stopped", "done") if stopped else ("done",)), state
    assert leftovers(ws) == []
    assert box.use(Processes).running == 0
    if whole(ws) != before:
        assert (await box.call("undo_changes", {})).error is None
    assert whole(ws) == before
