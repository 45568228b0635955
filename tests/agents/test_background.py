"""Agents in the background: jobs, words to them, other processes, and what is kept."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.boxes import box_of
from tests.conditions import until
from tests.servers.model import ModelServer, Turn, model_server
from toolcrib import Toolbox
from toolcrib.agents.runs import MAX_EVENTS, AgentRuns
from toolcrib.core.context import Caller, Progress

pytestmark = pytest.mark.rows("E102", "E103")
READ = Turn("Looking.", [("read_file", {"path": "notes.md"})])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.md").write_text("the word is plum\n")
    return folder


async def until_requested(server: ModelServer, times: int) -> None:
    await until(lambda: len(server.requested) >= times)


async def started(box: Toolbox, task: str = "x", **more: Any) -> dict[str, Any]:
    result = await box.call("delegate_task", {"task": task, "background": True, **more})
    assert result.error is None
    assert result.next is not None
    assert (result.next.tool, result.next.arguments["id"]) == ("read_job", result.data["job"])
    return dict(result.data)


async def test_a_job_that_read_job_serves(root: Path) -> None:
    with model_server(READ, Turn("It is plum.", pause=0.2, piece=3)) as server:
        async with box_of(server, root) as box:
            begun = await started(box)
            running = await box.call("get_agent_result", {"id": begun["trace_id"]})
            jobs = await box.call("list_jobs")
            done = await box.call("read_job", {"id": begun["job"], "timeout": 30})
            found = await box.call("get_agent_result", {"id": begun["job"]})
            last = await box.call("get_agent_result")
    assert running.data["status"] == "running"
    assert begun["trace_id"] in jobs.text
    assert "It is plum." in done.text
    assert done.data["result"]["status"] == "completed"
    assert found.data == last.data == done.data["result"]


async def test_stopping_one_keeps_the_others(root: Path) -> None:
    def by_task(body: dict[str, Any]) -> Turn:
        slow = "slow" in str(body["messages"][1])
        found = any(m["role"] == "tool" for m in body["messages"])
        if slow:
            return Turn("never", piece=1, stall=3) if found else READ
        return Turn("quick answer")

    with model_server(by_task) as server:
        async with box_of(server, root) as box:
            slow, quick = await started(box, "slow"), await started(box, "quick")
            done = await box.call("read_job", {"id": quick["job"], "timeout": 30})
            await until(lambda: len(server.requested) == 3)
            stopped = await box.call("stop_job", {"id": slow["job"]})
            partial = await box.call("read_job", {"id": slow["job"], "timeout": 10})
            stored = await box.call("get_agent_result", {"id": slow["trace_id"]})
            other = await box.call("get_agent_result", {"id": quick["trace_id"]})
    assert "quick answer" in done.text
    assert "stopped" in stopped.text
    assert "plum" in partial.text
    assert stored.data["status"] == "cancelled"
    assert "plum" in stored.data["answer"]
    assert other.data["answer"] == "quick answer"


async def test_a_message_is_read_before_the_next_step(root: Path) -> None:
    slow = Turn("Looking.", [("read_file", {"path": "notes.md"})], pause=0.4)
    with model_server(slow, Turn("done")) as server:
        async with box_of(server, root) as box:
            begun = await started(box)
            await until_requested(server, 1)
            sent = await box.call("steer_agent", {"id": begun["job"], "message": "use French"})
            await box.call("read_job", {"id": begun["job"], "timeout": 30})
            late = await box.call("interrupt_sub_agent", {"id": begun["job"], "message": "x"})
        assert "use French" in server.words(1)
        assert "use French" not in server.words(0)
    assert sent.data["sent"] is True
    assert late.data["sent"] is False


async def test_a_cancel_takes_effect_in_mid_answer(root: Path) -> None:
    with model_server(READ, Turn("a very long answer " * 50, piece=1, stall=30)) as server:
        async with box_of(server, root) as box:
            begun = await started(box)
            await until_requested(server, 2)
            await box.call("steer_agent", {"id": begun["trace_id"], "cancel": True})
            done = await box.call("read_job", {"id": begun["job"], "timeout": 10})
    assert done.data["result"]["status"] == "cancelled"
    assert done.data["result"]["reason"] == "cancelled"
    assert "a very long answer" in done.data["result"]["answer"]


async def test_another_process_steers_and_reads(root: Path, tmp_path: Path) -> None:
    with model_server(READ, Turn("x" * 500, piece=1, stall=30)) as server:
        async with box_of(server, root) as box:
            begun = await started(box)
            await until_requested(server, 2)
            words = (sys.executable, "-m", "toolcrib", "call")
            env = dict(os.environ)

            async def other(*given: str) -> str:
                process = await asyncio.create_subprocess_exec(
                    *words, *given, stdout=asyncio.subprocess.PIPE, env=env, cwd=tmp_path
                )
                out, _ = await process.communicate()
                return out.decode()

            reply = await other("steer_agent", f"id={begun['trace_id']}", "cancel=true")
            await box.call("read_job", {"id": begun["job"], "timeout": 10})
            found = await other("get_agent_result", f"id={begun['trace_id']}", "--json")
    assert "told to stop" in reply
    assert json.loads(found)["data"]["status"] == "cancelled"


async def test_the_model_of_another_conversation_may_not_steer(root: Path) -> None:
    with model_server(Turn("x" * 50, piece=1, stall=5)) as server:
        async with box_of(server, root) as box:
            begun = await started(box)
            given = {"id": begun["trace_id"], "cancel": True}
            refused = await box.call("steer_agent", given, session="s2", caller=Caller("mcp"))
            await box.call("stop_job", {"id": begun["job"]})
    assert refused.error is not None
    assert refused.error.code == "denied"


async def test_a_long_call_in_the_foreground_goes_on_as_a_job(root: Path) -> None:
    steps: list[str] = []

    async def notify(progress: Progress) -> None:
        steps.append(progress.message)

    caller = Caller("mcp", notify=notify, answer_within=1.5)
    with model_server(READ, Turn("slowly" * 5, piece=1, pause=0.15)) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"}, caller=caller)
            assert result.next is not None
            done = await box.call("read_job", {**result.next.arguments, "timeout": 30})
    assert result.next.tool == "read_job"
    assert "slowly" in done.text
    assert any("step 1 of 8" in step for step in steps)


async def test_an_agent_whose_process_was_killed_is_lost(root: Path, tmp_path: Path) -> None:
    program = """
