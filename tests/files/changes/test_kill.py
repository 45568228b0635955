"""Killed at any moment: no half-written file, nothing acknowledged lost, all of a plan or none."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.files.changes.conftest import Bench, picture
from tests.files.changes.writer import content
from toolcrib.toolbox import Toolbox

HERE = Path(__file__).parents[3]
pytestmark = pytest.mark.rows("C028", "E05")


def run_and_kill(root: Path, arguments: list[str], seconds: float, least: int = 0) -> list[int]:
    """Let a writer work, and kill it at any moment; the numbers that it acknowledged.

    The moment is the subject: so many seconds after `least` of them.
    """
    argv = [sys.executable, "-m", "tests.files.changes.writer", str(root), *arguments]
    with subprocess.Popen(argv, cwd=HERE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        first = [process.stdout.readline() for _ in range(least)]
        time.sleep(seconds)
        process.kill()
        rest = process.stdout.read().split("\n")[:-1]
        return [int(line) for line in [*first, *rest]]


def is_whole(path: Path) -> bool:
    digest, _, body = path.read_bytes().partition(b"\n")
    return hashlib.sha256(body).hexdigest().encode() == digest


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.timeout(120)
async def test_single_writes(root: Path, seed: int) -> None:
    acknowledged = run_and_kill(root, ["1000"], random.Random(seed).random(), least=20)
    assert acknowledged
    bench = Bench.on(root)
    steps = await bench.changes.steps(limit=2000)  # the next use takes back what is unfinished
    names = picture(root)
    assert not [name for name in names if ".toolcrib-" in name]
    last = acknowledged[-1]
    for number in acknowledged:
        if number + 60 > last:  # not written again since, or perhaps once more
            path = root / f"d{number % 3}/f{number % 20}"
            assert path.read_bytes() in (
                content(f"f{number % 20}", number),
                content(f"f{number % 20}", number + 60),
            )
    files = [root / name for name, found in names.items() if found[0] == "file"]
    assert all(map(is_whole, files))
    assert len(steps) in (len(acknowledged), len(acknowledged) + 1)
    await bench.undo(len(steps))
    assert picture(root) == {}
    await bench.services.close()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.timeout(120)
async def test_plans(root: Path, seed: int) -> None:
    (root / "round0").mkdir()
    (root / "tree").mkdir()
    (root / "tree/old").write_bytes(b"x")
    before = picture(root)
    acknowledged = run_and_kill(root, ["plan", "12"], random.Random(seed).random(), least=2)
    bench = Bench.on(root)
    steps = await bench.changes.steps(limit=2000)
    rounds = [p.name for p in root.glob("round*")]
    assert len(rounds) == 1
    made = int(rounds[0].removeprefix("round"))
    assert made in (len(acknowledged), len(acknowledged) + 1)
    assert len(steps) == made
    if made:
        for index in range(12):
            assert (root / f"all/{index}").read_bytes() == content(f"{index}", made - 1)
        assert (root / "tree/new/leaf").read_text() == str(made - 1)
        await bench.undo(made)
    assert picture(root) == before
    await bench.services.close()


async def test_the_first_call_that_reads_puts_it_right(root: Path) -> None:
    """After a restart nobody sees a half-made step, even where nothing is changed."""
    (root / "round0").mkdir()
    (root / "tree").mkdir()
    for _ in range(3):
        run_and_kill(root, ["plan", "40"], 0.3)
        async with Toolbox(workspace=root) as box:
            await box.call("list_directory", {})
        assert not [name for name in picture(root) if ".toolcrib-" in name]
        for folder in root.glob("round*"):
            folder.rename(root / "round0")


async def test_what_was_changed_after_the_kill_is_left(root: Path) -> None:
    """A step that was cut off is taken back, but not over what somebody wrote since."""
    (root / "round0").mkdir()
    (root / "tree").mkdir()
    run_and_kill(root, ["plan", "40"], 0.25)
    theirs = root / "all/0"
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_bytes(b"by hand")
    bench = Bench.on(root)
    await bench.changes.steps()
    assert theirs.read_bytes() == b"by hand"
    assert not [name for name in picture(root) if ".toolcrib-" in name]
    await bench.services.close()


async def test_a_living_process_is_not_disturbed(bench: Bench, root: Path) -> None:
    argv = [sys.executable, "-m", "tests.files.changes.writer", str(root), "60"]
    with subprocess.Popen(argv, cwd=HERE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while process.poll() is None:
            await bench.changes.steps()
            bench.session.reads.clear()
            await bench.write("mine", os.urandom(10))
        assert len(process.stdout.read().split()) == 60
    names = [n for n, found in picture(root).items() if found[0] == "file" and n != "mine"]
    assert len(names) == 60
    assert all(is_whole(root / name) for name in names)
