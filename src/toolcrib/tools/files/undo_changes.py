"""`undo_changes`: taking changes of files back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, Denied, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Count, Param, other_names, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.undo_log import LoggedStep
from toolcrib.files.paths import Workspace, WritablePath
from toolcrib.files.trees import entries_beneath, is_file
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, printable, some_of

MAX_LISTED = 10
MAX_FOLDERS, MAX_SECONDS, MAX_DEPTH = 10_000, 10.0, 100
"""How far a repository is looked through for what came since."""
USER_SESSION = "cli:undo"
"""The session of `toolcrib undo`."""


@tool(
    group="files",
    rights=WRITE,
    keywords=("revert", "restore", "rollback", "back", "redo", "bak"),
    aliases=("undo", "undo_change", "undo_last", "revert_changes"),
    argument_aliases=other_names(
        path=("file_path", "file"), steps=("count", "n"), id=("step", "step_id")
    ),
    profiles=("default",),
    destructive=True,
)
async def undo_changes(
    steps: Annotated[Count, Param("How many.", maximum=100, plain=True)] = 1,
    path: Annotated[WritablePath | None, Param("Only this.")] = None,
    id: Annotated[  # noqa: A002
        Count | None, Param("This step alone.", unlisted=True)
    ] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Take back the last changes of files, all or none.

    Called again it takes back the step before. Refused where a file was changed since.
    """
    changes = ctx.use(Changes)
    # What is named by its number or place is meant, whoever changed it.
    is_named = id is not None or path is not None or ctx.session.single
    session = None if is_named else ctx.session
    if id is not None:
        last = [await changes.numbered(id)]
        _refuse_undo_of_user(last[0], ctx)
    else:
        last = await changes.steps(path, steps, session=session, standing=True)
    if path is None:
        top = ctx.use(Workspace).start(ctx.session.directory).absolute
        await in_thread(lambda check: _refuse_new_work(last, top, check))
    if (id or len(last) == steps) and any(step.program is not None for step in last):
        return await _undo_one_by_one(last, ctx, by_number=id is not None)
    applied, undone = await changes.undo(
        ctx,
        steps,
        path,
        number=id or 0,
        session=session,
        standing=True,
        tool=undo_changes.name,
    )
    start = ctx.use(Workspace).start(ctx.session.directory).absolute
    lines = [_line(step, start) for step in undone[:MAX_LISTED]]
    if len(undone) > MAX_LISTED:
        lines.append(f"and {len(undone) - MAX_LISTED} more")
    lines.append(
        _going_on([applied.step], 0 if id else steps)
        if applied.step
        else "Nothing had to be changed."
    )
    if applied.note:
        lines.append(applied.note)
    return Result(
        text="\n".join(lines),
        data={
            "steps": [applied.step] if applied.step else [],
            "undone": [step.id for step in undone],
            "paths": list(applied.paths),
        },
        private=True,
    )


def _refuse_undo_of_user(step: LoggedStep, ctx: Ctx) -> None:
    """What the user took back may be what they must not have: only they make it again."""
    if step.undoes and step.session == USER_SESSION and not ctx.caller.typed_by_user:
        raise Denied(
            f"Step {step.id} is an undo by the user.",
            hint=f"Ask them to make the changes again: toolcrib undo --id {step.id}",
        )


def _refuse_new_work(steps: Sequence[LoggedStep], start: str, check: Checkpoint) -> None:
    """Half of a repository is none: what was stored in it since would be lost with it."""
    for step in steps:
        made = set(step.paths) if not step.undoes else set()
        repositories = [path for path in made if path.endswith("/.git")]
        for place in entries_beneath(
            repositories,
            max_folders=MAX_FOLDERS,
            max_seconds=MAX_SECONDS,
            max_depth=MAX_DEPTH,
        ):
            check()
            if is_file(place) and place.path not in made:
                new = printable(place.path.removeprefix(f"{start}/"))
                raise Conflict(
                    f"Nothing was undone: {new} came into the repository since step {step.id}.",
                    hint="Keep the folder, or delete_path takes it away with what is in it.",
                )


def _going_on(made: Sequence[int], count: int) -> str:
    """What the same call does next, unless it named one step, and what makes it undone."""
    further = f"The same call goes back {counted(count, 'step')} further; " if count else ""
    return f"{further}{', '.join(f'id={number}' for number in made)} makes this undone."


async def _undo_one_by_one(
    steps: Sequence[LoggedStep], ctx: Ctx, *, by_number: bool = False
) -> Result:
    """Take back steps of which some are of git, which takes its own back, each as a step.

    A step of git has no parts: it is taken back whole, whatever path was named.
    """
    from toolcrib.git.steps import undo_git_step

    changes, start = ctx.use(Changes), ctx.use(Workspace).start(ctx.session.directory).absolute
    lines: list[str] = []
    paths: list[str] = []
    for step in steps:
        try:
            if step.program is None:
                paths += (await changes.undo_step(step.id, ctx, undo_changes.name)).paths
            else:
                paths += await undo_git_step(ctx, step, undo_changes.name)
        except ToolError as error:
            if lines:
                error.message = f"{'; '.join(lines)}. Then it stopped: {error.message}"
            raise
        lines.append(_line(step, start))
    newest = await changes.steps(limit=len(steps))
    made = [step.id for step in newest if step.undoes]
    lines.append(_going_on(made, 0 if by_number else len(steps)))
    undone = [step.id for step in steps]
    data = {"steps": made, "undone": undone, "paths": paths}
    return Result(text="\n".join(lines), data=data, private=True)


def _line(step: LoggedStep, start: str) -> str:
    names = [printable(path.removeprefix(f"{start}/")) for path in step.paths]
    more = f" (and {step.note})" if step.note else ""
    return f"Undone: {step.tool}: {some_of(names)}{more}"
