"""A run through overlays: what it changed becomes one step, whatever kind of change it is."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from tests.execution.runs.conftest import RunBench, picture, run_folders
from toolcrib.files.changes.view import ChangedFile


async def test_a_run_that_changes_nothing_leaves_no_step(bench: RunBench, tmp_path: Path) -> None:
    ran = await bench.sh("echo out; echo err >&2; exit 3")
    assert (ran.exit_code, str(ran.stdout), str(ran.stderr)) == (3, "out\n", "err\n")
    assert ran.level == "strong"
    assert ran.outcome.state == "none"
    assert not await bench.steps()
    assert run_folders(tmp_path) == []


async def test_a_run_sees_the_paths_of_the_host_and_starts_where_it_is_told(
    bench: RunBench, root: Path
) -> None:
    (root / "sub").mkdir()
    ran = await bench.sh("pwd; ls ..", cwd=bench.path("sub"))
    assert str(ran.stdout) == f"{root}/sub\nsub\n"


async def test_all_kinds_of_changes_are_one_step_that_can_be_undone(
    bench: RunBench, root: Path
) -> None:
    (root / "edit.txt").write_text("one\ntwo\n")
    (root / "gone.txt").write_text("gone\n")
    (root / "tree/a/b").mkdir(parents=True)
    (root / "tree/a/b/c.txt").write_text("deep\n")
    (root / "mode.sh").write_text("#!/bin/sh\n")
    (root / "was_file").write_text("file\n")
    (root / "was_folder/in").mkdir(parents=True)
    (root / "was_folder/in/it").write_text("it\n")
    (root / "moved_from").mkdir()
    (root / "moved_from/x").write_text("x\n")
    (root / "link").symlink_to("edit.txt")
    (root / "refilled").mkdir()
    (root / "refilled/old").write_text("old\n")
    (root / "refilled/kept").write_text("kept\n")
    (root / "shut").mkdir(mode=0o755)
    before = picture(root)
    outcome = await bench.changed(
        """
        echo three >> edit.txt; rm gone.txt; rm -r tree; chmod 750 mode.sh
        rm was_file; mkdir was_file; echo in > was_file/in
        rm -r was_folder; echo file > was_folder
        mv moved_from moved_to
        ln -sf gone.txt link
        rm -r refilled; mkdir refilled; echo new > refilled/new; echo kept > refilled/kept
        mkdir -p empty/deep; echo new > new.txt; ln new.txt second.txt
        ln -s new.txt to_new; chmod 700 shut
        """
    )
    assert outcome.state == "applied"
    assert outcome.notes == ()
    now = picture(root)
    assert (root / "edit.txt").read_text() == "one\ntwo\nthree\n"
    assert not (root / "gone.txt").exists()
    assert not (root / "tree").exists()
    assert stat.S_IMODE((root / "mode.sh").stat().st_mode) == 0o750
    assert (root / "was_file/in").read_text() == "in\n"
    assert (root / "was_folder").read_text() == "file\n"
    assert not (root / "moved_from").exists()
    assert (root / "moved_to/x").read_text() == "x\n"
    assert os.readlink(root / "link") == "gone.txt"
    assert sorted(os.listdir(root / "refilled")) == ["kept", "new"]
    assert (root / "empty/deep").is_dir()
    assert (root / "second.txt").read_text() == "new\n"
    assert (root / "new.txt").stat().st_nlink == 1
    assert stat.S_IMODE((root / "shut").stat().st_mode) == 0o700
    assert [step.id for step in await bench.steps()] == [outcome.step]

    await bench.undo()
    assert picture(root) == before
    await bench.undo()
    assert picture(root) == now


async def test_what_changed_is_told_with_a_difference(bench: RunBench, root: Path) -> None:
    (root / "a.py").write_text("one\ntwo\nthree\n")
    (root / "b.bin").write_bytes(b"\0" * 100)
    outcome = await bench.changed("printf 'one\\n2\\nthree\\n' > a.py; printf 'n\\n' > n; rm b.bin")
    assert set(outcome.files) == {
        ChangedFile("a.py", "changed", 1, 1, 12),
        ChangedFile("n", "created", 1, 0, 2),
        ChangedFile("b.bin", "deleted", 0, 0, 100),
    }
    assert outcome.diff.splitlines() == [
        "--- a/a.py", "+++ b/a.py", "@@ -1,3 +1,3 @@", " one", "-two", "+2", " three",
        "--- /dev/null", "+++ b/n", "@@ -0,0 +1 @@", "+n",
    ]  # fmt: skip


async def test_the_difference_is_bounded(bench: RunBench, root: Path) -> None:
    outcome = await bench.changed(
        "for i in $(seq 60); do seq 100 > f$i; done; head -c 3000000 /dev/zero > zeros"
    )
    assert len(outcome.files) == 61
    assert outcome.diff.count("\n") < 400
    assert len(outcome.diff) < 40_000
    assert (root / "zeros").stat().st_size == 3_000_000


async def test_folders_that_programs_fill_are_only_counted(bench: RunBench, root: Path) -> None:
    outcome = await bench.changed(
        "mkdir -p build/p; for i in $(seq 50); do echo $i > build/p/$i; done; echo x > x"
    )
    assert [changed.path for changed in outcome.files] == ["x"]
    assert outcome.more == 50
    assert any("build/: 50 files" in note for note in outcome.notes)
    assert (root / "build/p/50").read_text() == "50\n"
    await bench.undo()
    assert os.listdir(root) == []


async def test_paths_are_told_from_the_current_directory(bench: RunBench, root: Path) -> None:
    (root / "sub").mkdir()
    bench.session.directory = str(root / "sub")
    outcome = await bench.changed("echo a > sub/a; echo b > b")
    assert {changed.path for changed in outcome.files} == {"a", str(root / "b")}


@pytest.mark.parametrize("commit", ["never", "ask"])
async def test_nothing_changes_unless_it_shall(
    bench: RunBench, root: Path, tmp_path: Path, commit: str
) -> None:
    (root / "a").write_text("a\n")
    before = picture(root)
    outcome = await bench.changed("echo b >> a; echo c > c", commit)
    assert picture(root) == before
    assert outcome.diff.count("+b") == 1
    assert {changed.path for changed in outcome.files} == {"a", "c"}
    assert outcome.state == ("dropped" if commit == "never" else "held")
    assert bool(run_folders(tmp_path)) == (commit == "ask")
    assert not await bench.steps()


async def test_a_call_is_as_strict_as_the_configuration_or_stricter(
    opened: object, bench: RunBench, root: Path
) -> None:
    for reply in ("ask", "never"):
        other = opened(run={"commit": reply})  # type: ignore[operator]
        states = [(await other.changed("echo x > x", c)).state for c in (None, "auto", "never")]
        assert states == [{"ask": "held", "never": "dropped"}[reply]] * 2 + ["dropped"]


async def test_names_that_are_no_text_are_taken_over(bench: RunBench, root: Path) -> None:
    outcome = await bench.changed(
        """printf x > "$(printf 'b\\377d')"; printf y > 'new
