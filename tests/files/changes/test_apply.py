"""All of a plan or nothing, and nothing lost."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conditions import until
from tests.files.changes.conftest import Bench, picture
from toolcrib.core.errors import (
    BadInput,
    Cancelled,
    Conflict,
    NotFound,
    PathDenied,
    TimedOut,
    TooLarge,
    ToolError,
)
from toolcrib.files.changes.step import Step

pytestmark = pytest.mark.rows("C028", "E05")


def left_behind(root: Path) -> list[str]:
    return [name for name in picture(root) if ".toolcrib-" in name]


async def test_writes_with_the_folders_above(bench: Bench, root: Path) -> None:
    applied = await bench.write("a/b/new.txt", b"hello")
    assert (root / "a/b/new.txt").read_bytes() == b"hello"
    assert applied.step == 1
    assert applied.paths == ("a", "a/b", "a/b/new.txt")
    assert not left_behind(root)


async def test_a_replaced_file_keeps_its_mode_and_attributes(bench: Bench, root: Path) -> None:
    file = root / "run.sh"
    file.write_bytes(b"one")
    file.chmod(0o751)
    try:
        os.setxattr(file, "user.note", b"kept")
        marked = True
    except OSError:
        marked = False
    await bench.write("run.sh", b"two")
    assert file.read_bytes() == b"two"
    assert file.stat().st_mode & 0o7777 == 0o751
    assert not marked or os.getxattr(file, "user.note") == b"kept"
    assert file.stat().st_nlink == 1


async def test_what_changed_since_it_was_read_is_refused(bench: Bench, root: Path) -> None:
    (root / "f").write_bytes(b"one")
    bench.read_first("f")
    (root / "f").write_bytes(b"their own")
    with pytest.raises(Conflict):
        await bench.write("f", b"two")
    assert (root / "f").read_bytes() == b"their own"
    bench.read_first("f")
    await bench.write("f", b"two")
    await bench.write("f", b"three")  # the conversation knows its own change
    assert (root / "f").read_bytes() == b"three"


async def test_expected_is_what_must_stand_there(bench: Bench, root: Path) -> None:
    (root / "f").write_bytes(b"one")
    for expected in ("", "1-2-3"):
        step = Step("x")
        step.write(bench.path("f"), b"two", expected=expected)
        with pytest.raises(Conflict):
            await bench.apply(step)
    gone = Step("x")
    gone.write(bench.path("new"), b"two", expected="1-2-3")
    with pytest.raises(Conflict):
        await bench.apply(gone)
    assert picture(root).keys() == {"f"}
    assert (root / "f").read_bytes() == b"one"


@pytest.mark.parametrize("bad", ["missing", "link", "fifo", ".env", "twin", "folder"])
async def test_one_bad_change_leaves_all_as_it_was(bench: Bench, root: Path, bad: str) -> None:
    (root / "f").write_bytes(b"one")
    (root / "link").symlink_to("f")
    (root / "twin").write_bytes(b"two names")
    os.link(root / "twin", root / "twin2")
    (root / "folder").mkdir()
    os.mkfifo(root / "fifo")
    before = picture(root)
    step = Step("x")
    step.write(bench.path("f"), b"changed")
    step.write(bench.path("deep/er/g"), b"new")
    if bad == "missing":
        step.delete(bench.path("missing"))
    else:
        step.write(bench.path(bad), b"changed")
    with pytest.raises((PathDenied, NotFound, BadInput)) as caught:
        await bench.apply(step)
    assert caught.value.hint
    assert picture(root) == before
    assert await bench.changes.steps() == []


class Failing:
    """Content that stops in the middle."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def chunks(self) -> Iterator[bytes]:
        yield b"half" * 1000
        raise self.error


async def test_a_failure_in_the_middle_leaves_all_as_it_was(bench: Bench, root: Path) -> None:
    (root / "f").write_bytes(b"one")
    (root / "tree").mkdir()
    (root / "tree/leaf").write_bytes(b"leaf")
    before = picture(root)
    step = Step("x")
    step.write(bench.path("f"), b"changed")
    step.delete(bench.path("tree"))
    step.write(bench.path("tree"), b"a file where the folder was")  # a group of its own
    step.move(bench.path("f"), bench.path("moved/f"))
    step.write(bench.path("last"), Failing(Cancelled("stop")))
    with pytest.raises(Cancelled):
        await bench.apply(step)
    assert picture(root) == before
    assert await bench.changes.steps() == []


async def test_changes_of_one_plan_build_on_each_other(bench: Bench, root: Path) -> None:
    (root / "a").write_bytes(b"one")
    before = picture(root)
    step = Step("x")
    step.move(bench.path("a"), bench.path("sub/b"))
    step.write(bench.path("sub/b"), b"two")
    step.make_folder(bench.path("tree/x"))
    step.write(bench.path("tree/x/f"), b"three")
    step.move(bench.path("tree"), bench.path("tree2"))
    step.write(bench.path("tree2/x/f"), b"four")
    step.delete(bench.path("tree2/x"))
    step.write(bench.path("tree2/x"), b"five")
    applied = await bench.apply(step)
    assert {k: (root / k).read_bytes() for k in ("sub/b", "tree2/x")} == {
        "sub/b": b"two",
        "tree2/x": b"five",
    }
    assert picture(root).keys() == {"sub", "sub/b", "tree2", "tree2/x"}
    assert applied.step == 1
    after = picture(root)
    await bench.undo()
    assert picture(root) == before
    await bench.undo()
    assert {k: v[-1] for k, v in picture(root).items()} == {k: v[-1] for k, v in after.items()}


