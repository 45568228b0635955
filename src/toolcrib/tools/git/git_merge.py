"""`git_merge`: another branch into this one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.git.obstacles import refuse_conflict_names, refuse_to_overwrite
from toolcrib.git.places import NAMES, RepositoryFolder
from toolcrib.git.precautions import asking, refuse_hidden_changes
from toolcrib.git.repository import Repository, open_repository
from toolcrib.git.sequences import outcome, refuse_while_open
from toolcrib.git.steps import git_step
from toolcrib.git.written_names import merge_bases, names_by_merge


async def _names(repository: Repository, arguments: Mapping[str, Any]) -> list[str]:
    target = await repository.commit(str(arguments["branch"]))
    return await names_by_merge(repository, target)


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("join", "combine branches", "fast-forward"),
    argument_aliases={**NAMES, "branch_name": "branch", "name": "branch", "revision": "branch"},
    policy_check=asking(_names),
)
async def git_merge(
    branch: str,
    no_ff: Annotated[bool, Param("Always a merge commit.")] = False,
    message: str = "",
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Merge a branch into the current one.

    Conflicts leave the merge open: git_conflicts shows and resolves them or aborts, git_commit ends
    it.
    """
    async with open_repository(ctx, repo) as repository:
        target = await repository.commit(branch)
        before = await repository.head()
        await refuse_while_open(repository, within_rebase=True)
        await refuse_hidden_changes(repository, target, no_ff=no_ff)
        names = await names_by_merge(repository, target)
        bases = await merge_bases(repository, target)
        await refuse_to_overwrite(repository, names, [target], bases)
        await refuse_conflict_names(repository, names)
        text = message or f"Merge {branch}" + (f" into {before.branch}" if before.branch else "")
        async with git_step(repository, git_merge.name):
            args = ["merge", "-q", "--no-overwrite-ignore", "-m", text] + ["--no-ff"] * no_ff
            done = await repository.attempt(*args, target)
            return await outcome(repository, "merge", done, before)
