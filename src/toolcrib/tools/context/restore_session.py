"""`restore_session`: all that helps to go on with an earlier conversation."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.memory.dossier import dossier_of
from toolcrib.memory.place import place_of
from toolcrib.memory.session_records import SessionRecords

CHARS_OF_A_TOKEN = 3


def _adapt(arguments: dict[str, Any]) -> None:
    """The last one by a word."""
    for name in ("id", "sessionid"):
        if str(arguments.get(name)).lower() in ("last", "latest", "previous"):
            del arguments[name]


@tool(
    group="context",
    rights=READ,
    keywords=("continue", "resume", "go on", "where were we", "last time", "handover"),
    aliases=("resume_session",),
    argument_aliases={
        "session_id": "id",
        "max_length": "max_chars",
        "include_sessions_index": "with_index",
    },
    argument_adapter=_adapt,
)
async def restore_session(
    id: Annotated[Count | None, Param("Else the last.")] = None,  # noqa: A002
    max_chars: Annotated[Count, Param(minimum=1000, maximum=50_000, plain=True)] = 16_000,
    with_index: Annotated[bool, Param("List other sessions.", unlisted=True)] = True,
    *,
    ctx: Ctx,
) -> Result:
    """Show all that helps to go on with an earlier session.

    Its summary, plan, facts, what was noted, and the files changed in it and since; also of
    one that ended without a summary. Nothing is changed.
    """
    place = await place_of(ctx)
    records = ctx.use(SessionRecords)
    try:
        record = await records.get(id, place.project.id, ctx.session.id)
    except NotFound:
        # Over HTTP a token is one conversation, however often the program begins anew.
        own = await records.own(ctx.session.id) if id is None else None
        if own is None or not own.title:
            raise
        record = own
    dossier = await dossier_of(record, place, max_chars, ctx.services, index=with_index)
    if dossier.left_out:
        ctx.warn(
            f"{dossier.left_out} things that may be outside text are left out; get_session, "
            "get_plan and list_context show them."
        )
    return Result(
        dossier.text,
        {"id": record.id, "stale": dossier.stale, "outside": dossier.left_out,
         "cut": dossier.truncated},
        max_tokens=max_chars // CHARS_OF_A_TOKEN + 200,
    )  # fmt: skip
