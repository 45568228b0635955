"""What undo needs of a run in the background, while other servers run things on the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.execution.runs.conftest import Opened, RunBench, need_overlay
from toolcrib.execution.runs.runs import LiveRun


async def until(running: LiveRun, word: bytes) -> None:
    async for data in running.confined.read("stdout"):
        if word in data:
            break


async def begun(bench: RunBench, root: Path) -> LiveRun:
    """A job that changes a file as soon as it may, once it runs."""
    await need_overlay(bench)
    (root / "a").write_text("old\n")
    script = "echo begun; until test -e go; do sleep 0.01; done; echo new > a; echo done; sleep 60"
    running = await bench.start(script)
    await until(running, b"begun")
    return running


async def undone(bench: RunBench, running: LiveRun, root: Path) -> str:
    await until(running, b"done")
    assert (root / "a").read_text() == "new\n"
    await running.finish()
    await bench.undo()
    return (root / "a").read_text()


@pytest.mark.parametrize("url", ["", "sqlite://"])
async def test_the_first_run_of_another_server_removes_nothing(
    url: str, opened: Opened, root: Path
) -> None:
    bench = opened(**({"store": {"url": url}} if url else {}))
    running = await begun(bench, root)
    await opened().changed("echo > go")
    assert await undone(bench, running, root) == "old\n"


async def test_what_runs_need_is_not_swept(
    opened: Opened, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.files.changes.snapshots.MAX_STORED_BYTES", 0)
    monkeypatch.setattr("toolcrib.state.blobs.YOUNG_SECONDS", -60.0)
    bench, other = opened(), opened()
    (root / "b").write_text("other\n")
    running = await begun(bench, root)
    (root / "a").write_text("meanwhile\n")
    second = await other.start("sleep 60")  # the index has what it saw
    (root / "go").touch()
    assert await undone(bench, running, root) == "old\n"
    await second.finish()


async def test_contents_that_are_gone_are_kept_again(
    opened: Opened, root: Path, tmp_path: Path
) -> None:
    bench = opened()
    first = await begun(bench, root)
    await first.finish()
    for path in (tmp_path / "state" / "runs").glob("*/contents/*/*"):
        path.unlink()
    running = await begun(bench, root)
    (root / "go").touch()
    assert await undone(bench, running, root) == "old\n"
