"""`create_plan`: the steps of a longer task, written down."""

from __future__ import annotations

import time
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, tool
from toolcrib.memory.place import origin_of, project_of
from toolcrib.memory.plans import Plans


@tool(
    group="plan",
    rights=WRITE,
    keywords=("todo", "task list", "steps", "checklist", "roadmap", "organize"),
    argument_aliases={"task": "goal", "title": "goal", "todos": "steps", "tasks": "steps"},
)
async def create_plan(
    goal: Annotated[str, Param("What is to be reached.", plain=True)],
    steps: Annotated[list[str], Param("1 to 30 sentences.", plain=True)],
    *,
    ctx: Ctx,
) -> Result:
    """Write down the steps of a longer task, to work through one by one.

    Use it for more than three steps. It is kept beyond this conversation; another plan may
    stay open beside it. update_plan_step moves a step on.
    """
    project = await project_of(ctx)
    plan = await ctx.use(Plans).create(goal, steps, project.id, origin_of(ctx))
    now = time.time()
    return Result(plan.full(now), plan.to_json(now))
