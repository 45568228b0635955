"""`extract_text`: fields and matches out of the lines of a text file."""

from __future__ import annotations

import csv
import json
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NoResults
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, other_names, tool
from toolcrib.data.formats import written_table
from toolcrib.files.edits.pattern_replacement import compiled_pattern, text_matches
from toolcrib.files.edits.text_loader import load
from toolcrib.files.paths import WorkspacePath
from toolcrib.files.search.pattern import unwrapped
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted

MAX_ROWS = 200_000
DELIMITERS = {"": "\t", "tab": "\t", "\\t": "\t", "comma": ",", "space": " ", "semicolon": ";"}
CHECK_EVERY = 5000


@tool(
    group="data",
    rights=READ,
    keywords=("regex", "cut", "awk", "grep", "fields", "log", "matches"),
    aliases=("text_extract", "extract_fields", "cut_columns"),
    argument_aliases=other_names(
        path=("file_name", "file", "file_path"),
        pattern=("regex",),
        fields=("columns",),
        delimiter=("separator",),
        format=("output_format",),
    ),
)
async def extract_text(
    path: WorkspacePath,
    pattern: Annotated[str, Param("RE2 with groups.", plain=True)] = "",
    fields: Annotated[list[int] | None, Param("From 0.")] = None,
    delimiter: Annotated[str, Param("Between fields.", plain=True)] = "\t",
    format: Literal["list", "json", "csv"] = "list",  # noqa: A002 - its plain name
    *,
    ctx: Ctx,
) -> Result:
    r"""Take matches or fields out of a text file.

    With `fields`, only lines that the pattern matches. Fields are parted by `delimiter`, a tab
    unless named. For tables with a head use `query_table`.
    """
    if not pattern and not fields:
        hint = 'As pattern="id=(\\d+)", or fields=[0]. All of a text: read_file, read_document.'
        raise BadInput("Give 'pattern' or 'fields'.", hint=hint)
    if fields and min(fields) < 0:
        raise BadInput("Fields count from 0.", hint="The first field of a line is 0.")
    separator = DELIMITERS.get(delimiter, delimiter)

    def work(check: Checkpoint) -> list[list[str]]:
        text = load(path).text
        meant, any_case = unwrapped(pattern)
        for expression, ignore_case in dict.fromkeys([(pattern, False), (meant, any_case)]):
            engine = (
                compiled_pattern(expression, literal=False, ignore_case=ignore_case)
                if expression
                else None
            )
            rows = (
                _fields(text, engine, fields, separator, check)
                if fields
                else _matches(text, engine, check)
            )
            if rows:
                break
        return rows

    rows = await in_thread(work, ctx.deadline)
    if not rows:
        raise NoResults(f"Nothing matches in {path.display}.", hint="read_file shows its lines.")
    facts: dict[str, Any] = {"count": len(rows), "rows": rows}
    return Result(text=_listed(rows, format, separator), data=facts, private=True)


def _fields(
    text: str, test: Any, fields: list[int], separator: str, check: Checkpoint
) -> list[list[str]]:
    rows = []
    widest = 0
    for number, line in enumerate(text.split("\n")):
        if not number % CHECK_EVERY:
            check()
        if not line or (test is not None and test.search(line.encode()) is None):
            continue
        if separator in ",;" and '"' in line and len(separator) == 1:
            parts = next(csv.reader([line], delimiter=separator), [])
        else:
            parts = line.split() if separator == " " else line.split(separator)
        widest = max(widest, len(parts))
        rows.append([parts[n] if n < len(parts) else "" for n in fields])
        if len(rows) >= MAX_ROWS:
            break
    if rows and min(fields) >= widest:
        raise BadInput(
            f"The lines have {counted(widest, 'field')} by this delimiter, and they count from 0.",
            hint="Send another delimiter." if widest == 1 else f"Send fields 0 to {widest - 1}.",
        )
    return rows


def _matches(text: str, engine: Any, check: Checkpoint) -> list[list[str]]:
    rows: list[list[str]] = []
    raw = text.encode("utf-8", "surrogatepass")
    for match in text_matches(engine, raw):
        if not len(rows) % CHECK_EVERY:
            check()
        groups = match.groups() or (match[0],)
        rows.append([(group or b"").decode("utf-8", "replace") for group in groups])
        if len(rows) >= MAX_ROWS:
            break
    return rows


def _listed(rows: list[list[str]], form: str, separator: str) -> str:
    single = all(len(row) == 1 for row in rows)
    if form == "json":
        return json.dumps([row[0] for row in rows] if single else rows, ensure_ascii=False)
    if form == "csv":
        first, *rest = rows
        return written_table(first, rest, "csv").decode().rstrip("\n")
    noun = ("match", "matches") if single else ("row",)
    head = f"{counted(len(rows), *noun)}:"
    return "\n".join([head, *(separator.join(row) for row in rows)])
