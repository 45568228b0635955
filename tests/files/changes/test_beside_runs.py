"""A step beside a run that goes on: what is protected stays unread, what is stored out of reach."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.files.changes.conftest import Bench, picture
from toolcrib.core.errors import Busy, Conflict
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Change, Step
from toolcrib.files.live_runs import begin_run
from toolcrib.files.trees import EntryState

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is run there")


class Run:
    """A run goes on, as far as a step can see."""

    fd = -1

    def begin(self) -> None:
        self.fd = begin_run()

    def end(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


@pytest.fixture
def run() -> Iterator[Run]:
    found = Run()
    found.begin()
    yield found
    found.end()


@pytest.mark.parametrize("name", [".env", "deep/id_rsa", "repository/.git/config"])
async def test_what_must_not_be_read_does_not_come_back_before_a_run(
    bench: Bench, root: Path, run: Run, name: str
) -> None:
    place = root / "s" / name
    place.parent.mkdir(parents=True)
    place.write_text("KEY=1\n")
    step = Step("move_path")
    step.move(bench.path("s"), bench.path("t"))
    if ".git" not in name:
        before = picture(root)
        await bench.delete("s")
        with pytest.raises(Busy, match=name) as info:
            await bench.undo()
        assert "list_jobs" in info.value.hint
        assert not list(root.iterdir())
        run.end()
        await bench.undo()
        assert picture(root) == before
        run.begin()
    with pytest.raises(Busy, match=name):
        await bench.apply(step)
    run.end()
    await bench.apply(step)
    assert (root / "t" / name).read_text() == "KEY=1\n"


async def test_anything_else_is_changed_beside_a_run(bench: Bench, root: Path, run: Run) -> None:
    assert run.fd >= 0
    await bench.write("s/a", b"a")
    await bench.delete("s")
    await bench.undo()
    step = Step("move_path")
    step.move(bench.path("s"), bench.path("t"))
    await bench.apply(step)
    assert (root / "t/a").read_bytes() == b"a"


def taken_over(bench: Bench, made: Path) -> Step:
    """A step that takes over a folder with one file, as after a run."""
    (made / "inner").mkdir(parents=True)
    (made / "inner/a").write_text("a")
    names = ("", "inner", "inner/a")
    tree = [EntryState.of((made / name).lstat(), name) for name in names]
    digest = bench.services.use(Changes).blobs.add(iter([b"a"]))[0]
    tree[-1] = EntryState.of((made / "inner/a").lstat(), "inner/a", digest)
    step = Step("run_command", ignores_reads=True)
    step.changes.append(
        Change("create_tree", bench.path("new"), tree=tuple(tree), stored=str(made))
    )
    return step


async def test_a_folder_that_a_run_may_stand_in_is_not_carried_out(
    bench: Bench, root: Path, tmp_path: Path, run: Run
) -> None:
    await bench.apply(taken_over(bench, tmp_path / "made"))
    before = picture(root)
    inside = os.open(root / "new/inner", os.O_RDONLY | os.O_DIRECTORY)
    await bench.undo()
    try:
        with pytest.raises(FileNotFoundError):
            os.close(os.open("b", os.O_CREAT | os.O_WRONLY, dir_fd=inside))
    finally:
        os.close(inside)
    assert not list(tmp_path.glob("state/undo/*/trees/*/tree"))
    run.end()
    await bench.undo()
    assert picture(root) == before


@pytest.mark.parametrize("what", ["content", "mode", "new", "link"])
async def test_a_stored_tree_that_was_changed_does_not_come_back(
    bench: Bench, root: Path, tmp_path: Path, what: str
) -> None:
    await bench.apply(taken_over(bench, tmp_path / "made"))
    await bench.undo()
    (tree,) = tmp_path.glob("state/undo/*/trees/*/tree")
    match what:
        case "content":
            (tree / "inner/a").write_text("b")
        case "mode":
            (tree / "inner/a").chmod(0o777)
        case "new":
            (tree / "inner/b").write_text("b")
        case _:
            (tree / "inner/a").unlink()
            (tree / "inner/a").symlink_to("/etc/passwd")
    with pytest.raises(Conflict, match="changed"):
        await bench.undo()
    assert not list(root.iterdir())
    assert tree.is_dir()
