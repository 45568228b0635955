"""`delete_context_entry`: something noted of the work that is to go."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Count, Param, tool
from toolcrib.memory.context_entries import ContextEntries
from toolcrib.memory.place import place_of
from toolcrib.text.cleaner import one_line


@tool(
    group="context",
    rights=READ | WRITE,
    keywords=("remove", "forget", "event", "decision"),
    argument_aliases={"entry_id": "id"},
    destructive=True,
)
async def delete_context_entry(id: Annotated[Count, Param("Its number.")], *, ctx: Ctx) -> Result:  # noqa: A002
    """Delete one entry of the context.

    list_context and search_context show the ids.
    """
    gone = await ctx.use(ContextEntries).delete(id, (await place_of(ctx)).scopes)
    what = "noted from outside" if gone.outside else one_line(gone.title, 200)
    return Result(f"Deleted entry {id}: {what}", {"deleted": id})
