"""`git_pick`: single commits done again here, or undone by new ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.git.obstacles import refuse_conflict_names, refuse_to_overwrite
from toolcrib.git.places import NAMES, RepositoryFolder
from toolcrib.git.precautions import (
    asking,
    names_of_going_on,
    refuse_foreign_state,
)
from toolcrib.git.repository import Repository, open_repository
from toolcrib.git.sequences import outcome, refuse_while_open
from toolcrib.git.steps import git_step
from toolcrib.git.written_names import names_by_pick

MAX_COMMITS = 100


async def _names(repository: Repository, arguments: Mapping[str, Any]) -> list[str]:
    action = arguments.get("action") or "start"
    if action != "start":
        return await names_of_going_on(repository, action)
    found: list[str] = []
    for name in arguments.get("commits") or ():
        commit = await repository.commit(name)
        found += await names_by_pick(repository, commit, revert=bool(arguments.get("revert")))
    return found


async def _has_merge(repository: Repository, commits: list[str]) -> bool:
    args = ["rev-list", "--no-walk", "--min-parents=2", "--count", *commits]
    return await repository.line(*args) != "0"


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("cherry-pick", "revert", "backport", "undo a commit"),
    argument_aliases={**NAMES, "commit": "commits", "revision": "commits"},
    policy_check=asking(_names),
)
async def git_pick(
    commits: Annotated[list[str] | None, Param("In order.")] = None,
    revert: Annotated[bool, Param("Undo them by new commits.")] = False,
    action: Literal["start", "continue", "skip", "abort"] = "start",
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Apply commits of other branches here, or revert commits.

    A conflict stops it: git_conflicts resolves, action=continue goes on, abort goes back.
    """
    async with open_repository(ctx, repo) as repository:
        before = await repository.head()
        if action != "start":
            await refuse_foreign_state(repository)
        args, sources, bases = [f"--{action}"], list[str](), list[str]()
        if action == "start":
            if not commits or len(commits) > MAX_COMMITS:
                raise BadInput(
                    f"Name 1 to {MAX_COMMITS} commits.", hint="git_log has their hashes."
                )
            await refuse_while_open(repository, within_rebase=True)
            args = ["--no-gpg-sign"] * (not repository.is_trusted) + ["--no-edit"] * revert
            picked = [await repository.commit(name) for name in commits]
            if await _has_merge(repository, picked):
                args += ["-m", "1"]  # what it brought into the branch that it was made on
            args += picked
            sources = [f"{commit}^" if revert else commit for commit in picked]
            bases = [commit if revert else f"{commit}^" for commit in picked]
        command = "revert" if revert else "cherry-pick"
        wanted = {"commits": commits, "action": action, "revert": revert}
        names = await _names(repository, wanted)
        await refuse_to_overwrite(repository, names, sources, bases)
        await refuse_conflict_names(repository, names)
        async with git_step(repository, git_pick.name):
            done = await repository.attempt(command, *args)
            return await outcome(repository, command, done, before)
