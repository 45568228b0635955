"""`search_files`: lines of files that fit a pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Offset, Param, tool
from toolcrib.files.content.display import printable
from toolcrib.files.handles import Handle
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.files.search.globs import MAX_GLOB_CHARS
from toolcrib.files.search.pattern import Hit, Pattern, pattern_of
from toolcrib.files.search.scope import SKIPPED_WORDS, SearchScope, scope_of
from toolcrib.files.search.search import MatchCounts, Search, read_hits
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.tokens import estimate
from toolcrib.tools.files.argument_adapters import adapt_search

MAX_LIMIT = 500
MAX_CONTEXT = 10
SECONDS = 10.0
"""After so long what was found is given, and `aborted` is said."""
GLOB = re.compile(r"^\*|\*\*|\*\.\w")
Show = Literal["lines", "files", "count"]


@dataclass(frozen=True, slots=True)
class HitWindow:
    """What of the findings is shown: lines, from which one, and how many."""

    start: int
    limit: int
    context: int
    room: int


@dataclass(frozen=True, slots=True)
class HitPage:
    """The lines that are shown, file by file, and how many that fit are behind it now."""

    files: tuple[tuple[str, tuple[Hit, ...]], ...]
    passed: int


@tool(
    group="files",
    rights=READ,
    keywords=("grep", "rg", "content", "text", "regex", "occurrences", "usages", "find"),
    aliases=("search_in_files", "search_content", "search_text", "content_search"),
    argument_aliases={
        "query": "pattern",
        "search": "pattern",
        "text": "pattern",
        "directory": "path",
        "dir": "path",
        "folder": "path",
        "file_path": "path",
    },
    profiles=("default",),
    argument_adapter=adapt_search,
)
async def search_files(
    pattern: Annotated[str, Param("RE2 expression, within a line.")],
    path: Annotated[WorkspacePath | None, Param("Folder or file.")] = None,
    glob: Annotated[str, Param("Only files like *.py, !tests/**")] = "",
    literal: Annotated[bool, Param("Plain text.")] = False,
    case_sensitive: Annotated[bool, Param("Else only with capitals.")] = False,
    context: Annotated[int, Param("Lines around.", minimum=0, maximum=MAX_CONTEXT)] = 0,
    limit: Annotated[int, Param(minimum=1, maximum=MAX_LIMIT)] = 100,
    start: Annotated[Offset, Param("Skip so many.")] = 0,
    show: Show = "lines",
    *,
    ctx: Ctx,
) -> Result:
    """Search the contents of files for a pattern.

    Use find_files for names. Hidden and generated folders are left out unless `path` or
    `glob` names them, and so is what .gitignore names.
    """
    if len(glob) > MAX_GLOB_CHARS:
        raise BadInput(f"'glob' has at most {MAX_GLOB_CHARS} characters, not {len(glob):,}.")
    place = path or ctx.use(Workspace).start(ctx.session.directory)
    compiled_pattern = pattern_of(pattern, literal=literal, case_sensitive=case_sensitive)
    scope, counted = await _count(place, compiled_pattern, glob, ctx.remaining(SECONDS), ctx)
    given: dict[str, Any] = {
        "pattern": pattern,
        "path": "" if place.display == "." else place.display,
        "glob": glob,
        "literal": literal,
        "case_sensitive": case_sensitive,
        "context": context,
        "limit": limit if limit != 100 else 0,
        "show": "" if show == "lines" else show,
    }
    wanted = HitWindow(start, limit, context, room_in(ctx.budget(search_files.name)))
    if show != "lines":
        return _as_list(scope, compiled_pattern, counted, wanted, given)
    page = await in_thread(
        lambda check: _page(scope, compiled_pattern, counted, wanted, check), ctx.deadline
    )
    return _as_lines(scope, compiled_pattern, counted, page, wanted, given)


async def _count(
    place: SafePath, compiled_pattern: Pattern, glob: str, seconds: float, ctx: Ctx
) -> tuple[SearchScope, MatchCounts]:
    """Search a folder by the engine, a single file right here."""
    kind = await in_thread(lambda _: _kind(place), ctx.deadline)
    if kind == "file":
        scope = await in_thread(lambda _: scope_of(place.parent), ctx.deadline)
        return scope, await ctx.use(Search).count_file(place, compiled_pattern)
    scope = await in_thread(lambda _: scope_of(place, [glob] if glob else []), ctx.deadline)
    return scope, await ctx.use(Search).count(scope, compiled_pattern, seconds)


def _kind(place: SafePath) -> str:
    with place.open() as handle:
        return handle.kind


def _page(
    scope: SearchScope,
    compiled_pattern: Pattern,
    counted: MatchCounts,
    wanted: HitWindow,
    check: Checkpoint,
) -> HitPage:
    """The lines from a start on for which there is room; at least one where there are any."""
    if not counted.files:
        return HitPage((), 0)
    with scope.real.open() as top:
        return _page_within(scope, compiled_pattern, counted, wanted, (top, check))


def _page_within(
    scope: SearchScope,
    compiled_pattern: Pattern,
    counted: MatchCounts,
    wanted: HitWindow,
    opened: tuple[Handle, Checkpoint],
) -> HitPage:
    top, check = opened
    files: list[tuple[str, tuple[Hit, ...]]] = []
    skip, passed, spent = wanted.start, 0, 0
    for path, number in counted.files:
        if skip >= number:
            skip -= number
            continue
        if passed >= wanted.limit or spent >= wanted.room:
            break
        check()
        limit = min(number - skip, wanted.limit - passed)
        try:
            lines = read_hits(scope.file(path), compiled_pattern, skip, limit, wanted.context, top)
        except ToolError:
            lines = []  # gone, or swapped for something that may not be read
        fitting_lines, cost = _fitting(path, lines, wanted.room - spent, first=not files)
        if fitting_lines:
            files.append((path, tuple(fitting_lines)))
        if len(fitting_lines) < len(lines):
            passed += sum(hit.fits for hit in fitting_lines)
            break
        passed, spent, skip = passed + limit, spent + cost, 0
    return HitPage(tuple(files), passed)


def _fitting(path: str, lines: list[Hit], room: int, *, first: bool) -> tuple[list[Hit], int]:
    """The first lines of a file for which there is room, and what they take."""
    spent = estimate(path) + 2
    for place, hit in enumerate(lines):
        spent += estimate(_line(hit)) + 1
        if spent > room and not (first and place == 0):
            return _whole(lines[:place]), room
    return lines, spent


def _whole(lines: list[Hit]) -> list[Hit]:
    """Without lines at the end that stood before one that is not shown."""
    while lines and not lines[-1].fits:
        lines = lines[:-1]
    return lines


def _as_lines(
    scope: SearchScope,
    compiled_pattern: Pattern,
    counted: MatchCounts,
    page: HitPage,
    wanted: HitWindow,
    given: dict[str, Any],
) -> Result:
    end = wanted.start + page.passed
    more = end < counted.lines and page.passed > 0
    head = _head(counted, compiled_pattern, scope, given)
    if page.passed and (wanted.start or more):
        head += f"; {wanted.start + 1:,}-{end:,} shown"
    parts = [head]
    for path, lines in page.files:
        parts.append(printable(scope.display(path)))
        for before, hit in zip((None, *lines[:-1]), lines, strict=True):
            if wanted.context and before is not None and hit.number > before.number + 1:
                parts.append("--")
            parts.append(_line(hit))
    data = _data(counted, compiled_pattern) | {
        "start": wanted.start,
        "files": [
            {
                "path": scope.display(path),
                "lines": [{"line": h.number, "text": h.text, "fits": h.fits} for h in lines],
            }
            for path, lines in page.files
        ],
    }
    return Result("\n".join(parts), data, truncated=more, next=_next(given, end) if more else None)


def _as_list(
    scope: SearchScope,
    compiled_pattern: Pattern,
    counted: MatchCounts,
    wanted: HitWindow,
    given: dict[str, Any],
) -> Result:
    """Files with their counts, or the counts alone."""
    head = _head(counted, compiled_pattern, scope, given)
    data = _data(counted, compiled_pattern)
    if given["show"] == "count":
        return Result(head, data)
    lines, spent = [head], 0
    rows: list[dict[str, Any]] = []
    for path, number in counted.files[wanted.start : wanted.start + wanted.limit]:
        line = f"{printable(scope.display(path))}  {number:,}"
        spent += estimate(line) + 1
        if rows and spent > wanted.room:
            break
        lines.append(line)
        rows.append({"path": scope.display(path), "lines": number})
    end = wanted.start + len(rows)
    more = bool(rows) and end < len(counted.files)
    data |= {"start": wanted.start, "files": rows}
    return Result("\n".join(lines), data, truncated=more, next=_next(given, end) if more else None)


def _next(given: dict[str, Any], start: int) -> Next:
    return Next(search_files.name, {k: v for k, v in given.items() if v} | {"start": start})


def _head(
    counted: MatchCounts, compiled_pattern: Pattern, scope: SearchScope, given: dict[str, Any]
) -> str:
    notes = []
    if compiled_pattern.reason:
        reason = compiled_pattern.reason.partition(": (?m)")[0]
        notes.append(f"searched as plain text, since it is no RE2 expression: {reason}")
    if counted.aborted:
        notes.append("stopped when its time was up, so more may fit")
    where = given["path"] or "."
    if counted.lines:
        count, files = counted.lines, len(counted.files)
        head = (
            f"{count:,} {'line' if count == 1 else 'lines'} in "
            f"{files:,} {'file' if files == 1 else 'files'}"
        )
    else:
        head = f"No line in {printable(where)} fits"
        if compiled_pattern.reason and GLOB.search(compiled_pattern.text):
            notes.append("for names use find_files")
        if not scope.named and where == scope.folder.display:
            notes.append(f"left out: {SKIPPED_WORDS}")
    return "; ".join((head, *notes))


def _data(counted: MatchCounts, compiled_pattern: Pattern) -> dict[str, Any]:
    return {
        "total_lines": counted.lines,
        "total_files": len(counted.files),
        "pattern_mode": "literal" if compiled_pattern.literal else "regex",
        "aborted": counted.aborted,
        "engine": counted.engine,
    }


def _line(hit: Hit) -> str:
    text = hit.text if hit.text.isprintable() else printable_line(hit.text)
    return f"  {hit.number}{':' if hit.fits else '-'} {text}"


def printable_line(text: str) -> str:
    """A line as it can be shown, tabs kept."""
    return "".join(c if c == "\t" or c.isprintable() else "\ufffd" for c in text)
