"""The resource watchdog: it measures runs, and ends those above their limits."""

from __future__ import annotations

import asyncio
import heapq
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.core.errors import Unavailable
from toolcrib.execution.sandbox.confined import Confined, Stopped
from toolcrib.execution.sandbox.resources import ResourceGauge, Usage
from toolcrib.execution.sandbox.terms import Limits

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.004, 0.1
"""Seconds between two measurements."""
MAX_FILL_BYTES_PER_SECOND = 3e9
"""Bytes a second that a machine can fill."""
MAX_FORKS_PER_SECOND = 3_000
"""Processes a second that it can start."""
MAX_OPENS_PER_SECOND = 500_000
"""Descriptors a second that it can give."""
OPEN_FILES_FACTOR = 16
"""All processes of a run together may have so many times the open files that one may have."""
REFUSED_FACTOR = 2
"""Where further processes are refused anyway, a run that has many is not ended for it."""


@dataclass(order=True, slots=True)
class WatchedRun:
    """A run under watch, and when it is measured next."""

    when: float
    confined: Confined = field(compare=False)
    gauge: ResourceGauge = field(compare=False)
    limits: Limits = field(compare=False)
    loop: asyncio.AbstractEventLoop = field(compare=False)


class Watchdog:
    """Measures runs until they end; the thread lives as long as there are any.

    A thread and not a task: a tool that keeps the event loop busy must not be the reason
    that a machine runs out of memory.
    """

    def __init__(self) -> None:
        self._runs: list[WatchedRun] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def watch(self, confined: Confined, gauge: ResourceGauge, limits: Limits) -> None:
        """Begin to watch a run of the present event loop, which learns of its end.

        Args:
            confined: it.
            gauge: measures it.
            limits: what it may use.
        """
        loop = asyncio.get_running_loop()
        with self._changed:
            when = time.monotonic() + pause_seconds(Usage(), limits)
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    raise Unavailable(
                        "The system refuses another thread, without which nothing looks after "
                        "the limits of a run.",
                        hint="Stop other programs of this user, then try again.",
                    ) from None
                self._thread = thread
            heapq.heappush(self._runs, WatchedRun(when, confined, gauge, limits, loop))
            self._changed.notify()

    def _run(self) -> None:
        while (run := self._next()) is not None:
            if run.confined.exit_code is not None or run.confined.is_over:
                continue
            try:
                usage = run.gauge.measure(run.limits.memory_bytes, run.limits.disk_bytes)
                reason = exceeded(usage, run.limits, counted=run.gauge.counted)
                if reason == "memory":
                    usage = self._measure_again(run)
                    reason = exceeded(usage, run.limits, counted=run.gauge.counted)
            except Exception:  # noqa: BLE001 - the other runs are still to be looked after
                usage, reason = Usage(), ""
            if reason:
                _end(run, reason)
                continue
            run.when = time.monotonic() + pause_seconds(usage, run.limits)
            with self._changed:
                heapq.heappush(self._runs, run)

    def _measure_again(self, run: WatchedRun) -> Usage:
        """What those use that stay: for a moment a child has the memory of its parent."""
        known = run.gauge.members
        time.sleep(MIN_PAUSE_SECONDS)
        return run.gauge.measure(run.limits.memory_bytes, run.limits.disk_bytes, among=known)

    def _next(self) -> WatchedRun | None:
        """The run whose time has come; None when there are no more."""
        with self._changed:
            while self._runs:
                left = self._runs[0].when - time.monotonic()
                if left <= 0:
                    return heapq.heappop(self._runs)
                self._changed.wait(left)
            self._thread = None
            return None


def exceeded(usage: Usage, limits: Limits, *, counted: bool) -> Stopped:
    """What a run uses too much of; "" where there is nothing."""
    if usage.memory > limits.memory_bytes:
        return "memory"
    if usage.processes > limits.processes * (REFUSED_FACTOR if counted else 1):
        return "processes"
    if usage.disk > limits.disk_bytes:
        return "disk"
    if usage.open_files > limits.open_files * OPEN_FILES_FACTOR:
        return "open files"
    return ""


def pause_seconds(usage: Usage, limits: Limits) -> float:
    """How long a run can be left alone: it must not get far above a limit meanwhile."""
    soonest = min(
        (limits.memory_bytes - usage.memory) / MAX_FILL_BYTES_PER_SECOND,
        (limits.disk_bytes - usage.disk) / MAX_FILL_BYTES_PER_SECOND,
        (limits.processes - usage.processes) / MAX_FORKS_PER_SECOND,
        (limits.open_files * OPEN_FILES_FACTOR - usage.open_files) / MAX_OPENS_PER_SECOND,
    )
    return min(max(soonest / 2, MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS)


def _end(run: WatchedRun, reason: Stopped) -> None:
    """Stop it at once, in this thread; the rest of its end is the event loop's."""
    run.confined.stopped = run.confined.stopped or reason
    for pid in run.gauge.innermost():
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with suppress(RuntimeError):  # the event loop may be closed
        run.loop.call_soon_threadsafe(run.confined.stop, reason)
