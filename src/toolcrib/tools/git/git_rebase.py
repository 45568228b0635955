"""`git_rebase`: the commits of this branch on another base."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, tool
from toolcrib.git.obstacles import refuse_conflict_names, refuse_to_overwrite
from toolcrib.git.places import NAMES, RepositoryFolder
from toolcrib.git.precautions import (
    asking,
    names_of_going_on,
    refuse_foreign_state,
    refuse_hidden_changes,
)
from toolcrib.git.repository import Repository, open_repository
from toolcrib.git.sequences import open_rebase, outcome, refuse_while_open
from toolcrib.git.steps import git_step
from toolcrib.git.written_names import names_by_rebase


async def _names(repository: Repository, arguments: Mapping[str, Any]) -> list[str]:
    action = arguments.get("action") or "start"
    if action != "start":
        return await names_of_going_on(repository, action)
    if not arguments.get("onto"):
        return []
    return await names_by_rebase(repository, await repository.commit(arguments["onto"]))


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("replay", "linear history", "move commits"),
    argument_aliases={**NAMES, "branch": "onto", "upstream": "onto"},
    policy_check=asking(_names),
)
async def git_rebase(
    onto: str = "",
    action: Literal["start", "continue", "skip", "abort"] = "start",
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Replay the commits of this branch on top of another.

    A conflict stops it: git_conflicts resolves, action=continue goes on, abort goes back.
    """
    async with open_repository(ctx, repo) as repository:
        before = await repository.head()
        if action != "start":
            await refuse_foreign_state(repository)
        elif not onto:
            raise BadInput("Name what to rebase onto.", hint="onto takes a branch, as main.")
        args = [f"--{action}"]
        if action == "start":
            await refuse_while_open(repository)
            args = ["--no-gpg-sign", "--no-verify"] * (not repository.is_trusted)
            target = await repository.commit(onto)
            await refuse_hidden_changes(repository, target)
            args += ["--merge", target]
        written = await _names(repository, {"onto": onto, "action": action})
        await refuse_to_overwrite(repository, written)
        await refuse_conflict_names(repository, written)
        async with git_step(repository, git_rebase.name):
            stopped = await open_rebase(repository) if action in ("continue", "skip") else None
            done = await repository.attempt("rebase", *args)
            return await outcome(repository, "rebase", done, before, stopped)
