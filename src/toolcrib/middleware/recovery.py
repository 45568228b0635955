"""Before the first call that sees files: what a process left in the middle is put right."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from toolcrib.core.call import Call, Result
from toolcrib.core.errors import ToolError
from toolcrib.core.pipeline import Proceed
from toolcrib.core.services import Services
from toolcrib.core.tool import READ, WRITE


@dataclass(slots=True)
class Recovery:
    """A service: whether that was done in this toolbox."""

    done: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing was looked at yet."""
        del services
        return cls()


async def recovery(call: Call, proceed: Proceed) -> Result:
    """Let no call see a tree that is half changed since the process before was killed."""
    state = call.ctx.use(Recovery)
    if not state.done and call.tool.rights & (READ | WRITE):
        async with state.lock:
            if not state.done:
                await _recover(call)
                state.done = True
    return await proceed(call)


async def _recover(call: Call) -> None:
    from toolcrib.files.changes.changes import Changes

    with suppress(ToolError):  # a store that cannot be used is told by whoever needs it
        await call.ctx.use(Changes).recover()
