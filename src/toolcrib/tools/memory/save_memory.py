"""`save_memory`: a fact for later conversations."""

from __future__ import annotations

import time
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, other_names, tool
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import Memory, MemoryDraft, Saved
from toolcrib.memory.place import ScopeName, origin_of, place_of, refuse_secrets
from toolcrib.memory.takeover import take_over
from toolcrib.memory.times import day, end_of
from toolcrib.text.cleaner import clean
from toolcrib.tools.memory.view import about, quoted


@tool(
    group="memory",
    rights=READ | WRITE,
    keywords=("remember", "note", "fact", "memorize", "keep in mind", "preference", "store"),
    aliases=("remember", "add_memory", "store_memory", "create_memory"),
    argument_aliases=other_names(
        fact=("memory", "content", "text", "value"),
        tags=("tag",),
        expires=("expiry", "expiration_date"),
    ),
)
async def save_memory(
    fact: Annotated[str, Param("One fact, in a sentence.")],
    tags: Annotated[list[str], Param("Words to list it by.", plain=True)] = [],  # noqa: B006 - not changed
    scope: ScopeName = "user",
    expires: Annotated[str, Param("As 2027-01-31 or 30d.")] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Remember a fact for later conversations.

    Use it for what the user will want known again: names, preferences, decisions. Scope project
    is for this folder, session for this conversation. An equal fact is not saved twice, a new
    value of something takes the place of the old one, and similar facts are named. Secrets are
    refused.
    """
    fact, tags = clean(fact).text, [clean(tag).text for tag in tags]
    refuse_secrets(fact, *tags)
    await take_over(ctx)
    place = await place_of(ctx)
    draft = MemoryDraft(fact, place.scope(scope), tuple(tags), end_of(expires, time.time()))
    memories = ctx.use(Memories)
    saved = await memories.save(draft, origin_of(ctx), place.scopes)
    memories.note_seen(ctx.session.id, saved.memory)
    data = {
        "id": saved.memory.id,
        "status": saved.status,
        "memory": saved.memory.to_json(),
        "similar": [memory.id for memory in saved.similar],
    }
    return Result("\n".join(_lines(saved)), data)


def _lines(saved: Saved) -> list[str]:
    memory, before = saved.memory, saved.before
    if saved.status == "known":
        return [f"Known already as memory {memory.id}, since {day(memory.created)}."]
    lines = [f"Saved as memory {memory.id}."]
    if before is not None:
        lines = [
            f"Saved as memory {memory.id}, in place of: {_text(before)}",
            "The old one stays in its history; if both are true, save it in words that say how.",
        ]
    if memory.outside:
        lines.append(f"Marked as perhaps from outside ({memory.source}).")
    for other in saved.similar:
        lines.append(f"Similar is memory {other.id}: {_text(other)}")
    if saved.similar:
        lines.append("Where one of them is no longer true: delete_memory.")
    return lines


def _text(memory: Memory) -> str:
    """What a memory says; text from outside only by its source."""
    if memory.outside:
        return f"noted from {memory.source}."
    return f"{quoted(memory, 200)} ({about(memory)})."
