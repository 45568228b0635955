"""New folders of a run are taken over, and undone, by renaming; whatever is unusual is copied."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.execution.runs.conftest import Opened, RunBench, need_overlay, picture, run_folders
from tests.execution.runs.test_moments import junk, stopped
from toolcrib.core.errors import Conflict, Unavailable
from toolcrib.files.changes.overlay_upper import UpperSource
from toolcrib.files.changes.tree_store import TreeStore, put

TREE = "mkdir -p new/a/b new/empty; echo 1 > new/1; echo 2 > new/a/2; echo 3 > new/a/b/3"


def stored(tmp_path: Path, what: str) -> list[Path]:
    """Contents (`??`) or trees (`trees`) that are stored for undo."""
    return [path for path in tmp_path.glob(f"state/undo/*/{what}/*") if path.name != "lock"]


def upper(tmp_path: Path) -> Path:
    (folder,) = run_folders(tmp_path)
    return folder / "0/upper"


def upper_of(tmp_path: Path, pending: str) -> Path:
    (folder,) = (path for path in run_folders(tmp_path) if path.name == pending)
    return folder / "0/upper"


async def test_a_new_folder_is_renamed_and_its_undo_and_redo_too(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    odd = "ln -s a/2 new/link; printf x > \"$(printf 'new/\\377')\""
    pending = await bench.changed(f"{TREE}; {odd}", "ask")
    numbers = {path.name: path.stat().st_ino for path in upper(tmp_path).rglob("?")}
    assert (await bench.apply_pending(pending.pending_id)).state == "applied"
    made = picture(root)
    assert {path.name: path.stat().st_ino for path in root.rglob("?")} == numbers
    for path in root.rglob("*"):
        assert not os.listxattr(path, follow_symlinks=False)
    assert not junk(made)
    assert run_folders(tmp_path) == []
    await bench.undo()
    assert picture(root) == {}
    assert not stored(tmp_path, "??"), "nothing was copied"
    assert len(stored(tmp_path, "trees")) == 1
    await bench.undo()
    assert picture(root) == made
    await bench.undo(3)
    assert picture(root) == {}


async def test_files_that_are_renamed_are_read_for_the_diff_alone(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be thousands; an index of git is one of those that are judged by content."""
    opened: list[str] = []
    chunks = UpperSource.chunks

    def recorded(source: UpperSource) -> Iterator[bytes]:
        opened.append("/".join(source.parts))
        return chunks(source)

    monkeypatch.setattr(UpperSource, "chunks", recorded)
    outcome = await bench.changed(f"{TREE}; git init -q repo; touch repo/f; git -C repo add f")
    assert outcome.state == "applied", outcome.notes
    assert sorted(n for n in opened if n.startswith("new/")) == ["new/1", "new/a/2", "new/a/b/3"]
    assert "repo/.git/index" in opened


SPECIAL = {
    "a hard link": ("ln new/1 new/again; ln new/1 outer", {"new/1", "new/again", "outer"}),
    "a protected name": ("echo key > new/.env; mkdir new/c; echo 4 > new/c/4", {"new/c/4"}),
    "a link that leads out": ("ln -s /etc new/out", set()),
    "a repository": ("git init -q new/repo; echo 5 > new/repo/5", {"new/repo/.git/HEAD"}),
    "a pipe": ("mkfifo new/a/pipe", set()),
    "a folder for a group": ("mkdir new/g; echo 6 > new/g/6; chmod g+s new; true", {"new/g/6"}),
    "holes": ("truncate -s 3M new/holes", {"new/holes"}),
    "a file that was there": ("mv was new/was", {"new/was"}),
}


@each_case("script, there", SPECIAL.values(), ids=SPECIAL)
async def test_what_is_unusual_is_judged_and_copied(
    bench: RunBench, root: Path, script: str, there: set[str]
) -> None:
    (root / "was").write_text("was\n")
    before = picture(root)
    outcome = await bench.changed(f"{TREE}; {script}")
    assert outcome.state == "applied", outcome.notes
    names = set(picture(root))
    assert names >= there | {"new/1", "new/a/2", "new/a/b/3", "new/empty"}
    assert not names & {"new/.env", "new/out", "new/a/pipe"}
    for path in root.rglob("*"):
        status = path.lstat()
        assert stat.S_ISDIR(status.st_mode) or status.st_nlink == 1
        assert not status.st_mode & (stat.S_ISUID | stat.S_ISGID)
        if not stat.S_ISLNK(status.st_mode):
            assert not [name for name in os.listxattr(path) if "overlay" in name]
    await bench.undo()
    assert picture(root) == before


