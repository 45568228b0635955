"""What an agent found, or how far it is."""

from __future__ import annotations

import time
from typing import Annotated

from toolcrib.agents.outcome import result_of
from toolcrib.agents.runs import AgentRuns
from toolcrib.core.context import Ctx
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import Param, tool


@tool(
    group="agent",
    keywords=("subagent", "answer", "outcome", "status", "last"),
    aliases=("agent_result", "agent_wait"),
    argument_aliases={"agent_id": "id", "trace_id": "id", "job": "id", "job_id": "id"},
)
async def get_agent_result(
    id: Annotated[str, Param("Agent or job; empty: the last one.")] = "",  # noqa: A002
    *,
    ctx: Ctx,
) -> Result:
    """Show the result of an agent, or how far it is.

    It does not wait; read_job waits for one in the background.
    """
    run = await ctx.use(AgentRuns).find(id, ctx.session.id)
    if run.outcome.is_over:
        return result_of(run.outcome, untrusted=run.untrusted, private=run.private)
    seconds = time.time() - run.started
    following = Next("read_job", {"id": run.job, "wait": "exit"}) if run.job else None
    return Result(
        text=f"Agent {run.id} ({run.role}) has been running for {seconds:,.0f} s.",
        data=run.outcome.to_json() | {"seconds": round(seconds, 1)},
        next=following,
    )
