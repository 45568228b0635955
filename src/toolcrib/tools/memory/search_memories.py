"""`search_memories`: facts that were saved, by what they are about."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.memory.memories import Memories
from toolcrib.memory.place import place_of
from toolcrib.memory.takeover import take_over
from toolcrib.tools.memory.view import listing, parted

MIN_SCORE = 0.15
"""Of a memory that is shown; a weak answer is better than none where only few are shown."""


@tool(
    group="memory",
    rights=READ,
    keywords=("recall", "remember", "know about", "preference", "fact", "look up"),
    aliases=("recall", "recall_memories", "query_memory"),
    argument_aliases={"question": "query", "text": "query", "count": "limit"},
)
async def search_memories(
    query: str,
    limit: Annotated[Count, Param(maximum=50)] = 10,
    outside: Annotated[bool, Param("Those that may be outside text.", unlisted=True)] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Find remembered facts by what they are about, each with date and source.

    It looks at those of the user, of this project and of this conversation.
    """
    await take_over(ctx)
    memories, place = ctx.use(Memories), await place_of(ctx)
    found = await memories.search(query, limit * 2, place.scopes, MIN_SCORE)
    for note in found.notes:
        ctx.warn(note)
    own, marked = parted(hit.memory for hit in found.hits)
    following = None
    if own and marked and not outside:
        following = Next("search_memories", {"query": query, "limit": limit, "outside": True})
    displayed = (own if own and not outside else marked)[:limit]
    if not displayed:
        raise NoResults(
            f"No memory is about '{query[:100]}'.", hint="list_memories shows what there is."
        )
    for memory in displayed:
        memories.note_seen(ctx.session.id, memory)
    return listing(displayed, marked if following else [], following)
