"""`list_memories`: the facts that were saved, newest first."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Count, Offset, Param, tool
from toolcrib.memory.memories import Memories
from toolcrib.memory.place import place_of
from toolcrib.memory.takeover import take_over
from toolcrib.tools.memory.view import listing


@tool(
    group="memory",
    rights=READ,
    keywords=("remembered", "facts", "all memories", "what do you know"),
    aliases=("get_memories", "show_memories", "get_all_memories"),
    argument_aliases={"count": "limit", "start": "offset"},
)
async def list_memories(
    tag: Annotated[str, Param("Only those with it.", plain=True)] = "",
    limit: Annotated[Count, Param(maximum=200)] = 50,
    offset: Annotated[Offset, Param(unlisted=True)] = 0,
    outside: Annotated[bool, Param("Those that may be outside text.", unlisted=True)] = False,
    *,
    ctx: Ctx,
) -> Result:
    """List remembered facts, newest first.

    Where there are many, search_memories finds those that matter.
    """
    await take_over(ctx)
    memories, place = ctx.use(Memories), await place_of(ctx)
    own = await memories.listed(place.scopes, tag, limit, offset, outside=outside)
    marked = await memories.listed(place.scopes, tag, 50, outside=True)
    if not own.count and not marked.count:
        named = f" with the tag '{tag[:60]}'" if tag else ""
        raise NoResults(f"Nothing is remembered{named}.", hint="save_memory remembers a fact.")
    if not own.count:
        own, outside = marked, True
    following, more = None, marked.memories if not outside else ()
    if offset + len(own.memories) < own.count:
        given = {"tag": tag, "limit": limit, "offset": offset + limit, "outside": outside}
        following = Next("list_memories", {key: value for key, value in given.items() if value})
    elif more:
        following = Next("list_memories", {**({"tag": tag} if tag else {}), "outside": True})
    for memory in own.memories:
        memories.note_seen(ctx.session.id, memory)
    return listing(own.memories, more, following)
