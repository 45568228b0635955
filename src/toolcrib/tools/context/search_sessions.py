"""`search_sessions`: earlier conversations, by what they were about."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.memory.place import project_of
from toolcrib.memory.session_records import SessionRecords
from toolcrib.tools.context.view import session_line


@tool(
    group="context",
    rights=READ,
    keywords=("history", "last time", "earlier conversations", "list"),
    argument_aliases={"question": "query", "count": "limit"},
)
async def search_sessions(
    query: str = "",
    limit: Annotated[Count, Param(maximum=50, plain=True)] = 10,
    *,
    ctx: Ctx,
) -> Result:
    """Find earlier sessions of this project; without a query, list them.

    restore_session goes on with one of them.
    """
    project, records = await project_of(ctx), ctx.use(SessionRecords)
    if query.strip():
        found, notes = await records.search(query, limit, project.id)
        for note in notes:
            ctx.warn(note)
    else:
        found = await records.listed(project.id, limit)
    if not found:
        about = f" about '{query[:100]}'" if query else ""
        raise NoResults(f"There is no session{about}.", hint="summarize_session saves one.")
    data = [
        {"id": r.id, "changed": r.changed, "title": "" if r.outside else r.title[:300]}
        for r in found
    ]
    return Result("\n".join(map(session_line, found)), {"sessions": data})
