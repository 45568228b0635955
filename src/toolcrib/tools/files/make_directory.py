"""`make_directory`: a folder and those above it."""

from __future__ import annotations

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, other_names, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.paths import WritablePath


@tool(
    group="files",
    rights=WRITE,
    keywords=("mkdir", "folder", "new", "create"),
    aliases=("make_dir", "create_dir", "create_folder", "make_folder"),
    argument_aliases=other_names(
        path=("directory", "dir", "dir_path", "directory_path", "folder", "folder_path")
    ),
    idempotent=True,
)
async def make_directory(path: WritablePath, *, ctx: Ctx) -> Result:
    """Make a folder, with those above it.

    No harm where it exists. write_file makes missing folders itself.
    """
    step = Step(make_directory.name)
    step.make_folder(path)
    applied = await ctx.use(Changes).apply(step, ctx)
    text = f"Made {path.display}" if applied.step else f"{path.display} exists already"
    return Result(
        text=text,
        data={"path": path.display, "made": list(applied.paths), "step": applied.step},
    )
