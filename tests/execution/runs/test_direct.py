"""Runs that work on the files themselves: where no overlay works, and in the background."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.execution.runs.conftest import Opened, RunBench, need_overlay, picture, settle
from toolcrib.core.errors import Unavailable
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.files.changes.snapshots import Snapshot, SnapshotEntry, compare
from toolcrib.files.trees import EntryState
from toolcrib.state.blobs import Blobs


async def test_changes_are_one_step_that_can_be_undone(bare: RunBench, root: Path) -> None:
    (root / "edit").write_text("one\n")
    (root / "gone").write_text("gone\n")
    (root / "tree/a").mkdir(parents=True)
    (root / "tree/a/f").write_text("f\n")
    (root / "mode").write_text("m\n")
    (root / "was_file").write_text("file\n")
    (root / "was_folder").mkdir()
    (root / "was_folder/x").write_text("x\n")
    (root / "link").symlink_to("edit")
    (root / "shut").mkdir()
    before = picture(root)
    ran = await bare.sh(
        """
        echo two >> edit; rm gone; rm -r tree; chmod 700 mode; mv edit moved; mkdir -p n/m
        echo new > n/m/f; rm was_file; mkdir was_file; rm -r was_folder; echo f > was_folder
        ln -sf moved link; ln -s moved fresh; chmod 700 shut
        """
    )
    level = (await bare.services.use(Sandbox).report()).level
    assert (ran.level, ran.outcome.state) == (level, "applied")
    now = picture(root)
    assert [step.id for step in await bare.steps()] == [ran.outcome.step]
    await bare.undo()
    assert picture(root) == before
    await bare.undo()
    assert {k: v[0] for k, v in picture(root).items()} == {k: v[0] for k, v in now.items()}
    assert (root / "moved").read_text() == "one\ntwo\n"


async def test_nothing_changed_is_no_step(bare: RunBench, root: Path) -> None:
    (root / "a").write_text("a")
    assert (await bare.changed("cat a")).state == "none"
    assert not await bare.steps()


async def test_a_change_that_hides_behind_its_time_and_size_is_found(
    bare: RunBench, root: Path
) -> None:
    (root / "a").write_text("old")
    outcome = await bare.changed("cp -p a b; printf new > a; touch -r b a; rm b")
    assert outcome.state == "applied"
    assert [changed.path for changed in outcome.files] == ["a"]
    await bare.undo()
    assert (root / "a").read_text() == "old"


@pytest.mark.parametrize("commit", ["never", "ask"])
async def test_the_files_are_put_back_where_they_shall_not_change(
    bare: RunBench, root: Path, commit: str
) -> None:
    (root / "a").write_text("a\n")
    before = picture(root)
    outcome = await bare.changed("echo b >> a; mkdir d; echo c > d/c", commit)
    assert picture(root) == before
    assert outcome.state == ("dropped" if commit == "never" else "held")
    assert any("put back after it" in note for note in outcome.notes)
    assert {changed.path for changed in outcome.files} == {"a", "d/c"}
    assert not await bare.steps()  # no undo makes it again
    pending = outcome.pending_id
    if commit == "never":  # what others saved meanwhile was put back with it
        pending = next(w for note in outcome.notes for w in note.split() if "id=" in w)[3:-1]
        assert await bare.runs.is_for_user(pending, bare.ctx())
    applied = await bare.apply_pending(pending)
    assert applied.state == "applied"
    assert (root / "a").read_text() == "a\nb\n"
    assert len(await bare.steps()) == 1
    await bare.undo()
    assert picture(root) == before


async def test_a_held_run_in_conflict_stays(bare: RunBench, root: Path) -> None:
    (root / "a").write_text("a\n")
    outcome = await bare.changed("echo b >> a", "ask")
    (root / "a").write_text("mine\n")
    assert (await bare.apply_pending(outcome.pending_id)).state == "held"
    assert (root / "a").read_text() == "mine\n"
    assert (await bare.drop_pending(outcome.pending_id)).state == "dropped"
    assert not await bare.steps()


async def test_it_is_refused_where_not_all_can_be_kept(
    bare: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(60_000_000)
    with pytest.raises(Unavailable, match="1 file") as info:
        await bare.sh("true", "never")
    assert "commit=auto" in info.value.hint
    outcome = await bare.changed("rm huge; echo x > x")
    assert outcome.state == "applied"
    assert any("undo cannot bring back huge" in note for note in outcome.notes)


async def test_a_folder_with_a_protected_name_is_moved(bare: RunBench, root: Path) -> None:
    """Its new name is none that a run makes, and it is not lost with that."""
    (root / "sub").mkdir()
    (root / "sub/.env").write_text("KEY=1\n")
    (root / "sub/a").write_text("a\n")
    outcome = await bare.changed("mv sub s2")
    assert (root / "sub/.env").read_text() == "KEY=1\n"
    assert [path.name for path in (root / "s2").iterdir()] == ["a"]
    text = "\n".join(outcome.notes)
    assert "sub/.env: protected (.env*): put back" in text
    assert "s2/.env: protected (.env*): taken away" in text


async def test_protected_names_are_put_back(bare: RunBench, root: Path) -> None:
    (root / ".git/hooks").mkdir(parents=True)
    (root / ".git/hooks/pre-commit").write_text("good\n")
    (root / ".mcp.json").write_text("{}")
    (root / ".env").write_text("KEY=1\n")
    before = picture(root)
    outcome = await bare.changed(
        """
        echo evil >> .git/hooks/pre-commit; rm .mcp.json; echo X=2 > .env; mkdir .vscode
        echo x > .vscode/tasks.json; ln -s /etc out; mkfifo pipe; echo ok > ok
        chmod 755 ok; chmod 4755 ok || true
        """
    )
    after = picture(root)
    assert stat.S_IMODE((root / "ok").stat().st_mode) == 0o755
    assert after.pop("ok")
    plain = {k: v[:2] for k, v in before.items()}
    assert {k: v[:2] for k, v in after.items()} == plain
    assert (root / ".git/hooks/pre-commit").read_text() == "good\n"
    assert (root / ".env").read_text() == "KEY=1\n"
    text = "\n".join(outcome.notes)
    assert "put back" in text
    assert "KEY" not in str(outcome)
    assert outcome.state == "applied"


async def test_a_program_in_the_background_works_on_the_files_themselves(
    bare: RunBench, root: Path
) -> None:
    (root / "a").write_text("a\n")
    running = await bare.start("echo b >> a; echo ready; sleep 60")
    async for _ in running.confined.read("stdout"):
        break
    assert (root / "a").read_text() == "a\nb\n"
    outcome = await running.finish()
    assert outcome == await running.finish()
    assert outcome.state == "applied"
    await bare.undo()
    assert (root / "a").read_text() == "a\n"


async def test_what_other_calls_changed_meanwhile_is_not_the_runs(
    bare: RunBench, root: Path
) -> None:
    running = await bare.start("echo ready; sleep 60")
    async for _ in running.confined.read("stdout"):
        break
    await bare.write("other", b"other\n")
    outcome = await running.finish()
    assert outcome.state == "none"
    assert (root / "other").exists()


async def test_in_the_background_protected_names_are_only_told(bare: RunBench, root: Path) -> None:
    running = await bare.start("echo x > .mcp.json; echo ready; sleep 60")
    async for _ in running.confined.read("stdout"):
        break
    outcome = await running.finish()
    assert (root / ".mcp.json").exists()
    assert any(".mcp.json" in note and "left as it is" in note for note in outcome.notes)


async def test_the_second_look_reads_nothing(
    bare: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (root / f"f{number}").write_bytes(os.urandom(1000))
    await bare.changed("true")
    await settle()
    read: list[Path] = []
    add = Blobs.add

    def noted(blobs: Blobs, chunks: Iterable[bytes]) -> tuple[str, int]:
        read.append(blobs.folder)
        return add(blobs, chunks)

    monkeypatch.setattr(Blobs, "add", noted)
    await bare.changed("true")
    assert read == []
    await bare.changed("echo more >> f3")
    await bare.changed("true")
    assert len(read) == 1
    await bare.services.close()


async def test_what_is_known_survives_a_restart_and_damage(
    bare: RunBench, opened: Opened, root: Path, tmp_path: Path
) -> None:
    (root / "a").write_text("a\n")
    await bare.changed("true")
    (known,) = (tmp_path / "state/runs").glob("*/known-*")
    known.write_bytes(b"nonsense")
    # Two threads of one process may write it at once: each has a name of its own meanwhile.
    Path(f"{known}.{os.getpid()}").mkdir()
    other = opened("none")
    await other.changed("echo b >> a")
    await other.undo()
    assert (root / "a").read_text() == "a\n"
    assert known.read_bytes() != b"nonsense"


async def test_names_that_are_no_text(bare: RunBench, root: Path) -> None:
    name = os.fsencode(root) + b"/b\xff"
    with open(name, "wb") as file:
        file.write(b"1")
    outcome = await bare.changed("printf 2 >> b*")
    assert outcome.state == "applied"
    await bare.undo()
    with open(name, "rb") as file:
        assert file.read() == b"1"


async def test_at_level_kernel_it_is_said_that_protected_files_are_not_masked(
    opened: Opened, root: Path
) -> None:
    from tests.conftest import absent
    from toolcrib.execution.sandbox.sandbox import Sandbox

    bench = opened("kernel")
    report = await bench.services.use(Sandbox).report()
    if report.level != "kernel":
        absent("Landlock does not work here")
    ran = await bench.sh("echo x > x; echo y > .mcp.json")
    assert ran.level == "kernel"
    assert (root / "x").exists()
    assert not (root / ".mcp.json").exists()
    assert any("could not be masked" in note for note in ran.outcome.notes)


async def test_two_at_once(bare: RunBench, root: Path) -> None:
    one, two = await asyncio.gather(
        bare.changed("echo 1 > one; sleep 0.4"), bare.changed("sleep 0.2; echo 2 > two; sleep 0.8")
    )
    # Who wrote a file cannot be told; each is in one step, none in two. Who ends first, and
    # whether the other has anything left to log then, depends on the machine.
    assert {one.state, two.state} in ({"applied"}, {"applied", "none"})
    steps = await bare.steps()
    assert sorted(path for step in steps for path in step.paths) == [
        str(root / "one"),
        str(root / "two"),
    ]
    await bare.undo(len(steps))
    assert list(root.iterdir()) == []


async def test_a_cancelled_run_is_logged_and_mended(bare: RunBench, root: Path) -> None:
    (root / "a").write_text("mine\n")
    script = "echo theirs > a; ln -s /etc/passwd leak; echo > begun; sleep 30"
    run = asyncio.ensure_future(bare.sh(script))
    while not (root / "begun").exists():
        await asyncio.sleep(0.02)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert not (root / "leak").is_symlink()
    assert (root / "a").read_text() == "theirs\n"
    await bare.undo()
    assert (root / "a").read_text() == "mine\n"


async def test_what_was_beyond_the_first_look_is_not_new(
    bare: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.files.changes.snapshots.MAX_ENTRIES", 30)
    for number in range(40):
        (root / f"f{number:02}").write_text("mine")
    outcome = await bare.changed("rm f00 f01 f02; echo new > a0")
    assert {file.path for file in outcome.files} == {"a0", "f00", "f01", "f02"}
    await bare.undo()
    assert sorted(path.name for path in root.iterdir()) == [f"f{n:02}" for n in range(40)]


def test_what_could_not_be_listed_is_neither_new_nor_gone() -> None:
    file = SnapshotEntry(EntryState("d/a", "file", 0o644, 1, (1, 1)), 1)
    folder = SnapshotEntry(EntryState("d", "folder", 0o755, 1, (1, 1)), 1)
    blind = Snapshot({"d": folder}, unread=["d"])
    seeing = Snapshot({"d": folder, "d/a": file})
    assert compare(blind, seeing) == ([], [])
    assert compare(seeing, blind) == ([], [])


async def test_covers_stay_as_long_as_one_run_needs_them(opened: Opened, root: Path) -> None:
    strong = opened("strong")
    await need_overlay(strong)
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    short = await strong.start("sleep 0.5")
    write = "for n in $(seq 30); do mkdir -p .git/hooks; echo x > .git/hooks/new; sleep 0.1; done"
    long = await strong.start(write)
    await short.finish()
    await long.confined.wait()
    assert not (root / ".git" / "hooks" / "new").exists()
    await long.finish()
