"""`git_diff`: what is changed, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, other_names, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.git.patches import PATCH_OPTIONS, PatchedFile, patch_of, rendered
from toolcrib.git.places import adapt_path, need_path
from toolcrib.git.repository import Repository, open_place, open_repository
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
    wanted = _Wanted(staged, range, words)
    async with open_repository(ctx, path) as repository:
        name = repository.name_of(path) if path else ""
        files, text = await _changes(repository, name, wanted, stat=stat)
    if path and not files:
        await need_path(path, ctx)
    if path and not text and not range and await open_place(ctx, [path]) is None:
        # Nothing is changed inside of a submodule: it may be as a whole.
        async with open_repository(ctx) as repository:
            files, text = await _changes(repository, repository.name_of(path), wanted, stat=stat)
    data = [{"path": f.name, "added": f.added, "removed": f.removed} for f in files]
    return Result(text=text or "(no changes)", data={"files": data})


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is compared, as the arguments of the tool say, and whether by words."""

    staged: bool
    range: str
    words: bool


async def _changes(
    repository: Repository, name: str, wanted: _Wanted, *, stat: bool
) -> tuple[list[PatchedFile], str]:
    """The changes of a file or folder, or of all for "", and how a model reads them."""
    args = ["diff", *PATCH_OPTIONS]
    args += ["--cached"] * wanted.staged
    if wanted.range:
        args.append(await repository.range(wanted.range))
    args += ["--", *([name] if name else [])]
    words = wanted.words
    marked = await patch_of(repository, "diff", *WORDS, *args[1:], words=True) if words else []
    # git prints no words of a file with a conflict, which has two old sides.
    in_lines = not words or any(file.hunks.startswith("@@@") for file in marked)
    files = await patch_of(repository, *args) if in_lines else marked
    text = rendered(repository, files, stat=stat)
    if words and in_lines:
        text = f"(Lines, not words: a merge conflict is open.)\n{text}"
    if text or wanted.range:
        return files, text
    unmerged = (await status_of(repository, untracked="no")).unmerged
    if found := [file.name for file in unmerged if name in ("", file.name)]:
        names = some_of([printable(each) for each in found], 5)
        text = f"(no lines to compare; in conflict: {names}. git_conflicts shows the sides)"
    return files, text
