"""`git_init`: a new repository."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.paths import SafePath, Workspace, WritablePath
from toolcrib.git.layout import GIT, find_layout
from toolcrib.git.program import HARDENED, GitProgram, checked
from toolcrib.git.repository import default_branch, inside_of
from toolcrib.git.revisions import branch_name


def _has_git(folder: SafePath) -> bool:
    settled = folder.settled()
    return os.path.lexists(f"{settled.real_absolute}/{GIT}")


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("new repository", "create repo", "version control"),
    argument_aliases={"repo_path": "path", "directory": "path"},
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
