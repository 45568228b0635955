"""Every call leaves one record."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.middleware.conftest import Make
from tests.middleware.sample import Gate
from toolcrib.core.context import Caller
from toolcrib.state.history import History
from toolcrib.toolbox import Toolbox


async def outcomes(box: Toolbox) -> list[tuple[str, str]]:
    entries = await box.use(History).query(limit=50)
    return [(entry.tool, entry.outcome) for entry in reversed(entries)]


@pytest.mark.rows("D37", "C190")
async def test_good_bad_refused_and_cancelled_calls_are_all_recorded(
    make: Make, gate: Gate
) -> None:
    box = make(policy={"rules": [{"action": "deny", "tool": "alone"}]})
    await box.call("echo", {"text": "hi"})
    await box.call("echo", {"wrong": "x"})
    await box.call("fail", {})
    await box.call("alone")
    await box.call("nothing_like_it")
    task = asyncio.ensure_future(box.call("wait"))
    await gate.came.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    while len(await outcomes(box)) < 6:  # the last is recorded after its caller has gone
        await asyncio.sleep(0)
    assert await outcomes(box) == [
        ("echo", "ok"),
        ("echo", "bad_input"),
        ("fail", "internal"),
        ("alone", "denied"),
        ("nothing_like_it", "unknown_tool"),
        ("wait", "cancelled"),
    ]


async def test_a_record_has_the_facts_and_no_secret(box: Toolbox) -> None:
    await box.call("echo", {"text": "Authorization: Bearer abcdef0123456789abcdef0123456789"})
    await box.call("echo", {"text": "x" * 5000})
    long, secret = await box.use(History).query(limit=2)
    assert "abcdef0123456789" not in secret.arguments
    assert len(long.arguments) < 1000
    assert json.loads(long.arguments)
    assert (long.surface, long.tokens > 0, long.bytes_) == ("python", True, 5000)


async def test_a_call_that_went_on_as_a_job_is_neither_good_nor_bad(box: Toolbox) -> None:
    await box.call("echo", {"text": "x"})
    await box.call("wait", caller=Caller("test", answer_within=0.1))
    assert await outcomes(box) == [("echo", "ok"), ("wait", "job")]
    history = box.use(History)
    assert not await history.query(outcome="error")
    (stats,) = await history.stats()
    assert (stats.calls, stats.errors) == (1, 0)
    assert ['"status": "ok"' in line for line in [e async for e in history.export()]] == [
        *(True, False),
    ]


async def test_a_defect_leaves_its_trace(box: Toolbox) -> None:
    await box.call("fail", {})
    (entry,) = await box.use(History).query(limit=1)
    assert "ValueError: a defect" in entry.note
    assert "sample.py" in entry.note


@pytest.mark.rows("E134")
async def test_it_can_be_switched_off(make: Make) -> None:
    box = make(history={"enabled": False})
    await box.call("echo", {"text": "hi"})
    assert await outcomes(box) == []
