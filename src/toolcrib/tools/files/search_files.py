"""`search_files`: lines of files that fit a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Count, Offset, Param, other_names, tool
from toolcrib.files.handles import Handle
from toolcrib.files.paths import SafePath, WorkspacePath
from toolcrib.files.search.globs import MAX_GLOB_CHARS
from toolcrib.files.search.hits import LINE_CHARS, Hit
from toolcrib.files.search.pattern import CAPITALS, Pattern, other_readings, pattern_of
from toolcrib.files.search.scope import (
    IGNORED_WORDS,
    SKIPPED_WORDS,
    SearchScope,
    from_folder,
    scope_of,
    start_of_search,
)
from toolcrib.files.search.search import FileLimits, MatchCounts, Search, read_hits, within_limits
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, printable
from toolcrib.text.tokens import estimate, lines_within
from toolcrib.tools.files.argument_adapters import adapt_search

MAX_LIMIT = 500
MAX_CONTEXT = 10
SECONDS = 10.0
"""After so long what was found is given, and `aborted` is said."""
LOOKAROUND = re.compile(r"\(\?<?[=!]")
GLOB = re.compile(r"^\*|\*\*|\*\.\w")
Show = Literal["lines", "files", "count"]


@dataclass(frozen=True, slots=True)
class HitWindow:
    """What of the findings is shown: lines, from which one, how many, and how long."""

    start: int
    limit: int
    context: int
    room: int
    line_chars: int = LINE_CHARS


@dataclass(frozen=True, slots=True)
class _Findings:
    """Where was searched, for what, and how many lines of each file fit."""

    scope: SearchScope
    pattern: Pattern
    counts: MatchCounts


@dataclass(frozen=True, slots=True)
class HitPage:
    """The lines that are shown, file by file, and how many that fit are behind it now.

    `lost`: files that were changed or taken away since their lines were counted.
    """

    files: tuple[tuple[str, tuple[Hit, ...]], ...]
    passed: int
    lost: tuple[str, ...] = ()


@tool(
    group="files",
    rights=READ,
    keywords=("grep", "rg", "content", "text", "regex", "occurrences", "usages", "find"),
    aliases=("search_in_files", "search_content", "search_text", "content_search"),
    argument_aliases=other_names(
        pattern=("query", "search", "text"), path=("directory", "dir", "folder", "file_path")
    ),
    profiles=("default",),
    argument_adapter=adapt_search,
)
async def search_files(
    pattern: Annotated[str, Param("RE2 expression, within a line.")],
    path: Annotated[WorkspacePath | None, Param("Folder or file.", plain=True)] = None,
    glob: Annotated[str, Param("Only files like *.py, !tests/**")] = "",
    literal: Annotated[bool, Param("Plain text.", plain=True)] = False,
    case_sensitive: Annotated[bool | None, Param("Else only with capitals.")] = None,
    context: Annotated[
        int, Param("Lines around each match.", minimum=0, maximum=MAX_CONTEXT, plain=True)
    ] = 0,
    limit: Annotated[int, Param(minimum=1, maximum=MAX_LIMIT)] = 100,
    start: Annotated[Offset, Param("Skip so many.", plain=True)] = 0,
    show: Show = "lines",
    depth: Annotated[Count | None, Param("Levels of folders.", unlisted=True)] = None,
    max_file_size: Annotated[Count | None, Param("Bytes of a file.", unlisted=True)] = None,
    max_file_lines: Annotated[Count | None, Param("Lines of a file.", unlisted=True)] = None,
    max_per_file: Annotated[Count | None, Param("Lines shown of a file.", unlisted=True)] = None,
    line_length: Annotated[
        int, Param("Characters of a line.", minimum=10, maximum=1000, unlisted=True)
    ] = LINE_CHARS,
    *,
    ctx: Ctx,
) -> Result:
    """Search the contents of files for a pattern.

    Use find_files for names. Hidden and generated folders are left out unless `path` or
    `glob` names them, and so is what .gitignore names.
    """
    if len(glob) > MAX_GLOB_CHARS:
        raise BadInput(f"'glob' has at most {MAX_GLOB_CHARS} characters, not {len(glob):,}.")
    place = start_of_search(path, ctx)
    glob = from_folder(glob, place)
    compiled = pattern_of(pattern, literal=literal, case_sensitive=case_sensitive)
    found = await _count(place, compiled, glob, ctx)
    if not (found.counts.lines or found.counts.aborted or found.counts.no_file):
        for other in other_readings(compiled, case_sensitive=case_sensitive):
            again = await _count(place, other, glob, ctx)
            if again.counts.lines:
                found = again
                break
    limits = FileLimits(depth, max_file_size, max_file_lines, max_per_file)
    if any(limits):
        scope, counts = found.scope, found.counts
        counts = await in_thread(
            lambda check: within_limits(scope, counts, limits, check), ctx.deadline
        )
        found = replace(found, counts=counts)
    given: dict[str, Any] = {
        "pattern": found.pattern.text,
        "path": "" if place.display == "." else place.display,
        "glob": glob,
        "literal": found.pattern.literal,
        "case_sensitive": case_sensitive,
        "context": context,
        "limit": limit if limit != 100 else 0,
        "show": "" if show == "lines" else show,
        "depth": depth,
        "max_file_size": max_file_size,
        "max_file_lines": max_file_lines,
        "max_per_file": max_per_file,
        "line_length": 0 if line_length == LINE_CHARS else line_length,
    }
    room = room_in(ctx.budget(search_files.name))
    wanted = HitWindow(start, limit, context, room, line_length)
    if show != "lines":
        return _as_list(found, wanted, given)
    page = await in_thread(lambda check: _page(found, wanted, check), ctx.deadline)
    return _as_lines(found, page, wanted, given)


async def _count(place: SafePath, pattern: Pattern, glob: str, ctx: Ctx) -> _Findings:
    """Search a folder by the engine, a single file right here."""
    kind = await in_thread(lambda _: place.kind(), ctx.deadline)
    if kind == "file":
        scope = await in_thread(lambda _: scope_of(place.parent), ctx.deadline)
        return _Findings(scope, pattern, await ctx.use(Search).count_file(place, pattern))
    scope = await in_thread(lambda _: scope_of(place, [glob] if glob else []), ctx.deadline)
    seconds = ctx.remaining(SECONDS)
    return _Findings(scope, pattern, await ctx.use(Search).count(scope, pattern, seconds))


def _page(found: _Findings, wanted: HitWindow, check: Checkpoint) -> HitPage:
    """The lines from a start on for which there is room; at least one where there are any."""
    if not found.counts.files:
        return HitPage((), 0)
    with found.scope.real.open() as top:
        page = _page_within(found, wanted, top, check)
        # Lists of words take more than the sum of their lines.
        taken = estimate("\n".join(_lines(found.scope, page, wanted)))
        if taken > wanted.room:
            smaller = replace(wanted, room=wanted.room * wanted.room // taken)
            page = _page_within(found, smaller, top, check)
    return page


def _page_within(found: _Findings, wanted: HitWindow, top: Handle, check: Checkpoint) -> HitPage:
    files: list[tuple[str, tuple[Hit, ...]]] = []
    lost: list[str] = []
    skip, passed, spent = wanted.start, 0, 0
    for path, number in found.counts.files:
        if skip >= number:
            skip -= number
            continue
        if passed >= wanted.limit or spent >= wanted.room:
            break
        check()
        limit = min(number - skip, wanted.limit - passed)
        file, around, chars = found.scope.file(path), wanted.context, wanted.line_chars
        try:
            lines = read_hits(file, found.pattern, skip, limit, around, top, chars)
        except ToolError:  # gone, or swapped for something that may not be read
            lines = []
            lost.append(path)
        fitting_lines, cost = _fitting(path, lines, wanted.room - spent, first=not files)
        if fitting_lines:
            files.append((path, tuple(fitting_lines)))
        if len(fitting_lines) < len(lines):
            passed += sum(hit.fits for hit in fitting_lines)
            break
        passed, spent, skip = passed + limit, spent + cost, 0
    return HitPage(tuple(files), passed, tuple(lost))


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


def _as_lines(found: _Findings, page: HitPage, wanted: HitWindow, given: dict[str, Any]) -> Result:
    scope, total = found.scope, found.counts.lines
    end = wanted.start + page.passed
    more = end < total and page.passed > 0
    head = _head(found, given)
    if page.passed and (wanted.start or more):
        head += f"; {wanted.start + 1:,}-{end:,} shown"
    if total and wanted.start >= total:
        head += f"; none from {wanted.start + 1:,} on"
    if page.lost:
        head += f"; changed meanwhile: {', '.join(printable(p) for p in page.lost)}"
    data = _data(found) | {
        "start": wanted.start,
        "files": [
            {
                "path": scope.display(path),
                "lines": [{"line": h.number, "text": h.text, "fits": h.fits} for h in lines],
            }
            for path, lines in page.files
        ],
    }
    text = "\n".join((head, *_lines(scope, page, wanted)))
    return Result(text, data, truncated=more, next=_next(given, end) if more else None)


def _lines(scope: SearchScope, page: HitPage, wanted: HitWindow) -> Iterator[str]:
    for path, lines in page.files:
        yield printable(scope.display(path))
        for before, hit in zip((None, *lines[:-1]), lines, strict=True):
            if wanted.context and before is not None and hit.number > before.number + 1:
                yield "--"
            yield _line(hit)


def _as_list(found: _Findings, wanted: HitWindow, given: dict[str, Any]) -> Result:
    """Files with their counts, or the counts alone."""
    scope, files = found.scope, found.counts.files
    head, data = _head(found, given), _data(found)
    if given["show"] == "count":
        return Result(head, data)
    chosen = files[wanted.start : wanted.start + wanted.limit]
    listed = (f"{printable(scope.display(path))}  {number:,}" for path, number in chosen)
    lines = lines_within(listed, wanted.room) if chosen else []
    rows = [{"path": scope.display(path), "lines": number} for path, number in chosen[: len(lines)]]
    if files and not chosen:
        head += f"; none from {wanted.start + 1:,} on"
    end = wanted.start + len(rows)
    more = bool(rows) and end < len(files)
    data |= {"start": wanted.start, "files": rows}
    text = "\n".join((head, *lines))
    return Result(text, data, truncated=more, next=_next(given, end) if more else None)


def _next(given: dict[str, Any], start: int) -> Next:
    repeated = {k: v for k, v in given.items() if v or (k == "case_sensitive" and v is False)}
    return Next(search_files.name, repeated | {"start": start})


def _head(found: _Findings, given: dict[str, Any]) -> str:
    scope, pattern, counts = found.scope, found.pattern, found.counts
    notes = []
    if pattern.reason:
        reason = pattern.reason.partition(": (?m)")[0]
        reading = "plain text" if pattern.literal else pattern.text
        reading = "in any case" if reason == CAPITALS else f"as {reading}"
        notes.append(f"searched {reading}, since {reason}")
        if LOOKAROUND.search(pattern.text):
            notes.append("RE2 has no lookaround: search without it")
    if counts.aborted:
        notes.append("stopped when its time was up, so more may fit: path or glob narrows it")
    where = given["path"] or "."
    if counts.lines:
        head = f"{counted(counts.lines, 'line')} in {counted(len(counts.files), 'file')}"
    else:
        head = f"No {'file' if counts.no_file else 'line'} in {printable(where)} fits"
        head += f" the glob {printable(given['glob'])}" if counts.no_file else ""
        binary = [] if counts.left_out is None else counts.left_out.paths.get("binary", [])
        if [scope.display(path) for path in binary] == [where]:
            head = f"{printable(where)} was not searched"
        if pattern.reason and GLOB.search(pattern.text):
            notes.append("for names use find_files")
        if not scope.named and where == scope.folder.display:
            notes.append(f"left out unless path or glob names them: {SKIPPED_WORDS}")
            notes.append(f"left out unless path leads there: {IGNORED_WORDS}")
    if counts.left_out is not None:
        notes.append(counts.left_out.words(lambda path: printable(scope.display(path))))
    elif not counts.aborted:
        notes.append("too many files to count what was not searched")
    return "; ".join((head, *filter(None, notes)))


def _data(found: _Findings) -> dict[str, Any]:
    counts, left_out = found.counts, found.counts.left_out
    return {
        "total_lines": counts.lines,
        "total_files": len(counts.files),
        "pattern_mode": "literal" if found.pattern.literal else "regex",
        "aborted": counts.aborted,
        "engine": counts.engine,
        "left_out": None if left_out is None else left_out.to_json(found.scope.display),
    }


def _line(hit: Hit) -> str:
    text = hit.text if hit.text.isprintable() else printable_line(hit.text)
    return f"  {hit.number}{':' if hit.fits else '-'} {text}"


def printable_line(text: str) -> str:
    """A line as it can be shown, tabs kept."""
    return "".join(c if c == "\t" or c.isprintable() else "\ufffd" for c in text)
