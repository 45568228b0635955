"""`update_plan_step`: a step of a plan moves on."""

from __future__ import annotations

import time
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Count, Param, tool
from toolcrib.memory.place import origin_of, project_of
from toolcrib.memory.plans import Plans, StepStatus


@tool(
    group="plan",
    rights=WRITE,
    keywords=("todo", "check off", "tick", "complete", "progress", "mark"),
    aliases=("update_plan", "set_step_status"),
    argument_aliases={
        "step": "index",
        "number": "index",
        "state": "status",
        "plan_id": "id",
        "reason": "note",
    },
)
async def update_plan_step(
    index: Annotated[Count, Param("From 1.")],
    status: StepStatus,
    note: Annotated[str, Param("Needed for blocked.")] = "",
    id: Annotated[Count | None, Param("Of a plan; else the one in work.", plain=True)] = None,  # noqa: A002
    *,
    ctx: Ctx,
) -> Result:
    """Set the status of a step, and see what comes next.

    The way is pending, in progress, done. Any step may become blocked, with a note; a blocked
    one becomes pending again. The plan of the step is then the one in work.
    """
    place = (await project_of(ctx)).id, origin_of(ctx)
    plan = await ctx.use(Plans).update_step(id, index, status, note, place)
    now = time.time()
    fence = plan.fence_for(ctx.session.id)
    private = plan.private and plan.session != ctx.session.id
    return Result(plan.compact(now), plan.to_json(now), source=fence, private=private)
