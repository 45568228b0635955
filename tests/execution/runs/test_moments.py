"""A server that dies, or whose disk is full, at any moment while it makes the changes of a run."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.execution.runs.conftest import Opened, RunBench, need_overlay, picture

STOPPER = Path(__file__).with_name("stopper.py")
SCRIPT = r"""
git init -q; git config user.name n; git config user.email e; echo a > a; git add a
git commit -qm x; for i in 1 2 3; do echo much longer than ten bytes > f$i; done
mkdir -p d/e; echo x > d/e/x; rm gone; rm -r tree; mkdir tree; echo y > tree/y; chmod 700 m
ln -s a l; rm swap; mkdir swap; echo s > swap/s; rm -r was; echo file > was
"""


def fill(root: Path) -> None:
    for name in ("gone", "f1", "m", "swap", "tree/a/b", "was/x/y"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{name}\n")


async def stopped(root: Path, pending: str, moment: int, how: str) -> tuple[int, str]:
    """The exit code of a process that applies a held run, and what it said."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(STOPPER), str(root), pending, str(moment), how, stdout=PIPE
    )
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, out.decode()


def junk(names: object) -> list[str]:
    return [name for name in map(str, names) if name.rsplit("/")[-1].startswith(".toolcrib-")]  # type: ignore[call-overload]


@pytest.fixture
async def ready(opened: Opened, root: Path) -> tuple[RunBench, str]:
    """A bench, and a held run that changes all kinds of things."""
    fill(root)
    bench = opened()
    await need_overlay(bench)
    pending = await bench.changed(SCRIPT, "ask")
    assert pending.pending_id
    return bench, pending.pending_id


@pytest.mark.timeout(90)
@pytest.mark.parametrize("moment", [3, 20, 45, 70, 95, 120, 150, 180, 205, 225])
async def test_all_or_nothing_after_a_kill(
    ready: tuple[RunBench, str], opened: Opened, root: Path, moment: int
) -> None:
    before = picture(root)
    code, output = await stopped(root, ready[1], moment, "kill")
    assert code == -9, output
    bench = opened()
    await bench.changes.recover()
    now = picture(root)
    assert not junk(now)
    assert not any("could not" in warning for warning in bench.changes.warnings)
    if now == before:
        assert not await bench.steps()
        assert (await bench.apply_pending(ready[1])).state == "applied"
    assert (root / ".git/config").exists()
    await bench.undo()
    assert picture(root) == before


@pytest.mark.timeout(90)
@pytest.mark.parametrize("moment", [1, 30, 60, 110])
async def test_all_or_nothing_when_the_disk_is_full(
    ready: tuple[RunBench, str], root: Path, moment: int
) -> None:
    bench, pending = ready
    before = picture(root)
    code, output = await stopped(root, pending, moment, "full")
    assert code == 0
    assert "held" in output or "failed" in output, output
    assert "cannot be" in output, output
    assert picture(root) == before
    assert (await bench.apply_pending(pending)).state == "applied"
    await bench.undo()
    assert picture(root) == before
