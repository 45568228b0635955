"""`delete_memory`: a fact that is to be forgotten."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Count, Param, tool
from toolcrib.memory.memories import Memories
from toolcrib.memory.place import origin_of, place_of
from toolcrib.tools.memory.view import quoted


@tool(
    group="memory",
    rights=READ | WRITE,
    keywords=("forget", "remove", "fact", "no longer true"),
    aliases=("forget", "remove_memory", "forget_memory"),
    argument_aliases={"memory_id": "id", "entry_id": "id"},
    destructive=True,
)
async def delete_memory(id: Annotated[Count, Param("Its number.")], *, ctx: Ctx) -> Result:  # noqa: A002
    """Forget a remembered fact.

    memory_history shows it for 30 days.
    """
    place = await place_of(ctx)
    (gone,) = await ctx.use(Memories).delete([id], place.scopes, origin_of(ctx))
    content = f"noted from {gone.source}" if gone.outside else quoted(gone, 200)
    return Result(
        f"Deleted memory {id}: {content}. memory_history shows it for 30 days; save_memory with "
        "the same words brings it back.",
        {"deleted": id},
    )
