"""Blocking work in a thread, which stops soon after nobody waits for it any more."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from toolcrib.core.errors import Cancelled, TimedOut, ToolError

T = TypeVar("T")
P = ParamSpec("P")
SHORT = 8_000
"""Characters of the worst text that are worked through in a moment."""


class Checkpoint:
    """Called by blocking work between two steps; it raises when the work should stop."""

    def __init__(self, deadline: float | None = None) -> None:
        self._deadline = deadline
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Let the next step be the last."""
        self._stopped.set()

    def __call__(self) -> None:
        """Pass, or stop the work.

        Raises:
            Cancelled: nobody waits for the result.
            TimedOut: the deadline of the call has passed.
        """
        if self._stopped.is_set():
            raise Cancelled("The call was cancelled.")
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise TimedOut("The time for this call is used up.")


async def in_thread(work: Callable[[Checkpoint], T], deadline: float | None = None) -> T:
    """Run blocking work without holding up the event loop.

    Args:
        work: takes a `Checkpoint` and calls it between its steps.
        deadline: a `time.monotonic()` value after which it stops, or None.

    Raises:
        TimedOut: the deadline passed first. What `work` raises passes through.
    """
    check = Checkpoint(deadline)
    try:
        return await asyncio.to_thread(explained, work, check)
    finally:
        check.stop()


async def in_thread_if_large(
    size: int, work: Callable[P, T], *args: P.args, **named: P.kwargs
) -> T:
    """Work through a text of so many characters, a long one in a thread.

    That keeps the event loop free only if the work lets others run: one search by a regular
    expression over all of it does not.
    """
    if size < SHORT:
        return work(*args, **named)
    return await asyncio.to_thread(work, *args, **named)


def explained(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Do work in a thread; what its failure says is worked out there too."""
    try:
        return work(*args, **named)
    except ToolError as error:
        _ = error.hint
        raise
