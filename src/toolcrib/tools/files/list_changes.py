"""`list_changes`: what was changed, by whatever made it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.undo_log import LoggedStep
from toolcrib.files.paths import Workspace, WorkspacePath
from toolcrib.text.display import printable, some_of

MAX_LISTED_PATHS = 3


@tool(
    group="files",
    rights=READ,
    keywords=("undo", "history", "log", "steps", "recent", "edits"),
    aliases=("change_history", "list_edits", "recent_changes", "undo_history"),
    argument_aliases={"file_path": "path", "file": "path", "count": "limit", "steps": "limit"},
)
async def list_changes(
    path: WorkspacePath | None = None,
    limit: Annotated[Count, Param("Most steps.", maximum=200)] = 20,
    *,
    ctx: Ctx,
) -> Result:
    """List the last changes of files in the workspace, newest first.

    Each is a step that undo_changes can take back, by its id as well.
    """
    changes = ctx.use(Changes)
    steps = await changes.steps(path, limit)
    # Numbered are those that undo_changes counts: with a path those of all, else its caller's own.
    session = None if path or ctx.session.single else ctx.session
    standing = [step.id for step in await changes.steps(path, limit, standing=True)]
    counted = await changes.steps(path, limit, session=session, standing=True)
    numbers = {step.id: number for number, step in enumerate(counted, 1)}
    undone = {number: step.id for step in reversed(steps) for number in step.undoes}
    workspace = ctx.use(Workspace)
    start = workspace.start(ctx.session.directory).absolute
    lines = [_line(step, standing, numbers, undone, start) for step in steps]
    if lines:
        lines.insert(0, "undo_changes with steps=N takes back 1 to N, with id=ID that step alone:")
    where = f" of {path.display}" if path else ""
    return Result(
        text="\n".join(lines) if lines else f"(no changes{where})",
        data={
            "steps": [
                {
                    "step": step.id,
                    "time": int(step.time),
                    "tool": step.tool,
                    "paths": list(step.paths),
                    "undoable": step.undoable,
                    "undoes": list(step.undoes),
                    "undone_by": None if step.id in standing else undone.get(step.id),
                }
                for step in steps
            ]
        },
    )


def _line(
    step: LoggedStep,
    standing: list[int],
    numbers: dict[int, int],
    undone: dict[int, int],
    start: str,
) -> str:
    when = datetime.fromtimestamp(step.time).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    paths = [printable(path.removeprefix(f"{start}/")) for path in step.paths]
    notes = (f" [and {step.note}]" if step.note else "") if step.undoable else " [cannot be undone]"
    if step.undoes:
        notes += f" [took back id={', '.join(map(str, step.undoes))}]"
    if step.id in standing:
        notes += "" if step.id in numbers else " [of another conversation]"
    elif step.id in undone:
        notes += f" [undone by id={undone[step.id]}]"
    number = numbers.get(step.id, "-")
    what = f"{step.tool}: {some_of(paths, MAX_LISTED_PATHS)}"
    return f"{number}  id={step.id}  {when}  {what}{notes}"
