"""`track_event`: something that later work should know."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, AnyJson, Param, other_names, tool
from toolcrib.memory.context_entries import ContextEntries, collected
from toolcrib.memory.memory_records import EntryDraft, EntryType, checked_tags
from toolcrib.memory.place import ScopeName, origin_of, place_of, refuse_secrets
from toolcrib.text.cleaner import clean, one_line

MAX_LISTED = 30


class TypedEvent(TypedDict):
    """What every event has."""

    type: str


class Event(TypedEvent, total=False):
    """One of many events; data is a text, or JSON with such as tool and title."""

    data: AnyJson
    timestamp: Annotated[AnyJson, Param(unlisted=True)]


@tool(
    group="context",
    rights=READ | WRITE,
    keywords=("decision", "note", "log", "pattern", "what happened", "summary"),
    argument_aliases=other_names(
        title=("event", "message"),
        content=("description", "data", "details"),
        tags=("tag",),
        events=("session_events",),
    ),
)
async def track_event(
    title: Annotated[str, Param("What happened, in a few words.", plain=True)] = "",
    type: EntryType = "decision",  # noqa: A002
    content: Annotated[str, Param("More about it.", plain=True)] = "",
    tags: Annotated[list[str], Param("Words to find it by.", plain=True)] = [],  # noqa: B006 - not changed
    scope: Annotated[ScopeName, Param("For whom it is.", unlisted=True)] = "project",
    events: Annotated[list[Event], Param("Many at once.")] = [],  # noqa: B006 - not changed
    config_changes: Annotated[list[str], Param("Changed settings.", unlisted=True)] = [],  # noqa: B006
    *,
    ctx: Ctx,
) -> Result:
    """Keep a decision, an error or another event for later work.

    Of a list of events it keeps decisions, errors, settings, tools that were used more than
    three times, and one summary. Facts about the user belong into save_memory.
    """
    drafts = (
        []
        if not title and (events or config_changes)
        else [EntryDraft(type, clean(title).text, clean(content).text, checked_tags(tags))]
    )
    if events or config_changes:
        listed: list[dict[str, Any]] = [dict(event) for event in events]
        drafts += collected(listed, [clean(change).text for change in config_changes])
    refuse_secrets(*(f"{draft.title}\n{draft.content}" for draft in drafts), *tags)
    place = await place_of(ctx)
    saved = await ctx.use(ContextEntries).save(drafts, place.scope(scope), origin_of(ctx))
    unique = {entry.id: entry for entry in saved}  # the last of each has the highest count
    lines = [
        f"{e.id}: {e.type}: {one_line(e.title)}" + (f" ({e.count} times)" if e.count > 1 else "")
        for e in list(unique.values())[:MAX_LISTED]
    ]
    lines += [f"and {len(unique) - MAX_LISTED} more"] if len(unique) > MAX_LISTED else []
    data = {"id": saved[0].id, "saved_count": len(unique), "ids": list(unique)}
    return Result("\n".join([f"Saved {len(unique)}:", *lines]), data)
