"""`git_pull`: what a remote has, brought into the current branch."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, Denied
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, READ, WRITE, Param, tool
from toolcrib.git.obstacles import refuse_conflict_names, refuse_to_overwrite
from toolcrib.git.places import NAMES, RepositoryFolder
from toolcrib.git.precautions import (
    names_of_autostash,
    names_that_act,
    refuse_hidden_changes,
)
from toolcrib.git.remotes import (
    SECONDS,
    connected,
    fetched_remote,
    remote_decision,
    transfer,
)
from toolcrib.git.repository import Repository, open_repository
from toolcrib.git.revisions import branch_name
from toolcrib.git.sequences import outcome, refuse_while_open
from toolcrib.git.steps import git_step
from toolcrib.git.written_names import merge_bases, names_by_merge, names_by_rebase
from toolcrib.text.display import some_of

REBASE = frozenset({"true", "yes", "on", "1", "merges"})


@tool(
    group="git",
    rights=NET | READ | WRITE,
    keywords=("update", "sync", "download", "merge remote"),
    argument_aliases=NAMES,
    seconds=SECONDS,
    policy_check=remote_decision,
)
async def git_pull(
    remote: str = "",
    branch: str = "",
    rebase: Annotated[bool, Param("Not merge.")] = False,
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Fetch and merge, or rebase onto, what the current branch follows.

    Conflicts leave it open, as in git_merge and git_rebase.
    """
    async with open_repository(ctx, repo) as repository:
        head = await repository.head()
        await refuse_while_open(repository)
        found = await fetched_remote(repository, remote)
        name = found.name
        wanted = branch_name(branch or _followed(repository, head.branch))
        ref = f"refs/remotes/{name}/{wanted}"
        async with connected(ctx, found.address, trusted=repository.is_trusted) as connection:
            spec = f"+refs/heads/{wanted}:{ref}"
            args = ["--no-recurse-submodules", "--no-auto-maintenance", "--quiet"]
            await transfer(repository, connection, "fetch", *args, *connection.upload, name, spec)
        target = await repository.commit(ref)
        wish = repository.value(f"branch.{head.branch}.rebase") or repository.value("pull.rebase")
        by_rebase = rebase or wish.lower() in REBASE
        await refuse_hidden_changes(repository, target)
        names = await (names_by_rebase if by_rebase else names_by_merge)(repository, target)
        writes = await names_that_act(repository, [*names, *await names_of_autostash(repository)])
        if writes:
            raise Denied(
                f"It is fetched; merging it writes {some_of(writes, 5)}, on which other programs "
                "act.",
                hint=f'git_merge with branch="{name}/{wanted}" asks the user.',
            )
        bases = await merge_bases(repository, target)
        await refuse_to_overwrite(repository, names, [] if by_rebase else [target], bases)
        await refuse_conflict_names(repository, names)
        async with git_step(repository, git_pull.name):
            if by_rebase:
                done = await repository.attempt("rebase", "--merge", "--no-verify", target)
                return await outcome(repository, "rebase", done, head)
            only = repository.value("pull.ff").lower() == "only"
            message = f"Merge {name}/{wanted}" + (f" into {head.branch}" if head.branch else "")
            args = ["-q", "--no-overwrite-ignore", "-m", message, *["--ff-only"] * only]
            done = await repository.attempt("merge", *args, target)
            return await outcome(repository, "merge", done, head)


def _followed(repository: Repository, branch: str) -> str:
    if not branch:
        raise Conflict("No branch is checked out.", hint="git_checkout one, or name a branch.")
    named = repository.value(f"branch.{branch}.merge")
    return named.removeprefix("refs/heads/") or branch
