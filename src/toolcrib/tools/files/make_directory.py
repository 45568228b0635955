"""`make_directory`: a folder and those above it."""

from __future__ import annotations

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.tool import WRITE, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.paths import WritablePath
from toolcrib.tools.files.adapters.change_arguments import recursing


@tool(
    group="files",
    rights=WRITE,
    keywords=("mkdir", "folder", "new", "create"),
    aliases=(
        "mkdir",
        "create_directory",
        "make_dir",
        "create_dir",
        "create_folder",
        "make_folder",
        "new_folder",
        "fs_mkdir",
        "file_mkdir",
        "add_folder",
    ),
    argument_aliases={
        "directory_name": "path",
        "directory": "path",
        "dir": "path",
        "dir_path": "path",
        "directory_path": "path",
        "folder": "path",
        "folder_path": "path",
        "name": "path",
    },
    idempotent=True,
    dialect=recursing,
)
async def make_directory(path: WritablePath, *, ctx: Ctx) -> Result:
    """Make a folder, with those above it.

    No harm where it exists. write_file makes missing folders itself.
    """
    plan = Step(make_directory.name)
    plan.make_folder(path)
    applied = await ctx.use(Changes).apply(plan, ctx)
    text = f"Made {path.display}" if applied.step else f"{path.display} exists already"
    return Result(
        text=text,
        data={"path": path.display, "made": list(applied.paths), "step": applied.step},
    )
