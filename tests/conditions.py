"""Waiting for a condition that other threads or processes make true.

There is no limit of time here: the time limit of the test is the only one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

PAUSE_SECONDS = 0.01


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, and let the event loop run meanwhile."""
    while not condition():
        await asyncio.sleep(PAUSE_SECONDS)


def block_until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, without an event loop."""
    while not condition():
        time.sleep(PAUSE_SECONDS)


async def settled(value: Callable[[], int]) -> int:
    """What a number is once it no longer moves."""
    before = None
    while before != (now := value()):
        before = now
        await asyncio.sleep(20 * PAUSE_SECONDS)
    return now
