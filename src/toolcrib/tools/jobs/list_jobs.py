"""Which jobs there are."""

from __future__ import annotations

import time

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import tool
from toolcrib.execution.jobs import Jobs

MAX_JOBS = 30
MAX_READ = 500
"""Those of other folders among them."""


@tool(
    group="jobs",
    keywords=("running", "background", "processes", "tasks", "status"),
    aliases=("get_jobs",),
)
async def list_jobs(*, ctx: Ctx) -> Result:
    """List background jobs: running ones first, then the newest.

    Jobs of other conversations in the same folders are listed too; ended ones are kept for 7 days.
    """
    service = ctx.use(Jobs)
    records = [view.record for view in await service.list(limit=MAX_READ)]
    lines, jobs = [], []
    for job in [job for job in records if service.is_known_to(ctx, job)][:MAX_JOBS]:
        seconds = (job.ended or time.time()) - job.started
        code = "" if job.exit_code is None else f" (exit code {job.exit_code})"
        lines.append(f"{job.id}  {job.state}{code}  {seconds:,.0f} s  {job.title}")
        jobs.append(
            {
                "id": job.id,
                "state": job.state,
                "exit_code": job.exit_code,
                "seconds": round(seconds, 1),
                "title": job.title,
                "tool": job.tool,
                "bytes": job.total,
                "this_session": job.session == ctx.session.id,
            }
        )
    # What another conversation runs, it may have made of files that this one has not read.
    private = not all(job["this_session"] for job in jobs)
    return Result(text="\n".join(lines) or "No jobs.", data={"jobs": jobs}, private=private)
