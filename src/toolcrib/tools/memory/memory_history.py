"""`memory_history`: what a fact was before."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import Memory, MemoryChange
from toolcrib.memory.place import place_of
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import moment
from toolcrib.tools.memory.view import about, sources_of


@tool(
    group="memory",
    rights=READ,
    keywords=("versions", "earlier", "changed", "old value", "fact"),
    argument_aliases={"memory_id": "id", "entry_id": "id"},
)
async def memory_history(id: Annotated[Count, Param("Its number.")], *, ctx: Ctx) -> Result:  # noqa: A002
    """Show what a remembered fact says whole, and what it said before.

    Deleted ones are shown for 30 days.
    """
    place, memories = await place_of(ctx), ctx.use(Memories)
    now, changes = await memories.history(id, place.scopes)
    versions = [memory for memory in (now, *(change.before for change in changes)) if memory]
    marked = [memory for memory in versions if memory.outside]
    if now is not None:
        memories.note_seen(ctx.session.id, now)
    lines = [f"Memory {id}: {_whole(now)}" if now else f"Memory {id} is gone."]
    lines += [_line(change) for change in changes]
    data = {
        "memory": now.to_json() if now else None,
        "changes": [
            {
                "kind": change.kind,
                "time": change.time,
                "before": change.before.to_json() if change.before else None,
                "undone": change.undone,
            }
            for change in changes
        ],
    }
    return Result(
        "\n".join(lines),
        data,
        source=f"memories from {sources_of(marked)}" if marked else "",
        impersonal=all(m.outside and not m.private for m in versions),
    )


def _whole(memory: Memory) -> str:
    return f"{one_line(memory.fact)} ({about(memory)})"


def _line(change: MemoryChange) -> str:
    undone = ", taken back by the user" if change.undone else ""
    head = f"{moment(change.time)} {change.kind}{undone}"
    if change.before is None:
        return f"{head}."
    return f"{head}; before: {_whole(change.before)}"
