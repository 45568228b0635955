"""`git_conflicts`: the sides of a conflict, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Decision, Param, tool
from toolcrib.files.paths import WritablePath
from toolcrib.git.conflicts import named_sides, resolve, sides, view
from toolcrib.git.obstacles import refuse_to_overwrite
from toolcrib.git.places import adapt_path
from toolcrib.git.precautions import ask_about, names_of_going_on, refuse_beside_runs
from toolcrib.git.repository import Repository, entries_of, open_repository
from toolcrib.git.sequences import GOING_ON, going_on
from toolcrib.git.status import WorkingStatus, status_of
from toolcrib.git.steps import git_step
from toolcrib.text.display import printable, some_of

MAX_DISPLAYED_FILES = 5


async def _names(repository: Repository, arguments: Mapping[str, Any]) -> list[str]:
    if arguments.get("abort"):
        return await names_of_going_on(repository, "abort")
    path = arguments.get("path")
    if path is None or not (arguments.get("take") or arguments.get("text")):
        return []
    return [repository.name_of(path)]


async def _ask(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    return await ask_about(ctx, arguments, _names, arguments.get("path"))


@tool(
    group="git",
    rights=READ | WRITE,
    keywords=("merge conflict", "resolve", "ours", "theirs", "abort", "both modified"),
    argument_aliases={"file": "path", "file_path": "path", "content": "text", "resolution": "take"},
    destructive=True,
    policy_check=_ask,
    argument_adapter=adapt_path,
)
async def git_conflicts(
    path: WritablePath | None = None,
    take: Literal["", "ours", "theirs", "base", "text"] = "",
    text: str = "",
    abort: Annotated[bool, Param("End the merge.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Show conflicts with both sides and their base, resolve a file, or abort.

    ours is the side that is checked out (while rebasing, that of the new base), theirs the other.
    """
    take = take or ("text" if text else "")
    async with open_repository(ctx, path) as repository:
        status = await status_of(repository, untracked="no")
        names = [file.name for file in status.unmerged]
        if abort:
            return Result(text=await _abort(repository, status), data={"open": []})
        name = repository.name_of(path) if path else ""
        if not name and take:
            raise BadInput("Name the file to resolve.", hint=f"path takes one of {names[:5]}.")
        wanted = [name] if name else names
        if name and name not in names:
            raise NotFound(
                f"{repository.display(name)} is not in conflict.",
                hint=f"In conflict: {some_of(names, 5) or 'nothing'}.",
            )
        if not names:
            done = going_on(status.in_progress)
            return Result(text=f"(no conflicts) {done}".strip(), data={"open": []})
        if take:
            await refuse_to_overwrite(repository, wanted)
            async with git_step(repository, git_conflicts.name):
                note = await resolve(repository, wanted[0], take, text)
            left = [name for name in names if name != wanted[0]]
            rest = f"Left: {some_of(left, 5)}." if left else going_on(status.in_progress)
            if not rest and await repository.hash_of("refs/stash"):
                rest = "No conflict is left. A stash is kept: git_stash action=list shows it."
            parts = [f"Resolved {printable(wanted[0])}.", note, rest]
            return Result(text=" ".join(filter(None, parts)), data={"open": left})
        parts = [
            view(name, await sides(repository, name), whole=bool(name))
            for name in wanted[:MAX_DISPLAYED_FILES]
            if not repository.is_hidden(name)
        ]
        if whose := await named_sides(repository, status.in_progress):
            parts.insert(0, whose)
    more = len(wanted) - MAX_DISPLAYED_FILES
    if more > 0:
        parts.append(f"and {more} more: {some_of(wanted[MAX_DISPLAYED_FILES:], 20)}")
    return Result(text="\n\n".join(parts), data={"open": names})


async def _abort(repository: Repository, status: WorkingStatus) -> str:
    what, names = status.in_progress, [file.name for file in status.unmerged]
    if what not in GOING_ON and not names:
        raise NotFound("Nothing is there to abort.", hint="git_status shows the state.")
    if what in GOING_ON and what != "merge" and not repository.is_trusted:
        refuse_beside_runs(repository)
    async with git_step(repository, git_conflicts.name):
        if what in GOING_ON:
            # A file that was resolved looks changed until git has looked at it again.
            await repository.attempt("update-index", "-q", "--refresh")
            await repository.run(what, "--abort")
            return f"The {what} is aborted."
        # Other files may hold what was there before the stash, so they stay.
        known = entries_of(
            await repository.read("ls-tree", "-z", "--name-only", "HEAD", "--", *names)
        )
        if known:
            await repository.run("checkout", "-q", "HEAD", "--", *known)
        if new := sorted(set(names) - set(known)):
            await repository.run("rm", "-q", "-f", "--", *new)
        left = (await status_of(repository, untracked="no")).tracked
    more = f" Still changed: {some_of([printable(file.name) for file in left], 5)}." if left else ""
    listed = some_of([printable(name) for name in names], 5)
    return f"As in the last commit again: {listed}. A stash that was brought back stays.{more}"
