"""A write that comes a little later, so that calls do not wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

WRITE_SECONDS = 0.5


class DelayedWrite:
    """Writes half a second after something was noted, all that was noted by then.

    Args:
        flush: writes what waits.
    """

    def __init__(self, flush: Callable[[], Awaitable[None]]) -> None:
        self._flush = flush
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Write soon; nothing happens where that is under way."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_soon())

    async def close(self) -> None:
        """Write what waits."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._flush()

    async def _write_soon(self) -> None:
        await asyncio.sleep(WRITE_SECONDS)
        # Shielded: what was taken out of the queue is written, whoever ends this task.
        await asyncio.shield(self._flush())
