"""`undo_changes`: taking changes of files back."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Count, Param, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.undo_log import LoggedStep
from toolcrib.files.content.display import some_of
from toolcrib.files.paths import Workspace, WritablePath

MAX_LISTED = 10


@tool(
    group="files",
    rights=WRITE,
    keywords=("revert", "restore", "rollback", "back", "redo", "bak"),
    aliases=("undo", "undo_change", "undo_last", "revert_changes"),
    argument_aliases={"file_path": "path", "file": "path", "count": "steps", "n": "steps"},
    destructive=True,
)
async def undo_changes(
    steps: Annotated[Count, Param("How many.", maximum=100)] = 1,
    path: Annotated[WritablePath | None, Param("Only what was done to this.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Take back the last changes of files, all or none.

    The undo is a step too: undoing it makes the changes again. Refused where a file was
    changed since.
    """
    applied, undone = await ctx.use(Changes).undo(ctx, steps, path, tool=undo_changes.name)
    start = ctx.use(Workspace).start(ctx.session.directory).absolute
    lines = [_line(step, start) for step in undone[:MAX_LISTED]]
    if len(undone) > MAX_LISTED:
        lines.append(f"and {len(undone) - MAX_LISTED} more")
    lines.append(
        f"steps={len(undone) + 2} goes back one step further; steps=1 makes this undone."
        if applied.step
        else "Nothing had to be changed."
    )
    if applied.note:
        lines.append(applied.note)
    return Result(
        text="\n".join(lines),
        data={
            "step": applied.step,
            "undone": [step.id for step in undone],
            "paths": list(applied.paths),
        },
    )


def _line(step: LoggedStep, start: str) -> str:
    names = [path.removeprefix(f"{start}/") for path in step.paths]
    return f"Undone: {step.tool}: {some_of(names)}"
