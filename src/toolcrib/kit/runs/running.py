"""A confined process that goes on after the call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.kit.process.child import to_the_end
from toolcrib.kit.runs.outcome import Outcome

if TYPE_CHECKING:
    from toolcrib.kit.sandbox import Confined


@dataclass(slots=True)
class Running:
    """A process that goes on: a job in the background, or a terminal.

    It works on the files themselves. After its end `finish` makes one step of the undo log
    of all that differs from before its start.

    Attributes:
        confined: the process; read from it, write to it, wait for it, kill it.
        level: the boundary that holds.
    """

    confined: Confined
    _finish: Callable[[], Awaitable[Outcome]]
    _outcome: Outcome | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def level(self) -> str:
        """The boundary that holds: "strong", "kernel" or "none"."""
        return str(self.confined.level)

    async def sweep(self) -> None:
        """Wait for its end, and end what outlived it; its output would have no end else.

        Where a program ends the boundary itself, at level kernel, something can.
        """
        await self.confined.wait()
        await self.confined.kill(0)

    async def finish(self) -> Outcome:
        """End it if it still runs, and say what it changed; more than once gives the same."""
        async with self._lock:
            if self._outcome is None:
                await self.confined.kill()
                await self.confined.__aexit__(None, None, None)
                self._outcome = await to_the_end(_awaited(self._finish()))
            return self._outcome


async def _awaited(work: Awaitable[Outcome]) -> Outcome:
    return await work