line'; mkdir "$(printf 'd\\376')"; printf z > "$(printf 'd\\376/f\\375')" """
    )
    assert outcome.state == "held", "a name of two lines is two names to xargs"
    outcome = await bench.apply_pending(outcome.pending_id)
    assert outcome.state == "applied"
    names = sorted(os.listdir(os.fsencode(root)))
    assert names == [b"b\xffd", b"d\xfe", b"new\nline"]
    assert all("\n" not in changed.path for changed in outcome.files)
    str(outcome).encode("utf-8", "strict")
    outcome = await bench.changed("rm -r ./*")
    assert os.listdir(root) == []
    await bench.undo(2)
    assert os.listdir(root) == []


async def test_read_only_files_and_those_with_other_names_are_replaced(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    (root / "read_only").write_text("old\n")
    (root / "read_only").chmod(0o444)
    (root / "shared").write_text("shared\n")
    os.link(root / "shared", tmp_path / "outside")
    before = picture(root)
    outcome = await bench.changed(
        "chmod u+w read_only; echo new > read_only; chmod 444 read_only; echo more >> shared"
    )
    assert outcome.state == "applied"
    assert (root / "read_only").read_text() == "new\n"
    assert stat.S_IMODE((root / "read_only").stat().st_mode) == 0o444
    assert (root / "shared").read_text() == "shared\nmore\n"
    assert (tmp_path / "outside").read_text() == "shared\n"
    await bench.undo()
    assert picture(root) == before


async def test_a_touched_file_has_its_new_time_and_an_opened_one_is_no_change(
    bench: RunBench, root: Path
) -> None:
    (root / "stamp").write_text("s")
    (root / "opened").write_text("o")
    os.utime(root / "opened", ns=(1, 10**18))
    outcome = await bench.changed("touch -d '2020-01-02 00:00:00 UTC' stamp; : >> opened")
    assert (root / "stamp").stat().st_mtime_ns == 1577923200 * 10**9
    assert [changed.path for changed in outcome.files] == ["stamp"]


async def test_what_the_run_leaves_belongs_to_the_user_of_the_server(
    bench: RunBench, root: Path
) -> None:
    await bench.changed("mkdir d; echo f > d/f; ln -s f d/l")
    assert {p.lstat().st_uid for p in (root / "d", root / "d/f", root / "d/l")} == {os.geteuid()}


async def test_a_run_that_shuts_its_folders_is_read_and_removed(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    await bench.changed("mkdir -p a/b; echo x > a/b/f; chmod 000 a/b/f a/b; mkdir e; chmod 0 e")
    assert (root / "a/b").is_dir()
    assert (root / "e").is_dir()
    mode = stat.S_IMODE((root / "a/b/f").stat().st_mode)
    assert mode == 0
    assert run_folders(tmp_path) == []


async def test_a_very_deep_tree_is_left_out_and_removed(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    script = """
        for i in 1 2 3 4 5 6 7 8 9 10; do p=$p/aaaaaaaaaa; done
        for i in $(seq 60); do mkdir -p .$p; cd .$p; done; echo x > x
    """
    outcome = await bench.changed(script)
    assert any("200 folders deep" in note for note in outcome.notes)
    assert run_folders(tmp_path) == []
    depth, here = 0, root
    while (here / "aaaaaaaaaa").is_dir() and depth < 180:
        here, depth = here / "aaaaaaaaaa", depth + 1
    assert depth == 180


@pytest.mark.timeout(240)
async def test_ten_thousand_files(bench: RunBench, root: Path) -> None:
    script = "mkdir many; cd many; seq 10000 | split -l 1 -a 4 - f"
    outcome = await bench.changed(script, seconds=90.0)
    assert outcome.state == "applied"
    assert len(outcome.files) + outcome.more == 10_000
    assert sum(len(files) for _, _, files in os.walk(root)) == 10_000


async def test_what_is_protected_and_new_meanwhile_is_covered(bench: RunBench, root: Path) -> None:
    """The user saves a file while tests run, say: through the layer it would be seen."""
    (root / "s").mkdir()
    # What a layer has not found once it may never find, so nothing is looked for before.
    script = "sleep 2; while cat s/.env .env | grep -q KEY; do sleep 0.05; done; echo hidden"
    running = asyncio.ensure_future(bench.sh(script))
    await asyncio.sleep(1)
    (root / "s/.env").write_text("KEY=SECRET57\n")
    (root / ".env").write_text("KEY=SECRET57\n")
    assert "hidden" in str((await running).stdout)
    assert (root / ".env").read_text() == "KEY=SECRET57\n"
