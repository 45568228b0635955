"""A server that is killed in the middle: nothing half, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

import pytest

from tests.execution.runs.conftest import Opened, RunBench, need_overlay, picture, run_folders
from toolcrib.system.removal import remove

RUNNER = Path(__file__).with_name("runner.py")
FILES = 40
SCRIPT = f"for i in $(seq {FILES}); do echo new > f$i; done; mkdir -p d/e; echo x > d/e/x; rm gone"


async def runner(root: Path, commit: str, script: str) -> Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(RUNNER), str(root), commit, script, stdout=PIPE, stderr=DEVNULL
    )
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), 60)
    assert line == b"ready\n"
    return process


async def kill(process: Process) -> None:
    process.kill()
    await process.wait()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("after", [0.02, 0.06, 0.1, 0.14, 0.18, 0.22, 0.26, 0.3, 0.4, 0.6])
async def test_applied_work_is_never_half(
    opened: Opened, root: Path, tmp_path: Path, after: float
) -> None:
    (root / "gone").write_text("gone\n")
    (root / "f1").write_text("old\n")
    before = picture(root)
    process = await runner(root, "auto", SCRIPT)
    await asyncio.sleep(after)
    await kill(process)
    bench = opened()
    await need_overlay(bench)
    await bench.changed("true")
    now = picture(root)
    names = {name.rsplit("/")[-1] for name in now}
    assert not any(name.startswith(".toolcrib-") for name in names)
    if now != before:
        assert len(now) == FILES + 3
        assert "gone" not in now
        assert (await bench.steps())[0].tool == "run_command"
        await bench.undo()
        assert picture(root) == before
    assert run_folders(tmp_path) == []


async def test_the_folder_of_a_dead_process_is_removed_and_a_held_one_kept(
    opened: Opened, root: Path, tmp_path: Path
) -> None:
    bench = opened()
    await need_overlay(bench)
    pending = await bench.changed("echo held > held", "ask")
    process = await runner(root, "auto", "echo x > x; sleep 60")
    for _ in range(200):
        if len(run_folders(tmp_path)) == 2:
            break
        await asyncio.sleep(0.05)
    other = opened()
    await other.changed("true")
    assert len(run_folders(tmp_path)) == 2, "the folder of a living process is not touched"
    await kill(process)
    third = opened()
    await third.changed("true")
    assert [path.name for path in run_folders(tmp_path)] == [pending.pending_id]
    assert (await third.apply_pending(pending.pending_id)).state == "applied"
    assert sorted(os.listdir(root)) == ["held"]


async def test_what_a_store_in_memory_held_goes_with_its_process(
    opened: Opened, root: Path, tmp_path: Path
) -> None:
    bench = opened(store={"url": "sqlite://"})
    await need_overlay(bench)
    pending = await bench.changed("echo x > x", "ask")
    assert (await bench.apply_pending(pending.pending_id)).state == "applied"
    await bench.changed("echo y > y", "ask")
    await bench.services.close()
    assert run_folders(tmp_path) == []


async def test_a_workspace_that_is_gone(bench: RunBench, root: Path) -> None:
    from toolcrib.core.errors import ToolError

    pending = await bench.changed("echo x > x", "ask")
    root.rename(root.with_name("moved"))
    with pytest.raises(ToolError):
        await bench.apply_pending(pending.pending_id)
    root.with_name("moved").rename(root)
    assert (await bench.apply_pending(pending.pending_id)).state == "applied"


def test_a_deep_and_shut_tree_is_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    fd = os.open(top, os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("d" * 20, dir_fd=fd)
        inner = os.open("d" * 20, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
    (top / "shut/in").mkdir(parents=True)
    (top / "shut/in").chmod(0)
    (top / "shut").chmod(0)
    (top / "out").symlink_to(tmp_path)
    remove(top)
    assert not top.exists()
    assert tmp_path.exists()
