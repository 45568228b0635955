"""`get_plan`: how far a plan is."""

from __future__ import annotations

import time
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.memory.place import project_of
from toolcrib.memory.plans import UNSAID, Plan, Plans
from toolcrib.memory.times import day
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted


@tool(
    group="plan",
    rights=READ,
    keywords=("todo", "task list", "steps", "progress", "what is left", "status"),
    aliases=("show_plan", "read_plan", "list_plans"),
    argument_aliases={"plan_id": "id", "plan": "id", "short": "compact"},
)
async def get_plan(
    id: Annotated[Count | None, Param("Of a plan; else the one in work.")] = None,  # noqa: A002
    compact: Annotated[bool, Param("Only what is next.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Show a plan: its steps, how far each is, and how long it has taken.

    Without an id it is the plan of this conversation, else the last of this project that is
    not finished; other open plans are named.
    """
    project, plans = await project_of(ctx), ctx.use(Plans)
    plan = await plans.get(id, project.id, ctx.session.id)
    now = time.time()
    fence, impersonal = plan.fence_for(ctx.session.id), plan.is_impersonal_for(ctx.session.id)
    if compact:
        return Result(plan.compact(now), plan.to_json(now), source=fence, impersonal=impersonal)
    others = await plans.others(plan.id, project.id) if id is None else []
    lines = [plan.full(now)]
    if others:
        named = "; ".join(
            f"{p.id}: {_named(p, ctx.session.id)} ({counted(len(p.steps), 'step')}, "
            f"{p.percent} % done, from {day(p.created)})"
            for p in others
        )
        lines.append(f"Other open plans: {named}")
    data = plan.to_json(now) | {"others": [p.id for p in others]}
    return Result("\n".join(lines), data, source=fence, impersonal=impersonal)


def _named(plan: Plan, session: str) -> str:
    """The goal of a plan, but not what may be outside text to this conversation."""
    return UNSAID if plan.fence_for(session) else one_line(plan.goal, 60)
