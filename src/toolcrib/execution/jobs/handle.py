"""A job of this process: what its work holds, and what the service knows of it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from toolcrib.core.call import ErrorInfo, Result
from toolcrib.core.errors import Internal, TimedOut, ToolError
from toolcrib.execution.jobs.rows import Update
from toolcrib.execution.jobs.view import Record, State, pack
from toolcrib.system.ring_buffer import Ring


class JobHandle:
    """What the work of a job writes to.

    `exit_code` is set by work that runs a process. `source` names where the output
    comes from when it is untrusted.
    """

    def __init__(self, job_id: str, ring: Ring, note: Callable[[], None]) -> None:
        self.id = job_id
        self.exit_code: int | None = None
        self.source = ""
        self._ring = ring
        self._note = note

    def write(self, text: str) -> None:
        """Append output; from any thread. Only its beginning and end are kept."""
        if text:
            self._ring.write(text.encode("utf-8", "replace"))
            self._note()


@dataclass(slots=True, eq=False)
class Running:
    """A job of this process, until it is over and all of it is in the store."""

    id: str
    kind: str
    title: str
    tool: str
    session: str
    owner: str
    rights: str
    nudge: Callable[[], None]
    """Tells the service that something is to be written to the store."""
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    thread: int = field(default_factory=threading.get_ident)
    started: float = field(default_factory=time.time)
    written: float = field(default_factory=time.time)
    ended: float | None = None
    state: State = "running"
    result: Result | None = None
    task: asyncio.Task[Result | None] | None = None
    ring: Ring = field(default_factory=Ring)
    handle: JobHandle = field(init=False)
    alarm: asyncio.TimerHandle | None = None
    stopping: bool = False
    expired: bool = False
    dirty: bool = True
    flushed: int = 0
    waiters: set[asyncio.Future[None]] = field(default_factory=set)
    packed: str = ""

    def __post_init__(self) -> None:
        self.handle = JobHandle(self.id, self.ring, self._written)

    def run(self, task: asyncio.Task[Result | None], seconds: float) -> None:
        """Follow a task to its end, and cancel it when its time is up."""
        self.task = task
        self.alarm = self.loop.call_later(seconds, self._expire)
        task.add_done_callback(self._finish)

    def stop(self) -> None:
        """Cancel the work; its `finally` blocks run."""
        if self.task is not None and not self.task.done():
            self.stopping = True
            self.task.cancel()

    async def changed(self, at_most: float) -> None:
        """Wait for output or the end, some seconds at most."""
        waiter = self.loop.create_future()
        self.waiters.add(waiter)
        try:
            await asyncio.wait({waiter}, timeout=at_most)
        finally:
            self.waiters.discard(waiter)
            waiter.cancel()

    def record(self, now: float) -> Record:
        """The row as it is now."""
        return Record(
            id=self.id,
            kind=self.kind,
            title=self.title,
            tool=self.tool,
            session=self.session,
            owner=self.owner,
            started=self.started,
            ended=self.ended,
            beat=now,
            written=self.written,
            state=self.state,
            exit_code=self.handle.exit_code,
            total=self.ring.total,
            source=self.handle.source,
            rights=self.rights,
            result=self.packed,
        )

    def take(self, now: float) -> Update:
        """What the store does not have yet; from now on only what comes is new."""
        self.dirty = False
        segments = self.ring.segments(self.flushed)
        return Update(self.record(now), segments, self.ring.tail_start)

    def abandon(self) -> None:
        """Count as stopped although the work has not ended."""
        if self.state == "running":
            self.stopping = True
            self._end("stopped", None)

    def _written(self) -> None:
        self.written = time.time()
        self.dirty = True
        if threading.get_ident() == self.thread:
            self._wake()
        elif not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for waiter in self.waiters:
            if not waiter.done():
                waiter.set_result(None)
        self.nudge()

    def _expire(self) -> None:
        if self.task is not None and not self.task.done():
            self.expired = True
            self.task.cancel()

    def _finish(self, task: asyncio.Task[Result | None]) -> None:
        if self.alarm is not None:
            self.alarm.cancel()
        if self.ended is not None:  # abandoned before
            if not task.cancelled():
                task.exception()
            return
        result = self._outcome(task)
        if self.stopping:
            state: State = "stopped"
        elif task.cancelled() and not self.expired:
            state = "stopped"
        else:
            state = "failed" if result is not None and result.error else "done"
        self._end(state, result)

    def _outcome(self, task: asyncio.Task[Result | None]) -> Result | None:
        if task.cancelled():
            if not self.expired:
                return None
            return _failure(TimedOut(f"{self.title} was stopped: its time was up."))
        error = task.exception()
        if error is None:
            return task.result()
        if isinstance(error, ToolError):
            return _failure(error)
        if isinstance(error, TimeoutError):
            return _failure(TimedOut(f"{self.title} took too long."))
        return _failure(Internal(f"{self.title} failed: {type(error).__name__}: {error}"))

    def _end(self, state: State, result: Result | None) -> None:
        self.state, self.result = state, result
        self.ended = time.time()
        try:
            self.packed = pack(result)
        except (TypeError, ValueError) as error:
            self.state = "failed"
            self.packed = pack(_failure(Internal(f"{self.title} gave no JSON: {error}")))
        self.dirty = True
        self._wake()


def _failure(error: ToolError) -> Result:
    return Result(error=ErrorInfo.of(error))
