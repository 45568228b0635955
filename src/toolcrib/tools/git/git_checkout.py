"""`git_checkout`: another branch, a new one, or files as they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Decision, Param, other_names, tool
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.git.attributes import note_as_stored
from toolcrib.git.obstacles import refuse_to_overwrite
from toolcrib.git.places import RepositoryFolder, adapt_repo
from toolcrib.git.precautions import ask_about
from toolcrib.git.repository import Repository, open_place, open_repository, repository_or_none
from toolcrib.git.revisions import branch_name, revision
from toolcrib.git.status import status_of
from toolcrib.git.steps import git_step
from toolcrib.git.written_names import hidden_names, names_between, names_by_switch
from toolcrib.text.display import counted


async def _names(repository: Repository, arguments: Mapping[str, Any]) -> list[str]:
    branch = str(arguments.get("branch") or "")
    if paths := arguments.get("paths"):
        source = [await repository.commit(branch)] if branch else []
        names = [repository.name_of(path) or "." for path in paths]
        hidden = await hidden_names(repository, *names)
        return [*hidden, *await names_between(repository, *source, "--", *names)]
    wanted = str(arguments.get("start") or "") if arguments.get("create") else branch
    target = _target if arguments.get("create") else _place
    return await names_by_switch(repository, await target(repository, wanted)) if wanted else []


async def _ask(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    place, paths = await _scope(ctx, arguments)
    return await ask_about(ctx, {**arguments, "paths": paths}, _names, place)


async def _scope(
    ctx: Ctx, given: Mapping[str, Any]
) -> tuple[SafePath | None, list[SafePath] | None]:
    """What decides on the repository, and the files to restore.

    A branch with no path but the top of another repository is one to switch to there.
    """
    repo, paths = given.get("repo"), given.get("paths")
    place = repo or await open_place(ctx, paths)
    if not (given.get("branch") and paths) or repo or len(paths) > 1:
        return place, paths
    here, there = await repository_or_none(ctx), await repository_or_none(ctx, paths[0])
    is_top = there is not None and there.parts == paths[0].settled().parts
    if place is not None and is_top and (here is None or here.parts != paths[0].settled().parts):
        return place, None
    return place, paths


def _adapt(given: dict[str, Any]) -> None:
    """A new branch may be told by its name alone."""
    adapt_repo(given)
    for name in ("newbranch", "b"):
        if isinstance(given.get(name), str) and given[name].lower() not in ("true", "false", ""):
            given.update(branch=given.pop(name), create=True)


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("switch", "branch", "restore file", "discard", "new branch"),
    argument_aliases=other_names(
        branch=("branch_name", "name", "revision"), create=("create_new",), paths=("path",)
    ),
    destructive=True,
    policy_check=_ask,
    argument_adapter=_adapt,
)
async def git_checkout(
    branch: str = "",
    create: Annotated[bool, Param("A new branch.")] = False,
    start: Annotated[str, Param("Where it begins.")] = "",
    paths: Annotated[list[WritablePath] | None, Param("Only these, as they are there.")] = None,
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Switch to a branch, create one, or restore files.

    Files without a branch are restored from what is staged, which drops their changes:
    undo_changes brings those back. Changes in the way of a switch are refused.
    """
    place, paths = await _scope(ctx, {"branch": branch, "paths": paths, "repo": repo})
    async with open_repository(ctx, place) as repository:
        before = await repository.head()
        if paths:  # a switch does not write over them by itself
            written = await _names(repository, {"branch": branch, "paths": paths})
            sources = [await repository.commit(branch)] if branch else []
            await refuse_to_overwrite(repository, written, sources)
        async with git_step(repository, git_checkout.name):
            if paths:
                text = await _restore(repository, branch, paths)
            elif not branch:
                raise BadInput("Name a branch, or paths.", hint="git_branch lists the branches.")
            elif create:
                args = ["checkout", "-q", "--no-overwrite-ignore", "-b", branch_name(branch)]
                await repository.run(*args, *([await _target(repository, start)] if start else []))
                text = f"Switched to the new branch {branch}."
            else:
                text = await _switch_or_tell(repository, branch)
        await repository.save_branch_settings()
        status = await status_of(repository, untracked="no")
        stored = await note_as_stored(repository, before.commit, status.commit)
    changed = len(status.tracked)
    note = f" {counted(changed, 'changed file')} came along." if changed and not paths else ""
    return Result(
        text=text + note + (f"\n{stored}" if stored else ""),
        data={"branch": status.branch, "commit": status.commit},
    )


async def _target(repository: Repository, name: str) -> str:
    """What git is told to go to: a remote's branch by its name, so that it is followed."""
    plain = revision(name)
    for ref in (f"refs/remotes/{plain}", f"refs/heads/{plain}"):
        if await repository.hash_of(ref):
            return ref
    if await repository.hash_of(plain):
        return await repository.commit(plain)
    remotes = (await repository.line("remote")).split()
    known = [f"refs/remotes/{remote}/{plain}" for remote in remotes]
    found = [ref for ref in known if await repository.hash_of(ref)]
    if len(found) != 1:
        return await repository.commit(plain)
    return found[0]


async def _place(repository: Repository, name: str) -> str:
    """Where a switch to a name leads, in the order of `_switch`."""
    ref = f"refs/heads/{name}"
    if await repository.hash_of(ref):
        return ref
    if await repository.hash_of(name):
        return await repository.commit(name)
    return await _target(repository, name)


async def _switch_or_tell(repository: Repository, name: str) -> str:
    try:
        return await _switch(repository, name)
    except NotFound as error:
        error.hint = f"create=true makes a new branch. {error.hint}"
        raise


async def _switch(repository: Repository, name: str) -> str:
    args = ["checkout", "-q", "--no-overwrite-ignore"]
    ref = f"refs/heads/{name}"
    if await repository.hash_of(ref):
        await repository.run(*args, branch_name(name), "--")
        return f"Switched to {name}."
    if await repository.hash_of(name):
        commit = await repository.commit(name)
        await repository.run(*args, "--detach", commit, "--")
        return f"At {commit[:10]}, on no branch: commits here belong to none until one is made."
    target = await _target(repository, name)  # a branch that only a remote has
    await repository.run(*args, "-b", branch_name(name), "--track", target)
    return f"Switched to {name}, which follows {target.removeprefix('refs/remotes/')}."


async def _restore(repository: Repository, branch: str, paths: list[SafePath]) -> str:
    names = [repository.name_of(path) or "." for path in paths]
    source = [await repository.commit(branch)] if branch else []
    await repository.run("checkout", "-q", *source, "--", *names)
    return f"Restored from {branch or 'what is staged'}: {', '.join(p.display for p in paths)}."
