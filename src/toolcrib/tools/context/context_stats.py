"""`context_stats`: how much is noted of the work."""

from __future__ import annotations

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, tool
from toolcrib.memory.activity import Activity
from toolcrib.memory.context_entries import ContextEntries
from toolcrib.memory.place import place_of
from toolcrib.memory.session_records import SessionRecords


@tool(
    group="context",
    rights=READ,
    keywords=("entries", "how many", "tracking", "overview", "sessions"),
)
async def context_stats(*, ctx: Ctx) -> Result:
    """Count what was noted of the work, and tell whether tracking is on.

    It counts entries by scope and type, and the sessions of this project.
    """
    place = await place_of(ctx)
    counts = await ctx.use(ContextEntries).counts(place.scopes)
    sessions = len(await ctx.use(SessionRecords).listed(place.project.id, limit=1000))
    tracked = ctx.use(Activity).tracked(ctx.session.id)
    state = tracked.state.value if ctx.config.memory.track else "off (memory.track)"
    lines = [f"{scope} {kind}: {count}" for (scope, kind), count in sorted(counts.items())]
    lines += [f"Sessions of this project: {sessions}", f"Tracking: {state}"]
    data = {
        "entries": [
            {"scope": scope, "type": kind, "count": count}
            for (scope, kind), count in sorted(counts.items())
        ],
        "total": sum(counts.values()),
        "sessions": sessions,
        "tracking": state,
        "counters": dict(tracked.counters),
    }
    return Result("\n".join(lines), data)
