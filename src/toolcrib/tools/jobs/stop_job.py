"""Ending a job."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Denied
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import Param, tool
from toolcrib.execution.job_store import Record
from toolcrib.execution.jobs import Jobs
from toolcrib.files.changes.changes import Changes
from toolcrib.text.display import counted

MAX_LOOKED_THROUGH = 20
"""Steps of others that were made while the job ended."""


@tool(
    group="jobs",
    keywords=("kill", "cancel", "terminate", "abort", "end", "process"),
    aliases=("kill_job", "cancel_job", "terminate_job"),
    argument_aliases={"job_id": "id", "job": "id"},
    destructive=True,
    idempotent=True,
)
async def stop_job(
    id: Annotated[str, Param("Job.")],  # noqa: A002 - the name that models use
    *,
    ctx: Ctx,
) -> Result:
    """Stop a background job.

    It must be one of this conversation. What it wrote stays readable with read_job. A job
    that is over stays as it is.
    """
    jobs = ctx.use(Jobs)
    job = await jobs.find(id, ctx)
    if not ctx.session.includes(job.session) and ctx.caller.surface != "cli":
        raise Denied(
            f"Job {job.id} belongs to another conversation.",
            hint=f"The user can stop it: toolcrib call stop_job id={job.id}",
        )
    latest = [step.id for step in await ctx.use(Changes).steps(limit=1)]
    job = (await jobs.stop(job.id)).record
    if not job.is_over:
        text = f"Job {job.id} ({job.title}) was told to stop and is still cleaning up."
        follow = Next("read_job", {"id": job.id, "wait": "exit"})
        return Result(text=text, data={"id": job.id, "state": job.state}, next=follow)
    changed = await _changed(job, max(latest, default=0), ctx)
    text = f"Job {job.id} ({job.title}): {job.state}.{changed}"
    return Result(text=text, data={"id": job.id, "state": job.state})


async def _changed(job: Record, latest: int, ctx: Ctx) -> str:
    """What the end of a job put into the undo log, after the step that was the latest."""
    for step in await ctx.use(Changes).steps(limit=MAX_LOOKED_THROUGH):
        if step.id > latest and (step.tool, step.session) == (job.tool, job.session):
            files = counted(len(step.paths), "file")
            if not step.undoable:
                return f"\nIt changed {files}, which cannot be undone."
            also = f", and {step.note}" if step.note else ""
            return f"\nIt changed {files}; undo_changes with id={step.id} takes that back{also}."
    return ""