import asyncio, sys
from toolcrib import Toolbox
async def main():
    config = {"agent": {"base_url": sys.argv[1], "model": "m"}}
    async with Toolbox(config, workspace=sys.argv[2]) as box:
        result = await box.call("delegate_task", {"task": "x", "background": True}, session="s")
        print(result.data["trace_id"], flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""
    with model_server(READ, Turn("x" * 500, piece=1, stall=5)) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", program, server.url, str(root)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        run_id = (await asyncio.to_thread(process.stdout.readline)).strip()
        await until_requested(server, 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        async with box_of(server, root) as box:
            found = await box.call("get_agent_result", {"id": run_id})
            events = await box.use(AgentRuns).events(run_id)
    assert (found.data["status"], found.data["reason"]) == ("failed", "lost")
    assert any("plum" in event.text for event in events)


async def test_closing_the_toolbox_ends_its_agents(root: Path) -> None:
    with model_server(Turn("x" * 500, piece=1, stall=5)) as server:
        async with box_of(server, root) as box:
            begun = await started(box)
            await until_requested(server, 1)
        async with box_of(server, root) as box:
            found = await box.call("get_agent_result", {"id": begun["trace_id"]})
    assert found.data["status"] == "cancelled"


@pytest.mark.rows("E126")
async def test_the_trace_has_all_steps_and_is_bounded(root: Path) -> None:
    long = "y" * 100_000
    with model_server(
        Turn("", [("echo", {"text": "sk-" + "a1B2" * 12})], reasoning="I think"), Turn(long)
    ) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "find the word"})
            runs = box.use(AgentRuns)
            run = await runs.find(result.data["trace_id"])
            events = await runs.events(run.id)
            for seq in range(MAX_EVENTS + 20):
                await runs.note(run.id, 100 + seq, "result", "x")
            maximum = len(await runs.events(run.id))
    kinds = [event.kind for event in events]
    assert kinds == ["request", "answer", "calls", "result", "request", "answer", "end"]
    assert "find the word" in events[0].text
    assert "I think" in events[1].text
    assert all(len(event.text) < 30_000 for event in events)
    assert "a1B2a1B2" not in "".join(e.text for e in events if e.kind == "result")
    assert run.task == "find the word"
    assert maximum <= MAX_EVENTS + 1


@pytest.mark.rows("E126")
async def test_only_the_last_runs_are_kept(root: Path) -> None:
    with model_server(Turn("ok")) as server:
        async with box_of(server, root, agent={"keep": 3}) as box:
            ids = [
                (await box.call("delegate_task", {"task": f"{n}"})).data["trace_id"]
                for n in range(5)
            ]
            stored = [run.id for run in await box.use(AgentRuns).recent()]
            gone = await box.call("get_agent_result", {"id": ids[0]})
    assert set(stored) <= set(ids[1:])
    assert ids[-1] in stored
    assert gone.error is not None
    assert gone.error.code == "not_found"


async def test_there_is_no_agent_yet(root: Path) -> None:
    async with box_of(None, root) as box:
        for tool in ("get_agent_result", "steer_agent"):
            result = await box.call(tool, {"message": "x"} if tool == "steer_agent" else {})
            assert result.error is not None
            assert result.error.code == "not_found"
        nothing = await box.call("steer_agent", {"id": "a1"})
    assert nothing.error is not None
    assert nothing.error.code == "bad_input"
