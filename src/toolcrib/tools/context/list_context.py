"""`list_context`: what was noted of the work, newest first."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Count, Offset, Param, tool
from toolcrib.memory.context_entries import ContextEntries
from toolcrib.memory.place import place_of
from toolcrib.tools.context.view import TypeName, listing


@tool(
    group="context",
    rights=READ,
    keywords=("decisions", "events", "what happened", "errors", "recent work"),
    argument_aliases={"entry_type": "type", "count": "limit", "max_results": "limit"},
)
async def list_context(
    type: TypeName = "",  # noqa: A002
    limit: Annotated[Count, Param(maximum=50, plain=True)] = 20,
    offset: Annotated[Offset, Param(unlisted=True)] = 0,
    outside: Annotated[bool, Param("Those that may be outside text.", unlisted=True)] = False,
    *,
    ctx: Ctx,
) -> Result:
    """List what was noted of the work, newest first.

    It is of this project, this conversation and the user; entries of a conversation end after
    24 hours.
    """
    entries, place = ctx.use(ContextEntries), await place_of(ctx)
    own = await entries.listed(place.scopes, type, limit, offset, outside=outside)
    marked = await entries.listed(place.scopes, type, limit, outside=True)
    if not own.count and not marked.count:
        raise NoResults("Nothing is noted here.", hint="track_event notes something.")
    if not own.count:
        own, outside = marked, True
    given = {"type": type, "limit": limit}
    following = None
    if offset + len(own.entries) < own.count:
        given |= {"offset": offset + limit, "outside": outside}
        following = Next("list_context", {key: value for key, value in given.items() if value})
    elif marked.count and not outside:
        following = Next("list_context", {**({"type": type} if type else {}), "outside": True})
    return listing(own.entries, 0 if outside else marked.count, following)
