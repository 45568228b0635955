"""`update_memory`: a fact that has changed."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Count, Param, tool
from toolcrib.memory.memories import Memories
from toolcrib.memory.place import origin_of, place_of, refuse_secrets
from toolcrib.text.cleaner import clean
from toolcrib.tools.memory.view import about, quoted, sources_of


@tool(
    group="memory",
    rights=READ | WRITE,
    keywords=("correct", "change", "fact", "no longer true", "new value"),
    aliases=("edit_memory", "change_memory", "replace_memory"),
    argument_aliases={"memory_id": "id", "entry_id": "id", "text": "fact", "content": "fact"},
)
async def update_memory(
    id: Annotated[Count, Param("Its number.")],  # noqa: A002
    fact: Annotated[str, Param("As it is now.", plain=True)],
    tags: Annotated[list[str] | None, Param("In place of the old ones.", plain=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Replace a remembered fact; the old one stays in its history.

    Tags stay where none are given.
    """
    fact, changes = clean(fact).text.strip(), {}
    refuse_secrets(fact, *(tags or ()))
    changes = {"fact": fact} | ({} if tags is None else {"tags": tuple(tags)})
    memories, place = ctx.use(Memories), await place_of(ctx)
    seen = memories.seen_version(ctx.session.id, id)
    before, after = await memories.update(id, place.scopes, origin_of(ctx), **changes)
    memories.note_seen(ctx.session.id, after)
    # A conversation that has read outside text already is shown such text, fenced.
    fenced = before.outside and ctx.session.untrusted
    was = f"{quoted(before)} ({about(before)})"
    if before.outside and not fenced:
        was = f"noted from {before.source} (memory_history shows it)"
    meanwhile = seen is not None and seen != before.version
    lines = [f"Changed memory {id}. Before it was: {was}."]
    if meanwhile:
        lines.append(
            "Another conversation had changed it since you saw it: make sure that nothing it said "
            "is lost."
        )
    if after.outside:
        lines.append(f"Marked as perhaps from outside ({after.source}).")
    data: dict[str, Any] = {"memory": after.to_json(), "changed_meanwhile": meanwhile}
    source = f"memories from {sources_of([before])}" if fenced else ""
    return Result("\n".join(lines), data, source=source)
