"""`git_stash`: changes put aside, and taken back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict, NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Offset, Param, tool
from toolcrib.git.obstacles import refuse_conflict_names, refuse_to_overwrite
from toolcrib.git.places import NAMES, RepositoryFolder
from toolcrib.git.precautions import asking
from toolcrib.git.program import checked
from toolcrib.git.repository import Repository, lines_of, open_repository
from toolcrib.git.restoration import refuse_locked
from toolcrib.git.sequences import refuse_while_open
from toolcrib.git.status import status_of
from toolcrib.git.steps import git_step
from toolcrib.git.written_names import hidden_names, names_between, names_by_pick, names_in
from toolcrib.text.display import counted

BY_PATTERN = {"GIT_LITERAL_PATHSPECS": "0"}
"""git stash names all files to itself by a pattern; nothing of the call is one."""


async def _names(repository: Repository, arguments: Mapping[str, Any]) -> list[str]:
    action = arguments.get("action") or "push"
    if action == "push":  # what is changed is as in the last commit then
        left = await _left_out(repository)
        written = [*await hidden_names(repository), *await names_between(repository, "HEAD")]
        return [name for name in written if name not in left]
    if action not in ("pop", "apply"):
        return []
    entry = f"stash@{{{arguments.get('index') or 0}}}"
    names = await names_by_pick(repository, entry)
    untracked = f"{entry}^3"
    if await repository.hash_of(untracked):
        names += await names_in(repository, untracked)
    return names


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("shelve", "put aside", "save changes", "wip"),
    argument_aliases={**NAMES, "include_untracked": "untracked"},
    destructive=True,
    policy_check=asking(_names),
)
async def git_stash(
    action: Literal["push", "pop", "apply", "list", "drop"] = "push",
    message: str = "",
    index: Annotated[Offset, Param("Which, from 0.")] = 0,
    untracked: Annotated[bool, Param("New files too.")] = False,
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Put changes aside (push), bring them back (pop, apply), list or drop them.

    A dropped stash comes back by undo_changes.
    """
    entry = f"stash@{{{index}}}"
    async with open_repository(ctx, repo) as repository:
        if action == "list":
            listed = await repository.read("stash", "list", "--format=%gd %cs %gs")
            stashes = lines_of(listed)
            text = "\n".join(stashes)
            return Result(text=text or "(no stashes)", data={"stashes": stashes})
        if action != "push" and not await repository.hash_of(entry):
            raise NotFound(f"There is no {entry}.", hint="action=list shows what there is.")
        await refuse_locked(repository)  # git stash itself is silent about it
        if (await status_of(repository, untracked="no")).unmerged:
            await refuse_while_open(repository)
        if action == "push":
            await repository.commit("HEAD")  # without one there is nothing to go back to
        written = await _names(repository, {"action": action, "index": index})
        sources = ["HEAD"] if action == "push" else [entry, f"{entry}^3"]
        bases = [] if action == "push" else [f"{entry}^1"]
        await refuse_to_overwrite(repository, written, sources, bases)
        if bases:
            await refuse_conflict_names(repository, written)
        async with git_step(repository, git_stash.name, untracked=True):
            if action == "push":
                text = await _push(repository, message, untracked=untracked)
            elif action == "drop":
                await repository.run("stash", "drop", "-q", entry)
                text = f"Dropped {entry}."
            else:
                text = await _bring_back(repository, action, entry)
    return Result(text=text, data={"action": action})


async def _push(repository: Repository, message: str, *, untracked: bool) -> str:
    newest = await repository.hash_of("refs/stash")
    args = ["stash", "push", "-q", *(["--include-untracked"] * untracked)]
    args += ["-m", message.replace("\n", " ")] if message else []
    if unread := await _left_out(repository):
        args += ["--", ":(top)", *(f":(top,exclude,literal){name}" for name in unread)]
    await repository.run(*args, env=BY_PATTERN)
    status = await status_of(repository)
    left = [file for file in status.files if not file.is_untracked or untracked]
    made = await repository.line("stash", "list", "-n1", "--format=%gd %gs")
    if newest == await repository.hash_of("refs/stash"):
        raise Conflict("There was nothing to put aside.", hint="git_status shows what is changed.")
    return f"Put aside: {made}" + (f"; still changed: {counted(len(left), 'file')}" if left else "")


async def _left_out(repository: Repository) -> list[str]:
    """What is changed and not stored, since any run may read the objects of the repository."""
    files = (await status_of(repository, untracked="all")).files
    return [file.name for file in files if repository.is_hidden(file.name)]


async def _bring_back(repository: Repository, action: str, entry: str) -> str:
    done = await repository.attempt("stash", action, "-q", "--index", entry, env=BY_PATTERN)
    if done.exit_code and "index" in str(done.stderr):  # what was staged does not fit any more
        done = await repository.attempt("stash", action, "-q", entry, env=BY_PATTERN)
    status = await status_of(repository, untracked="no")
    if not status.unmerged:
        checked(["stash"], done)
    files = ", ".join(file.name for file in status.tracked[:10])
    if status.unmerged:
        return f"Brought back with conflicts, {entry} is kept: {files}. git_conflicts shows them."
    return f"Brought back {entry}: {files}"
