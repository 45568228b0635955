"""The resource watchdog: it measures runs, and ends those above their limits."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
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
MAX_FAILURES = 20
"""How often in a row a run may escape being measured: until then it may be in its last moment."""


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A run under watch, measured in a thread of its own until it ends.

    A thread and not a task: a tool that keeps the event loop busy must not be the reason
    that a machine runs out of memory.
    """

    confined: Confined
    gauge: ResourceGauge
    limits: Limits
    loop: asyncio.AbstractEventLoop

    def watch(self) -> None:
        """Measure until the run ends, or end it. Blocking."""
        usage, failures = Usage(), 0
        while self._lasts(pause_seconds(usage, self.limits)):
            try:
                usage, reason = self._measured()
                failures = 0
            except Exception:  # noqa: BLE001 - whatever it is, what cannot be measured is no run
                usage, failures = Usage(), failures + 1
                reason = "measuring" if failures > MAX_FAILURES else ""
            if reason:
                self._end(reason)
                return

    def _lasts(self, seconds: float) -> bool:
        time.sleep(seconds)
        return self.confined.exit_code is None and not self.confined.is_over

    def _measured(self) -> tuple[Usage, Stopped]:
        limits = self.limits
        usage = self.gauge.measure(limits.memory_bytes, limits.disk_bytes)
        if exceeded(usage, limits, counted=self.gauge.counted) == "memory":
            # What those use that stay: for a moment a child has the memory of its parent.
            known = self.gauge.members
            time.sleep(MIN_PAUSE_SECONDS)
            usage = self.gauge.measure(limits.memory_bytes, limits.disk_bytes, among=known)
        return usage, exceeded(usage, limits, counted=self.gauge.counted)

    def _end(self, reason: Stopped) -> None:
        """Stop it at once, in this thread; the rest of its end is the event loop's."""
        self.confined.stopped = self.confined.stopped or reason
        for pid in self.gauge.innermost():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with suppress(RuntimeError):  # the event loop may be closed
            self.loop.call_soon_threadsafe(self.confined.stop, reason)


def watch(confined: Confined, gauge: ResourceGauge, limits: Limits) -> None:
    """Begin to watch a run of the present event loop, which learns of its end.

    Raises:
        Unavailable: the system refuses a thread for it.
    """
    run = WatchedRun(confined, gauge, limits, asyncio.get_running_loop())
    try:
        threading.Thread(target=run.watch, name="watchdog", daemon=True).start()
    except RuntimeError:
        raise Unavailable(
            "The system refuses another thread, without which nothing looks after "
            "the limits of a run.",
            hint="Stop other programs of this user, then try again.",
        ) from None


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
