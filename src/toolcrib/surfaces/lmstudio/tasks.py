"""The work of a hook: a task for each thing that LM Studio asked for, cancelled by its key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any

MAX_OPEN = 200
"""Things asked for and not yet answered; what comes beyond is refused, not kept."""


class OpenTasks:
    """Tasks by key. A key is free again when its task has ended."""

    def __init__(self) -> None:
        self._open: dict[Hashable, asyncio.Task[None]] = {}

    def start(self, key: Hashable, work: Coroutine[Any, Any, None]) -> str:
        """Begin; why not, where the key is in use or too much is open, else ""."""
        if key in self._open or len(self._open) >= MAX_OPEN:
            work.close()
            taken = key in self._open
            return "it is being worked on already" if taken else f"{MAX_OPEN} are open already"
        task = self._open[key] = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._open.pop(key, None))
        return ""

    def cancel(self, fits: Callable[[Any], bool]) -> int:
        """Cancel the tasks whose key fits; how many that are."""
        found = [task for key, task in self._open.items() if fits(key)]
        for task in found:
            task.cancel()
        return len(found)

    async def close(self) -> None:
        """Cancel all, and wait until they have cleaned up."""
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
