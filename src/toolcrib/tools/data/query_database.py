"""`query_database`: SQL that reads, over databases and files."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, other_names, tool
from toolcrib.data.databases import ENDINGS, MEMORY, NamedSource, SourceArgument, ask, bare_sql
from toolcrib.data.table_files import rights_with_output, saved_format, table_result
from toolcrib.files.new_names import refuse_source
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.text.display import counted


@tool(
    group="data",
    rights=READ | WRITE,
    keywords=("sql", "select", "sqlite", "duckdb", "parquet", "join"),
    aliases=("sql_query", "query_sqlite", "query_db", "run_sql", "execute_sql"),
    argument_aliases=other_names(
        sql=("query", "statement"),
        source=("db_path", "database", "path", "file", "db"),
        save_to=("output",),
    ),
    effective_rights=rights_with_output("save_to"),
    seconds=120.0,
)
async def query_database(
    sql: str,
    source: Annotated[SourceArgument | None, Param("SQLite, CSV, Parquet.", plain=True)] = None,
    limit: Annotated[int, Param(minimum=1, maximum=10_000)] = 100,
    save_to: WritablePath | None = None,
    *,
    ctx: Ctx,
) -> Result:
    """Run one SELECT over SQLite or CSV files.

    Files of a folder are tables named after them; a single file is also the table data.
    Nothing is changed: for that use `change_database`. See what there is with
    `describe_database`.
    """
    sql = bare_sql(sql)
    if not sql.strip():
        raise BadInput("There is no SQL.", hint="Send one SELECT statement.")
    if isinstance(source, SafePath):
        await refuse_source(save_to, source, ctx, ENDINGS)
    request = {"sql": sql, "limit": limit, "save_as": saved_format(save_to)}
    try:
        answer, saved = await ask(source or NamedSource(MEMORY), "query", request, ctx)
    except BadInput as error:
        if source is None and "no such table" in error.message:
            raise _no_source() from None
        raise
    count, total = len(answer["rows"]), answer["total"]
    rows = counted(total, "row") if answer["complete"] else f"more than {counted(total, 'row')}"
    head = rows if count == total or save_to else f"The first {count:,} of {rows}"
    columns = counted(len(answer["columns"]), "column")
    return await table_result(
        query_database.name, answer, f"{head}, {columns}.", save_to, saved, ctx
    )


def _no_source() -> BadInput:
    return BadInput(
        "There are no tables: 'source' is missing.",
        hint="Name the database, the file or the folder with the tables as 'source'.",
    )
