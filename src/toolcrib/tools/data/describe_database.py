"""`describe_database`: what is in a database, or in files as tables."""

from __future__ import annotations

from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, other_names, tool
from toolcrib.data.databases import SourceArgument, ask
from toolcrib.data.table_files import rows_text
from toolcrib.text.display import counted


@tool(
    group="data",
    rights=READ,
    keywords=("schema", "tables", "columns", "sqlite", "keys"),
    aliases=("list_tables", "database_schema", "describe_table", "show_schema"),
    argument_aliases=other_names(source=("db_path", "database", "path", "file", "db")),
    seconds=120.0,
)
async def describe_database(source: SourceArgument, *, ctx: Ctx) -> Result:
    """Show tables, columns and samples of a database.

    Also of CSV, Parquet and JSON files, or a folder of them. Says how dates and numbers are
    written. Then ask with `query_database`.
    """
    answer, _ = await ask(source, "describe", {}, ctx)
    tables = answer["tables"]
    lines = [f"{source.display} ({answer['engine']}): {counted(len(tables), 'table')}."]
    lines += answer.get("notes", [])
    lines += [line for table in tables for line in _table_lines(table)]
    if answer["more"]:
        lines.append(f"[{answer['more']:,} more tables]")
    return Result(text="\n".join(lines), data=answer, private=True)


def _table_lines(table: dict[str, Any]) -> list[str]:
    rows = "" if table["rows"] is None else f", {counted(table['rows'], 'row')}"
    kind = "" if table["kind"] == "table" else f" ({table['kind']})"
    head = f"\n{table['name']}{kind}{rows}"
    if table.get("error"):
        return [f"{head}: {table['error']}"]
    return [head, rows_text(table["columns"], table["sample"])]
