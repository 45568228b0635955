"""`get_workspace`: where one is and what may be used."""

from __future__ import annotations

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NotFound, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, tool
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories.summary import repository_of
from toolcrib.system.threads import in_thread

PROTECTED = (
    ".env*, keys, credential folders; for writing also .git/hooks, .git/config, editor settings"
)


@tool(
    group="workspace",
    rights=READ,
    keywords=("pwd", "cwd", "where", "roots", "directory", "allowed"),
    aliases=("get_cwd", "get_current_directory", "get_working_directory", "workspace_info"),
)
async def get_workspace(*, ctx: Ctx) -> Result:
    """Show the folders that tools may use, and the current one.

    Use it when a path is refused or it is unclear where relative paths start.
    """
    workspace = ctx.use(Workspace)
    here = workspace.start(ctx.session.directory)
    gone = await in_thread(lambda _: _is_gone(here), ctx.deadline)
    if gone:
        ctx.warn(f"{here.absolute} is gone; the current directory is the first root again.")
        ctx.session.directory, ctx.session.changed = "", True
        here = workspace.start()
    branch = await in_thread(lambda _: _branch(here), ctx.deadline)
    roots = [root.name for root in workspace.roots]
    lines = [
        f"Current directory: {here.absolute}",
        f"Folders that may be read and written: {', '.join(roots)}",
        *([f"Git branch: {branch}"] if branch else []),
        f"Tools shown: {ctx.config.profile}",
        f"Protected: {PROTECTED}",
    ]
    data = {
        "current": here.absolute,
        "roots": roots,
        "branch": branch,
        "profile": ctx.config.profile,
    }
    return Result("\n".join(lines), data)


def _is_gone(here: SafePath) -> bool:
    try:
        here.open().close()
    except NotFound:
        return bool(here.parts)
    except ToolError:
        return False
    return False


def _branch(here: SafePath) -> str:
    """The branch of the innermost repository around a folder."""
    for folder in here.upwards():
        found = repository_of(folder, limit=0)
        if found is not None:
            return found.branch or "none (a commit is checked out)"
    return ""
