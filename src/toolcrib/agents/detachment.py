"""Work that is not waited for any longer, and ends by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

GRACE = 0.3
"""Seconds that cancelled work has to clean up before it is left behind."""
_left_behind: set[asyncio.Task[Any]] = set()


async def leave(task: asyncio.Task[Any], grace: float = GRACE) -> None:
    """Cancel work and give it a moment; what does not end by then is not waited for."""
    if task.done():
        return
    task.cancel()
    _left_behind.add(task)
    task.add_done_callback(_forget)
    await asyncio.wait({task}, timeout=grace)


def _forget(task: asyncio.Task[Any]) -> None:
    _left_behind.discard(task)
    if not task.cancelled():
        task.exception()


def behind(writing: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Let something be written, also after nobody waits for it any more."""
    task = asyncio.create_task(writing)
    _left_behind.add(task)
    task.add_done_callback(_forget)
    return task
