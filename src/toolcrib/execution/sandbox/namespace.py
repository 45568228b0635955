"""The first process of a run's namespace: when it ends, the kernel ends all others in there."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from toolcrib.execution.sandbox.usage import tree

WITHIN = 5.0
"""Seconds after which it is given up (a process in there waits for a hung disk)."""


@dataclass(slots=True)
class First:
    """A hold on it, that does not go to another process of the same number."""

    held: int

    @classmethod
    def of(cls, outermost: int) -> Self | None:
        """The only child of what made the namespace; None where that is not to be found out."""
        children = _children(outermost)
        if len(children) != 1:
            return None
        try:
            first = cls(os.pidfd_open(children[0]))
        except OSError:
            return None
        if _children(outermost) != children:  # the number may have gone to another process
            first.close()
            return None
        return first

    async def end(self) -> bool:
        """Kill it and wait until nothing is left in there; False if that took too long.

        Several may do so at once, and `close` may come meanwhile.
        """
        if self.held < 0:
            return True
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.held, signal.SIGKILL)
        try:
            mine = os.dup(self.held)  # the event loop knows one reader of a descriptor
        except OSError:
            return False
        loop = asyncio.get_running_loop()
        gone = asyncio.Event()
        loop.add_reader(mine, gone.set)
        try:
            async with asyncio.timeout(WITHIN):
                await gone.wait()
        except TimeoutError:
            return False
        finally:
            loop.remove_reader(mine)
            os.close(mine)
        self.close()
        return True

    def close(self) -> None:
        """Let go of it."""
        if self.held >= 0:
            os.close(self.held)
            self.held = -1


def _children(pid: int) -> list[int]:
    return [child for child in tree(pid, 1) if child != pid]
