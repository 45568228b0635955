"""Held runs: applied, dropped, in conflict, expired, too many, and after a restart."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.execution.runs.conftest import Opened, RunBench, picture, run_folders, settle
from toolcrib.core.errors import Busy, NotFound
from toolcrib.core.result import Next
from toolcrib.system.child import Chunk


async def test_a_held_run_is_applied_as_one_step(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    (root / "a").write_text("a\n")
    before = picture(root)
    pending = await bench.changed("echo b >> a; rm -f x; mkdir d; echo c > d/c", "ask")
    assert pending.next == Next("apply_changes", {"id": pending.pending_id})
    outcome = await bench.apply_pending(pending.pending_id)
    assert outcome.state == "applied"
    assert (root / "a").read_text() == "a\nb\n"
    assert outcome.diff == pending.diff
    assert run_folders(tmp_path) == []
    await bench.undo()
    assert picture(root) == before
    with pytest.raises(NotFound):
        await bench.apply_pending(pending.pending_id)


async def test_a_held_run_is_dropped(bench: RunBench, root: Path, tmp_path: Path) -> None:
    pending = await bench.changed("echo x > x", "ask")
    assert (await bench.drop_pending(f" {pending.pending_id.upper()} ")).state == "dropped"
    assert run_folders(tmp_path) == []
    assert list(root.iterdir()) == []
    with pytest.raises(NotFound, match="no held run") as info:
        await bench.drop_pending(pending.pending_id)
    assert info.value.hint


async def test_another_process_applies_it(bench: RunBench, opened: Opened, root: Path) -> None:
    pending = await bench.changed("echo x > x", "ask")
    await bench.services.close()
    other = opened()
    assert (await other.apply_pending(pending.pending_id)).state == "applied"
    assert (root / "x").read_text() == "x\n"


async def test_a_file_changed_on_the_host_meanwhile_holds_the_run(
    bench: RunBench, root: Path
) -> None:
    (root / "a").write_text("a\n")
    (root / "b").write_text("b\n")
    await settle()

    async def change(chunk: Chunk) -> None:
        await settle()
        (root / "a").write_text("mine\n")

    outcome = await bench.changed("echo ready; sleep 1; echo x >> a; echo y >> b", on_output=change)
    assert outcome.state == "held"
    assert (root / "a").read_text() == "mine\n"
    assert (root / "b").read_text() == "b\n"
    assert any("a changed outside" in n and "drop=true" in n for n in outcome.notes)
    again = await bench.apply_pending(outcome.pending_id)
    assert again.state == "held"
    assert (root / "b").read_text() == "b\n"
    await bench.drop_pending(outcome.pending_id)


@pytest.mark.parametrize(
    ("script", "harm"),
    [
        ("rm -r d", "new"),
        ("rm -r d", "edit"),
        ("rm -r d; mkdir d; echo 1 > d/f", "edit"),
        ("echo x > d/f", "delete_folder"),
        ("echo x > made", "make"),
        ("rm d/f", "edit"),
    ],
)
async def test_nothing_that_the_host_did_meanwhile_is_lost(
    bench: RunBench, root: Path, script: str, harm: str
) -> None:
    (root / "d").mkdir()
    (root / "d/f").write_text("f\n")
    pending = await bench.changed(script, "ask")
    await settle()
    if harm == "new":
        (root / "d/other").write_text("o\n")
    elif harm == "edit":
        (root / "d/f").write_text("mine\n")
    elif harm == "make":
        (root / "made").write_text("mine\n")
    else:
        shutil.rmtree(root / "d")
    before = picture(root)
    outcome = await bench.apply_pending(pending.pending_id)
    assert outcome.state == "held"
    assert picture(root) == before


async def test_what_both_did_alike_is_no_conflict(bench: RunBench, root: Path) -> None:
    (root / "a").write_text("a\n")
    (root / "b").write_text("b\n")
    pending = await bench.changed("rm a; echo c > c", "ask")
    await settle()
    (root / "a").unlink()
    outcome = await bench.apply_pending(pending.pending_id)
    assert outcome.state == "applied"
    assert sorted(p.name for p in root.iterdir()) == ["b", "c"]


async def test_a_run_that_was_stopped_is_held(bench: RunBench, root: Path) -> None:
    for seconds in (0.7, 5.0, 20.0):  # until there is time enough for it to begin
        ran = await bench.sh("echo half > f; sleep 60", seconds=seconds)
        if ran.outcome.state != "none":
            break
    assert ran.timed_out
    assert ran.outcome.state == "held"
    assert not (root / "f").exists()
    assert any("stopped before its end (time)" in note for note in ran.outcome.notes)
    assert (await bench.apply_pending(ran.outcome.pending_id)).state == "applied"
    assert (root / "f").read_text() == "half\n"


async def test_two_runs_at_once_do_not_see_each_other(bench: RunBench, root: Path) -> None:
    one, two = await asyncio.gather(
        bench.changed("echo 1 > one; sleep 0.3; ls"), bench.changed("echo 2 > two; sleep 0.3; ls")
    )
    assert {one.state, two.state} == {"applied"}
    assert sorted(p.name for p in root.iterdir()) == ["one", "two"]


async def test_of_two_runs_at_once_on_one_file_one_is_held(bench: RunBench, root: Path) -> None:
    for pause in (0.3, 2, 10):  # until one begins before the other ends
        (root / "n").write_text("0\n")
        await settle()
        states = await asyncio.gather(
            *(bench.changed(f"sleep {pause}; echo {n} >> n; sleep {pause}") for n in (1, 2))
        )
        if any(outcome.state == "held" for outcome in states):
            break
    assert sorted(outcome.state for outcome in states) == ["applied", "held"]
    assert (root / "n").read_text() in ("0\n1\n", "0\n2\n")


async def test_two_calls_do_not_apply_one_run_twice(bench: RunBench, opened: Opened) -> None:
    other = opened()
    pending = await bench.changed("echo x >> x", "ask")
    results = await asyncio.gather(
        bench.apply_pending(pending.pending_id),
        other.apply_pending(pending.pending_id),
        return_exceptions=True,
    )
    assert [r.state for r in results if not isinstance(r, BaseException)].count("applied") == 1
    assert all(
        isinstance(r, Busy | NotFound) or r.state in ("applied", "none")
        for r in results
        if isinstance(r, BaseException) or r
    )
    assert len(await bench.steps()) == 1


async def test_old_held_runs_go(opened: Opened, root: Path, tmp_path: Path) -> None:
    from tests.execution.runs.conftest import need_overlay

    bench = opened(run={"pending_hours": 0.0000001})
    await need_overlay(bench)
    pending = await bench.changed("echo x > x", "ask")
    with pytest.raises(NotFound):
        await bench.apply_pending(pending.pending_id)
    await bench.changed("true")
    assert run_folders(tmp_path) == []


async def test_held_runs_are_bounded_in_size(opened: Opened, tmp_path: Path) -> None:
    from tests.execution.runs.conftest import need_overlay

    bench = opened(run={"pending_mb": 2})
    await need_overlay(bench)
    first = await bench.changed("head -c 1500000 /dev/urandom > x", "ask")
    second = await bench.changed("head -c 1500000 /dev/urandom > x", "ask")
    with pytest.raises(NotFound):
        await bench.apply_pending(first.pending_id)
    assert (await bench.apply_pending(second.pending_id)).state == "applied"


async def test_what_undo_cannot_keep_is_not_deleted_without_a_second_word(
    opened: Opened, root: Path
) -> None:
    from tests.execution.runs.conftest import need_overlay

    bench = opened(undo={"max_file_bytes": 1000})
    await need_overlay(bench)
    (root / "d").mkdir()
    (root / "d/large").write_bytes(b"x" * 2000)
    (root / "d/small").write_bytes(b"y")
    outcome = await bench.changed("rm -r d")
    assert outcome.state == "held"
    assert any("d/large (2.0 KB)" in note for note in outcome.notes)
    assert (root / "d/large").exists()
    assert (await bench.apply_pending(outcome.pending_id)).state == "applied"
    assert not (root / "d").exists()


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("rm -r d", "d (4.1 KB)"),
        ("rm d/*", "4.1 KB in all"),
        ("for f in d/*; do echo x > $f; done", "4.1 KB in all"),
        ("rm -r d; echo x > d", "d (4.1 KB)"),
    ],
)
async def test_more_than_undo_keeps_in_all_is_not_lost_without_a_second_word(
    opened: Opened, root: Path, command: str, named: str
) -> None:
    from tests.execution.runs.conftest import need_overlay

    bench = opened(undo={"keep_bytes": 3000})
    await need_overlay(bench)
    (root / "d").mkdir()
    for number in range(4):
        (root / f"d/{number}").write_bytes(b"x" * 1024)
    outcome = await bench.changed(command)
    assert outcome.state == "held"
    assert any(named in note for note in outcome.notes), outcome.notes
    assert (root / "d/1").read_bytes() == b"x" * 1024


@pytest.mark.parametrize(
    ("command", "state"),
    [
        (": > large", "held"),
        ("printf y | dd of=large conv=notrunc 2>/dev/null", "held"),
        ("truncate -s 150000 large", "held"),
        ("echo more >> large", "applied"),
        ("head -c 300000 /dev/zero >> large", "applied"),
        ("mkdir build; : > build/large; chmod 600 large", "applied"),
    ],
)
async def test_a_file_that_undo_cannot_keep_only_grows_without_a_second_word(
    opened: Opened, root: Path, command: str, state: str
) -> None:
    from tests.execution.runs.conftest import need_overlay

    bench = opened(undo={"max_file_bytes": 1000, "keep_bytes": 100_000})
    await need_overlay(bench)
    (root / "large").write_bytes(b"x" * 200_000)
    outcome = await bench.changed(command)
    assert outcome.state == state, outcome.notes
    if state == "held":
        assert any("large (" in note for note in outcome.notes)
        assert (root / "large").read_bytes() == b"x" * 200_000
        assert (await bench.apply_pending(outcome.pending_id)).state == "applied"
        assert (root / "large").read_bytes() != b"x" * 200_000


async def test_more_changes_than_a_step_holds_are_dropped_with_a_word(
    opened: Opened, root: Path, tmp_path: Path
) -> None:
    from tests.execution.runs.conftest import need_overlay

    bench = opened(undo={"max_entries": 50})
    await need_overlay(bench)
    outcome = await bench.changed("for i in $(seq 60); do echo x > f$i; done")
    assert outcome.state == "dropped"
    assert "more than 50" in outcome.notes[0]
    assert list(root.iterdir()) == []
    assert run_folders(tmp_path) == []


async def test_a_held_run_without_its_folder_is_told(bench: RunBench, tmp_path: Path) -> None:
    pending = await bench.changed("echo x > x", "ask")
    shutil.rmtree(run_folders(tmp_path)[0])
    with pytest.raises(NotFound):
        await bench.apply_pending(pending.pending_id)


async def test_a_cancelled_run_leaves_nothing(bench: RunBench, root: Path, tmp_path: Path) -> None:
    started = asyncio.Event()
    task = asyncio.create_task(
        bench.sh("echo x > x; echo go; sleep 30", on_output=lambda _: started.set())
    )
    await asyncio.wait_for(started.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(root.iterdir()) == []
    assert run_folders(tmp_path) == []


async def test_what_a_held_run_would_change_is_shown(bench: RunBench, root: Path) -> None:
    await _hold_and_look(bench, root)


async def test_and_without_an_overlay(bare: RunBench, root: Path) -> None:
    await _hold_and_look(bare, root)


async def _hold_and_look(bench: RunBench, root: Path) -> None:
    """Nothing in it is a control character: a person decides by it."""
    (root / "a.txt").write_text("one\n")
    line = (
        r"printf '\033[2Jtwo\033]0;x\007\r\t\302\233\n' > a.txt; mkdir -p n; seq 200 > n/AGENTS.md"
    )
    pending = await bench.changed(line, "ask")
    assert "+\\x1b[2Jtwo\\x1b]0;x\\x07\\x0d\t\\x9b" in pending.diff.splitlines()
    displayed = await bench.runs.preview(pending.pending_id, bench.ctx())
    assert "changed a.txt (+2 -1)" in displayed.splitlines()
    assert "created n/AGENTS.md (+200 -0)" in displayed.splitlines()
    assert "instructions of coding agents" in displayed
    assert "-one" in displayed.splitlines()
    assert "more lines of the difference]" in displayed
    assert "\x1b" not in displayed
    assert await bench.runs.preview("none", bench.ctx()) == ""


async def test_all_on_which_programs_act_is_named(bench: RunBench, root: Path) -> None:
    made = (
        "mkdir -p a z; for n in $(seq 50); do echo 1 > a/$n; mkdir z/$n; echo 1 > z/$n/{}.md; done"
    )
    pending = await bench.changed(made.format("AGENTS"))
    displayed = await bench.runs.preview(pending.pending_id, bench.ctx())
    assert all(f"z/{n}/AGENTS.md" in displayed for n in range(1, 51))
    assert "[50 more files]" in displayed
    later = await bench.changed(f"rm -rf a z; {made.format('x')}; echo 1 > z/tool", commit="ask")
    shell = f"git init -q; git config core.pager {root}/z/tool"
    subprocess.run(["/bin/sh", "-ec", shell], cwd=root, check=True)
    assert (await bench.apply_pending(later.pending_id)).state == "held"
    displayed = await bench.runs.preview(later.pending_id, bench.ctx())
    assert displayed.startswith("created z/tool")
    assert "what the settings of git point at" in displayed


async def test_what_is_no_text_is_said_not_to_be_shown(bench: RunBench) -> None:
    pending = await bench.changed(r"printf 'do this\0' > AGENTS.md; : > empty", "ask")
    displayed = await bench.runs.preview(pending.pending_id, bench.ctx())
    assert "created AGENTS.md (8 bytes, its content is not shown)" in displayed.splitlines()
    assert "created empty (+0 -0)" in displayed.splitlines()
