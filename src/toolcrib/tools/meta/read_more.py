"""Going on where a result was cut."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import Offset, Param, tool
from toolcrib.state.results import Results
from toolcrib.text.truncation import cut


@tool(
    group="meta",
    profiles=("default", "search", "*"),
    keywords=("continue", "rest", "next", "page", "truncated"),
    aliases=("continue_reading", "fetch_more", "context_retrieve"),
    argument_aliases={"id": "handle", "start": "offset"},
)
async def read_more(
    handle: Annotated[str, Param("From that result.", plain=True)],
    offset: Annotated[Offset, Param("Character to start at.", plain=True)] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Read on in a result that was cut.

    Send it as the cut result says under "To go on".
    """
    stored = await ctx.use(Results).read(handle, ctx.session.id)
    total = len(stored.text)
    if offset > total:
        raise BadInput(f"The result has {total:,} characters; offset {offset:,} is behind its end.")
    part, used = cut(stored.text[offset:], room_in(ctx.budget(read_more.name)))
    end = offset + used
    more = end < total
    return Result(
        text=part,
        data={"handle": handle, "offset": offset, "end": end, "total": total},
        truncated=more,
        next=Next("read_more", {"handle": handle, "offset": end}) if more else None,
        source=stored.source,
    )
