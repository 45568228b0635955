"""Work in a repository is not lost where our process is killed in the middle of a command."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from pathlib import Path

import pytest

from tests.conditions import until
from tests.tools.git.made import git, make_repository, on_a_side
from tests.tools.git.test_local import do
from toolcrib import Toolbox

CHILD = Path(__file__).with_name("busy_child.py")
ROUNDS = 4


def everything(repo: Path) -> str:
    """All that can be found: files, and whatever a reference, a log or our references lead to."""
    files = [p for p in repo.rglob("*") if p.is_file() and ".git" not in p.relative_to(repo).parts]
    listed = git(repo, "rev-list", "--objects", "--all", "--reflog", "--indexed-objects")
    hashes = dict.fromkeys(line.split(" ", 1)[0] for line in listed.splitlines())
    texts = [git(repo, "cat-file", "--batch", stdin="\n".join(hashes))]
    return "\n".join([*(p.read_text() for p in files), *texts])


async def words_until_killed(repo: Path, seed: int, chance: random.Random) -> list[str]:
    """Let a process work, kill it at some moment, and give the words that it wrote."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(CHILD), str(repo), str(seed), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    words: list[str] = []
    for _ in range(chance.randint(1, 10)):
        line = (await process.stdout.readline()).decode().strip()
        assert not line.startswith("FAULT"), line
        words += [line] if line else []
    await asyncio.sleep(chance.random() * 0.6)  # any moment of a command: time is the subject
    if process.returncode is None:
        os.kill(process.pid, signal.SIGKILL)
    rest = (await process.stdout.read()).decode().split()
    await process.wait()
    return words + [word for word in rest if word.startswith("work-")]


@pytest.mark.parametrize("batch", range(50))
async def test_no_work_is_lost(batch: int, tmp_path: Path) -> None:
    for number in range(ROUNDS):
        seed = batch * 1000 + number
        chance = random.Random(seed)
        repo = make_repository(tmp_path / f"{number}")
        on_a_side(repo, **{"a.txt": "side\n", "side.txt": "x\n"})
        words = await words_until_killed(repo, seed, chance)
        # The janitor ends git too, after which a lock of it may be left.
        await until(lambda place=repo: not _is_used(place))
        (repo / ".git" / "index.lock").unlink(missing_ok=True)
        found = everything(repo)
        assert [word for word in words if word not in found] == [], seed
        git(repo, "fsck", "--connectivity-only")
        async with Toolbox(workspace=repo) as box:
            await do(box, "git_status")
            await do(box, "list_changes")


def _is_used(repo: Path) -> bool:
    """Whether git works in the repository."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                is_near = str(repo).encode() in (entry / "environ").read_bytes()
                if is_near and b"git" in (entry / "cmdline").read_bytes().split(b"\0")[0]:
                    return True  # others, such as the janitor, may be there longer
            except OSError:
                continue
    return False
