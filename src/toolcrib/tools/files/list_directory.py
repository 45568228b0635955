"""`list_directory`: what a folder holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import islice
from typing import Annotated

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Count, Offset, Param, other_names, tool
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import printable
from toolcrib.text.tokens import lines_within
from toolcrib.tools.files.argument_adapters import adapt_listing
from toolcrib.tools.files.folder_entries import (
    MAX_ENTRIES,
    ListedEntry,
    Sort,
    as_json,
    entry_line,
    need_folder,
    totals,
    totals_words,
    walk,
)

MAX_DEPTH = 10
MAX_GLOB = 500
MAX_OTHERS = 20
"""Names that are told of a folder in which nothing fits the glob."""
REGEX_START = re.compile(r"^\.\*\\?")
"""`.*py` and `.*\\.py`: an expression, or names that begin with a dot; `*py` fits both."""


@tool(
    group="files",
    rights=READ,
    keywords=("ls", "dir", "folder", "files", "contents", "browse"),
    aliases=("list_folder", "read_directory", "fs_list", "list"),
    argument_aliases=other_names(
        path=("directory", "dir", "folder", "directory_path", "directory_name", "folder_path")
    ),
    profiles=("default",),
    argument_adapter=adapt_listing,
)
async def list_directory(
    path: WorkspacePath | None = None,
    depth: Annotated[Count, Param("Levels.", maximum=MAX_DEPTH, plain=True)] = 1,
    glob: Annotated[str, Param("Names like *.py")] = "",
    sort: Sort = "name",
    start: Annotated[Offset, Param("Skip so many.", plain=True)] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """List what a folder holds, with sizes.

    Hidden files are shown too. Links are named with their target and not followed. At more
    than one level, folders such as node_modules are named and not opened.
    """
    if len(glob) > MAX_GLOB:
        raise BadInput(f"'glob' has at most {MAX_GLOB} characters, not {len(glob):,}.")
    folder = path or ctx.use(Workspace).start(ctx.session.directory)

    def work(check: Checkpoint) -> tuple[list[ListedEntry], str, int]:
        need_folder(folder)
        fits = _name_filter(glob) if depth == 1 and glob else None
        found: list[ListedEntry] = []
        for listed in walk(folder, "", depth, check, sort, fits):
            if len(found) == MAX_ENTRIES:
                return _cut(folder, [one for one in found if _wanted(one, glob)], depth, glob, ctx)
            found.append(listed)
        found = [listed for listed in found if _wanted(listed, glob)]
        return found, totals(found), len(found)

    entries, counts, total = await in_thread(work, ctx.deadline)
    others: list[str] = []
    if not entries:
        others = await in_thread(lambda check: _names_in(folder, check), ctx.deadline)
        counts = _nothing(glob, others)
    page = _page(entries[start:], room_in(ctx.budget(list_directory.name)), sort)
    end = start + len(page)
    more = end < len(entries)
    arguments = {"path": folder.display, "depth": depth, "glob": glob, "start": end}
    if sort != "name":
        arguments["sort"] = sort
    following = None
    if more:
        following = Next.of(list_directory.name, **arguments)
    elif not entries and ("/" in glob or (glob and any(name.endswith("/") for name in others))):
        query = REGEX_START.sub("*", glob)
        following = Next("find_files", {"query": query, "path": folder.display})
    head = f"{folder.display}: {counts}"
    if len(page) < len(entries):
        head += f"; entries {start + 1:,}-{start + len(page):,} of {len(entries):,}"
    return Result(
        text="\n".join((head, *(_line(listed, sort) for listed in page)))
        if entries
        else f"({folder.display} {counts})",
        data={
            "path": folder.display,
            "entries": [_as_json(listed) for listed in page],
            "total": total,
        },
        truncated=more,
        next=following,
    )


def _names_in(folder: SafePath, check: Checkpoint) -> list[str]:
    """The first names in a folder, folders with a `/` at the end, and one more."""
    first = islice(walk(folder, "", 1, check), MAX_OTHERS + 1)
    return [printable(one.path) + "/" * (one.entry.kind == "folder") for one in first]


def _nothing(glob: str, names: list[str]) -> str:
    """What is said of a folder in which nothing fits: the first names that are there."""
    if not glob or not names:
        return "holds nothing"
    more = ", …" if len(names) > MAX_OTHERS else ""
    return f"holds nothing like {glob}; it holds {', '.join(names[:MAX_OTHERS])}{more}"


def _cut(
    folder: SafePath, found: list[ListedEntry], depth: int, glob: str, ctx: Ctx
) -> tuple[list[ListedEntry], str, int]:
    """What is listed of a folder with more than MAX_ENTRIES, its true totals, and their sum.

    Of several levels only what was looked at is counted, and that is said.
    """
    if depth == 1:
        folders, files = folder.totals(_name_filter(glob) if glob else None)
        ctx.warn(f"Only the first {MAX_ENTRIES:,} are listed; glob narrows it.")
        return found, totals_words(folders, files), folders + files
    ctx.warn(
        f"Only the first {MAX_ENTRIES:,} entries were looked at, so there are more than counted; "
        "a smaller depth or a folder in it shows the rest."
    )
    return found, f"at least {totals(found)}", len(found)


def _name_filter(glob: str) -> Callable[[str], bool] | None:
    """Says whether a name is wanted; None where that needs its path."""
    plain = glob.removeprefix("**/").casefold()
    return None if "/" in plain else lambda name: fnmatchcase(name.casefold(), plain)


def _wanted(listed: ListedEntry, glob: str) -> bool:
    glob = glob.removeprefix("**/")
    name = listed.path if "/" in glob else listed.entry.name
    return not glob or fnmatchcase(name.casefold(), glob.casefold())


def _page(entries: list[ListedEntry], budget: int, sort: Sort) -> list[ListedEntry]:
    """The entries that fit, and at least one."""
    return entries[: len(lines_within((_line(listed, sort) for listed in entries), budget))]


def _line(listed: ListedEntry, sort: Sort) -> str:
    line = entry_line(printable(listed.path), listed)
    if sort != "modified":
        return line
    return f"{line}  {_moment(listed.entry.modified):%Y-%m-%d %H:%M}"


def _moment(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _as_json(listed: ListedEntry) -> dict[str, object]:
    modified = _moment(listed.entry.modified).isoformat(timespec="seconds")
    return as_json(listed) | {"name": printable(listed.entry.name), "modified": modified}
