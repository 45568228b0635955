"""`summarize_session`: what a later conversation needs to go on."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.memory.place import origin_of, place_of, refuse_secrets
from toolcrib.memory.session_records import PARTS, SessionRecords
from toolcrib.text.cleaner import clean


def _as_texts(given: dict[str, Any]) -> None:
    """A list, as small models write one, is a line for each."""
    for name in PARTS:
        if isinstance(given.get(name), list):
            given[name] = "\n".join(map(str, given[name]))


@tool(
    group="context",
    rights=READ | WRITE,
    keywords=("save", "handover", "end of session", "wrap up", "progress"),
    aliases=("save_session",),
    argument_aliases={
        "task_description": "task",
        "accomplishments": "done",
        "pending_tasks": "pending",
        "decisions_made": "decisions",
        "context_for_next_session": "next",
    },
    argument_adapter=_as_texts,
)
async def summarize_session(
    task: Annotated[str, Param("What it was about.", plain=True)],
    done: Annotated[str, Param("What was reached.", plain=True)] = "",
    pending: Annotated[str, Param("What is left to do.", plain=True)] = "",
    decisions: Annotated[str, Param("What was decided.", plain=True)] = "",
    next: Annotated[str, Param("What comes next.", plain=True)] = "",  # noqa: A002
    *,
    ctx: Ctx,
) -> Result:
    """Save what this session was about, for a later one to go on.

    Called again it replaces the parts that are given. restore_session shows it later.
    """
    given = {"task": task, "done": done, "pending": pending, "decisions": decisions, "next": next}
    parts = {name: clean(text).text for name, text in given.items()}
    if not any(text.strip() for text in parts.values()):
        raise BadInput("The summary is empty.", hint="Say in a sentence what this was about.")
    refuse_secrets(*parts.values())
    place = await place_of(ctx)
    record = await ctx.use(SessionRecords).save(
        ctx.session.id, place.project.id, origin_of(ctx), parts
    )
    return Result(f"Saved as session {record.id}; restore_session {record.id} goes on.",
                  {"id": record.id})  # fmt: skip
