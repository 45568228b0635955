"""`apply_changes`: the changes of a run that were held back, made or dropped."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, tool
from toolcrib.execution.command_policy import apply_verdict
from toolcrib.execution.runs.runs import Runs
from toolcrib.tools.run.report import change_lines


@tool(
    group="run",
    rights=WRITE,
    keywords=("commit", "confirm", "accept", "held", "discard", "reject"),
    aliases=("commit_changes", "accept_changes", "apply_held_changes"),
    argument_aliases={"run_id": "id", "held": "id", "discard": "drop", "reject": "drop"},
    destructive=True,
    policy_check=apply_verdict,
)
async def apply_changes(
    id: Annotated[str, Param("Held run.")],  # noqa: A002 - the name that models use
    drop: Annotated[bool, Param("Throw them away instead.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Make the changes of a run that were held back, as one undoable step.

    A run holds its changes back with commit=ask, when it was stopped before its end, and when
    programs of the user act on them: then the user is asked.
    """
    runs = ctx.use(Runs)
    outcome = await (runs.drop(id, ctx) if drop else runs.apply(id, ctx))
    messages = {"dropped": "Dropped; no file was changed.", "none": "Nothing was left to change."}
    lines = [messages[outcome.state]] if outcome.state in messages else []
    lines += change_lines(outcome) if outcome.state != "dropped" else list(outcome.notes)
    return Result("\n".join(lines), {"changes": outcome.to_json()}, next=outcome.next)
