"""`git_init`: a new repository."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Decision, Param, tool
from toolcrib.execution.runs.ignore_files import taken_out
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.paths import SafePath, Workspace, WritablePath
from toolcrib.git.layout import GIT, find_layout
from toolcrib.git.program import HARDENED, GitProgram, checked
from toolcrib.git.repository import default_branch, inside_of
from toolcrib.git.revisions import branch_name
from toolcrib.text.display import printable


def _has_git(folder: SafePath) -> bool:
    settled = folder.settled()
    return os.path.lexists(f"{settled.real_absolute}/{GIT}")


async def _decision(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """Ask where the user's `git add -A` would take up what ignore files above leave out."""
    workspace = ctx.use(Workspace)
    folder = (arguments["path"] or workspace.start(ctx.session.directory)).settled()
    if await asyncio.to_thread(_has_git, folder):
        return None  # it is refused
    file = await asyncio.to_thread(taken_out, workspace, folder)
    why = f"the ignore files above count no more: `git add -A` there takes up {printable(file)}"
    return Decision("ask", why, explicit=True) if file else None


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("new repository", "create repo", "version control"),
    argument_aliases={"repo_path": "path", "directory": "path"},
    policy_check=_decision,
)
async def git_init(
    path: Annotated[WritablePath | None, Param("A folder, made if missing.")] = None,
    branch: str = "",
    *,
    ctx: Ctx,
) -> Result:
    """Make a folder a new git repository.

    Without path: the current directory. Files in it stay as they are.
    """
    folder = path or ctx.use(Workspace).start(ctx.session.directory)
    # What cannot be used is not made anew either: its .git may lead elsewhere.
    if await asyncio.to_thread(_has_git, folder):
        await asyncio.to_thread(find_layout, folder, inside_of(ctx))
        raise Conflict(f"{folder.display} is a repository.", hint="git_status shows its state.")
    program = ctx.use(GitProgram)
    setup = await program.setup(ctx)
    first = branch_name(branch or default_branch(ctx, setup))
    if path is not None:
        step = Step(git_init.name)
        step.make_folder(path)
        await ctx.use(Changes).apply(step, ctx)
    args = ["init", "-q", "--template=", f"--initial-branch={first}"]
    done = await program.run(ctx, args, cwd=folder, env=HARDENED)
    await asyncio.to_thread(checked, args, done)
    return Result(
        text=f"{folder.display} is a repository on the branch {first}, without commits.",
        data={"branch": first, "path": folder.display},
    )