async def test_who_still_holds_a_file_writes_to_none_of_the_workspace(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    pending = await bench.changed(TREE, "ask")
    with (upper(tmp_path) / "new/a/2").open("r+b") as file:
        assert (await bench.apply_pending(pending.pending_id)).state == "applied"
        file.write(b"bad")
    assert (root / "new/a/2").read_text() == "2\n"
    await bench.undo()
    assert picture(root) == {}


async def test_what_others_did_in_it_since_stays(bench: RunBench, root: Path) -> None:
    await bench.changed(TREE)
    made = picture(root)
    (root / "new/a/mine").write_text("mine\n")
    await bench.undo()
    assert set(picture(root)) == {"new", "new/a", "new/a/mine"}
    await bench.undo()
    assert picture(root).items() >= made.items() - {("new", made["new"]), ("new/a", made["new/a"])}
    (root / "new/1").write_text("other\n")
    with pytest.raises(Conflict):
        await bench.undo(3)
    (root / "new/1").unlink()
    with pytest.raises(Conflict):
        await bench.undo(3)
    assert (root / "new/a/b/3").exists()


MANY = "for i in $(seq 40); do echo $i > there/f$i; done; mkdir there/sub; echo x > there/sub/x"


async def test_many_files_in_a_folder_that_was_there_are_renamed(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    (root / "there").mkdir()
    (root / "there/old").write_text("old\n")
    before = picture(root)
    odd = "ln there/f1 there/again; echo key > there/.env; echo more >> there/old"
    pending = await bench.changed(f"{MANY}; {odd}", "ask")
    (root / "there/f40").write_text("by hand\n")
    outcome = await bench.apply_pending(pending.pending_id)
    assert (outcome.state, outcome.overtaken) == ("held", True)
    (root / "there/f40").unlink()
    pending = await bench.changed(f"{MANY}; {odd}", "ask")
    there = upper_of(tmp_path, pending.pending_id) / "there"
    numbers = {f"f{n}": (there / f"f{n}").stat().st_ino for n in range(2, 41)}
    assert (await bench.apply_pending(pending.pending_id)).state == "applied"
    made = picture(root)
    assert {name: (root / "there" / name).stat().st_ino for name in numbers} == numbers
    assert (root / "there/f1").stat().st_nlink == 1
    assert "there/.env" not in made
    await bench.undo(path="there/f7")
    assert set(made) - set(picture(root)) == {"there/f7"}
    await bench.undo(2)
    assert picture(root) == before | {"there": picture(root)["there"]}
    await bench.undo()
    assert set(made) - set(picture(root)) == {"there/f7"}
    await bench.undo(2)
    assert set(picture(root)) == set(made) - {"there/f7"}
    (root / "there/f9").write_text("by hand\n")
    with pytest.raises(Conflict):
        await bench.undo(5)
    (root / "there/f9").write_text("9\n")
    await bench.undo(5)
    assert set(picture(root)) == set(before)


@pytest.mark.parametrize("where", ["new", "old"])
async def test_an_edit_whose_time_was_set_back(bench: RunBench, root: Path, where: str) -> None:
    (root / "old").mkdir()
    await bench.changed(f"mkdir -p {where}; for i in $(seq 40); do echo 1234 > {where}/$i; done")
    file = root / where / "7"
    before, status = picture(root), file.stat()
    os.link(file, root / "backup")  # changes the entry, and nothing else
    file.chmod(0o600)
    await bench.undo()
    assert not file.exists()
    await bench.undo()
    assert file.read_text() == "1234\n"
    (root / "backup").unlink()
    status = file.stat()
    with file.open("r+") as edited:
        edited.write("USER")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(Conflict, match=f"{where}/7 has changed"):
        await bench.undo()
    assert file.read_text() == "USER\n"
    assert picture(root).keys() == before.keys()


async def test_of_a_folder_one_path_is_undone(bench: RunBench, root: Path) -> None:
    await bench.changed(TREE)
    await bench.undo(path="new/a")
    assert set(picture(root)) == {"new", "new/1", "new/empty"}
    await bench.undo()
    assert (root / "new/a/b/3").read_text() == "3\n"


async def test_a_later_step_in_it_is_undone_with_it(bench: RunBench, root: Path) -> None:
    await bench.changed(TREE)
    made = picture(root)
    await bench.changed("echo more >> new/a/2; rm new/1; mkdir new/later; echo 7 > new/later/7")
    changed = picture(root)
    await bench.undo(2)
    assert picture(root) == {}
    await bench.undo()
    assert picture(root) == changed
    await bench.undo(3)
    assert set(picture(root)) == set(made)
    assert (root / "new/a/2").read_text() == "2\n"
    await bench.undo(5)
    assert picture(root) == {}


async def test_a_dependency_folder_is_one_question_and_one_step(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    pending = await bench.changed(
        "mkdir -p node_modules/p/.bin; echo 'x()' > node_modules/p/index.js; "
        "ln -s ../index.js node_modules/p/.bin/p"
    )
    assert pending.state == "held"
    number = (upper(tmp_path) / "node_modules/p/index.js").stat().st_ino
    outcome = await bench.apply_pending(pending.pending_id)
    assert outcome.state == "applied"
    assert any("node_modules/: 2 files" in note for note in outcome.notes)
    assert (root / "node_modules/p/index.js").stat().st_ino == number
    await bench.undo()
    assert picture(root) == {}


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no other disk")
async def test_on_another_disk_all_is_copied(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        if os.stat(place).st_dev == root.stat().st_dev:
            pytest.skip("all is one disk")
        bench = RunBench.on(Path(place))
        assert isinstance(bench, RunBench)
        await need_overlay(bench)
        await bench.changed(TREE)
        made = picture(Path(place))
        assert "new/a/b/3" in made
        await bench.undo()
        assert picture(Path(place)) == {}
        await bench.undo()
        assert picture(Path(place)) == made
        await bench.services.close()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5, 7, 9])
async def test_all_or_nothing_after_a_kill(opened: Opened, root: Path, moment: int) -> None:
    (root / "gone").write_text("gone\n")
    (root / "there").mkdir()
    bench = opened()
    await need_overlay(bench)
    pending = await bench.changed(f"{TREE}; rm gone; mkdir two; echo 8 > two/8; {MANY}", "ask")
    before = picture(root)
    code, output = await stopped(root, pending.pending_id, moment, "kill at an opening")
    assert code == -9, output
    bench = opened()
    await bench.changes.recover()
    now = picture(root)
    assert not junk(now)
    assert not bench.changes.warnings or "taken back" in bench.changes.warnings[-1]
    if "gone" in now:
        assert set(now) == set(before)
        assert (await bench.apply_pending(pending.pending_id)).state == "applied"
    assert set(picture(root)) >= {"new/a/b/3", "two/8", "there/f40", "there/sub/x"}
    assert "gone" not in picture(root)
    await bench.undo()
    assert set(picture(root)) == set(before)


async def test_a_stored_tree_goes_with_its_step(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    await bench.changed(TREE)
    applied = await bench.undo()
    (place,) = stored(tmp_path, "trees")
    old = 0
    os.utime(place, (old, old))
    trees = TreeStore(place.parent)
    trees.sweep({str(place / "tree")})
    assert (place / "tree/a/b/3").exists()
    trees.sweep(set())
    assert not place.exists()
    with pytest.raises(Unavailable):
        await bench.changes.undo_step(applied.step, bench.ctx(), "test")
    (root / "x").mkdir()
    fd = os.open(root, os.O_RDONLY)
    put(fd, "x", trees.place_for(""))
    os.close(fd)
    trees.sweep(set())
    assert len(stored(tmp_path, "trees")) == 1, "a young one may be of a step that is being made"
