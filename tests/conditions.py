"""Waiting for a condition that other threads or processes make true.

There is no limit of time here: the time limit of the test is the only one.
"""

from __future__ import annotations

import asyncio
import codecs
import importlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from encodings.aliases import aliases

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


NOBODY = 65534


@contextmanager
def as_ordinary_user() -> Iterator[None]:
    """Root may read everything; for a moment this is not root."""
    if os.getuid():
        yield
        return
    # Who may not read Python's own folder imports nothing from it, and Python remembers that.
    for name in sorted(set(aliases.values())):
        with suppress(LookupError):
            codecs.lookup(name)
    os.setresuid(NOBODY, NOBODY, 0)  # a shell takes an effective user alone for nothing
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        importlib.invalidate_caches()
