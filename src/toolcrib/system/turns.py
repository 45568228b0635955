"""Work on the event loop that has no end of its own, taken in turns with everything else."""

from __future__ import annotations

import asyncio
import time

BUSY = 0.002
"""Seconds of work after which everything else has its turn."""
REST = 0.001
"""Seconds of that turn: an answer to a client takes a dozen rounds of the loop, not one."""


class Turns:
    """Call `rest` between two steps of the work."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    async def rest(self) -> None:
        """Let the others work, if it has been long enough."""
        if time.monotonic() - self._began > BUSY:
            await asyncio.sleep(REST)
            self._began = time.monotonic()
