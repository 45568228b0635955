"""A confined process that goes on after the call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.execution.runs.outcome import Outcome
from toolcrib.system.child import to_the_end

if TYPE_CHECKING:
    from toolcrib.execution.sandbox.confined import Confined


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
    _ending: asyncio.Task[Outcome] | None = None
    _hurrying: asyncio.Task[Outcome] | None = None

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

    @property
    def is_over(self) -> bool:
        """Whether it ended, and is known what it changed."""
        return self._ending is not None and self._ending.done()

    def hurry(self) -> None:
        """End it at once, with no time to clean up, and log what it changed."""
        if self._hurrying is None and not self.is_over:
            self._hurrying = asyncio.ensure_future(self._end_now())

    async def _end_now(self) -> Outcome:
        await self.confined.kill(0)  # also where `finish` has given it time already
        return await self.finish()

    async def finish(self) -> Outcome:
        """End it if it still runs, and say what it changed; more than once gives the same.

        A cancellation waits until that is known and logged.
        """
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())
        return await to_the_end(_awaited(self._ending))

    async def _end(self) -> Outcome:
        await self.confined.kill()
        await self.confined.__aexit__(None, None, None)
        return await self._finish()


async def _awaited(work: Awaitable[Outcome]) -> Outcome:
    return await work
