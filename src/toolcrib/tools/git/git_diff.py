"""`git_diff`: what is changed, line by line."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, other_names, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.git.patches import PATCH_OPTIONS, patch_of, rendered
from toolcrib.git.places import adapt_path, need_path
from toolcrib.git.repository import open_repository
from toolcrib.git.status import status_of
from toolcrib.text.display import printable, some_of

WORDS = ("--word-diff=porcelain",)


@tool(
    group="git",
    rights=READ,
    keywords=("changes", "compare", "patch", "staged", "unstaged", "cached", "commits"),
    argument_aliases=other_names(
        path=("file_path", "file"),
        staged=("cached",),
        range=("revision", "target"),
        words=("word_diff",),
    ),
    argument_adapter=adapt_path,
)
async def git_diff(
    path: WorkspacePath | None = None,
    staged: Annotated[bool, Param("What the next commit has.")] = False,
    range: str = "",  # noqa: A002 - the program's own word
    words: Annotated[bool, Param("Mark words.")] = False,
    stat: Annotated[bool, Param("Counts only.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Show changes that are not staged, are staged, or lie between commits.

    Without arguments: what is not staged. One commit as range compares it with the files as
    they are now.
    """
    async with open_repository(ctx, path) as repository:
        args = ["diff", *PATCH_OPTIONS]
        args += ["--cached"] * staged
        if range:
            args.append(await repository.range(range))
        name = repository.name_of(path) if path else ""
        args += ["--", *([name] if name else [])]
        marked = await patch_of(repository, "diff", *WORDS, *args[1:], words=True) if words else []
        # git prints no words of a file with a conflict, which has two old sides.
        in_lines = not words or any(file.hunks.startswith("@@@") for file in marked)
        files = await patch_of(repository, *args) if in_lines else marked
        text = rendered(repository, files, stat=stat)
        if words and in_lines:
            text = f"(Lines, not words: a merge conflict is open.)\n{text}"
        unmerged = [] if range or text else (await status_of(repository, untracked="no")).unmerged
    if path and not files:
        await need_path(path, ctx)
    if found := [file.name for file in unmerged if name in ("", file.name)]:
        names = some_of([printable(each) for each in found], 5)
        text = f"(no lines to compare; in conflict: {names}. git_conflicts shows the sides)"
    data = [{"path": f.name, "added": f.added, "removed": f.removed} for f in files]
    return Result(text=text or "(no changes)", data={"files": data})
