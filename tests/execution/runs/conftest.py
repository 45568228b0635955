"""A workspace, and real programs that run on it behind the real boundary."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import absent
from tests.files.changes.conftest import Bench, Picture, picture
from toolcrib.execution.runs.outcome import RunOutcome, RunResult
from toolcrib.execution.runs.runs import LiveRun, Runs
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.files.changes.undo_log import LoggedStep

__all__ = ["Picture", "RunBench", "picture"]

SECONDS = 20.0
LEVEL = "TOOLCRIB_RUN__LEVEL"


class RunBench(Bench):
    """One process that runs programs in a folder."""

    @property
    def runs(self) -> Runs:
        return self.services.use(Runs)

    async def sh(self, script: str, commit: Any = None, **more: Any) -> RunResult:
        """Run a shell script in the root."""
        more = {"seconds": SECONDS, "cwd": self.path("."), "tool": "run_command", **more}
        return await self.runs.run(["/bin/sh", "-c", script], self.ctx(), commit=commit, **more)

    async def start(self, script: str, **more: Any) -> LiveRun:
        """Start a shell script in the background."""
        return await self.runs.start(
            ["/bin/sh", "-c", script], self.ctx(), tool="run_command", cwd=self.path("."), **more
        )

    async def changed(self, script: str, commit: Any = None, **more: Any) -> RunOutcome:
        """What a script that succeeds changed."""
        ran = await self.sh(script, commit, **more)
        assert ran.exit_code == 0, str(ran.stderr)
        return ran.outcome

    async def apply_pending(self, pending: str) -> RunOutcome:
        return await self.runs.apply(pending, self.ctx())

    async def drop_pending(self, pending: str) -> RunOutcome:
        return await self.runs.drop(pending, self.ctx())

    async def steps(self) -> list[LoggedStep]:
        return await self.changes.steps()


Opened = Callable[..., RunBench]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
async def opened(root: Path) -> AsyncIterator[Opened]:
    """Opens benches, each as a process of its own; closed at the end."""
    benches: list[RunBench] = []

    def make(level: str = "", **sections: dict[str, object]) -> RunBench:
        run = {**({"level": level} if level else {}), **sections.pop("run", {})}
        bench = RunBench.on(root, run=run, **sections)
        assert isinstance(bench, RunBench)
        benches.append(bench)
        return bench

    yield make
    for bench in benches:
        await bench.services.close()


@pytest.fixture
async def bench(opened: Opened) -> RunBench:
    """Runs see the workspace through an overlay."""
    made = opened()
    await need_overlay(made)
    return made


@pytest.fixture(params=["none", "kernel"])
async def bare(request: pytest.FixtureRequest, opened: Opened) -> RunBench:
    """Runs work on the files themselves, without a boundary or at the level that has no overlay."""
    made = opened(request.param)
    report = await made.services.use(Sandbox).report()
    if report.level != request.param:
        absent(f"the level {request.param} does not work here: {'; '.join(report.why)}")
    return made


async def need_overlay(bench: RunBench) -> None:
    report = await bench.services.use(Sandbox).report()
    if os.environ.get(LEVEL) == "kernel":
        pytest.skip(f"there are no overlays at the level kernel, which {LEVEL} asks for")
    if report.level != "strong":
        absent(f"the sandbox is not strong here: {'; '.join(report.why)}")


def run_folders(tmp_path: Path) -> list[Path]:
    """Folders of runs that are on disk."""
    top = tmp_path / "state" / "runs"
    return [path for path in top.glob("*/*") if path.is_dir() and path.name != "contents"]


async def settle(seconds: float = 0.05) -> None:
    """Let the clock of the file system tick, so that a change is after the start of a run."""
    await asyncio.sleep(seconds)


@pytest.fixture(params=["auto", "kernel", "none"])
async def each(request: pytest.FixtureRequest, opened: Opened) -> RunBench:
    """At each level: through an overlay, and on the files themselves."""
    bench = opened(request.param)
    if request.param == "auto":
        await need_overlay(bench)
    return bench
