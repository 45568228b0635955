"""`code_outline`: what source files define."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

from toolcrib.code.languages import language_of
from toolcrib.code.project import MAX_BYTES, ParseCheck, ParseGuard, Project, is_file
from toolcrib.code.symbols import first_error, in_outline, symbols
from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import MissingExtra, NoResults, TooLarge, ToolError, install_line
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Offset, Param, other_names, tool
from toolcrib.files.content.faithful import FaithfulText
from toolcrib.files.content.kinds import SAMPLE_BYTES, kind_of
from toolcrib.files.content.outline import outline
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted
from toolcrib.text.tokens import estimate

MISSING_EXTRA_NOTE = f"Found by patterns only; for exact outlines: {install_line('toolcrib[code]')}"
TOO_SLOW_NOTE = "Found by patterns only: a parser takes too long for this text."
Row = dict[str, Any]


@tool(
    group="code",
    rights=READ,
    keywords=("symbols", "structure", "functions", "classes", "signatures", "overview", "ast"),
    aliases=("list_symbols", "document_symbols", "file_outline", "get_outline"),
    argument_aliases=other_names(
        path=("file_path", "file", "filename", "directory", "folder"), start=("offset",)
    ),
)
async def code_outline(
    path: Annotated[WorkspacePath | None, Param("Source file or folder.")] = None,
    start: Annotated[Offset, Param("Entries to skip.")] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """List functions, classes and types of source files, with lines and signatures.

    For one symbol use find_symbol; read_file shows the code.
    """
    place = path or ctx.use(Workspace).start(ctx.session.directory)
    room = room_in(ctx.budget(code_outline.name))

    if await is_file(place, ctx):
        trial = ctx.use(ParseGuard).by_thread(ctx.deadline)
        rows, note = await in_thread(lambda _: _of_file(place, trial), ctx.deadline)
        head = f"{place.display}: {counted(len(rows), 'definition')}"
        if not rows:
            raise NoResults(
                f"{place.display} defines nothing that is known.", hint="read_file shows it."
            )
        files = [(place.display, rows)]
    else:
        project = await Project.open(ctx, place)
        files, note = await in_thread(lambda check: _of_folder(project, check), ctx.deadline)
        total = sum(len(rows) for _, rows in files)
        head = f"{place.display}: {counted(total, 'definition')} in {counted(len(files), 'file')}"
        if not files:
            raise NoResults(
                f"{place.display} has no source files with definitions.",
                hint="Hidden, ignored and vendored files are left out.",
            )
    return _result(place, head, files, note, start, room)


def _of_file(place: SafePath, trial: ParseCheck) -> tuple[list[Row], str]:
    data = place.read_bytes(MAX_BYTES)
    if kind_of(data[:SAMPLE_BYTES]) is not None:
        raise NoResults(f"{place.display} is not text.", hint="file_info tells what it is.")
    text = FaithfulText.of(data, place.display).text
    language = language_of(place.name)
    rows, note = _rows(text, place.name, partial(trial, text, language, place.display))
    if language and not note:
        with suppress(MissingExtra):
            line = first_error(text, language)
            note = f"not all from line {line} on could be parsed" if line else ""
    return rows, note


def _rows(text: str, name: str, check: Callable[[], object]) -> tuple[list[Row], str]:
    """The definitions of a text, by its parser where `check` lets it, else by patterns."""
    language, note = language_of(name), ""
    if language:
        try:
            check()
            return [
                {
                    "line": s.line,
                    "end": s.end,
                    "level": s.level,
                    "kind": s.kind,
                    "text": s.head,
                    "name": s.name,
                }
                for s in symbols(text, language)
                if in_outline(s)
            ], ""
        except MissingExtra:
            note = MISSING_EXTRA_NOTE
        except TooLarge:
            note = TOO_SLOW_NOTE
    entries = outline(text.split("\n"), name)
    levels = sorted({entry.level for entry in entries})
    return [
        {"line": e.line, "level": levels.index(e.level), "kind": "", "text": e.text}
        for e in entries
    ], note


def _of_folder(project: Project, check: Checkpoint) -> tuple[list[tuple[str, list[Row]]], str]:
    files: list[tuple[str, list[Row]]] = []
    note = ""
    for path in project.paths:
        check()
        if not language_of(path):
            continue
        try:
            rows, file_note = _rows(project.text(path), path, partial(project.parsable, path))
        except ToolError:
            continue
        note = note or file_note
        if rows:
            files.append((project.display(path), rows))
    return files, note


def _result(
    place: SafePath, head: str, files: list[tuple[str, list[Row]]], note: str, start: int, room: int
) -> Result:
    lines = [head, *([note] if note else [])]
    single = len(files) == 1 and files[0][0] == place.display
    listed: list[Row] = []
    spent, passed, total = estimate(head) + 30, 0, sum(len(rows) for _, rows in files)
    for path, rows in files:
        skip, passed = max(start - passed, 0), passed + len(rows)
        taken: list[Row] = []
        for row in rows[skip:]:
            line = f"{row['line']}: {'  ' * row['level']}{row['text']}"
            cost = estimate(line) + 1 + (0 if taken or single else estimate(path) + 2)
            if spent + cost > room and listed:
                break
            if not taken and not single:
                lines.append(path)
            spent += cost
            lines.append(line)
            taken.append(row)
            listed.append(row | {"path": path})
        if len(taken) < len(rows[skip:]):
            break
    end = start + len(listed)
    more = end < total
    if more:
        lines.append(f"[{total - end:,} more]")
    following = Next(code_outline.name, {"path": place.display, "start": end}) if more else None
    return Result(
        "\n".join(lines), {"definitions": listed, "total": total}, truncated=more, next=following
    )
