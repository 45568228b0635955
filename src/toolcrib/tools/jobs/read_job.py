"""Waiting for a job and reading what it gave."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Annotated, Any, Literal

from toolcrib.core.context import ADDED, Ctx, room_in
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import Param, Seconds, tool
from toolcrib.execution.job_store import JobView, Record
from toolcrib.execution.jobs import Jobs, is_in
from toolcrib.system.threads import in_thread_if_large
from toolcrib.text.cleaner import one_line
from toolcrib.text.truncation import head_and_tail

PROGRESS_SECONDS = 5.0
MISSING = "has not come yet"
UNLOGGED = "; what it had changed stays, and cannot be undone"

For = Literal["exit", "text", "idle", "none"]


@tool(
    group="jobs",
    profiles=("default", "search", "*"),
    keywords=("wait", "poll", "status", "output", "background", "process", "result"),
    aliases=("get_job", "job_status"),
    argument_aliases={"job_id": "id", "job": "id", "timeout_seconds": "timeout"},
)
async def read_job(
    id: str,  # noqa: A002 - the name that models use
    wait: For = "exit",
    text: Annotated[str, Param("Output to wait for.")] = "",
    timeout: Annotated[Seconds, Param(maximum=40)] = 30,  # noqa: ASYNC109 - bounds the wait
    offset: Annotated[int, Param("First byte; negative: from the end.", plain=True)] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Wait for a background job and read its output or result.

    One call waits; there is no need to ask again and again. `wait` is exit for the end,
    text for output that contains `text`, idle for output that then pauses, none for what
    there is now. The job goes on when the wait is over; stop_job ends it.
    """
    if wait == "text" and not text:
        raise BadInput("wait=text needs 'text': what the output should contain.")
    wait = "text" if text else wait
    job = await ctx.use(Jobs).find(id, ctx)
    view = await _waited(ctx, job.id, wait, text, within=timeout, offset=offset)
    if view.result is not None:
        result = _result(ctx, view.record, view.result)
    else:
        room = room_in(ctx.budget(read_job.name))
        again = {"id": view.record.id, "wait": wait, "text": text}
        result = await in_thread_if_large(view.size, _output, view, room, again)
    # The command line of another conversation may tell of files that this one has not read.
    is_others = view.record.kind == "command" and view.record.session != ctx.session.id
    return replace(result, private=True) if is_others else result


def state_line(job: Record) -> str:
    """A job in one line."""
    seconds = f"{(job.ended or time.time()) - job.started:,.0f} s"
    states = {
        "running": f"running for {seconds}",
        "lost": f"lost: the process that ran it is gone{UNLOGGED * (job.kind == 'command')}",
    }.get(job.state, f"{job.state} after {seconds}")
    is_over = job.exit_code is not None and job.state != "running"
    code = f", exit code {job.exit_code}" if is_over else ""
    size = f", {job.total:,} bytes of output" if job.total else ""
    return f"Job {job.id} ({job.title}): {states}{code}{size}"


def facts(job: Record) -> dict[str, Any]:
    """A job as JSON values."""
    return {
        "id": job.id,
        "state": job.state,
        "kind": job.kind,
        "title": job.title,
        "tool": job.tool,
        "exit_code": job.exit_code,
        "started": job.started,
        "ended": job.ended,
        "bytes": job.total,
    }


async def _waited(
    ctx: Ctx, job_id: str, wait: For, text: str, *, within: float, offset: int
) -> JobView:
    """The job once the wait is over; the caller hears that it goes on."""
    answer = ctx.caller.answer_within
    if answer is not None:
        within = min(within, max(answer - 5, answer / 2))
    awaited = "" if wait == "none" else wait
    reading = asyncio.create_task(
        ctx.use(Jobs).read(job_id, awaited, text, ctx.remaining(within), offset)
    )
    began = time.monotonic()
    try:
        while True:
            done, _ = await asyncio.wait({reading}, timeout=PROGRESS_SECONDS)
            if done:
                return reading.result()
            await ctx.progress(f"waiting for {job_id}, {time.monotonic() - began:.0f} s")
    finally:
        reading.cancel()


def _result(ctx: Ctx, job: Record, result: Result) -> Result:
    """The end of a job that left a result."""
    lines = [state_line(job), result.text]
    error = None
    if result.error is not None:
        lines += [f"Error ({result.error.code}): {result.error.message}", result.error.hint]
        error = result.to_json()["error"]
    return Result(
        text="\n".join(line for line in lines if line),
        data=facts(job) | {"result": result.data, "error": error},
        images=result.images,
        truncated=result.truncated,
        next=result.next,
        source=result.source or job.untrusted,
        fenced=result.fenced,
        private=result.private or job.private,
        # A call that went on as a job was cut to its budget and fenced already.
        max_tokens=ctx.budget(job.tool, result.max_tokens) + ADDED * result.fenced,
    )


def _output(view: JobView, room: int, again: dict[str, Any]) -> Result:
    """What was written so far, and the call that reads on."""
    job, body = view.record, view.text
    head, tail, (start, end) = head_and_tail(body, room, head_share=0.3)
    awaited = str(again["text"])
    left_out = start < end
    if left_out:
        first, last = view.offset_at(start), view.offset_at(end)
        middle = f"\n[{last - first:,} bytes left out, from offset {first}]\n"
        body = f"{head.rstrip()}{middle}{tail}"
        again = {"id": job.id, "wait": "none", "offset": first}
    else:
        again = {name: value for name, value in again.items() if value} | {"offset": job.total}
    missing = ""
    if awaited and not view.dropped and not is_in(awaited, view.text):
        missing = f"; '{one_line(awaited, 60)}' {'did not come' if job.is_over else MISSING}"
    return Result(
        text=f"{state_line(job)}{missing}\n{body}".rstrip("\n"),
        data=facts(job),
        truncated=left_out,
        next=Next("read_job", again) if left_out or not job.is_over else None,
        source=job.untrusted,
        private=job.private,
    )
