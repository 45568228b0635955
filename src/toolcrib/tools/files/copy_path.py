"""`copy_path`: a second copy of a file or folder."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, other_names, tool
from toolcrib.files.changes.cached_code import LEFT_OUT
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.copies import TreeCopy
from toolcrib.files.changes.step import Step
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath, WritablePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, some_of
from toolcrib.tools.files.argument_adapters import adapt_destination

MAX_LISTED = 5


@tool(
    group="files",
    rights=READ | WRITE,
    keywords=("cp", "duplicate", "clone"),
    aliases=("copy", "duplicate_file", "copy_directory", "fs_copy"),
    argument_aliases=other_names(
        source=("src", "from", "from_path", "source_path", "path"), destination=("dst",)
    ),
    destructive=True,
    argument_adapter=adapt_destination,
)
async def copy_path(
    source: WorkspacePath,
    destination: Annotated[WritablePath, Param("The new path, name included.")],
    overwrite: Annotated[bool, Param("Replace a file there.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Copy a file, or a folder with all that it holds.

    Missing folders above the destination are made. Protected files are left out.
    """

    def work(check: Checkpoint) -> TreeCopy:
        copying = TreeCopy(Step(copy_path.name), check, ctx.use(Workspace).roots)
        with source.open() as handle:
            kind, real = handle.kind, handle.absolute
        if kind == "file":
            copying.file(source, destination, replace=overwrite)
            return copying
        _need_apart(source, destination, real)
        copying.tree(source, destination)
        return copying

    copying = await in_thread(work, ctx.deadline)
    applied = await ctx.use(Changes).apply(copying.step, ctx)
    count = f", {counted(copying.files, 'file')}" if len(copying.step.changes) > 1 else ""
    text = f"Copied {source.display} to {destination.display}{count}"
    if copying.left_out:
        listed = some_of(copying.left_out, MAX_LISTED)
        text += f"\nLeft out, protected or special, or links that would lead there or out: {listed}"
    if copying.has_cached_code:
        text += f"\n{LEFT_OUT}"
    return Result(
        text=text + applied.note_line,
        data={
            "source": source.display,
            "destination": destination.display,
            "files": copying.files,
            "left_out": copying.left_out,
            "step": applied.step,
        },
    )


def _need_apart(source: SafePath, target: SafePath, real: str) -> None:
    there = target.settled()
    path = there.real_absolute
    if path == real or path.startswith(f"{real}/"):
        raise BadInput(
            f"{target.display} is inside {source.display}.", hint="Use a destination outside of it."
        )
    try:
        target.stat()
    except NotFound:
        return
    raise Conflict(
        f"{target.display} exists already.",
        hint=f'To put it inside: destination="{target.display}/{source.name}".',
    )
