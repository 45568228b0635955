"""Places, deadlines, and going on as a job."""

from __future__ import annotations

import asyncio

import pytest

from tests.conditions import until
from tests.middleware.conftest import Make
from tests.middleware.sample import Gate
from toolcrib.core.context import Caller, Progress
from toolcrib.middleware.limits import FairQueue
from toolcrib.state.sessions import Sessions
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox


async def test_a_tool_is_stopped_at_its_own_limit(box: Toolbox) -> None:
    result = await box.call("hurried")
    assert result.error is not None
    assert result.error.code == "timeout"
    assert "0.2 seconds" in result.error.message


async def test_a_tool_runs_no_more_often_than_it_says(box: Toolbox) -> None:
    results = await asyncio.gather(*(box.call("alone") for _ in range(5)))
    assert [result.data for result in results] == [1] * 5


async def test_too_many_calls_are_told_to_wait(make: Make, gate: Gate) -> None:
    box = make(limits={"concurrency": 1, "waiting": 1})
    calls = [asyncio.ensure_future(box.call("wait")) for _ in range(4)]
    await until(lambda: sum(call.done() for call in calls) == 2)
    gate.opened.set()
    codes = [r.error and r.error.code for r in await asyncio.gather(*calls)]
    assert sorted(map(str, codes)) == ["None", "None", "busy", "busy"]


async def test_conversations_take_turns() -> None:
    queue, order = FairQueue(1), []

    async def call(session: str) -> None:
        await queue.take(session)
        order.append(session)
        await asyncio.sleep(0)
        queue.give(0.1)

    await queue.take("first")
    calls = [asyncio.ensure_future(call(session)) for session in "aaaabbc"]
    gone = asyncio.ensure_future(call("a"))
    await until(lambda: queue.waiting == 8)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    queue.give(0.1)
    await asyncio.gather(*calls)
    assert order == ["a", "b", "c", "a", "b", "a", "a"]
    assert queue.waiting == 0
    assert queue.expected_seconds("a") == 0.0


async def test_who_would_wait_too_long_is_told_when_to_come_back(make: Make, gate: Gate) -> None:
    box = make(limits={"concurrency": 1})
    slow = asyncio.ensure_future(box.call("wait"))
    await gate.came.wait()
    hasty = Caller("test", answer_within=2)  # the answer has a tenth of it
    refused = await box.call("wait", caller=hasty)
    assert refused.error is not None
    assert refused.error.code == "busy"
    assert refused.error.details["retry_after"] >= 1
    gate.opened.set()
    assert (await slow).error is None
    assert (await box.call("wait")).error is None


async def test_meta_tools_need_no_place(make: Make, gate: Gate) -> None:
    box = make(limits={"concurrency": 1, "waiting": 1})
    slow = asyncio.ensure_future(box.call("wait"))
    await gate.came.wait()
    listed = await box.call("list_jobs")
    assert listed.error is None
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)


@pytest.mark.rows("A44", "S8.3")
async def test_a_long_call_goes_on_as_a_job(box: Toolbox, gate: Gate) -> None:
    heard: list[Progress] = []

    async def notify(progress: Progress) -> None:
        heard.append(progress)

    caller = Caller("test", notify=notify, answer_within=0.2)
    result = await box.call("wait", caller=caller)
    assert result.error is None
    assert "goes on as job" in result.text
    assert [p.message for p in heard] == ["started"]
    listed = (await box.call("list_jobs")).data["jobs"]
    assert [job["title"] for job in listed] == ["wait"]
    assert listed[0]["seconds"] >= 0
    assert result.next is not None
    gate.opened.set()
    done = await box.call(result.next.tool, result.next.arguments)
    assert "done waiting" in done.text


async def test_a_nested_call_is_handed_over_once(box: Toolbox, gate: Gate) -> None:
    caller = Caller("test", answer_within=0.2)
    result = await box.call("call_tool", {"name": "wait", "arguments": {}}, caller=caller)
    assert result.next is not None
    gate.opened.set()
    done = await box.call(result.next.tool, result.next.arguments)
    assert "done waiting" in done.text


@pytest.mark.parametrize("size", [10, 20_000])
async def test_a_page_that_went_on_as_a_job_is_shaped_once(
    make: Make, gate: Gate, size: int
) -> None:
    box = make(results={"per_tool": {"page": 6000}})
    text = " ".join(f"word{n}" for n in range(size))
    arguments = {"url": "https://example.com/", "text": text, "held": True}
    result = await box.call("page", arguments, caller=Caller("test", answer_within=0.1))
    assert result.next is not None
    gate.opened.set()
    done = await box.call(result.next.tool, result.next.arguments)
    assert done.text.count("<untrusted source") == done.text.count("</untrusted>") == 1
    assert done.text.endswith("</untrusted>")
    assert f"word{size - 1}" in done.text
    assert done.truncated == (size > 10)
    assert estimate(done.text) <= 6000
    if size > 10:
        assert estimate(done.text) > 5500
        assert done.next is not None
        more = await box.call(done.next.tool, done.next.arguments)
        assert more.error is None
        assert more.text.count("untrusted") >= 2


@pytest.mark.parametrize("nested", [False, True])
async def test_taint_follows_a_job_into_another_conversation(
    box: Toolbox, gate: Gate, nested: bool
) -> None:
    for tool, arguments, flags in (
        ("page", {"url": "https://example.com/", "text": "hi", "held": True}, (True, False)),
        ("wait", {}, (False, True)),
    ):
        gate.opened.clear()
        name, given = tool, arguments
        if nested:
            name, given = "call_tool", {"name": tool, "arguments": arguments}
        caller = Caller("test", answer_within=0.1)
        result = await box.call(name, given, session="one", caller=caller)
        assert result.next is not None
        gate.opened.set()
        reader = f"reader of {tool}"
        done = await box.call(result.next.tool, result.next.arguments, session=reader)
        assert done.error is None
        session = await box.use(Sessions).load(reader)
        assert (session.untrusted, session.private) == flags


async def test_closing_stops_the_jobs(make: Make) -> None:
    box = make()
    result = await box.call("wait", caller=Caller("test", answer_within=0.1))
    assert result.next is not None
    await box.close()
    listed = await make().call("read_job", {"id": result.next.arguments["id"]})
    assert "stopped" in listed.text or "lost" in listed.text
