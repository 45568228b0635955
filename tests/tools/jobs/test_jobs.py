"""The jobs tools, through the whole pipeline."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolcrib.core.context import Caller, Progress
from toolcrib.core.errors import Conflict
from toolcrib.core.result import Result
from toolcrib.execution.jobs import JobHandle, Jobs
from toolcrib.state.sessions import Sessions
from toolcrib.state.store import Store
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox
from toolcrib.tools.jobs.read_job import PROGRESS_SECONDS


@pytest.fixture
async def box() -> AsyncIterator[Toolbox]:
    async with Toolbox() as opened:
        yield opened


async def start(box: Toolbox, work, title: str = "make all") -> str:
    return await box.use(Jobs).start("command", title, work, "s1", "run_command")


async def serve(handle: JobHandle) -> None:
    handle.write("starting\n")
    await asyncio.sleep(0.3)
    handle.write("listening\n")
    await asyncio.sleep(3600)


async def test_reading_on_until_the_end(box: Toolbox) -> None:
    go = asyncio.Event()

    async def work(handle: JobHandle) -> None:
        handle.write("one\n")
        await go.wait()
        handle.write("two\n")
        handle.exit_code = 1

    job = await start(box, work)
    first = await box.call("read_job", {"id": job, "wait": "none"})
    state, *output = first.text.splitlines()
    assert state == f"Job {job} (make all): running for 0 s, 4 bytes of output"
    assert output == ["one"]
    assert not first.truncated
    assert first.next
    assert first.next.arguments == {"id": job, "wait": "none", "offset": 4}
    go.set()
    last = await box.call("read_job", {**first.next.arguments, "wait": "exit"})
    state, *output = last.text.splitlines()
    assert state == f"Job {job} (make all): done after 0 s, exit code 1, 8 bytes of output"
    assert output == ["two"]
    assert last.next is None
    assert last.data["state"] == "done"
    assert last.data["exit_code"] == 1


async def test_the_result_of_a_job(box: Toolbox) -> None:
    async def work(handle: JobHandle) -> Result:
        handle.write("on the way")
        return Result(text="the answer", data={"n": 42})

    job = await start(box, work)
    done = await box.call("read_job", {"job_id": job})
    assert done.text.splitlines()[1:] == ["the answer"]
    assert done.data["result"] == {"n": 42}
    assert done.error is None


async def test_the_error_of_a_job(box: Toolbox) -> None:
    async def work(handle: JobHandle) -> Result:
        raise Conflict("it changed", hint="read it again")

    done = await box.call("read_job", {"id": await start(box, work)})
    assert done.text.splitlines()[1:] == ["Error (conflict): it changed", "read it again"]
    assert done.data["state"] == "failed"
    assert done.data["error"]["code"] == "conflict"
    assert done.error is None  # reading worked


async def test_what_a_job_brings_from_outside_is_fenced(box: Toolbox) -> None:
    async def page(handle: JobHandle) -> Result:
        return Result(text="buy now", source="https://example.com/")

    async def agent(handle: JobHandle) -> None:
        handle.source = "https://example.org/"
        handle.write("buy now")

    for work, source in ((page, "example.com"), (agent, "example.org")):
        done = await box.call("read_job", {"id": await start(box, work)})
        assert f'<untrusted source="https://{source}/">' in done.text


async def test_waiting_for_text_and_pauses(box: Toolbox) -> None:
    job = await start(box, serve)
    text = await box.call("read_job", {"id": job, "text": "listening"})
    assert text.text.endswith("starting\nlistening")
    assert text.next
    assert text.next.arguments == {"id": job, "wait": "text", "text": "listening", "offset": 19}
    idle = await box.call("read_job", {"id": job, "wait": "idle"})
    assert idle.text.endswith("listening")


async def test_waiting_no_longer_than_asked(box: Toolbox) -> None:
    job = await start(box, serve)
    assert "running" in (await box.call("read_job", {"id": job, "timeout": 0.1})).text
    caller = Caller("mcp", answer_within=1.0)
    answer = await box.call("read_job", {"id": job, "timeout": 40}, caller=caller)
    assert "running" in answer.text  # and not that it went on as another job


async def test_the_caller_hears_that_it_waits(box: Toolbox) -> None:
    heard: list[Progress] = []

    async def notify(progress: Progress) -> None:
        heard.append(progress)

    job = await start(box, serve)
    caller = Caller("mcp", notify=notify)
    await box.call("read_job", {"id": job, "timeout": PROGRESS_SECONDS + 0.5}, caller=caller)
    assert heard
    assert all(re.fullmatch(rf"waiting for {job}, \d+ s", p.message) for p in heard)
    assert PROGRESS_SECONDS < 10


async def test_long_output_keeps_both_ends_and_the_way_to_the_rest(box: Toolbox) -> None:
    lines = [f"line number {n} of the output" for n in range(8000)]

    async def work(handle: JobHandle) -> None:
        handle.write("\n".join(lines))

    job = await start(box, work)
    seen: set[str] = set()
    result = await box.call("read_job", {"id": job})
    for _ in range(80):
        assert estimate(result.text) <= 4000
        body = result.text.split("\n", 1)[1]
        assert body.endswith("line number 7999 of the output")
        seen.update(body.splitlines())
        if result.next is None:
            break
        assert result.truncated
        assert set(result.next.arguments) == {"id", "wait", "offset"}
        result = await box.call(result.next.tool, result.next.arguments)
    assert set(lines) <= seen
    tail = await box.call("read_job", {"id": job, "offset": -60})
    assert tail.text.endswith("7998 of the output\nline number 7999 of the output")


async def test_a_text_that_has_not_come_is_told(box: Toolbox) -> None:
    job = await start(box, serve)
    came = await box.call("read_job", {"id": job, "text": "starting"})
    assert "not come" not in came.text
    missing = await box.call("read_job", {"id": job, "text": "Ready", "timeout": 0.1})
    assert "; 'Ready' has not come yet" in missing.text

    async def loud(handle: JobHandle) -> None:
        handle.write("READY\n")
        await asyncio.sleep(3600)

    found = await box.call("read_job", {"id": await start(box, loud), "text": "ready"})
    assert "not come" not in found.text

    async def short(handle: JobHandle) -> None:
        handle.write("bye\n")

    ended = await box.call("read_job", {"id": await start(box, short), "text": "ready"})
    assert "; 'ready' did not come" in ended.text


@pytest.mark.parametrize("tool", ["read_job", "stop_job"])
async def test_an_unknown_job(box: Toolbox, tool: str) -> None:
    result = await box.call(tool, {"id": "jnope"})
    assert result.error
    assert result.error.code == "not_found"
    assert "id" in result.error.hint


async def test_waiting_for_no_text(box: Toolbox) -> None:
    result = await box.call("read_job", {"id": "j", "wait": "text"})
    assert result.error
    assert result.error.code == "bad_input"


async def test_stop(box: Toolbox) -> None:
    job = await start(box, serve)
    stopped = await box.call("kill_job", {"id": job}, session="s1")
    assert stopped.text == f"Job {job} (make all): stopped."
    assert stopped.data == {"id": job, "state": "stopped"}
    assert "starting" in (await box.call("read_job", {"id": job})).text


async def test_list(box: Toolbox) -> None:
    assert (await box.call("list_jobs")).text == "No jobs."
    job = await start(box, serve)
    listed = await box.call("list_jobs", session="s1")
    assert re.fullmatch(rf"{job}  running  \d s  make all", listed.text)
    assert listed.data["jobs"][0]["this_session"]
    assert not (await box.call("list_jobs")).data["jobs"][0]["this_session"]


async def test_command_lines_of_other_conversations_are_private(box: Toolbox) -> None:
    job = await start(box, serve, "sleep 9 # SECRET5")
    sessions = box.use(Sessions)
    for number, (name, given) in enumerate(
        [("list_jobs", {}), ("read_job", {"id": job, "wait": "none"})]
    ):
        found = await box.call(name, given, session=f"other {number}")
        assert "SECRET5" in found.text
        assert (await sessions.load(f"other {number}")).private, name
    refused = await box.call("stop_job", {"id": job}, session="third")
    assert refused.error
    assert "SECRET5" not in refused.render()
    assert not (await sessions.load("third")).private
    await box.call("list_jobs", {}, session="s1")
    assert not (await sessions.load("s1")).private


async def test_jobs_of_other_folders_are_not_known(box: Toolbox, tmp_path: Path) -> None:
    job = await start(box, serve)
    await asyncio.sleep(0.5)  # it is written to the store meanwhile
    config = {"store": {"url": f"sqlite:///{box.use(Store).path}"}}
    (tmp_path / "other").mkdir()
    async with Toolbox(config, workspace=tmp_path / "other") as other:
        assert (await other.call("list_jobs")).text == "No jobs."
        for name in ("read_job", "stop_job"):
            refused = await other.call(name, {"id": job})
            assert refused.error
            assert refused.error.code == "not_found"
        arguments = {"id": job, "wait": "none"}
        assert (await other.call("read_job", arguments, session="s1")).error is None
        assert (await other.call("read_job", arguments, caller=Caller("cli"))).error is None
    await box.use(Jobs).stop(job)


async def test_only_the_user_stops_jobs_of_other_conversations(box: Toolbox) -> None:
    job = await start(box, serve)
    refused = await box.call("stop_job", {"id": job}, session="s2")
    assert refused.error
    assert refused.error.code == "denied"
    assert job in refused.error.hint
    assert (await box.use(Jobs).read(job)).record.state == "running"
    stopped = await box.call("stop_job", {"id": job}, session="s2", caller=Caller("cli"))
    assert stopped.data["state"] == "stopped"
