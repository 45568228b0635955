"""`git_fetch`: what a remote has."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, WRITE, Param, tool
from toolcrib.git.places import NAMES, RepositoryFolder
from toolcrib.git.remotes import (
    SECONDS,
    changes_between,
    connected,
    fetched_remote,
    remote_decision,
    transfer,
)
from toolcrib.git.repository import open_repository
from toolcrib.git.revisions import branch_name


@tool(
    group="git",
    rights=NET | WRITE,
    keywords=("download", "remote", "update", "origin"),
    argument_aliases=NAMES,
    seconds=SECONDS,
    policy_check=remote_decision,
)
async def git_fetch(
    remote: str = "",
    branch: str = "",
    prune: Annotated[bool, Param("Drop gone ones.")] = False,
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Fetch new commits of a remote, without changing files.

    git_pull brings them into the current branch too.
    """
    async with open_repository(ctx, repo) as repository:
        found = await fetched_remote(repository, remote)
        name, address = found.name, found.address
        under = (f"refs/remotes/{name}", "refs/tags")
        before = await repository.references(*under)
        args = ["--prune"] * prune + ["--no-recurse-submodules", "--no-write-fetch-head"]
        args += ["--no-auto-maintenance", "--quiet"]
        async with connected(ctx, address, trusted=repository.is_trusted) as connection:
            wanted = [branch_name(branch)] if branch else []
            args += [*connection.upload, name, *wanted]
            await transfer(repository, connection, "fetch", *args)
        lines = await changes_between(repository, before, await repository.references(*under))
    return Result(
        text="\n".join(lines) or f"Nothing new at {name} ({address.display}).",
        data={"remote": name, "changes": lines},
    )
