"""A word to an agent that runs, or its end."""

from __future__ import annotations

from typing import Annotated

from toolcrib.agents.runs import AgentRuns, RunMessage
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Denied
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import Param, tool

BY_THE_USER = ("cli", "python")
"""Where a person or a program of theirs makes the call."""


@tool(
    group="agent",
    keywords=("subagent", "message", "interrupt", "cancel", "stop", "tell"),
    aliases=("interrupt_agent", "message_agent"),
    argument_aliases={"agent_id": "id", "trace_id": "id", "job": "id", "job_id": "id"},
    destructive=True,
)
async def steer_agent(
    id: Annotated[str, Param("Agent or job; empty: the last one.")] = "",  # noqa: A002
    message: Annotated[str, Param("Read before its next step.")] = "",
    cancel: Annotated[bool, Param("End it.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Send a message to a running agent, or cancel it.

    A cancelled agent keeps what it found: get_agent_result shows it.
    """
    if not message.strip() and not cancel:
        raise BadInput("There is nothing to send.", hint="Give a message, or cancel=true.")
    runs, session = ctx.use(AgentRuns), ctx.session
    run = await runs.find(id, session.id)
    if run.session != session.id and ctx.caller.surface not in BY_THE_USER:
        raise Denied(
            f"Agent {run.id} belongs to another conversation.",
            hint=f"The user can do it: toolcrib call steer_agent id={run.id}",
        )
    following = Next("get_agent_result", {"id": run.id})
    if run.outcome.is_over:
        text = f"Agent {run.id} has ended already: {run.outcome.status}."
        return Result(text=text, data={"id": run.id, "sent": False}, next=following)
    await runs.send(run.id, RunMessage(message, cancel, session.untrusted, session.private))
    effect = "is told to stop" if cancel else "gets the message before its next step"
    text = f"Agent {run.id} {effect}."
    return Result(text=text, data={"id": run.id, "sent": True}, next=following)
