"""What git is in the middle of while a program runs in the background: whose it is, nobody can see,
so what it would do decides."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.execution.runs.conftest import RunBench
from tests.execution.runs.test_repositories import git

WHO = ["-c", "user.name=A", "-c", "user.email=a@a.example"]
LOOKS_SECONDS = 1.0
"""In which the guard has looked at what was made."""


@pytest.fixture
def forked(root: Path) -> Path:
    """A repository whose two branches change one line, on the second of them."""
    git(root, "init", "-q", "-b", "main")
    commit(root, "f", "a")
    git(root, "checkout", "-qb", "other")
    commit(root, "f", "b")
    commit(root, "g", "g")
    git(root, "checkout", "-q", "main")
    commit(root, "f", "c")
    git(root, "checkout", "-q", "other")
    return root


def commit(root: Path, name: str, text: str) -> None:
    (root / name).write_text(f"{text}\n")
    git(root, "add", name)
    git(root, *WHO, "commit", "-qm", text)


def attempt(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["git", *WHO, "-c", "core.editor=true", *words]
    return subprocess.run(command, cwd=root, text=True, capture_output=True, check=False)


async def test_a_rebase_of_the_user_goes_on_beside_a_job(bench: RunBench, forked: Path) -> None:
    running = await bench.start("sleep 60")
    assert attempt(forked, "rebase", "-X", "patience", "main").returncode
    await asyncio.sleep(LOOKS_SECONDS)
    (forked / "f").write_text("both\n")
    git(forked, "add", "f")
    going_on = attempt(forked, "rebase", "--continue")
    assert not going_on.returncode, going_on.stderr
    assert git(forked, "log", "--format=%s").split() == ["g", "b", "c", "a"]
    await running.finish()
    assert not list(forked.rglob("*.refused"))


async def test_picks_of_the_user_go_on_beside_a_job(bench: RunBench, forked: Path) -> None:
    git(forked, "checkout", "-q", "main")
    running = await bench.start("sleep 60")
    assert attempt(forked, "cherry-pick", "other~1", "other").returncode
    await asyncio.sleep(LOOKS_SECONDS)
    (forked / "f").write_text("both\n")
    git(forked, "add", "f")
    outcome = await running.finish()
    assert not any("put aside" in note for note in outcome.notes), outcome.notes
    going_on = attempt(forked, "cherry-pick", "--continue")
    assert not going_on.returncode, going_on.stderr
    assert git(forked, "log", "--format=%s").split() == ["g", "b", "c", "a"]


async def test_what_a_job_adds_to_a_rebase_is_put_aside(bench: RunBench, forked: Path) -> None:
    running = await bench.start(
        "until [ -e go ]; do sleep 0.05; done; mkdir -p .git/rebase-merge;"
        "echo 'exec touch owned' > .git/rebase-merge/git-rebase-todo; echo tried; sleep 60"
    )
    (forked / "go").touch()
    async for data in running.confined.read("stdout"):
        if b"tried" in data:
            break
    outcome = await running.finish()
    assert any("it has the order 'exec' to come" in note for note in outcome.notes), outcome.notes
    attempt(forked, "rebase", "--continue")
    assert not (forked / "owned").exists()


async def test_a_new_repository_of_the_user_loses_its_hooks_alone(
    bench: RunBench, root: Path
) -> None:
    running = await bench.start("sleep 60")
    git(root, "init", "-q", "new")
    hook = root / "new/.git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    async with asyncio.timeout(30):
        while hook.exists():
            await asyncio.sleep(0.02)
    await running.finish()
    assert (root / "new/.git/hooks.refused/pre-commit").read_text() == "#!/bin/sh\n"
    git(root / "new", "status")
