"""Blocking work that stops when nobody waits for it."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from toolcrib.core.errors import Cancelled, TimedOut
from toolcrib.system.threads import Checkpoint, in_thread

pytestmark = pytest.mark.rows("C197")


async def test_gives_what_the_work_gives() -> None:
    assert await in_thread(lambda check: threading.current_thread().name) != "MainThread"


async def test_passes_on_what_it_raises() -> None:
    def work(check: Checkpoint) -> None:
        raise LookupError("x")

    with pytest.raises(LookupError):
        await in_thread(work)


async def test_stops_after_a_cancellation() -> None:
    started, stopped = threading.Event(), threading.Event()

    def work(check: Checkpoint) -> None:
        started.set()
        try:
            while True:
                check()
                time.sleep(0.001)
        except Cancelled:
            stopped.set()
            raise

    task = asyncio.ensure_future(in_thread(work))
    await asyncio.to_thread(started.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(stopped.wait)


async def test_stops_at_the_deadline() -> None:
    def work(check: Checkpoint) -> None:
        while True:
            check()
            time.sleep(0.001)

    with pytest.raises(TimedOut):
        await in_thread(work, time.monotonic() + 0.05)
