"""The files that a table stands in, opened for a worker's child, and answers as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, MissingExtra, NoResults, NotFound, TooLarge
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Right
from toolcrib.data.formats import ENDINGS, TABLES
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.paths import SafePath
from toolcrib.system.openat import pread
from toolcrib.text.display import counted
from toolcrib.text.values import displayed

MAX_FILES = 200
MAX_CELL_CHARS = 500
TABLE_ENDINGS = (".csv", ".tsv", ".tab")
SAVED_FORMATS = TABLES | {"json", "jsonl"}
CONVERT = Task(
    "toolcrib.data.formats:convert",
    "Converting",
    seconds=40.0,
    megabytes=1500,
    max_bytes=60_000_000,
    hint="Convert a part of it.",
)
WORKBOOK = Task(
    "toolcrib.documents.writers.workbook:create",
    "Making the document",
    seconds=40.0,
    megabytes=1500,
    hint="Make several documents, or a shorter one.",
)
MAX_SENT_BYTES = 8_000_000
"""Bytes of files that are read here and sent; a child that is given files serves one call."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file as a child is given it: its descriptor there, its path here, and its size."""

    fd: int
    path: SafePath
    size: int
    absolute: str

    @property
    def request(self) -> dict[str, Any]:
        """What the child is given."""
        return {"fd": self.fd, "name": self.path.display, "size": self.size}


@contextmanager
def open_files(path: SafePath, endings: Sequence[str] = TABLE_ENDINGS) -> Iterator[list[OpenFile]]:
    """A file, or those of a folder with certain endings, open until the end. It blocks.

    Raises:
        NoResults: the folder has none.
        TooLarge: it has too many.
        NotFound, PathDenied: as opening does.
    """
    with ExitStack() as stack:
        try:
            top = stack.enter_context(path.open())
        except NotFound:
            if "*" not in path.name:
                raise
            folder = path.parent
            while "*" in folder.name:
                folder = folder.parent
            raise BadInput(
                f"{path.display} is a pattern; what is read is a file or a folder.",
                hint=f"Name one file, or the folder {folder.display} for all its tables.",
            ) from None
        if top.kind == "file":
            yield [OpenFile(top.fd, path, top.size, top.absolute)]
            return
        names = sorted(
            entry.name
            for entry in path.list()
            if entry.name.lower().endswith(tuple(endings)) and not entry.protected
        )
        if not names:
            raise NoResults(
                f"{path.display} holds no tables.",
                hint=f"Files of a folder are taken that end in {', '.join(endings)}.",
            )
        if len(names) > MAX_FILES:
            raise TooLarge(
                f"{path.display} holds {len(names):,} tables, more than {MAX_FILES}.",
                hint="Name one file, or a smaller folder.",
            )
        found = []
        for name in names:
            file = path.child(name)
            handle = stack.enter_context(file.open_read())
            found.append(OpenFile(handle.fd, file, handle.size, handle.absolute))
        yield found


def small_contents(files: Sequence[OpenFile]) -> bytes:
    """The contents of files that are small; nothing for others. It blocks."""
    if sum(file.size for file in files) > MAX_SENT_BYTES:
        return b""
    parts = [pread(file.fd, file.size, 0) for file in files]
    whole = all(len(part) == file.size for part, file in zip(parts, files, strict=True))
    return b"".join(parts) if whole else b""


def rights_with_output(*outputs: str) -> Any:
    """The effective rights of a tool that writes only where an output is named."""

    def rights(arguments: Mapping[str, Any]) -> Right:
        writes = any(arguments.get(name) not in (None, "") for name in outputs)
        return READ | WRITE if writes else READ

    return rights


def saved_format(path: SafePath | None) -> str:
    """The format that the name of a file asks for; "" for no file, "rows" for a workbook.

    Raises:
        BadInput: no table is written in it.
    """
    if path is None:
        return ""
    if is_workbook(path):
        return "rows"
    found = ENDINGS.get(path.name.rpartition(".")[2].lower(), "")
    if found not in SAVED_FORMATS:
        raise BadInput(
            f"A table is not saved as {path.name}.",
            hint="End the name in .csv, .tsv, .json, .jsonl, .md or .xlsx.",
        )
    return found


def is_workbook(path: SafePath) -> bool:
    """Whether a file is to be an Excel workbook."""
    return path.name.lower().endswith(".xlsx")


async def workbook_of(table: bytes, ctx: Ctx) -> tuple[bytes, list[str]]:
    """An Excel workbook of a table in JSON, and what is to be said of it.

    Raises:
        MissingExtra: what makes it is not installed.
    """
    if find_spec("xlsxwriter") is None:
        raise MissingExtra("create", "Making a file of the kind XLSX")
    request = {"title": "", "dates": True}
    answer, content = await ctx.use(Workers).run(WORKBOOK, request, table, ctx.deadline)
    return content, list(answer["notes"])


async def save(tool: str, path: SafePath, content: bytes, ctx: Ctx) -> tuple[str, int]:
    """Write a result as one undoable step; a line about it, and the number of the step."""
    step = Step(tool)
    step.write(path, content)
    applied = await ctx.use(Changes).apply(step, ctx)
    return f"Saved to {applied.place(path)}: {counted(len(content), 'byte')}.", applied.step


def rows_text(columns: Sequence[Mapping[str, Any]], rows: Sequence[Sequence[Any]]) -> str:
    """Rows as a compact table: the columns with their types once, then a line for each row."""
    heads = []
    for column in columns:
        kind = column.get("type", "")
        note = f", {column['note']}" if column.get("note") else ""
        heads.append(f"{_line(column['name'])} ({kind}{note})" if kind else _line(column["name"]))
    lines = [" | ".join(heads)]
    lines += [
        " | ".join("NULL" if cell is None else _line(displayed(cell)) for cell in row)
        for row in rows
    ]
    return "\n".join(lines)


def _line(text: str) -> str:
    text = text.replace("\r", "").replace("\n", "\\n").replace(" | ", " \\| ")
    return text if len(text) <= MAX_CELL_CHARS else f"{text[:MAX_CELL_CHARS]}… ({len(text):,})"


async def table_result(
    tool: str,
    answer: Mapping[str, Any],
    head: str,
    save_to: SafePath | None,
    saved: bytes,
    ctx: Ctx,
) -> Result:
    """The result of a question to a table; saved too, where that was asked for.

    Args:
        tool: who answers.
        answer: `columns`, `rows`, and `notes`.
        head: the line that says how much there is.
        save_to: where all rows go.
        saved: those rows as a file.
        ctx: the call.
    """
    lines = [head, *answer["notes"]]
    data = {key: answer[key] for key in answer if key != "notes"} | {"notes": answer["notes"]}
    rows = answer["rows"]
    if save_to is not None:
        if is_workbook(save_to):
            saved, notes = await workbook_of(saved, ctx)
            lines += notes
        line, step = await save(tool, save_to, saved, ctx)
        lines.append(line)
        data |= {"saved": save_to.display, "step": step}
        rows = rows[:10]
    lines.append(rows_text(answer["columns"], rows))
    return Result(text="\n".join(lines), data=data, truncated=False, private=True)
