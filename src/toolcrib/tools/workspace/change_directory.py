"""`change_directory`: where relative paths start."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, tool
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.memory.projects import Projects
from toolcrib.system.threads import in_thread
from toolcrib.tools.workspace.manage_projects import go_to


@tool(
    group="workspace",
    profiles=("git",),  # most tools of git work where the conversation stands
    rights=READ,
    keywords=("cd", "folder", "working", "chdir", "go"),
    aliases=("set_working_directory", "change_working_directory", "set_cwd"),
    argument_aliases={"dir": "path", "folder": "path", "cwd": "path"},
)
async def change_directory(
    path: Annotated[WorkspacePath | None, Param("Folder; none: back to the first.")] = None,
    project: Annotated[str, Param("Name of a registered project, in place of a path.")] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Change the folder in which relative paths start.

    Without a path it is the first folder of the workspace again, as at the start; get_workspace
    names the folders that may be used, and manage_projects the projects. It holds for this
    conversation, and never widens what tools may use.
    """
    if project.strip() and path is None:
        return await go_to(await ctx.use(Projects).find(project), ctx)
    before = ctx.use(Workspace).start(ctx.session.directory)
    wanted = path or ctx.use(Workspace).start()
    absolute = await in_thread(lambda _: _folder(wanted), ctx.deadline)
    now = ctx.use(Workspace).start(absolute)
    if ctx.session.directory != now.absolute:
        ctx.session.directory = now.absolute
        ctx.session.changed = True
    data = {"previous": before.absolute, "current": now.absolute}
    return Result(f"Current directory: {now.absolute} (before: {before.absolute})", data)


def _folder(path: SafePath) -> str:
    """The absolute path of a folder that can be opened."""
    with path.open() as handle:
        if handle.kind != "folder":
            raise BadInput(f"{path.display} is a file.", hint="Name a folder.")
    return path.absolute
