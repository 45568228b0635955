"""To whom a held run belongs: its workspace, and its conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.execution.runs.conftest import Opened, RunBench, need_overlay, run_folders
from toolcrib.core.context import Caller, Ctx, Session
from toolcrib.core.errors import Denied, NotFound
from toolcrib.core.registry import Registry
from toolcrib.core.result import Result
from toolcrib.execution.runs.outcome import RunOutcome


def elsewhere(*roots: Path, level: str = "", **run: object) -> RunBench:
    """Another process on the same data folder, with a workspace of its own."""
    for root in roots:
        root.mkdir(exist_ok=True)
    settings = {**({"level": level} if level else {}), **run}
    workspace: dict[str, object] = {"roots": [str(root) for root in roots]}
    bench = RunBench.on(roots[0], workspace=workspace, run=settings)
    assert isinstance(bench, RunBench)
    return bench


def of_another(bench: RunBench) -> RunBench:
    """The same process, and another conversation."""
    return RunBench(bench.root, bench.services, Session("two"))


async def by_hand(bench: RunBench, pending: str) -> RunOutcome:
    """Apply as a person does at the command line, whose conversations are all new."""

    async def invoke(*_: object) -> Result:
        return Result()

    caller, session = Caller("cli"), Session("three")
    ctx = Ctx("1", caller, session, bench.services, Registry(()), invoke, None)
    return await bench.runs.apply(pending, ctx)


async def refused(bench: RunBench, pending: str, unlisted: str = "") -> None:
    """Neither applied nor dropped nor told of."""
    for decide in (bench.apply_pending, bench.drop_pending):
        with pytest.raises(NotFound) as info:
            await decide(pending)
        assert info.value.message == f"There is no held run {pending}."
        assert (unlisted or pending) not in info.value.hint


async def check_workspaces(bench: RunBench, tmp_path: Path, level: str) -> None:
    pending = await bench.changed("echo changed > a", "ask")
    other = elsewhere(tmp_path / "proj", level=level)
    try:
        await refused(other, pending.pending_id)
        await refused(other, "wrong", unlisted=pending.pending_id)
    finally:
        await other.services.close()
    other = elsewhere(tmp_path / "proj", level=level)
    try:
        with pytest.raises(NotFound) as named:
            await by_hand(other, pending.pending_id)
    finally:
        await other.services.close()
    assert f"--workspace {bench.root}" in named.value.hint
    with pytest.raises(NotFound, match="no held run wrong") as info:
        await bench.apply_pending("wrong")
    assert pending.pending_id in info.value.hint
    assert (bench.root / "a").read_text() == "mine\n"
    assert (await bench.apply_pending(pending.pending_id)).state == "applied"
    assert (bench.root / "a").read_text() == "changed\n"


async def test_a_run_of_another_workspace_is_unknown(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    (root / "a").write_text("mine\n")
    await check_workspaces(bench, tmp_path, "")


async def test_one_that_was_taken_back_too(bare: RunBench, root: Path, tmp_path: Path) -> None:
    (root / "a").write_text("mine\n")
    await check_workspaces(bare, tmp_path, bare.services.config.run.level)


async def test_all_of_its_roots_must_be_there(opened: Opened, root: Path, tmp_path: Path) -> None:
    await need_overlay(opened())
    second, third = tmp_path / "second", tmp_path / "third"
    both = elsewhere(root, second)
    pending = await both.changed(f"echo 1 > one; echo 2 > {second}/two", "ask")
    await both.services.close()
    one = elsewhere(root)
    await refused(one, pending.pending_id)
    await one.services.close()
    link = tmp_path / "link"
    link.symlink_to(root)
    more = elsewhere(third, second, link)
    assert (await more.apply_pending(pending.pending_id)).state == "applied"
    await more.services.close()
    assert ((root / "one").read_text(), (second / "two").read_text()) == ("1\n", "2\n")


async def check_conversations(bench: RunBench) -> None:
    pending = await bench.changed("echo changed > a", "ask")
    other = of_another(bench)
    for decide in (other.apply_pending, other.drop_pending):
        with pytest.raises(Denied, match="belongs to another conversation") as info:
            await decide(pending.pending_id)
        assert info.value.stable_code == "denied"
        assert f"toolcrib call apply_changes id={pending.pending_id}" in info.value.hint
    with pytest.raises(NotFound) as unknown:
        await other.apply_pending("wrong")
    assert pending.pending_id not in unknown.value.hint
    assert not (bench.root / "a").exists()
    assert (await by_hand(bench, pending.pending_id)).state == "applied"
    assert (bench.root / "a").read_text() == "changed\n"


async def test_another_conversation_is_denied_and_a_person_is_not(bench: RunBench) -> None:
    await check_conversations(bench)


async def test_on_the_files_themselves_too(bare: RunBench) -> None:
    await check_conversations(bare)


async def test_what_expired_in_another_workspace_goes_all_the_same(
    bench: RunBench, tmp_path: Path
) -> None:
    await bench.changed("echo x > x", "ask")
    assert run_folders(tmp_path)
    other = elsewhere(tmp_path / "proj", pending_hours=0.0000001)
    await other.changed("true")
    await other.services.close()
    assert run_folders(tmp_path) == []
