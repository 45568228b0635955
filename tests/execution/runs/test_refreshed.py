"""The index of a repository that git wrote anew for its own speed: nobody's change."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.execution.runs.conftest import RunBench

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")


def repository(root: Path) -> Path:
    """One with a file whose times are not those of the index; the index."""
    (root / "a").write_text("a\n")
    for words in ("init -q", "add a", "-c user.name=n -c user.email=e@x commit -qm one"):
        argv = ["git", "-C", str(root), *words.split()]
        subprocess.run(argv, check=True, capture_output=True, timeout=20)
    os.utime(root / "a", (1, 1))
    return root / ".git/index"


async def check(bench: RunBench, root: Path) -> None:
    repository(root)
    (root / "b").write_text("b\n")
    assert (await bench.changed("echo edit > b")).state == "applied"
    outcome = await bench.changed("git status --short")
    assert (outcome.state, outcome.step, outcome.files, outcome.more) == ("none", 0, (), 0)
    assert not any(".git" in note for note in outcome.notes), outcome.notes
    assert len(await bench.steps()) == 1
    await bench.undo()
    assert (root / "b").read_text() == "b\n"
    staged = await bench.changed("git add b")  # the index and an object
    assert (staged.state, staged.more) == ("applied", 2)
    mode = await bench.changed("git update-index --chmod=+x b")  # the index alone
    assert (mode.state, mode.more) == ("applied", 1)


async def test_makes_no_step(bench: RunBench, root: Path) -> None:
    await check(bench, root)


async def test_makes_none_on_the_files_themselves(bare: RunBench, root: Path) -> None:
    await check(bare, root)


async def test_git_did_write_it(bare: RunBench, root: Path) -> None:
    index = repository(root)
    before = index.read_bytes()
    assert (await bare.changed("git status --short")).state == "none"
    assert index.read_bytes() != before


async def test_beside_another_change_it_is_not_told(bench: RunBench, root: Path) -> None:
    repository(root)
    outcome = await bench.changed("echo new > c; git status --short")
    assert ([file.path for file in outcome.files], outcome.more) == (["c"], 0)