async def test_deadline_and_cancellation(bench: Bench, root: Path) -> None:
    (root / "f").write_bytes(b"one")
    before = picture(root)
    step = Step("x")
    step.write(bench.path("f"), b"changed")
    with pytest.raises(TimedOut):
        await bench.changes.apply(step, bench.ctx(time.monotonic() - 1))

    began = threading.Event()

    class Slow:
        def chunks(self) -> Iterator[bytes]:
            while True:
                began.set()
                time.sleep(0.01)
                yield b"x"

    slow = Step("x")
    slow.write(bench.path("f"), b"changed")
    slow.write(bench.path("g"), Slow())
    task = asyncio.create_task(bench.apply(slow))
    await until(began.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert picture(root) == before
    assert await bench.changes.steps() == []


async def test_two_at_once_on_one_file(bench: Bench, other: Bench, root: Path) -> None:
    """Whoever read before the other wrote is refused: no change is lost."""
    (root / "count").write_bytes(b"0")
    refused = 0

    async def add(worker: Bench) -> None:
        nonlocal refused
        done = 0
        while done < 25:
            path = worker.path("count")
            with path.open_read() as handle:
                number, mark = int(handle.file.read()), handle.fingerprint
            worker.session.reads.clear()
            step = Step("x")
            step.write(path, str(number + 1).encode(), expected=mark)
            try:
                await worker.apply(step)
                done += 1
            except Conflict:
                refused += 1

    await asyncio.gather(add(bench), add(other), add(bench))
    assert (root / "count").read_bytes() == b"75"
    assert refused
    assert not left_behind(root)


async def test_one_of_many_makes_a_new_file(bench: Bench, other: Bench, root: Path) -> None:
    async def create(worker: Bench, number: int) -> bool:
        step = Step("x")
        step.write(worker.path("new"), str(number).encode(), expected="")
        try:
            await worker.apply(step)
        except Conflict:
            return False
        return True

    won = await asyncio.gather(*(create((bench, other)[n % 2], n) for n in range(20)))
    assert sum(won) == 1
    assert (root / "new").read_bytes() == str(won.index(True)).encode()


async def test_deleting_what_undo_cannot_keep(root: Path) -> None:
    bench = Bench.on(root, undo={"max_file_bytes": 1000})
    (root / "big").write_bytes(bytes(5000))
    with pytest.raises(TooLarge):
        await bench.delete("big")
    with pytest.raises(TooLarge, match="more than undo keeps"):
        await bench.write("big", b"small")
    assert (root / "big").stat().st_size == 5000
    by_run = Step("x", ignores_reads=True)
    by_run.write(bench.path("big"), b"small")
    applied = await bench.apply(by_run)
    assert not applied.undoable
    assert "cannot be brought back" in applied.note
    with pytest.raises(ToolError, match="cannot be undone"):
        await bench.undo()
    step = Step("x")
    step.delete(bench.path("big"), permanent=True)
    assert not (await bench.apply(step)).undoable
    assert picture(root) == {}
    await bench.services.close()


async def test_never_git_nor_our_own_state(root: Path) -> None:
    (root / "repo/.git").mkdir(parents=True)
    (root / "repo/code").write_bytes(b"x")
    bench = Bench.on(root.parent)  # the state is inside of the workspace
    await bench.write("ws/f", b"x")
    for name in ("ws/repo", "ws/repo/.git", "state", ".", "ws/repo/.git/hooks"):
        with pytest.raises((PathDenied, NotFound)):
            await bench.delete(name)
    for name in ("state/undo", "state"):
        step = Step("x")
        step.move(bench.path(name), bench.path("elsewhere"))
        with pytest.raises(PathDenied):
            await bench.apply(step)
    assert (root / "repo/code").exists()
    step = Step("x")
    step.move(bench.path("ws/repo"), bench.path("ws/renamed"))  # protected before and after
    await bench.apply(step)
    assert (root / "renamed/.git").is_dir()
    await bench.services.close()


async def test_moving_does_not_lift_protection(bench: Bench, root: Path) -> None:
    (root / ".docker").mkdir()
    (root / ".docker/config.json").write_bytes(b"secret")
    (root / "fine/fish").mkdir(parents=True)
    (root / "fine/fish/config.fish").write_bytes(b"run me")
    for source, target in ((".docker", "docker"), ("fine", ".config")):
        step = Step("x")
        step.move(bench.path(source), bench.path(target))
        with pytest.raises(PathDenied):
            await bench.apply(step)
    assert (root / ".docker/config.json").exists()


async def test_what_is_kept_is_private(bench: Bench, root: Path, tmp_path: Path) -> None:
    (root / "f").write_bytes(b"secret words")
    await bench.write("f", b"two")
    state = tmp_path / "state" / "undo"
    stored = [p for p in state.rglob("*") if p.is_file()]
    assert stored
    assert all(p.stat().st_mode & 0o077 == 0 for p in [state, *state.rglob("*")])
    assert all(b"secret words" not in p.read_bytes() for p in stored)
