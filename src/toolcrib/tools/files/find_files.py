"""`find_files`: files and folders by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Count, Offset, Param, other_names, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.files.search.catalog import (
    MAX_QUERY_CHARS,
    Catalog,
    Catalogs,
    by_glob,
    by_likeness,
    by_part,
    names_in,
)
from toolcrib.files.search.globs import has_signs
from toolcrib.files.search.scope import (
    IGNORED_WORDS,
    SKIPPED_WORDS,
    SearchScope,
    from_folder,
    scope_of,
    start_of_search,
)
from toolcrib.files.trees import newest_first
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, printable
from toolcrib.text.tokens import lines_within

MAX_LIMIT = 500
MAX_DATED = 5000
"""More than so many paths that fit a glob are not put in the order of their change."""
MAX_NEAREST = 5
MAX_LISTED = 20
"""Paths up to which a folder in which nothing fits is shown whole."""
MAX_FUZZY = 60
MAX_UNREAD = 50
"""Folders that could not be looked into, in data; the text names fewer."""
MAX_NAMED_UNREAD = 3
_EXPRESSION = re.compile(r"\.\*|\\[.wds]|\$$")
Mode = Literal["auto", "glob", "substring", "fuzzy"]


@tool(
    group="files",
    rights=READ,
    keywords=("glob", "name", "locate", "fuzzy", "filename", "where", "path"),
    aliases=("find_path", "fuzzy_find_files", "search_file_names", "search_filenames"),
    argument_aliases=other_names(
        query=("name", "filename", "file_name", "glob", "glob_pattern", "search")
    ),
    profiles=("default",),
)
async def find_files(
    query: Annotated[str, Param("Glob (src/**/*.py) or part of a name; typos are fine.")],
    path: WorkspacePath | None = None,
    mode: Mode = "auto",
    limit: Annotated[int, Param(minimum=1, maximum=MAX_LIMIT)] = 100,
    start: Annotated[Offset, Param("Skip so many.", plain=True)] = 0,
    depth: Annotated[Count | None, Param("Levels of folders.", unlisted=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Find files and folders by name.

    Use search_files for what is in them. Hidden and generated folders are left out unless
    they are named, and so is what .gitignore names. Globs give the newest first.
    """
    text = query.strip().removeprefix("./")
    if not text.strip("/"):
        raise BadInput("The query is empty.", hint='"*" finds all files.')
    if len(text) > MAX_QUERY_CHARS:
        raise BadInput(f"'query' has at most {MAX_QUERY_CHARS} characters, not {len(text):,}.")
    folder = start_of_search(path, ctx)
    text = from_folder(text, folder)
    catalogs = ctx.use(Catalogs)

    def work(check: Checkpoint) -> tuple[SearchScope, Catalog, str, list[str]]:
        # What .gitignore names is looked for last: each such question is one of its own.
        for anew, with_ignored in ((False, False), (True, False), (True, True)):
            scope = scope_of(folder, named=names_in(text), with_ignored=with_ignored)
            catalog = catalogs.of(scope, check, anew=anew)
            used, found = _found(scope, catalog, text, mode)
            if depth is not None:
                found = [path for path in found if path.rstrip("/").count("/") < depth]
            if found and (mode != "auto" or used != "fuzzy" or with_ignored):
                break  # what is like the query comes after what .gitignore names
        return scope, catalog, used, found

    scope, catalog, used, found = await in_thread(work, ctx.deadline)
    if not catalog.complete:
        ctx.warn("The folder has too many files; only a part of them was looked at.")
    if not found:
        return _nothing(scope, catalog, text, used)
    given: dict[str, Any] = {
        "query": query,
        "path": "" if folder.display == "." else folder.display,
        "mode": "" if mode == "auto" else mode,
        "depth": str(depth or ""),
        "limit": 0 if limit == 100 else limit,
    }
    room = room_in(ctx.budget(find_files.name))
    return _as_result(scope, catalog, used, found, (start, limit, room), given)


def _found(scope: SearchScope, catalog: Catalog, text: str, mode: Mode) -> tuple[str, list[str]]:
    """What fits, and by which mode."""
    if mode == "glob" or (mode == "auto" and has_signs(text)):
        found = by_glob(catalog, text)
        if len(found) <= MAX_DATED:
            with scope.real.open() as top:
                found = newest_first(top, found)
        return "glob", found
    if mode in ("substring", "auto"):
        found = by_part(catalog, text)
        if found or mode == "substring":
            return "substring", found
    return "fuzzy", by_likeness(catalog, text, MAX_FUZZY)


def _nothing(scope: SearchScope, catalog: Catalog, text: str, used: str) -> Result:
    few = len(catalog.paths) <= MAX_LISTED and catalog.complete
    near = catalog.paths if few else []
    if not few and used != "fuzzy":
        near = by_likeness(catalog, text.strip("*?"), MAX_NEAREST)
    skipped = f"left out unless the query or path names them: {SKIPPED_WORDS} and {IGNORED_WORDS}"
    where = printable(scope.folder.display)
    lines = [f"Nothing in {where} fits; {skipped}{_unread(scope, catalog)}."]
    if _EXPRESSION.search(text):
        lines.append(r"Write a glob, like *.py, and no expression, like .*\.py$.")
    if near:
        lines.append("What is there:" if few else "Nearest names:")
        lines += [_line(scope, catalog, path) for path in near]
    data = {"mode": used, "total": 0, "paths": [], "nearest": [scope.display(p) for p in near]}
    data["unread"] = [scope.display(path) for path in catalog.unread[:MAX_UNREAD]]
    return Result("\n".join(lines), data)


def _as_result(
    scope: SearchScope,
    catalog: Catalog,
    used: str,
    found: Sequence[str],
    part: tuple[int, int, int],
    given: dict[str, Any],
) -> Result:
    start, limit, room = part
    lines = lines_within((_line(scope, catalog, p) for p in found[start : start + limit]), room)
    lines = lines if found[start:] else []
    end = start + len(lines)
    more = end < len(found) and bool(lines)
    head = f"{counted(len(found), 'path')} ({used})"
    if lines and (start or more):
        head += f"; {start + 1:,}-{end:,} shown"
    elif not lines:
        head += f"; none from {start + 1:,} on"
    head += _unread(scope, catalog)
    data = {
        "mode": used,
        "total": len(found),
        "start": start,
        "paths": [scope.display(path) for path in found[start:end]],
        "unread": [scope.display(path) for path in catalog.unread[:MAX_UNREAD]],
    }
    following = Next.of(find_files.name, **given, start=end) if more else None
    return Result("\n".join((head, *lines)), data, truncated=more, next=following)


def _line(scope: SearchScope, catalog: Catalog, path: str) -> str:
    listed = printable(scope.display(path))
    if path in catalog.links:
        return f"{listed} (link)"
    return f"{listed} (protected)" if path in catalog.protected else listed


def _unread(scope: SearchScope, catalog: Catalog) -> str:
    """The folders of which nothing is known."""
    if not catalog.unread:
        return ""
    named = ", ".join(printable(scope.display(path)) for path in catalog.unread[:MAX_NAMED_UNREAD])
    more = ", …" if len(catalog.unread) > MAX_NAMED_UNREAD else ""
    folders = counted(len(catalog.unread), "folder")
    return f"; not looked into for lack of rights or depth: {folders} ({named}{more})"
