"""Ending a job."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.call import Next, Result
from toolcrib.core.context import Ctx
from toolcrib.core.params import Param
from toolcrib.core.tool import tool
from toolcrib.kit.jobs import Jobs


@tool(
    group="jobs",
    keywords=("kill", "cancel", "terminate", "abort", "end", "process"),
    aliases=("kill_job", "cancel_job", "terminate_job", "kill_process"),
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

    What it wrote stays readable with read_job. A job that is over stays as it is.
    """
    view = await ctx.use(Jobs).stop(id)
    if not view.is_over:
        text = f"Job {view.id} ({view.title}) was told to stop and is still cleaning up."
        follow = Next("read_job", {"id": view.id, "wait": "exit"})
        return Result(text=text, data={"id": view.id, "state": view.state}, next=follow)
    text = f"Job {view.id} ({view.title}): {view.state}."
    return Result(text=text, data={"id": view.id, "state": view.state})
