"""Taking back: byte for byte, across processes, and never over what others did."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from pathlib import Path

import pytest

from tests.files.changes.conftest import Bench, picture
from toolcrib.core.config import data_folder
from toolcrib.core.errors import Conflict, NoResults
from toolcrib.files.changes.step import Step

pytestmark = pytest.mark.rows("C027")


def plant(root: Path) -> None:
    (root / "src/deep/empty").mkdir(parents=True)
    (root / "src/a.py").write_bytes(b"print()\r\n")
    (root / "src/a.py").chmod(0o755)
    (root / "src/deep/b.bin").write_bytes(bytes(range(256)) * 5000)
    (root / "src/link").symlink_to("a.py")
    (root / "src/out").symlink_to("/nowhere/at/all")
    (root / "src/deep").chmod(0o750)
    os.mkfifo(root / "src/pipe", 0o640)
    (root / b"src/\xff\xfe.txt".decode("utf-8", "surrogateescape")).write_bytes(b"odd name")
    os.utime(root / "src/a.py", ns=(10**18, 10**18))


async def test_a_deleted_tree_comes_back_as_it_was(bench: Bench, root: Path) -> None:
    plant(root)
    before = picture(root)
    await bench.delete("src")
    assert picture(root) == {}
    await bench.undo()
    assert picture(root) == before
    await bench.undo()  # the undo is a step: taking it back deletes again
    assert picture(root) == {}


async def test_the_last_steps_from_any_process(bench: Bench, other: Bench, root: Path) -> None:
    plant(root)
    before = picture(root)
    await bench.write("src/a.py", b"one")
    await other.write("src/new/c", b"two")
    await bench.delete("src/deep")
    await bench.write("src/a.py", b"three")
    steps = await other.changes.steps()
    assert [step.id for step in steps] == [4, 3, 2, 1]
    assert {step.session for step in steps} == {"one", "other"}
    await other.undo(4)
    assert picture(root) == before
    with pytest.raises(NoResults):
        await other.undo(9)


async def test_a_step_that_another_process_takes_back_is_left_to_it(
    bench: Bench, root: Path
) -> None:
    await bench.write("a", b"one")
    await bench.write("a", b"two")
    with contextlib.closing(sqlite3.connect(data_folder() / "toolcrib.db")) as store, store:
        store.row_factory = sqlite3.Row
        row = dict(store.execute("SELECT * FROM step ORDER BY id DESC LIMIT 1").fetchone())
        row |= {"undoes": json.dumps([row.pop("id")]), "token": "rival", "state": "open"}
        marks = ", ".join("?" * len(row))
        names = ", ".join(row)
        store.execute(f"INSERT INTO step ({names}) VALUES ({marks})", tuple(row.values()))
    with pytest.raises(Conflict, match="at this moment"):
        await bench.undo()
    assert (root / "a").read_bytes() == b"two"


async def test_one_file_of_many(bench: Bench, root: Path) -> None:
    step = Step("apply_patch")
    for name in "abc":
        (root / name).write_bytes(b"old")
        step.write(bench.path(name), b"new")
    await bench.apply(step)
    await bench.write("c", b"newer")
    await bench.undo(1, "b")
    assert {name: (root / name).read_bytes() for name in "abc"} == {
        "a": b"new",
        "b": b"old",
        "c": b"newer",
    }
    await bench.undo(2, "c")
    assert (root / "c").read_bytes() == b"old"
    assert (root / "a").read_bytes() == b"new"


async def test_the_rest_of_a_step_of_which_one_path_was_undone(bench: Bench, root: Path) -> None:
    (root / "a").write_bytes(b"old")
    step = Step("run_command")
    for name in ("a", "n", "d/b", "d/c"):
        step.write(bench.path(name), b"new")
    await bench.apply(step)
    for path, names in (("a", ["a"]), ("d/b", ["d/b"])):
        _, (undone,) = await bench.changes.undo(bench.ctx(), path=bench.path(path), standing=True)
        assert undone.paths == tuple(str(root / name) for name in names)
    (root / "a").write_bytes(b"by hand")
    assert [step.id for step in await bench.changes.steps(bench.path("d"), standing=True)] == [1]
    assert await bench.changes.steps(bench.path("d/b"), standing=True) == []
    _, (undone,) = await bench.changes.undo(bench.ctx(), standing=True)
    assert undone.paths == tuple(str(root / name) for name in ("n", "d", "d/c"))
    assert picture(root).keys() == {"a"}
    assert (root / "a").read_bytes() == b"by hand"
    assert await bench.changes.steps(standing=True) == []


async def test_the_rest_of_a_step_by_its_number(bench: Bench, root: Path) -> None:
    step = Step("run_command")
    step.write(bench.path("a"), b"new")
    step.write(bench.path("n"), b"new")
    await bench.apply(step)
    await bench.undo(1, "a")
    await bench.changes.undo(bench.ctx(), number=2)  # made again: it is part of the step again
    await bench.changes.undo(bench.ctx(), number=1)
    assert picture(root) == {}
    await bench.undo()
    await bench.undo(1, "a")
    assert picture(root).keys() == {"n"}
    await bench.changes.undo(bench.ctx(), number=4)
    assert picture(root).keys() == {"a", "n"}


async def test_a_file_that_became_a_folder(bench: Bench, root: Path) -> None:
    (root / "f").write_bytes(b"one")
    step = Step("run_command")
    step.delete(bench.path("f"))
    step.write(bench.path("f/g"), b"two")
    await bench.apply(step)
    applied = await bench.undo()
    assert (root / "f").read_bytes() == b"one"
    assert applied.note == ""
    assert os.listdir(root) == ["f"]


async def test_what_others_changed_is_not_touched(bench: Bench, root: Path) -> None:
    (root / "f").write_bytes(b"one")
    (root / "g").write_bytes(b"one")
    step = Step("x")
    step.write(bench.path("g"), b"two")
    step.write(bench.path("f"), b"two")
    await bench.apply(step)
    (root / "f").write_bytes(b"by hand")
    with pytest.raises(Conflict, match=r"\bf has changed"):
        await bench.undo()
    assert (root / "f").read_bytes() == b"by hand"
    assert (root / "g").read_bytes() == b"two"
    os.utime(root / "g")  # touched, and still the same
    await bench.undo(1, "g")
    assert (root / "g").read_bytes() == b"one"


@pytest.mark.parametrize("existed", [True, False])
async def test_an_edit_whose_time_was_set_back(bench: Bench, root: Path, existed: bool) -> None:
    if existed:
        (root / "f").write_bytes(b"old")
    await bench.write("f", b"run1")
    status = (root / "f").stat()
    (root / "f").write_bytes(b"USER")
    os.utime(root / "f", ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(Conflict, match=r"\bf has changed"):
        await bench.undo()
    assert (root / "f").read_bytes() == b"USER"


async def test_what_grew_in_a_new_folder_stays(bench: Bench, root: Path) -> None:
    await bench.write("new/f", b"one")
    (root / "new/theirs").write_bytes(b"x")
    await bench.undo()
    assert picture(root).keys() == {"new", "new/theirs"}


async def test_a_tree_that_came_back_and_was_changed(bench: Bench, root: Path) -> None:
    (root / "tree").mkdir()
    (root / "tree/f").write_bytes(b"one")
    await bench.delete("tree")
    await bench.undo()
    (root / "tree/f").write_bytes(b"by hand")
    with pytest.raises(Conflict):
        await bench.undo()
    assert (root / "tree/f").read_bytes() == b"by hand"


async def test_something_stands_where_the_deleted_was(bench: Bench, root: Path) -> None:
    (root / "f").write_bytes(b"one")
    await bench.delete("f")
    (root / "f").write_bytes(b"another")
    with pytest.raises(Conflict, match="exists now"):
        await bench.undo()
    assert (root / "f").read_bytes() == b"another"


async def test_moves(bench: Bench, root: Path) -> None:
    plant(root)
    before = picture(root)
    step = Step("move_path")
    step.move(bench.path("src"), bench.path("lib/src2"))
    step.move(bench.path("lib/src2/a.py"), bench.path("lib/src2/deep/b.bin"), replace=True)
    await bench.apply(step)
    assert (root / "lib/src2/deep/b.bin").read_bytes() == b"print()\r\n"
    await bench.write("lib/src2/deep/b.bin", b"changed")
    await bench.undo()
    await bench.undo(2)  # that undo and the write: nothing changes
    await bench.undo(4)
    assert picture(root) == before


async def test_a_step_that_is_undone_already_is_called_so(bench: Bench, root: Path) -> None:
    await bench.write("f", b"one")
    await bench.write("f", b"two")
    ctx = bench.ctx()
    await bench.changes.undo(ctx, number=2)
    with pytest.raises(Conflict, match="Step 2 is undone already, by step 3; nothing was changed"):
        await bench.changes.undo(ctx, number=2)
    await bench.changes.undo(ctx, number=3)
    (root / "f").write_bytes(b"by hand")
    with pytest.raises(Conflict, match="f has changed"):  # it was made again, so that is the cause
        await bench.changes.undo(ctx, number=2)


async def test_what_is_gone_since_is_a_conflict(bench: Bench, root: Path) -> None:
    await bench.write("f", b"one")
    (root / "f").unlink()
    with pytest.raises(Conflict, match=r"Nothing was undone .step 1.: f does not exist"):
        await bench.undo()


async def test_only_steps_inside_the_workspace(bench: Bench, root: Path, tmp_path: Path) -> None:
    (tmp_path / "else").mkdir()
    elsewhere = Bench.on(tmp_path / "else")
    await elsewhere.write("f", b"theirs")
    await bench.write("f", b"ours")
    assert [step.id for step in await bench.changes.steps()] == [2]
    with pytest.raises(NoResults):
        await bench.undo(2)
    assert (tmp_path / "else/f").exists()
    await elsewhere.services.close()


async def test_old_steps_go_and_take_their_contents(root: Path, tmp_path: Path) -> None:
    bench = Bench.on(root, undo={"keep_bytes": 3_000_000})
    for number in range(101):
        (root / "f").write_bytes(os.urandom(100_000))
        bench.session.reads.clear()
        await bench.write("f", str(number).encode())
    steps = await bench.changes.steps(limit=200)
    assert 20 <= len(steps) <= 31
    for path in (tmp_path / "state/undo").rglob("*"):
        if path.is_file():
            os.utime(path, (0, 0))
    for number in range(50):
        await bench.write("g", str(number).encode())
    left = sum(p.stat().st_size for p in (tmp_path / "state/undo").rglob("*") if p.is_file())
    assert left <= 3_200_000
    await bench.undo(50)
    await bench.services.close()


async def test_what_nobody_needs_is_looked_for_once_an_hour(root: Path, tmp_path: Path) -> None:
    """With many old steps that takes longer than the change itself."""

    async def step_of_a_new_process(text: bytes) -> None:
        bench = Bench.on(root)
        await bench.write(text.decode(), text)
        await bench.services.close()

    await step_of_a_new_process(b"first")
    (folder,) = (tmp_path / "state/undo").iterdir()
    waste = folder / "00" / ("0" * 40)
    waste.parent.mkdir(exist_ok=True)
    waste.touch()
    os.utime(waste, (0, 0))
    await step_of_a_new_process(b"soon")
    assert waste.exists()
    for past in (7200, -7200):  # later, or with a clock that was set back
        waste.touch()
        os.utime(waste, (0, 0))
        mark = time.time() - past
        os.utime(folder / "swept", (mark, mark))
        await step_of_a_new_process(b"later" + str(past).encode())
        assert not waste.exists()


async def test_one_copy_of_each_content(bench: Bench, root: Path, tmp_path: Path) -> None:
    data = os.urandom(300_000)
    (root / "many").mkdir()
    for number in range(20):
        (root / f"many/{number}").write_bytes(data)
    await bench.delete("many")
    state = tmp_path / "state/undo"
    assert sum(p.stat().st_size for p in state.rglob("*") if p.is_file()) < 400_000
    await bench.undo()
    assert (root / "many/7").read_bytes() == data
