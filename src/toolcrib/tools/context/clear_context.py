"""`clear_context`: everything that was noted of the work in this project goes."""

from __future__ import annotations

from typing import Annotated, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import ERASE, WRITE, Param, tool
from toolcrib.memory.context_entries import ContextEntries
from toolcrib.memory.memory_records import USER
from toolcrib.memory.place import place_of
from toolcrib.memory.session_records import SessionRecords
from toolcrib.memory.work_state import WorkStates


@tool(
    group="context",
    rights=WRITE | ERASE,
    keywords=("delete all", "reset", "forget everything", "sessions", "entries"),
    destructive=True,
)
async def clear_context(
    what: Literal["entries", "sessions"],
    confirm: Annotated[bool, Param("Must be true.", plain=True)],
    *,
    ctx: Ctx,
) -> Result:
    """Delete all entries, or all sessions, of this project for good.

    The user is asked first. Memories and plans stay.
    """
    if not confirm:
        raise BadInput("Nothing was cleared.", hint="Send confirm=true.")
    place = await place_of(ctx)
    if what == "entries":
        # Those of the user hold in other projects too.
        scopes = [scope for scope in place.scopes if scope != USER]
        removed = await ctx.use(ContextEntries).clear(scopes)
    else:
        removed = await ctx.use(SessionRecords).clear(place.project.id)
        await ctx.use(WorkStates).forget(place.scope("project"))  # it has their notes
    return Result(f"Deleted {removed} {what}.", {"deleted": removed})
