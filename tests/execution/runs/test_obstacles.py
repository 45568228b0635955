"""Changes that could not be made: whether a second try helps, and what has to be done first."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.execution.runs.conftest import RunBench, settle
from toolcrib.core.errors import Conflict, PathDenied, StorageFailure, TimedOut
from toolcrib.core.result import Next
from toolcrib.execution.runs.outcome import cause, recovery_hint

ROOM = 3_000_000
LARGE = "head -c 6000000 /dev/zero > large"


@contextmanager
def little_room() -> Iterator[None]:
    """This process can write no large file, as if the disk were full."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


async def test_after_a_change_outside_no_second_try_is_named(bench: RunBench, root: Path) -> None:
    (root / "a").write_text("a\n")
    pending = await bench.changed("echo b >> a", "ask")
    await settle()
    (root / "a").write_text("mine\n")
    outcome = await bench.apply_pending(pending.pending_id)
    assert (outcome.state, outcome.pending_id, outcome.next) == ("held", pending.pending_id, None)
    assert any("run it again" in note and "drop=true" in note for note in outcome.notes)
    assert (await bench.drop_pending(pending.pending_id)).state == "dropped"


async def test_nor_by_the_run_that_others_overtook(bench: RunBench, root: Path) -> None:
    (root / "a").write_text("a\n")
    await settle()

    async def change(_: object) -> None:
        await settle()
        (root / "a").write_text("mine\n")

    outcome = await bench.changed("echo ready; sleep 1; echo b >> a", on_output=change)
    assert (outcome.state, outcome.next) == ("held", None)
    assert outcome.pending_id


async def test_nor_where_it_was_taken_back(bare: RunBench, root: Path) -> None:
    (root / "a").write_text("a\n")
    pending = await bare.changed("echo b >> a", "ask")
    assert pending.next == Next("apply_changes", {"id": pending.pending_id})
    await settle()
    (root / "a").write_text("mine\n")
    outcome = await bare.apply_pending(pending.pending_id)
    assert (outcome.state, outcome.pending_id, outcome.next) == ("held", pending.pending_id, None)
    assert any("run it again" in note and "drop=true" in note for note in outcome.notes)
    assert (root / "a").read_text() == "mine\n"


async def test_a_full_disk_is_told_and_the_run_can_be_applied_later(
    bench: RunBench, root: Path
) -> None:
    pending = await bench.changed(LARGE, "ask")
    with little_room(), pytest.raises(StorageFailure, match="the disk is full") as info:
        await bench.apply_pending(pending.pending_id)
    assert "first some space has to be freed; then apply_changes" in info.value.hint
    assert list(root.iterdir()) == []
    assert (await bench.apply_pending(pending.pending_id)).state == "applied"
    assert (root / "large").stat().st_size == 6_000_000


async def test_a_run_that_meets_a_full_disk_says_what_comes_first(
    bench: RunBench, root: Path
) -> None:
    with ExitStack() as later:
        # The program has begun by then, and may write what it likes.
        outcome = await bench.changed(
            f"echo begun; sleep 1; {LARGE}",
            on_output=lambda _: later.enter_context(little_room()),
        )
    assert outcome.state == "held", outcome.notes
    assert outcome.next == Next("apply_changes", {"id": outcome.pending_id})
    assert any("first some space has to be freed; then" in note for note in outcome.notes)
    assert list(root.iterdir()) == []


def test_what_a_person_has_to_do_first() -> None:
    shut = PathDenied("Access denied: a.", hint="Use another folder.", rule="permissions")
    assert "the user has to permit" in recovery_hint(shut)
    assert "Use another folder" not in cause(shut)
    assert "has to be mended" in recovery_hint(
        StorageFailure("a cannot be written: Input/output error.")
    )
    assert cause(TimedOut("It took long.", hint="Ask for less.")) == "It took long. Ask for less"
    assert recovery_hint(Conflict("a was changed.")) == ""
