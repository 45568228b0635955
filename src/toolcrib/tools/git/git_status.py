"""`git_status`: the branch, and what is changed."""

from __future__ import annotations

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.git.attributes import filtered
from toolcrib.git.places import adapt_path
from toolcrib.git.repository import open_repository
from toolcrib.git.status import FileStatus, WorkingStatus, status_of, submodules_of
from toolcrib.text.display import printable, some_of

MAX_LISTED = 300


@tool(
    group="git",
    rights=READ,
    keywords=("changes", "modified", "staged", "untracked", "branch", "dirty", "working tree"),
    argument_adapter=adapt_path,
)
async def git_status(path: WorkspacePath | None = None, *, ctx: Ctx) -> Result:
    """Show the branch and which files are changed.

    Two letters stand before each file: what is staged of it, then what is not (M changed, A new,
    D deleted, R renamed, U in conflict, ?? unknown to git).
    """
    async with open_repository(ctx, path) as repository:
        names = [name] if path and (name := repository.name_of(path)) else []
        status = await status_of(repository, *names)
        changed = [f.name for f in status.files if f.unstaged == "M"]
        without = await filtered(repository, changed) if repository.names_filters else {}
        submodules = await submodules_of(repository, *names)
        lines = [*headlines(status, is_whole=not submodules), *_files(status.files)]
        if submodules:
            listed = some_of([printable(name) for name in submodules], 5)
            first = repository.display(submodules[0])
            lines.append(
                f"changes inside submodules are not looked at: {listed}. path={first} shows them"
            )
        if without:
            kinds = ", ".join(sorted(set(without.values())))
            lines.append(
                f"({len(without)} of them have the filter {kinds}, which does not run here: they "
                "may only look changed)"
            )
    return Result(text="\n".join(lines), data=_data(status))


def headlines(status: WorkingStatus, *, is_whole: bool = True) -> list[str]:
    """The branch, what it follows, and what git is in the middle of.

    `is_whole`: without changes in the status there are none at all.
    """
    line = status.branch or f"detached at {status.commit[:8]}"
    if not status.commit:
        line += " (no commit yet)"
    if status.upstream:
        ahead, behind = status.ahead or 0, status.behind or 0
        apart = [f"ahead {ahead}"] * bool(ahead) + [f"behind {behind}"] * bool(behind)
        state = ", ".join(apart) or ("gone" if status.ahead is None else "up to date")
        line += f" -> {status.upstream} ({state})"
    lines = [line]
    if status.in_progress:
        open_files = len(status.unmerged)
        what = f"{open_files} in conflict" if open_files else "conflicts resolved"
        lines.append(f"in the middle of a {status.in_progress}: {what}")
    if not status.files and is_whole:
        lines.append("clean")
    return lines


def _files(files: list[FileStatus]) -> list[str]:
    lines = []
    for file in files[:MAX_LISTED]:
        old = f"{printable(file.old_name)} -> " if file.old_name else ""
        lines.append(f"{file.staged}{file.unstaged} {old}{printable(file.name)}")
    if len(files) > MAX_LISTED:
        lines.append(f"and {len(files) - MAX_LISTED:,} more; path narrows it")
    return lines


def _data(status: WorkingStatus) -> dict[str, object]:
    return {
        "branch": status.branch,
        "commit": status.commit,
        "upstream": status.upstream,
        "ahead": status.ahead,
        "behind": status.behind,
        "in_progress": status.in_progress,
        "files": [
            {"path": printable(f.name), "staged": f.staged, "unstaged": f.unstaged}
            for f in status.files
        ],
    }
