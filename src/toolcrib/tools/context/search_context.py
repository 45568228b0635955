"""`search_context`: what was noted of the work, by what it is about."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.memory.context_entries import ContextEntries
from toolcrib.memory.place import place_of
from toolcrib.tools.context.view import listing


@tool(
    group="context",
    rights=READ,
    keywords=("decision", "why did we", "earlier error", "recall", "find"),
    argument_aliases={"question": "query", "count": "limit", "max_results": "limit"},
)
async def search_context(
    query: str,
    limit: Annotated[Count, Param(maximum=50, plain=True)] = 10,
    outside: Annotated[bool, Param("Those that may be outside text.", unlisted=True)] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Find what was noted of the work, by what it is about.

    Recent and frequent entries come before others that fit as well.
    """
    place = await place_of(ctx)
    found = await ctx.use(ContextEntries).search(query, limit * 2, place.scopes)
    for note in found.notes:
        ctx.warn(note)
    own = [entry for entry in found.entries if not entry.outside]
    marked = [entry for entry in found.entries if entry.outside]
    displayed = (marked if outside or not own else own)[:limit]
    if not displayed:
        raise NoResults(f"No entry is about '{query[:100]}'.", hint="list_context shows all.")
    following = None
    if marked and own and not outside:
        following = Next("search_context", {"query": query, "limit": limit, "outside": True})
    return listing(displayed, len(marked) if following else 0, following)
