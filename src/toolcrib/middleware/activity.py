"""What goes by is noted for later conversations."""

from __future__ import annotations

from toolcrib.core.context import Call, Proceed
from toolcrib.core.result import Result
from toolcrib.memory.activity import Activity


async def activity(call: Call, proceed: Proceed) -> Result:
    """Let a call pass, and note what it brought."""
    result = await proceed(call)
    if result.source:
        call.ctx.use(Activity).read_outside(call.ctx.session.id, result.source)
    return result
