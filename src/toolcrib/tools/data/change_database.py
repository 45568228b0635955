"""`change_database`: SQL that writes, after the user has seen what it does."""

from __future__ import annotations

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, other_names, tool
from toolcrib.data.database_changes import change, change_verdict, described, preview
from toolcrib.data.databases import SourceArgument
from toolcrib.text.display import counted


@tool(
    group="data",
    rights=READ | WRITE,
    keywords=("sql", "insert", "update", "delete", "create", "alter", "sqlite"),
    aliases=("execute_statement", "update_database", "modify_database"),
    argument_aliases=other_names(
        sql=("query", "statement"), source=("db_path", "database", "path", "file", "db")
    ),
    destructive=True,
    policy_check=change_verdict,
    seconds=120.0,
)
async def change_database(
    source: SourceArgument, sql: str, dry_run: bool = False, *, ctx: Ctx
) -> Result:
    """Change a SQLite database by SQL; the user is asked.

    Several statements are one transaction. The user sees the rows that it touches, and
    `undo_changes` brings the database back. With `dry_run` it only shows them. A
    source may be missing where the first statement sets up a table.
    """
    if not sql.strip():
        raise BadInput("There is no SQL.", hint="Send an INSERT, UPDATE, DELETE or CREATE.")
    ctx.session.taint(private=True)
    if dry_run:
        text = described(await preview(source, sql, ctx))
        return Result(text=f"Nothing is changed yet. It {text}.", data={"dry_run": True})
    if not ctx.judged:
        await preview(source, sql, ctx)  # which says what was wrong when the call was judged
    done, step = await change(source, sql, ctx)
    touched = sum(count for *_, count in done["counts"]) + done["unseen"]
    line = f"{source.display}: {counted(touched, 'row')} touched, step {step}. "
    line += f"It {described(done)}."
    return Result(text=line, data={"touched": touched, "step": step}, private=True)
