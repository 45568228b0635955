"""`save_session_note`: a note to this session."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.memory.place import origin_of, place_of, refuse_secrets
from toolcrib.memory.session_records import SessionRecords
from toolcrib.memory.work_state import WorkStates
from toolcrib.text.cleaner import clean, one_line
from toolcrib.text.display import counted

MAX_STATE_NOTE = 300
"""Characters of a note in the state, which is small."""


@tool(
    group="context",
    rights=READ | WRITE,
    keywords=("remember", "write down", "reminder", "jot"),
    argument_aliases={"text": "note", "content": "note"},
)
async def save_session_note(
    note: Annotated[str, Param("A sentence or two.", plain=True)], *, ctx: Ctx
) -> Result:
    """Add a note to this session, for the one that goes on.

    What the user will want known in any conversation belongs into save_memory.
    """
    text = clean(note).text.strip()
    if not text:
        raise BadInput("The note is empty.", hint="Say what is to be known later.")
    refuse_secrets(text)
    place = await place_of(ctx)
    origin = origin_of(ctx)
    record = await ctx.use(SessionRecords).save(ctx.session.id, place.project.id, origin, note=text)
    if not origin.outside:
        # The state has no fence.
        ctx.use(WorkStates).note(
            place.scope("project"), {"notes": [one_line(text, MAX_STATE_NOTE)]}
        )
    return Result(f"Noted in session {record.id} ({counted(len(record.notes), 'note')}).",
                  {"id": record.id, "notes": len(record.notes)})  # fmt: skip
