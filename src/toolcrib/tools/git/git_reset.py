"""`git_reset`: what is staged, and where the branch is; never the files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Denied
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.git.places import RepositoryFolder, adapt_flags, adapt_repo
from toolcrib.git.repository import open_place, open_repository
from toolcrib.git.status import status_of
from toolcrib.git.steps import git_step


def _adapt(given: dict[str, Any]) -> None:
    adapt_repo(given)
    adapt_flags(given, "mode", ("mixed", "soft", "hard"))


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("unstage", "undo commit", "uncommit", "soft", "mixed"),
    argument_aliases={"commit": "revision", "files": "paths", "path": "paths"},
    argument_adapter=_adapt,
)
async def git_reset(
    mode: Literal["mixed", "soft", "hard"] = "mixed",
    revision: str = "",
    paths: Annotated[list[WorkspacePath] | None, Param("Only unstage these.")] = None,
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Unstage files, or move the branch back and keep all files as they are.

    soft keeps what was committed staged, mixed does not. hard is refused, as it drops work.
    """
    if mode == "hard":
        raise Denied(
            "A hard reset drops changes that nobody stored.",
            hint="git_stash puts them aside; then git_reset with mode=mixed moves the branch, and "
            "git_checkout with paths restores files.",
        )
    if mode == "soft" and paths and revision:
        raise BadInput(
            "mode=soft moves the branch to a revision, and takes no paths.",
            hint="Leave paths out; repo names the folder of a repository.",
        )
    async with open_repository(ctx, repo or await open_place(ctx, paths)) as repository:
        commit = [await repository.commit(revision)] if revision else []
        async with git_step(repository, git_reset.name, files=False):
            if paths:
                names = [repository.name_of(path) or "." for path in paths]
                unborn = not (await repository.head()).commit
                if unborn:
                    await repository.run("rm", "-r", "-q", "--cached", "--", *names)
                else:
                    await repository.run("reset", "-q", *commit, "--", *names)
                text = f"Unstaged {', '.join(path.display for path in paths)}."
            else:
                await repository.run("reset", "-q", f"--{mode}", *commit)
                at = await repository.line("log", "-1", "--format=%h %s")
                text = f"At {at or 'no commit yet'}."
        status = await status_of(repository, untracked="no")
    staged = sum(file.staged != " " for file in status.tracked)
    unstaged = sum(file.unstaged != " " for file in status.tracked)
    return Result(
        text=f"{text} Staged: {staged}, changed and not staged: {unstaged}.",
        data={"commit": status.commit, "staged": staged, "unstaged": unstaged},
    )
