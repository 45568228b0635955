"""What git did for itself alone, the index anew or the time of an object: nobody's change."""

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


async def test_new_times_of_objects_make_no_step(bench: RunBench, root: Path) -> None:
    """Git gives one to each object that it would write and that is there."""
    repository(root)
    git = ["git", "-C", str(root)]
    subprocess.run([*git, "clone", "-q", "--bare", ".", "store"], check=True, timeout=20)
    objects = [p for p in root.glob("**/objects/??/*") if p.is_file()]
    assert {path.relative_to(root).parts[0] for path in objects} == {".git", "store"}
    for path in objects:
        os.utime(path, (1, 1))
    outcome = await bench.changed("git hash-object -w a; touch store/objects/??/*")
    assert (outcome.state, outcome.step) == ("none", 0)
    assert {path.stat().st_mtime for path in objects} == {1}


@pytest.mark.parametrize(
    "command",
    ["chmod +x .git/objects/??/*", "touch plain/objects/aa/bb", "touch plain/objects/HEAD"],
)
async def test_other_changes_do(bench: RunBench, root: Path, command: str) -> None:
    """Of the mode of an object, and of files in a folder that is only called so."""
    repository(root)
    (root / "plain/objects/aa").mkdir(parents=True)
    for name in ("aa/bb", "HEAD"):
        (root / "plain/objects" / name).write_text("text\n")
    assert (await bench.changed(command)).state == "applied"
