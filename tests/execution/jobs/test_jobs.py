"""Background work: started, read, stopped, kept; from this process and from others."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.services import Spawn
from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import Services
from toolcrib.core.errors import Conflict, NotFound
from toolcrib.core.result import ErrorInfo, Image, Next, Result
from toolcrib.execution.job_store import KEEP_SECONDS, SILENT_SECONDS
from toolcrib.execution.jobs import IDLE_SECONDS, JobHandle, Jobs, JobView

Work = Callable[[JobHandle], Awaitable[Result | None]]
ENOUGH = 60.0
"""Seconds that nothing takes, on however busy a machine."""


@pytest.fixture
def jobs(services: Services) -> Jobs:
    return services.use(Jobs)


@pytest.fixture
def others(other_services: Services) -> Jobs:
    return other_services.use(Jobs)


async def start(jobs: Jobs, work: Work, title: str = "work", **changes) -> str:
    return await jobs.start("command", title, work, changes.pop("session", "s1"), "run", **changes)


async def until_cancelled(handle: JobHandle) -> None:
    handle.write("started\n")
    await asyncio.sleep(3600)


async def test_a_job_from_start_to_end(jobs: Jobs, others: Jobs) -> None:
    go = asyncio.Event()

    async def work(handle: JobHandle) -> Result:
        handle.write("one\n")
        await go.wait()
        handle.write("zwölf\n")
        handle.exit_code = 3
        return Result(text="all", data={"n": 1}, source="https://x/", truncated=True)

    job = await start(jobs, work, "the title")
    running = await jobs.read(job, "text", "one", timeout=ENOUGH)
    assert (running.record.state, running.text, running.record.total) == ("running", "one\n", 4)
    assert (
        running.record.title,
        running.record.kind,
        running.record.tool,
        running.record.session,
    ) == (
        *("the title", "command", "run"),
        "s1",
    )
    go.set()
    for reader in (jobs, others):
        done = await reader.read(job, "exit", timeout=ENOUGH, offset=running.record.total)
        assert (done.record.state, done.record.exit_code, done.text, done.record.total) == (
            "done",
            3,
            "zwölf\n",
            11,
        )
        assert done.result == Result(text="all", data={"n": 1}, source="https://x/", truncated=True)
        assert done.record.ended
        assert done.record.ended >= done.record.started


async def test_a_result_is_kept_whole(jobs: Jobs, others: Jobs) -> None:
    result = Result(
        text="t",
        data=[1, None],
        images=(Image(b"\x00png", "image/png"),),
        next=Next("read_job", {"id": "x"}),
        error=ErrorInfo("conflict", "m", "h", {"d": 1}),
        max_tokens=70,
    )

    async def work(handle: JobHandle) -> Result:
        return result

    job = await start(jobs, work)
    assert (await jobs.read(job, "exit", timeout=ENOUGH)).result == result
    again = await others.read(job, "exit", timeout=ENOUGH)
    assert again.result == result
    assert again.record.state == "failed"


async def test_a_result_that_is_too_large_loses_its_parts_and_keeps_its_text(jobs: Jobs) -> None:
    async def work(handle: JobHandle) -> Result:
        return Result(text="t" * 9_000_000, data="d" * 9_000_000)

    done = await jobs.read(await start(jobs, work), "exit", timeout=ENOUGH)
    assert done.result
    assert done.result.data is None
    assert done.result.text.endswith("[the rest was not kept]")
    assert len(done.result.text) > 1_000_000


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (Conflict("it changed", hint="read it"), "conflict", "it changed"),
        (TimeoutError(), "timeout", "work took too long."),
        (KeyError("x"), "internal", "work failed: KeyError: 'x'"),
    ],
)
async def test_failures(jobs: Jobs, error: Exception, code: str, message: str) -> None:
    async def work(handle: JobHandle) -> Result:
        raise error

    done = await jobs.read(await start(jobs, work), "exit", timeout=ENOUGH)
    assert done.record.state == "failed"
    assert done.result
    assert done.result.error
    assert (done.result.error.code, done.result.error.message) == (code, message)


async def test_a_job_without_a_result(jobs: Jobs) -> None:
    async def work(handle: JobHandle) -> None:
        handle.write("output")

    done = await jobs.read(await start(jobs, work), "exit", timeout=ENOUGH)
    assert (done.record.state, done.result, done.text) == ("done", None, "output")


async def test_time_is_bounded(jobs: Jobs) -> None:
    job = await start(jobs, until_cancelled, seconds=0.2)
    done = await jobs.read(job, "exit", timeout=ENOUGH)
    assert done.record.state == "failed"
    assert done.result
    assert done.result.error
    assert done.result.error.code == "timeout"


async def test_a_running_task_is_adopted(jobs: Jobs, others: Jobs) -> None:
    go = asyncio.Event()

    async def call() -> Result:
        await go.wait()
        return Result(text="late")

    task = asyncio.create_task(call())
    handle = await jobs.adopt(task, kind="call", title="fetch", session="s1", tool="fetch_url")
    handle.write("working\n")
    go.set()
    assert (await others.read(handle.id, "exit", timeout=ENOUGH)).result == Result(text="late")


async def test_a_task_that_is_over_can_be_adopted(jobs: Jobs) -> None:
    async def call() -> Result:
        return Result(text="early")

    task = asyncio.create_task(call())
    await task
    handle = await jobs.adopt(task, kind="call", title="fetch", session="s1", tool="fetch_url")
    assert (await jobs.read(handle.id, "exit", timeout=ENOUGH)).result == Result(text="early")


@pytest.mark.parametrize("here", [True, False])
async def test_waiting_for_text(jobs: Jobs, others: Jobs, here: bool) -> None:
    async def work(handle: JobHandle) -> None:
        handle.write("starting\nlisten")
        await asyncio.sleep(0.4)
        handle.write("ing on 8080\n")
        await asyncio.sleep(3600)

    job = await start(jobs, work)
    view = await (jobs if here else others).read(job, "text", "listening on", timeout=ENOUGH)
    assert view.text == "starting\nlistening on 8080\n"
    nothing = await jobs.read(job, "text", "listening on", timeout=0.1, offset=view.record.total)
    assert (nothing.text, nothing.record.state) == ("", "running")


@pytest.mark.parametrize("here", [True, False])
async def test_waiting_for_a_pause(jobs: Jobs, others: Jobs, here: bool) -> None:
    async def work(handle: JobHandle) -> None:
        for n in range(4):
            handle.write(f"{n}\n")
            await asyncio.sleep(0.4)
        await asyncio.sleep(3600)

    job = await start(jobs, work)
    view = await (jobs if here else others).read(job, "idle", timeout=ENOUGH)
    # On a busy machine the writer itself may pause that long: then it is as right.
    assert time.time() >= view.record.written + IDLE_SECONDS
    assert view.text
    assert "0\n1\n2\n3\n".startswith(view.text)
    assert view.record.state == "running"


async def test_a_wait_ends_with_the_job(jobs: Jobs) -> None:
    async def work(handle: JobHandle) -> None:
        await asyncio.sleep(0.2)

    job = await start(jobs, work)
    assert (await jobs.read(job, "text", "never", timeout=ENOUGH)).record.state == "done"
    job = await start(jobs, work)
    assert (await jobs.read(job, "idle", timeout=ENOUGH)).record.state == "done"


async def test_a_wait_that_is_cancelled_leaves_the_job_alone(jobs: Jobs) -> None:
    job = await start(jobs, until_cancelled)
    waiting = asyncio.create_task(jobs.read(job, "exit", timeout=ENOUGH))
    await asyncio.sleep(0.1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await jobs.read(job)).record.state == "running"


@pytest.mark.parametrize("here", [True, False])
async def test_stopping_runs_the_clean_up(jobs: Jobs, others: Jobs, here: bool) -> None:
    cleaned = []

    async def work(handle: JobHandle) -> None:
        try:
            await until_cancelled(handle)
        finally:
            await asyncio.sleep(0.1)
            handle.write("cleaned\n")
            cleaned.append(True)

    job = await start(jobs, work)
    stopped = await (jobs if here else others).stop(job)
    assert cleaned == [True]
    assert (stopped.record.state, stopped.text) == ("stopped", "started\ncleaned\n")
    assert (await jobs.stop(job)).record.state == "stopped"


async def test_a_job_that_ended_is_not_stopped(jobs: Jobs) -> None:
    async def work(handle: JobHandle) -> None:
        return None

    job = await start(jobs, work)
    await jobs.read(job, "exit", timeout=ENOUGH)
    assert (await jobs.stop(job)).record.state == "done"


async def test_unknown_jobs(jobs: Jobs) -> None:
    for act in (jobs.read, jobs.stop):
        with pytest.raises(NotFound, match="no job or terminal nothing") as caught:
            await act("nothing")
        assert "7 days" in caught.value.hint


async def test_ids_may_be_typed_by_hand(jobs: Jobs) -> None:
    job = await start(jobs, until_cancelled)
    assert (await jobs.read(f" {job.upper()} ")).record.id == job


async def test_list(jobs: Jobs, others: Jobs) -> None:
    async def work(handle: JobHandle) -> Result:
        return Result(text="x")

    first = await start(jobs, until_cancelled, "first")
    second = await start(jobs, work, "second", session="s2")
    await jobs.read(second, "exit", timeout=ENOUGH)
    third = await start(jobs, until_cancelled, "third", session="s2")
    await others.read(second, "exit", timeout=ENOUGH)  # its end is in the store
    for reader in (jobs, others):
        assert [v.record.id for v in await reader.list()] == [third, first, second]
        assert [v.record.id for v in await reader.list(session="s2")] == [third, second]
        assert [v.record.title for v in await reader.list(limit=1)] == ["third"]


async def test_output_is_bounded_here_and_in_the_store(jobs: Jobs, others: Jobs) -> None:
    line = "x" * 99 + "\n"

    async def work(handle: JobHandle) -> None:
        for n in range(500):
            handle.write(f"{n:06}" + line * 1000)  # 50 MB in all
            if n % 50 == 0:
                await asyncio.sleep(0.25)  # so that some of it is flushed on the way

    job = await start(jobs, work)
    done = await jobs.read(job, "exit", timeout=ENOUGH)
    stored = await others.read(job, "exit", timeout=ENOUGH)
    assert stored.record.total == done.record.total == 500 * 100_006
    assert stored.text == done.text
    assert stored.text.startswith("000000xxx")
    assert stored.text.endswith(line)
    assert stored.dropped == stored.record.total - (16 + 256) * 1024
    assert f"[{stored.dropped:,} bytes were not kept]" in stored.text
    store = sqlite3.connect(data_folder() / "toolcrib.db")
    assert store.execute("SELECT sum(length(data)) FROM job_output").fetchone()[0] < 1_000_000
    store.close()
    tail = await others.read(job, offset=-500)
    assert tail.text == line * 5


async def test_trickling_output_with_any_bytes_is_the_same_in_the_store(
    jobs: Jobs, others: Jobs
) -> None:
    parts = [f"{n}: grün \x00 🙂\n" * (n * 13 % 40) for n in range(60)]

    async def work(handle: JobHandle) -> None:
        for part in parts:
            handle.write(part)
            await asyncio.sleep(0.03)

    job = await start(jobs, work)
    done = await jobs.read(job, "exit", timeout=ENOUGH)
    assert done.text == "".join(parts)
    assert (await others.read(job, "exit", timeout=ENOUGH)).text == done.text
    assert (await others.read(job, offset=17_000)).text == (
        "".join(parts).encode()[17_000:].decode("utf-8", "ignore")
    )


async def test_writing_from_threads(jobs: Jobs) -> None:
    def write(handle: JobHandle) -> None:
        for _ in range(1000):
            handle.write("0123456789\n")

    async def work(handle: JobHandle) -> None:
        threads = [threading.Thread(target=write, args=(handle,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        await asyncio.to_thread(lambda: [thread.join() for thread in threads])

    done = await jobs.read(await start(jobs, work), "exit", timeout=ENOUGH)
    assert done.text == "0123456789\n" * 4000


async def test_another_process_reads_and_stops(jobs: Jobs, spawn: Spawn, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    process = await spawn("job", mark)
    assert process.stdout
    job = (await process.stdout.readline()).decode().strip()
    assert (await jobs.read(job, "text", "first", timeout=ENOUGH)).text == "first line\n"
    assert (await jobs.stop(job)).record.state == "stopped"
    assert mark.read_text() == "cleaned"
    assert await process.stdout.readline() == b"stopped\n"


async def test_the_owner_ends_and_its_jobs_with_it(
    jobs: Jobs, spawn: Spawn, tmp_path: Path
) -> None:

    services = Services(Config.load())
    theirs = services.use(Jobs)
    job = await start(theirs, until_cancelled)
    await services.close()
    view = await jobs.read(job)
    assert (view.record.state, view.text) == ("stopped", "started\n")


async def test_an_owner_that_was_killed_leaves_lost_jobs(
    jobs: Jobs, spawn: Spawn, tmp_path: Path
) -> None:
    process = await spawn("job", tmp_path / "mark")
    assert process.stdout
    job = (await process.stdout.readline()).decode().strip()
    await jobs.read(job, "text", "first", timeout=ENOUGH)
    waiting = asyncio.create_task(jobs.read(job, "exit", timeout=ENOUGH))
    process.kill()
    await process.wait()
    lost = await waiting
    assert (lost.record.state, lost.text) == ("lost", "first line\n")
    assert lost.record.ended
    assert [v.record.state for v in await jobs.list()] == ["lost"]
    assert (await jobs.stop(job)).record.state == "lost"


async def test_an_owner_elsewhere_is_lost_when_it_gives_no_sign(jobs: Jobs) -> None:
    job = await start(jobs, until_cancelled)
    store = sqlite3.connect(data_folder() / "toolcrib.db")
    copy = "INSERT INTO job SELECT ?, kind, title, tool, session, ?, started, ended, beat - ?, "
    copy += "written, state, exit_code, total, source, result, stop, rights, workspace "
    copy += "FROM job WHERE id = ?"
    store.execute(copy, ("jnear", "elsewhere:1:1", 0, job))
    store.execute(copy, ("jg0ne", "elsewhere:1:2", SILENT_SECONDS + 1, job))
    store.commit()
    store.close()
    assert (await jobs.read("jnear")).record.state == "running"
    assert (await jobs.read("jg0ne")).record.state == "lost"


async def test_old_and_surplus_jobs_go(jobs: Jobs, others: Jobs) -> None:
    async def work(handle: JobHandle) -> None:
        handle.write("x")

    old = await start(jobs, work)
    await others.read(old, "exit", timeout=ENOUGH)  # its end is in the store
    store = sqlite3.connect(data_folder() / "toolcrib.db")
    store.execute("UPDATE job SET ended = ended - ?", (KEEP_SECONDS + 1,))
    store.commit()
    await start(jobs, work)
    with pytest.raises(NotFound):
        await jobs.read(old)
    assert store.execute("SELECT count(*) FROM job_output WHERE job = ?", (old,)).fetchone() == (0,)
    store.close()


async def test_closing_does_not_wait_for_the_stubborn(jobs: Jobs, others: Jobs) -> None:
    ended = asyncio.Event()

    async def work(handle: JobHandle) -> None:
        while not ended.is_set():
            try:
                await ended.wait()
            except asyncio.CancelledError:
                handle.write("no\n")

    job = await start(jobs, work)
    await asyncio.sleep(0.05)
    await asyncio.wait_for(jobs.close(), ENOUGH)
    assert (await others.read(job)).record.state == "stopped"
    ended.set()
    await asyncio.sleep(0.05)


async def test_a_broken_store_stops_no_job(jobs: Jobs, others: Jobs) -> None:
    file = data_folder() / "toolcrib.db"
    file.mkdir(parents=True)

    async def work(handle: JobHandle) -> Result:
        handle.write("output")
        return Result(text="done")

    job = await start(jobs, work)
    view = await jobs.read(job, "exit", timeout=ENOUGH)
    assert (view.record.state, view.text) == ("done", "output")
    assert "Jobs cannot be written" in jobs.warning
    assert [v.record.id for v in await jobs.list()] == [job]
    file.rmdir()

    async def stored() -> JobView | None:
        try:
            return await others.read(job, "exit", timeout=ENOUGH)
        except NotFound:
            return None

    while (view_of_others := await stored()) is None:
        await asyncio.sleep(0.05)
    assert view_of_others.result == Result(text="done")


async def test_a_start_that_is_cancelled_leaves_no_job(jobs: Jobs) -> None:
    cleaned = asyncio.Event()

    async def work(handle: JobHandle) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            cleaned.set()

    starting = asyncio.create_task(start(jobs, work))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await asyncio.wait_for(cleaned.wait(), ENOUGH)
