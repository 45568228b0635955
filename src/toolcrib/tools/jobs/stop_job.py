"""Ending a job."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Denied
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import Param, tool
from toolcrib.execution.jobs import Jobs


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
    job = (await jobs.stop(job.id)).record
    if not job.is_over:
        text = f"Job {job.id} ({job.title}) was told to stop and is still cleaning up."
        follow = Next("read_job", {"id": job.id, "wait": "exit"})
        return Result(text=text, data={"id": job.id, "state": job.state}, next=follow)
    text = f"Job {job.id} ({job.title}): {job.state}."
    return Result(text=text, data={"id": job.id, "state": job.state})
