"""Background jobs: the service that starts them, keeps the store informed, answers readers."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from toolcrib.core.context import Ctx, Services
from toolcrib.core.errors import (
    ConfigError,
    Internal,
    NotFound,
    StorageFailure,
    TimedOut,
    ToolError,
)
from toolcrib.core.result import ErrorInfo, Result
from toolcrib.core.tool import NONE, Right
from toolcrib.execution import job_store
from toolcrib.execution.job_store import JobView, Record, State, Update, pack
from toolcrib.files.paths import Workspace
from toolcrib.state.store import Area, Owner, Store
from toolcrib.system.collector import Ring
from toolcrib.system.threads import plain_id, random_id


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
class RunningJob:
    """A job of this process, until it is over and all of it is in the store."""

    id: str
    kind: str
    title: str
    tool: str
    session: str
    owner: str
    rights: str
    workspace: str
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

    async def changed(self, max_wait: float) -> None:
        """Wait for output or the end, some seconds at most."""
        waiter = self.loop.create_future()
        self.waiters.add(waiter)
        try:
            await asyncio.wait({waiter}, timeout=max_wait)
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
            workspace=self.workspace,
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


def is_in(text: str, output: str) -> bool:
    """Whether output has a text, in any case of letters where the text has no capitals."""
    return text in (output if text != text.lower() else output.lower())


def _no_such_job(job_id: str) -> NotFound:
    return NotFound(
        f"There is no job or terminal {job_id[:40]}.",
        hint="Take the id from the result that named the job; jobs are kept for 7 days.",
    )


def _failure(error: ToolError) -> Result:
    return Result(error=ErrorInfo.of(error))


@dataclass(slots=True)
class StartedJobs:
    """The jobs of one call. `awaited` until its result is there."""

    ids: list[str] = field(default_factory=list)
    awaited: bool = True


STARTED_JOBS: ContextVar[StartedJobs | None] = ContextVar("begun", default=None)
"""That of the call in hand. Tasks that a call starts have it too."""


Work = Callable[[JobHandle], Awaitable[Result | None]]
Wait = Literal["", "exit", "text", "idle"]

FLUSH_SECONDS = 0.2
BEAT_SECONDS = 5.0
POLL_SECONDS = 0.2
SETTLE_SECONDS = 0.01
"""A reader that was woken looks again after so long, not for each line."""
IDLE_SECONDS = 1.0
"""Output counts as idle after so long without more."""
CLOSE_SECONDS = 1.5
STOP_SECONDS = 5.0
MAX_UNWRITTEN_JOBS = 64
"""Ended jobs held in memory while the store is out of order."""


class Jobs:
    """A service: background work, readable and stoppable from every process on the store.

    Args:
        area: where the registry and the output are.
        seconds: how long a job may run if nothing else is said.
        workspace: the folders that they work on.
    """

    def __init__(self, area: Area, seconds: float, workspace: str = "") -> None:
        self._area = area
        self._workspace = workspace
        self._seconds = seconds
        self._owner = str(Owner.current())
        self._running: dict[str, RunningJob] = {}
        self._followers: dict[asyncio.Task[Any], Callable[[str], None]] = {}
        self._pump: asyncio.Task[None] | None = None
        self._nudged = asyncio.Event()
        self._syncing = asyncio.Lock()
        self._beaten = 0.0
        self._ending = False
        self.warning = ""

    @classmethod
    def open(cls, services: Services) -> Self:
        """The jobs in the toolbox's store."""
        area = services.use(Store).area(job_store.SCHEMA)
        roots = sorted(root.real for root in services.use(Workspace).roots)
        return cls(area, services.config.limits.job_seconds, "\n".join(roots))

    async def start(
        self,
        kind: str,
        title: str,
        work: Work,
        session: str,
        tool: str,
        rights: Right = NONE,
        seconds: float | None = None,
    ) -> str:
        """Run work in the background; the id of the job.

        Args:
            kind: what it is (`command`, `tests`, `agent`).
            title: what a person would call it.
            work: takes the handle for output and returns the final result. Cancelled
                when the job is stopped or its time is up.
            session: the conversation it belongs to.
            tool: the tool that started it.
            rights: those of the tool; whoever reads the job is tainted by them.
            seconds: the longest it may run; None is the configured limit.
        """

        async def run() -> Result | None:
            return await work(job.handle)

        job = self._new(kind, title, session, tool, rights)
        await self._begin(job, asyncio.create_task(run()), seconds)
        return job.id

    async def adopt(
        self,
        task: asyncio.Task[Any],
        kind: str,
        title: str,
        session: str,
        tool: str,
        rights: Right = NONE,
        ran: float = 0.0,
    ) -> JobHandle:
        """Let a task that has run for some seconds, and returns a `Result`, go on as a job."""
        job = self._new(kind, title, session, tool, rights)
        job.started -= ran
        on_adopted = self._followers.pop(task, None)
        if on_adopted is not None:
            on_adopted(job.id)
        await self._begin(job, task)
        return job.handle

    def follow(self, task: asyncio.Task[Any] | None, on_adopted: Callable[[str], None]) -> None:
        """Be told the id of the job when a task is adopted; `forget` ends it."""
        if task is not None:
            self._followers[task] = on_adopted

    def forget(self, task: asyncio.Task[Any] | None) -> None:
        """Follow a task no longer."""
        if task is not None:
            self._followers.pop(task, None)

    async def find(self, job_id: str, ctx: Ctx) -> Record:
        """A job that a call may know of: of its conversation, its workspace, or for a person.

        One of this conversation that runs is found by its title too.

        Raises:
            NotFound: no such job.
            StorageFailure: the job is another process's and the store cannot be read.
        """
        named = [job for job in self._running.values() if job.title == job_id.strip()]
        known = len(named) == 1 and named[0].session == ctx.session.id
        record = await self._record(named[0].id if known else job_id)
        if not self.is_known_to(ctx, record):
            raise _no_such_job(job_id)
        return record

    def is_known_to(self, ctx: Ctx, record: Record) -> bool:
        """See `find`: what runs in other folders is none of this conversation's business."""
        here = record.workspace == self._workspace or record.session == ctx.session.id
        return here or ctx.caller.surface == "cli"

    async def read(
        self,
        job_id: str,
        wait: Wait = "",
        text: str = "",
        timeout: float = 0.0,  # noqa: ASYNC109 - what it waits for goes on
        offset: int = 0,
    ) -> JobView:
        """A job and its output, after waiting for what is asked for.

        Args:
            job_id: the job.
            wait: `exit` for the end, `text` for output with `text` in it, `idle` for new
                output and then a second without more; empty does not wait. The end of
                the job ends every wait.
            text: what to wait for; see `is_in`.
            timeout: seconds to wait at most.
            offset: byte offset where reading starts; negative counts from the end.

        Raises:
            NotFound: no such job.
            StorageFailure: the job is another process's and the store cannot be read.
        """
        deadline = time.monotonic() + timeout
        searched = -1
        while True:
            record = await self._record(job_id)
            start = offset if offset >= 0 else max(record.total + offset, 0)
            left = deadline - time.monotonic()
            if not wait or left <= 0 or record.state != "running":
                return await self._view(record, start)
            if wait == "idle" and record.total > start:
                left = min(left, record.written + IDLE_SECONDS - time.time())
                if left <= 0:
                    return await self._view(record, start)
            if wait == "text" and record.total != searched:
                new = await self._view(record, max(start, searched - 4 * len(text)))
                if is_in(text, new.text):
                    return await self._view(record, start)
                searched = record.total
            await self._pause(record.id, left)

    async def stop(self, job_id: str) -> JobView:
        """Stop a job and wait a little for its end; one that is over stays as it is.

        Raises:
            NotFound: no such job.
            StorageFailure: the job is another process's and the store cannot be written.
        """
        record = await self._record(job_id)
        running = self._here(record.id)
        if running is not None:
            running.stop()
        elif record.state == "running":
            await self._area.write(lambda c: job_store.ask_to_stop(c, record.id))
        return await self.read(record.id, "exit", timeout=STOP_SECONDS)

    @contextlib.contextmanager
    def noted(self) -> Iterator[StartedJobs]:
        """Note the jobs that a call begins, and what it calls in turn.

        Their ids are known by its result alone, so where that cannot be delivered,
        `withdraw` stops them.
        """
        outer = STARTED_JOBS.get()
        started = StartedJobs()
        token = STARTED_JOBS.set(started)
        try:
            yield started
        finally:
            started.awaited = False  # what was begun goes on with the same context
            STARTED_JOBS.reset(token)
            if outer is not None and outer.awaited:
                outer.ids += started.ids

    async def withdraw(self, started: StartedJobs) -> None:
        """Stop the jobs of a call whose result nobody gets."""
        stops = (self.stop(job_id) for job_id in started.ids)
        await asyncio.gather(*stops, return_exceptions=True)

    @property
    def running(self) -> tuple[str, ...]:
        """The ids of this process's jobs that have not ended."""
        return tuple(job.id for job in self._running.values() if job.ended is None)

    def end_soon(self) -> None:
        """Stop this process's jobs, before the calls in flight have ended."""
        self._ending = True
        for job in self._running.values():
            if not job.stopping:  # a second cancellation would cut its end short
                job.stop()

    @property
    def ending(self) -> bool:
        """Whether jobs that were told to end have not, or are not written; from any thread."""
        return self._ending and bool(self._running)

    async def close(self) -> None:
        """Stop this process's jobs and write their end."""
        jobs = list(self._running.values())
        self.end_soon()
        tasks = {j.task for j in jobs if j.task is not None and not j.task.done()}
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            await asyncio.sleep(0)  # lets the last tasks' callbacks run
        for job in jobs:
            job.abandon()
        if self._pump is not None:
            async with self._syncing:  # never in the middle of a write
                self._pump.cancel()
            await asyncio.wait({self._pump})
        await self._sync()
        self._running.clear()

    def _new(self, kind: str, title: str, session: str, tool: str, rights: Right) -> RunningJob:
        return RunningJob(
            id=f"j{random_id()}",
            kind=kind,
            title=title,
            tool=tool,
            session=session,
            owner=self._owner,
            rights=" ".join(rights.names),
            workspace=self._workspace,
            nudge=lambda: self._nudged.set(),  # noqa: PLW0108 - the event is replaced at times
        )

    async def _begin(
        self, job: RunningJob, task: asyncio.Task[Result | None], seconds: float | None = None
    ) -> None:
        self._running[job.id] = job
        started = STARTED_JOBS.get()
        if started is not None and started.awaited:
            started.ids.append(job.id)
        job.run(task, seconds or self._seconds)
        if self._pump is None or self._pump.done():
            self._nudged = asyncio.Event()
            self._pump = asyncio.create_task(self._keep_writing())
        try:
            await self._sync(sweep=True)
        except asyncio.CancelledError:
            job.stop()  # its id will never be known
            raise

    async def _keep_writing(self) -> None:
        """Write output in batches and hear of stops, for as long as there are jobs."""
        while self._running:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._nudged.wait(), FLUSH_SECONDS)
                # Something came: gather what comes with it, but write an end at once.
                if not any(job.ended for job in self._running.values()):
                    await asyncio.sleep(FLUSH_SECONDS)
            self._nudged.clear()
            if not await self._sync():
                await asyncio.sleep(1.0)

    async def _sync(self, *, sweep: bool = False) -> bool:
        """Write what is new, take away what is over, stop what others want stopped."""
        async with self._syncing:
            now = time.time()
            jobs = [job for job in self._running.values() if job.dirty]
            updates = [job.take(now) for job in jobs]
            beat = now - self._beaten >= BEAT_SECONDS
            try:
                flagged = await self._exchange(updates, now, beat=beat, sweep=sweep)
            except (StorageFailure, ConfigError) as error:
                self.warning = f"Jobs cannot be written: {error.message}"
                for job in jobs:
                    job.dirty = True
                self._drop_unwritten()
                return False
            self.warning = ""
            self._beaten = now if beat else self._beaten
            for job, update in zip(jobs, updates, strict=True):
                job.flushed = max(job.flushed, update.end)
                if update.record.ended is not None:
                    self._running.pop(job.id, None)
        for job_id in flagged:
            wanted = self._running.get(job_id)
            if wanted is not None:
                wanted.loop.call_soon_threadsafe(wanted.stop)
        return True

    async def _exchange(
        self, updates: list[Update], now: float, *, beat: bool, sweep: bool
    ) -> list[str]:
        """Write, and read which of our jobs somebody wants stopped."""

        def write(connection: sqlite3.Connection) -> list[str]:
            if sweep:
                job_store.sweep(connection, now)
            job_store.save(connection, updates)
            if beat:
                job_store.beat(connection, self._owner, now)
            return job_store.flagged(connection, self._owner)

        if updates or beat or sweep:
            return await self._area.write(write)
        return await self._area.read(lambda c: job_store.flagged(c, self._owner), quick=True)

    def _drop_unwritten(self) -> None:
        ended = [job.id for job in self._running.values() if job.ended is not None]
        for job_id in ended[:-MAX_UNWRITTEN_JOBS]:
            del self._running[job_id]

    def _here(self, job_id: str) -> RunningJob | None:
        """The job, if it runs in this event loop."""
        job = self._running.get(job_id)
        return job if job is not None and job.loop is asyncio.get_running_loop() else None

    async def _record(self, job_id: str) -> Record:
        plain = plain_id(job_id)
        job = self._here(plain)
        if job is not None:
            return job.record(time.time())
        record = await self._area.read(lambda c: job_store.find(c, plain), quick=True)
        if record is None:
            raise _no_such_job(job_id)
        return await self._checked(record)

    async def _checked(self, record: Record) -> Record:
        """The record, with a job whose owner is gone marked as lost."""
        if record.id in self._running or not job_store.is_lost(record, time.time()):
            return record
        with contextlib.suppress(StorageFailure, ConfigError):
            await self._area.write(lambda c: job_store.mark_lost(c, [record]))
            # The owner may have written the end just before it went.
            return await self._area.read(lambda c: job_store.find(c, record.id)) or record
        return record

    async def _view(self, record: Record, offset: int) -> JobView:
        job = self._here(record.id)
        if job is not None:
            return JobView.of(job.record(time.time()), offset, job.ring.segments(offset))
        segments = await self._area.read(
            lambda c: job_store.output(c, record.id, offset, record.total)
        )
        return JobView.of(record, offset, segments)

    async def _pause(self, job_id: str, max_wait: float) -> None:
        job = self._here(job_id)
        if job is not None and job.ended is None:
            await job.changed(max_wait)
            await asyncio.sleep(min(max_wait, SETTLE_SECONDS))
        else:
            await asyncio.sleep(min(max_wait, POLL_SECONDS))

    # Last in the class: behind it, `list` in an annotation would mean this method.
    async def list(self, session: str | None = None, limit: int = 50) -> list[JobView]:
        """Jobs without their output: running ones first, then the newest.

        Args:
            session: only jobs of this conversation.
            limit: how many at most.
        """
        found: dict[str, Record] = {}
        with contextlib.suppress(StorageFailure, ConfigError):
            stored = await self._area.read(lambda c: job_store.recent(c, session, limit))
            found = {record.id: await self._checked(record) for record in stored}
        now = time.time()
        for job in self._running.values():
            if session in (None, job.session):
                found[job.id] = job.record(now)
        ordered = sorted(found.values(), key=lambda r: (r.state != "running", -r.started))
        return [JobView.of(record, 0, []) for record in ordered[:limit]]
