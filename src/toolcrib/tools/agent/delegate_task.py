"""Giving a task to an agent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Any

from toolcrib.agents.delegation import DelegatedRun, Delegation
from toolcrib.core.context import Ctx, Progress
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import Param, Seconds, other_names, tool
from toolcrib.execution.jobs import JobHandle, Jobs

CHECKING = ("reviewer", "tester")
"""Roles that look at what another has done."""


def _adapt_arguments(given: dict[str, Any]) -> None:
    """`allow_tools` is a flag elsewhere, and a list here."""
    allow = given.pop("allowtools", None)
    if isinstance(allow, bool) or str(allow).lower() in ("true", "false"):
        if str(allow).lower() == "false":
            given["tools"] = ["none"]
    elif allow:
        given.setdefault("tools", allow)


@tool(
    group="agent",
    keywords=(
        "subagent",
        "sub-agent",
        "agent",
        "consult",
        "spawn",
        "worker",
        "assistant",
        "second",
    ),
    aliases=("consult_agent", "run_agent", "sub_agent", "dispatch_agent"),
    argument_aliases=other_names(
        task=("instructions", "message"),
        role=("agent", "agent_type"),
        tools=("allowed_tools",),
        time_limit=("timeout",),
    ),
    destructive=True,
    argument_adapter=_adapt_arguments,
)
async def delegate_task(
    task: Annotated[str, Param("What to do, and what to answer with.")],
    context: Annotated[str, Param("What it must know; it sees nothing else.")] = "",
    role: Annotated[str, Param("general, coder, reviewer, researcher, tester...")] = "",
    tools: Annotated[
        list[str] | None, Param("Tools or groups; none for none.", parted=True)
    ] = None,
    chain: Annotated[
        list[str] | None, Param("Roles that go on with the answer.", parted=True)
    ] = None,
    readonly: Annotated[bool, Param("Only tools that read.")] = False,
    time_limit: Annotated[Seconds | None, Param("Seconds.", maximum=3600)] = None,
    background: Annotated[bool, Param("Return at once, with a job.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Let a second model work on a task with tools, and get its answer.

    Use it for work that would fill this conversation. It has at most your own tools and
    comes back at its time limit with what it found.
    """
    if time_limit is not None and time_limit <= 0:
        raise BadInput("'time_limit' must be more than 0 seconds.")
    # Who only checks goes on with an answer, so that somebody has to give one before.
    first = (role,) if role or not chain or chain[0].strip().lower() in CHECKING else ()
    roles = (*first, *(chain or ()))
    order = Delegation(task, context, roles, tuple(tools or ()), readonly, time_limit)
    if background:
        return await _start(order, ctx)
    delegation = DelegatedRun(ctx, order, attended=True)
    return delegation.result(await delegation.run())


async def _start(order: Delegation, ctx: Ctx) -> Result:
    """Run it as a job of this conversation."""
    begun = asyncio.Event()
    handles: list[JobHandle] = []

    async def to_job(progress: Progress) -> None:
        if handles:
            handles[0].write(f"{progress.message}\n")

    caller = replace(ctx.caller, ask=None, fill=None, notify=to_job, answer_within=None)
    delegation = DelegatedRun(
        replace(ctx, caller=caller, answer_by=None, deadline=None), order, attended=False
    )

    async def work(handle: JobHandle) -> Result | None:
        handles.append(handle)
        begun.set()
        try:
            return delegation.result(await delegation.run(handle.id))
        except asyncio.CancelledError:
            # A stopped job still says what it found.
            if delegation.ended is None:
                raise
            return delegation.result(delegation.ended)

    job = await ctx.use(Jobs).start(
        kind="agent",
        title=f"agent {delegation.id}: {' '.join(order.task.split())[:60]}",
        work=work,
        session=ctx.session.id,
        tool=delegate_task.name,
        rights=delegation.rights,
        seconds=delegation.seconds + 5,
    )
    return Result(
        text=f"Agent {delegation.id} works in the background as job {job}.",
        data={"trace_id": delegation.id, "job": job, "status": "running"},
        next=Next("read_job", {"id": job, "wait": "exit"}),
    )
