"""What goes by is noted for later conversations."""

from __future__ import annotations

import time

from toolcrib.core.context import Call, Proceed
from toolcrib.core.result import Result


async def activity(call: Call, proceed: Proceed) -> Result:
    """Let a call pass, and note what it brought."""
    began = time.time()
    result = await proceed(call)
    tracks = call.ctx.config.memory.track and not call.ctx.session.single
    if not result.source and not tracks:
        return result
    from toolcrib.memory.activity import Activity  # with all of memory behind it

    seen = call.ctx.use(Activity)
    if result.source:
        seen.read_outside(call.ctx.session.id, result.source)
    await seen.saw(call, result, began)
    return result
