"""`query_table`: questions to tables in files, without SQL."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, other_names, tool
from toolcrib.data.table_files import (
    TABLE_ENDINGS,
    open_files,
    rights_with_output,
    saved_format,
    small_contents,
    table_result,
)
from toolcrib.data.table_query import TableRequest
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.new_names import refuse_source
from toolcrib.files.paths import WorkspacePath, WritablePath
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted

MAX_SECONDS = 300.0
QUERY = Task(
    "toolcrib.data.table_query:query",
    "Reading the table",
    seconds=MAX_SECONDS,
    megabytes=2000,
    max_bytes=100_000_000,
    hint="For large files ask query_database, by SQL.",
)


def adapt(arguments: dict[str, Any]) -> None:
    """Take `sum=["amount"]` and the like as aggregates."""
    for name in ("sum", "mean", "avg", "average", "min", "max"):
        given = arguments.pop(name, None)
        if given:
            columns = given if isinstance(given, list) else str(given).split(",")
            found = arguments.get("aggregate") or []
            found = found if isinstance(found, list) else [found]
            arguments["aggregate"] = [*found, *(f"{name}({c})".strip() for c in columns)]


@tool(
    group="data",
    rights=READ | WRITE,
    keywords=("csv", "tsv", "excel", "xlsx", "spreadsheet", "sum", "group", "rows", "columns"),
    aliases=("query_csv", "read_csv", "query_excel", "analyze_csv"),
    argument_aliases=other_names(
        path=("file", "file_path", "source"),
        filter=("where",),
        columns=("select", "fields"),
        group=("group_by",),
        sort=("order_by", "sort_by"),
        aggregate=("aggregates",),
        save_to=("output",),
    ),
    effective_rights=rights_with_output("save_to"),
    argument_adapter=adapt,
    seconds=MAX_SECONDS,
)
async def query_table(
    path: Annotated[WorkspacePath, Param("File or folder.", plain=True)],
    filter: Annotated[str, Param("a = x and b > 9")] = "",  # noqa: A002 - its plain name
    columns: list[str] | None = None,
    group: list[str] | None = None,
    aggregate: Annotated[list[str] | None, Param("sum(x)")] = None,
    sort: Annotated[str, Param("x desc")] = "",
    limit: Annotated[int, Param(minimum=1, maximum=10_000)] = 100,
    sheet: str = "",
    save_to: WritablePath | None = None,
    *,
    ctx: Ctx,
) -> Result:
    """Filter, group, sum and sort a CSV, XLSX or JSON table.

    Without arguments it shows the columns with their types and the first rows. A folder of CSV
    files is one table with a column that names the file. Numbers in German form are understood.
    `save_to` takes all rows (.csv, .tsv, .json, .jsonl, .md, .xlsx).
    """
    wanted = TableRequest(
        filter,
        columns or (),
        group or (),
        aggregate or (),
        sort,
        limit,
        sheet,
        saved_format(save_to),
    )
    await refuse_source(save_to, path, ctx, TABLE_ENDINGS)
    with ExitStack() as stack:
        opened = await in_thread(lambda _: stack.enter_context(open_files(path)), ctx.deadline)
        data = await in_thread(lambda _: small_contents(opened), ctx.deadline)
        answer, saved = await ctx.use(Workers).run(
            QUERY,
            {**asdict(wanted), "files": [file.request for file in opened]},
            data,
            ctx.deadline,
            () if data else [file.fd for file in opened],
        )
        files = f", {counted(len(opened), 'file')}" if len(opened) > 1 else ""
    rows, total = len(answer["rows"]), answer["total"]
    head = f"{path.display}{files}: {_range(rows, total, save_to is not None)}"
    if filter or group or aggregate:
        head += f" ({answer['matched']:,} of {counted(answer['scanned'], 'row')} match)"
    head += f", {counted(len(answer['columns']), 'column')}."
    return await table_result(query_table.name, answer, head, save_to, saved, ctx)


def _range(count: int, total: int, saved: bool) -> str:
    if count == total or saved:
        return counted(total, "row")
    return f"the first {count:,} of {counted(total, 'row')}; raise limit or use save_to"
