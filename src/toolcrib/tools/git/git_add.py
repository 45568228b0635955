"""`git_add`: what the next commit is to hold."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.git.contents import stage
from toolcrib.git.places import RepositoryFolder, adapt_repo
from toolcrib.git.repository import open_place, open_repository
from toolcrib.git.steps import git_step
from toolcrib.text.display import counted, some_of


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("stage", "index", "track"),
    argument_aliases={"path": "paths", "files": "paths", "file_path": "paths"},
    argument_adapter=adapt_repo,
)
async def git_add(
    paths: list[WorkspacePath] | None = None,
    all: Annotated[bool, Param("All changes.")] = False,  # noqa: A002 - the program's own word
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Stage changed, new and deleted files for the next commit.

    A folder stages all that is changed in it. git_reset with paths takes it back.
    """
    if not paths and not all:
        raise BadInput("There is nothing to stage.", hint="Name paths, or all=true.")
    async with open_repository(ctx, repo or await open_place(ctx, paths)) as repository:
        names = [repository.name_of(path) for path in paths or ()]
        async with git_step(repository, git_add.name, files=False):
            found = await stage(repository, [] if all or "" in names else names)
    what = counted(len(found.names), "file")
    listed = some_of(found.names, 10)
    lines = [f"Staged {what}: {listed}" if found.names else "Nothing was to be staged."]
    return Result(text="\n".join([*lines, *found.notes]), data={"staged": found.names})
