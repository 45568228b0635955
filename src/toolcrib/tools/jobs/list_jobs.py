"""Which jobs there are."""

from __future__ import annotations

import time

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.tool import tool
from toolcrib.kit.jobs import Jobs

MOST_SHOWN = 30


@tool(
    group="jobs",
    keywords=("running", "background", "processes", "tasks", "status"),
    aliases=("get_jobs", "list_sessions", "list_processes"),
)
async def list_jobs(*, ctx: Ctx) -> Result:
    """List background jobs: running ones first, then the newest.

    Jobs of other conversations are listed too; ended ones are kept for 7 days.
    """
    views = await ctx.use(Jobs).list(limit=MOST_SHOWN)
    lines, jobs = [], []
    for view in views:
        seconds = (view.ended or time.time()) - view.started
        code = "" if view.exit_code is None else f" (exit code {view.exit_code})"
        lines.append(f"{view.id}  {view.state}{code}  {seconds:,.0f} s  {view.title}")
        jobs.append(
            {
                "id": view.id,
                "state": view.state,
                "exit_code": view.exit_code,
                "seconds": round(seconds, 1),
                "title": view.title,
                "tool": view.tool,
                "bytes": view.total,
                "this_session": view.session == ctx.session.id,
            }
        )
    return Result(text="\n".join(lines) or "No jobs.", data={"jobs": jobs})
