"""`git_branch`: branches listed, made, deleted, renamed."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.git.layout import read_own
from toolcrib.git.places import NAMES, RepositoryFolder, adapt_flags
from toolcrib.git.repository import Repository, lines_of, open_repository
from toolcrib.git.revisions import branch_name, revision
from toolcrib.git.steps import git_step
from toolcrib.text.cleaner import one_line

MAX_LISTED = 200
FORMAT = (
    "%(HEAD)%00%(refname)%00%(objectname:short)%00%(committerdate:short)%00"
    "%(upstream:short)%00%(upstream:track,nobracket)%00%(contents:subject)"
)


def _adapt(given: dict[str, Any]) -> None:
    """A name without an action is one to be created, as for git itself."""
    adapt_flags(given, "action", ("list", "create", "delete", "rename"))
    named = any(given.get(name) for name in ("name", "branch", "branchname"))
    if named and not given.get("action"):
        given["action"] = "rename" if given.get("newname") else "create"


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("branches", "rename branch", "delete branch", "list branches"),
    argument_aliases={**NAMES, "branch": "name", "branch_name": "name", "base_branch": "start"},
    argument_adapter=_adapt,
)
async def git_branch(
    action: Literal["list", "create", "delete", "rename"] = "list",
    name: Annotated[str, Param("The branch.")] = "",
    new_name: str = "",
    start: Annotated[str, Param("Where it begins.")] = "",
    force: Annotated[bool, Param("Also unmerged ones.")] = False,
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """List, create, delete or rename branches; git_checkout switches.

    The list has the branches of remotes too. A deleted branch comes back by undo_changes.
    """
    async with open_repository(ctx, repo) as repository:
        if action == "list":
            return await _list(repository, name)
        wanted = branch_name(name)
        current = (await repository.head()).branch
        async with git_step(repository, git_branch.name, files=False):
            if action == "create":
                at = await repository.commit(start) if start else "HEAD"
                follow = f"refs/remotes/{revision(start)}" if start else ""
                if follow and await repository.hash_of(follow):
                    at = follow
                await repository.run("branch", wanted, at)
                text = f"Created {wanted}; git_checkout switches to it."
            elif action == "delete":
                if wanted == current:
                    raise Conflict(
                        f"{wanted} is checked out.", hint="git_checkout another branch first."
                    )
                at = await repository.line("rev-parse", "--short", f"refs/heads/{wanted}")
                await repository.run("branch", "-D" if force else "-d", wanted)
                text = f"Deleted {wanted} (was at {at})."
            else:
                other = branch_name(new_name)
                if wanted != current and await _is_of_main_tree(repository, wanted):
                    raise Conflict(
                        f"{wanted} is checked out in another working tree.",
                        hint="change_directory to that one, then rename it there.",
                    )
                await repository.run("branch", "-M" if force else "-m", wanted, other)
                if wanted == current:  # what git thinks is checked out is not this working tree
                    await repository.run("symbolic-ref", "HEAD", f"refs/heads/{other}")
                text = f"Renamed {wanted} to {other}."
        await repository.save_branch_settings()
    return Result(text=text, data={"branch": new_name or wanted})


async def _is_of_main_tree(repository: Repository, name: str) -> bool:
    """Whether the main working tree has a branch checked out, seen from another one."""
    layout = repository.layout
    if layout.git_dir == layout.common_dir:
        return False
    head = await asyncio.to_thread(read_own, f"{layout.common_dir}/HEAD", 4096)
    return head.decode("utf-8", "replace").strip() == f"ref: refs/heads/{name}"


async def _list(repository: Repository, name: str) -> Result:
    refs = ["refs/heads", "refs/remotes"]
    output = await repository.read("for-each-ref", f"--format={FORMAT}", *refs)
    current = (await repository.head()).branch
    lines, data = [], []
    for entry in lines_of(output):
        _, ref, short, day, upstream, apart, subject = entry.split("\0", 6)
        branch = ref.removeprefix("refs/heads/").removeprefix("refs/")
        if branch.endswith("/HEAD") and branch.startswith("remotes/"):
            continue
        follows = f" -> {upstream} ({apart or 'up to date'})" if upstream else ""
        mark = "* " if branch == current else ""
        lines.append(f"{mark}{branch} {short} {day}{follows} {one_line(subject, 80)}".rstrip())
        data.append({"name": branch, "commit": short, "upstream": upstream})
    more = len(lines) - MAX_LISTED
    shortened = [*lines[:MAX_LISTED], *([f"and {more:,} more"] if more > 0 else [])]
    if name and name not in (str(branch["name"]) for branch in data):
        shortened.append(f"(there is no {one_line(name, 80)}: action=create makes it)")
    return Result(
        text="\n".join(shortened) or f"(no branches; on {current or 'nothing'})",
        data={"current": current, "branches": data},
    )
