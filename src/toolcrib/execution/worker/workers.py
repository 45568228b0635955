"""The service that keeps the children of tasks: few, warm for a while, never left behind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from toolcrib.core.errors import Busy, TimedOut, TooLarge
from toolcrib.execution.worker.companion import Companion
from toolcrib.execution.worker.task import Task

if TYPE_CHECKING:
    from toolcrib.core.services import Services
    from toolcrib.system.processes import Processes

MOST_RUNNING = 4
"""Children that work at the same time, of all tasks."""
MOST_IDLE = 3
"""Children that wait for a next call, of all tasks."""
IDLE_SECONDS = 30.0
MOST_CALLS = 200
MOST_MEGABYTES = 400
"""A child that once needed more is not kept."""


class Workers:
    """A service: runs the functions of tasks in children. See the package."""

    def __init__(self, processes: Processes, idle_seconds: float = IDLE_SECONDS) -> None:
        self._processes = processes
        self._idle_seconds = idle_seconds
        self._places = asyncio.Semaphore(MOST_RUNNING)
        self._idle: list[tuple[Companion, asyncio.TimerHandle]] = []
        self._ending: set[asyncio.Task[None]] = set()

    @classmethod
    def open(cls, services: Services) -> Self:
        """No child before the first call."""
        from toolcrib.system.processes import Processes

        return cls(services.use(Processes))

    @property
    def idle(self) -> int:
        """How many children wait for a next call."""
        return len(self._idle)

    async def run(
        self,
        task: Task,
        request: Mapping[str, Any],
        data: bytes = b"",
        deadline: float | None = None,
    ) -> tuple[dict[str, Any], bytes]:
        """What the function of a task makes of a request.

        Args:
            task: the function and its bounds.
            request: JSON values.
            data: what the function works on.
            deadline: a `time.monotonic()` value after which it is stopped, or None.

        Raises:
            TimedOut: it takes too long.
            TooLarge: it needs too much memory, or gives too much.
            Busy: too many such calls run for all of that time.
            UnsupportedContent: it crashed.
            Internal: it failed, or could not be loaded.
            ToolError: what the function itself raises.
        """
        end = time.monotonic() + task.seconds
        end = end if deadline is None else min(end, deadline)
        await self._place(task, end)
        try:
            return await self._run(task, request, data, end)
        finally:
            self._places.release()

    async def _place(self, task: Task, end: float) -> None:
        try:
            async with asyncio.timeout(max(end - time.monotonic(), 0)):
                await self._places.acquire()
        except TimeoutError:
            raise Busy(f"{task.what} has to wait: too much is being worked on.") from None

    async def _run(
        self, task: Task, request: Mapping[str, Any], data: bytes, end: float
    ) -> tuple[dict[str, Any], bytes]:
        began = time.monotonic()
        child: Companion | None = None
        fit = False
        try:
            async with asyncio.timeout(max(end - began, 0)):
                child = self._waiting(task) or await Companion.start(task, self._processes)
                answer, content = await child.ask(request, data)
            fit = True
        except TimeoutError:
            took = time.monotonic() - began
            raise TimedOut(f"{task.what} was stopped after {took:.1f} s.", hint=task.hint) from None
        finally:
            if child is not None:
                if (fit or child.sound) and child.calls < MOST_CALLS:
                    self._keep(child)
                else:
                    await child.end()
        if len(content) > task.most:
            raise TooLarge(f"{task.what} gives too much.", hint=task.hint)
        return answer, content

    def _waiting(self, task: Task) -> Companion | None:
        """A child of this task that is ready; of another event loop none is."""
        for item in reversed(self._idle):
            child, timer = item
            if child.task == task and child.is_ready():
                timer.cancel()
                self._idle.remove(item)
                return child
        return None

    def _keep(self, child: Companion) -> None:
        if child.peak > MOST_MEGABYTES:
            self._dismiss(child)
            return
        while len(self._idle) >= MOST_IDLE:
            old, timer = self._idle.pop(0)
            timer.cancel()
            self._dismiss(old)
        timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._expire, child)
        self._idle.append((child, timer))

    def _expire(self, child: Companion) -> None:
        self._idle = [item for item in self._idle if item[0] is not child]
        self._dismiss(child)

    def _dismiss(self, child: Companion) -> None:
        ending = asyncio.ensure_future(child.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End all children."""
        idle, self._idle = self._idle, []
        for _, timer in idle:
            timer.cancel()
        await asyncio.gather(*(child.end() for child, _ in idle), *self._ending)
