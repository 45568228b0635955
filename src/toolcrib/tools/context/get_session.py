"""`get_session`: the summary and the notes of one session."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.memory.place import project_of
from toolcrib.memory.session_records import SessionRecords
from toolcrib.tools.context.view import session_result


@tool(
    group="context",
    rights=READ,
    keywords=("summary", "notes", "last time", "earlier conversation"),
    argument_aliases={"session_id": "id"},
)
async def get_session(
    id: Annotated[Count | None, Param("Else this one, or the last.")] = None,  # noqa: A002
    *,
    ctx: Ctx,
) -> Result:
    """Show the summary and the notes of a session.

    restore_session shows more: plan, facts, changed files.
    """
    records = ctx.use(SessionRecords)
    record = await records.own(ctx.session.id) if id is None else None
    if record is None or not record.title:
        project = await project_of(ctx)
        record = await records.get(id, project.id, ctx.session.id)
    return session_result(record)
