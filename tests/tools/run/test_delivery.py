"""A job is of use to whoever was told its id; one that nobody was told of does not go on."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from tests.servers.mcp_wire import Wire, wire
from toolcrib import Toolbox
from toolcrib.core.context import Caller, Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import tool
from toolcrib.execution.jobs import JobHandle, Jobs

pytestmark = pytest.mark.timeout(120)
ENOUGH = 30.0
SERVER = (sys.executable, "-m", "toolcrib", "mcp", "--profile", "all")
CANCELS = [0.0, 0.1, 0.3, 0.45, 0.5, 0.53, 0.56, 0.59, 0.62, 0.66, 0.7, 0.8]


async def _endless(handle: JobHandle) -> Result | None:
    handle.write("begun\n")
    await asyncio.sleep(600)
    return None


@tool(group="test")
async def begin(*, ctx: Ctx) -> Result:
    """Begin a job; the caller gives up just when its id is on the way."""
    job = await ctx.use(Jobs).start("test", "endless", _endless, ctx.session.id, "begin")
    if ctx.caller.notify is not None:
        await ctx.progress("begun")
    return Result(text=job, data={"id": job})


async def _states(box: Toolbox) -> list[str]:
    return [view.record.state for view in await box.use(Jobs).list()]


async def test_a_call_cancelled_after_its_tool_returned_leaves_no_job(tmp_path: Path) -> None:
    config = {"store": {"url": f"sqlite:///{tmp_path}/s.db"}}
    async with Toolbox(config, tools=[begin]) as box:
        calls: list[asyncio.Task[Result]] = []

        async def give_up(_: object) -> None:
            # Not now, in the tool, but at the next turn of the loop: behind it.
            asyncio.get_running_loop().call_soon(calls[0].cancel)

        caller = Caller("test", notify=give_up)
        calls.append(asyncio.create_task(box.call("begin", {}, caller=caller)))
        with pytest.raises(asyncio.CancelledError):
            await calls[0]
        assert await _states(box) == ["stopped"]

        messages = await box.call("begin", {})
        assert messages.error is None
        assert sorted(await _states(box)) == ["running", "stopped"]


async def test_a_result_that_is_there_and_lost_takes_its_job_along(tmp_path: Path) -> None:
    config = {"store": {"url": f"sqlite:///{tmp_path}/s.db"}}
    async with Toolbox(config, tools=[begin]) as box:
        jobs = box.use(Jobs)
        with jobs.noted() as begun:
            call = asyncio.create_task(box.call("begin", {}))
            result = await call
        assert begun.ids == [result.data["id"]]
        await jobs.withdraw(begun)
        assert await _states(box) == ["stopped"]


async def test_a_client_that_cancels_at_any_moment_leaves_no_job_it_does_not_know(
    tmp_path: Path,
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "state").mkdir()
    settings: dict[str, Any] = {"workspace": {"roots": [str(tmp_path / "work")]}}
    (tmp_path / "state" / "config.toml").write_text(tomli_w.dumps(settings))
    async with wire(*SERVER) as server:
        await server.answer_to(server.call("run_command", command="true"))
        for after in CANCELS:
            request = server.call("run_command", command="sleep 300", background=True)
            await asyncio.sleep(after)
            server.tell("notifications/cancelled", {"requestId": request})
        async with asyncio.timeout(ENOUGH):
            while not await _knows_all(server):
                await asyncio.sleep(0.1)


async def _knows_all(server: Wire) -> bool:
    """Whether each job that runs was told of in some answer."""
    before = len(server.lines)
    answer = await server.answer_to(server.call("list_jobs"))
    listed = answer["result"]["content"][0]["text"].splitlines()
    running = [line.split()[0] for line in listed if line.split()[1:2] == ["running"]]
    messages = "".join(server.lines[: len(server.lines) - 1] if before else server.lines)
    return all(f"job {job}" in messages for job in running)


async def test_a_terminal_that_never_pauses_answers_in_time(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    config = {"store": {"url": f"sqlite:///{tmp_path}/s.db"}}
    caller = Caller("mcp", answer_within=6.0)
    async with Toolbox(config, workspace=tmp_path / "work") as box:
        await box.call("run_command", {"command": "true"})  # what is looked for once is found
        text = await box.call("start_terminal", {"command": "yes"}, caller=caller)
        assert text.error is None, text.render()
        assert text.job == ""
        assert text.data["running"]
        assert "y" in text.data["screen"]
        views = await box.use(Jobs).list()
        assert [(v.record.kind, v.record.state) for v in views][:1] == [("terminal", "running")]
        await box.call("stop_job", {"id": text.data["id"]})
