"""The service: starts jobs, keeps the store informed, answers readers."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Literal, Self

from toolcrib.core.call import Result
from toolcrib.core.errors import ConfigError, NotFound, StorageFailure
from toolcrib.core.services import Services
from toolcrib.core.tool import NONE, Right
from toolcrib.execution.jobs import rows
from toolcrib.execution.jobs.begun import BEGUN, Begun
from toolcrib.execution.jobs.handle import JobHandle, Running
from toolcrib.execution.jobs.view import JobView, Record
from toolcrib.state.owner import Owner
from toolcrib.state.store import Area, Store
from toolcrib.system.ids import plain_id, random_id

Work = Callable[[JobHandle], Awaitable[Result | None]]
Wait = Literal["", "exit", "text", "idle"]

FLUSH_SECONDS = 0.2
BEAT_SECONDS = 5.0
POLL_SECONDS = 0.2
GATHER_SECONDS = 0.01
"""A reader that was woken looks again after so long, not for each line."""
IDLE_SECONDS = 1.0
"""Output counts as idle after so long without more."""
CLOSE_SECONDS = 1.5
STOP_SECONDS = 5.0
MOST_UNWRITTEN = 64
"""Ended jobs held in memory while the store is out of order."""


class Jobs:
    """A service: background work, readable and stoppable from every process on the store.

    Args:
        area: where the registry and the output are.
        seconds: how long a job may run if nothing else is said.
    """

    def __init__(self, area: Area, seconds: float) -> None:
        self._area = area
        self._seconds = seconds
        self._owner = str(Owner.current())
        self._running: dict[str, Running] = {}
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
        return cls(services.use(Store).area(rows.SCHEMA), services.config.limits.job_seconds)

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
        told = self._followers.pop(task, None)
        if told is not None:
            told(job.id)
        await self._begin(job, task)
        return job.handle

    def follow(self, task: asyncio.Task[Any] | None, told: Callable[[str], None]) -> None:
        """Be told the id of the job when a task is adopted; `forget` ends it."""
        if task is not None:
            self._followers[task] = told

    def forget(self, task: asyncio.Task[Any] | None) -> None:
        """Follow a task no longer."""
        if task is not None:
            self._followers.pop(task, None)

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
            text: what to wait for, as it stands.
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
                if text in new.text:
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
            await self._area.write(lambda c: rows.ask_to_stop(c, record.id))
        return await self.read(record.id, "exit", timeout=STOP_SECONDS)

    @contextlib.contextmanager
    def noted(self) -> Iterator[Begun]:
        """Note the jobs that a call begins, and what it calls in turn.

        Their ids are known by its result alone, so where that cannot be delivered,
        `withdraw` stops them.
        """
        outer = BEGUN.get()
        begun = Begun()
        token = BEGUN.set(begun)
        try:
            yield begun
        finally:
            begun.awaited = False  # what was begun goes on with the same context
            BEGUN.reset(token)
            if outer is not None and outer.awaited:
                outer.ids += begun.ids

    async def withdraw(self, begun: Begun) -> None:
        """Stop the jobs of a call whose result nobody gets."""
        stops = (self.stop(job_id) for job_id in begun.ids)
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

    def _new(self, kind: str, title: str, session: str, tool: str, rights: Right) -> Running:
        return Running(
            id=f"j{random_id()}",
            kind=kind,
            title=title,
            tool=tool,
            session=session,
            owner=self._owner,
            rights=" ".join(rights.names),
            nudge=lambda: self._nudged.set(),  # noqa: PLW0108 - the event is replaced at times
        )

    async def _begin(
        self, job: Running, task: asyncio.Task[Result | None], seconds: float | None = None
    ) -> None:
        self._running[job.id] = job
        begun = BEGUN.get()
        if begun is not None and begun.awaited:
            begun.ids.append(job.id)
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
        self, updates: list[rows.Update], now: float, *, beat: bool, sweep: bool
    ) -> list[str]:
        """Write, and read which of our jobs somebody wants stopped."""

        def write(connection: sqlite3.Connection) -> list[str]:
            if sweep:
                rows.sweep(connection, now)
            rows.save(connection, updates)
            if beat:
                rows.beat(connection, self._owner, now)
            return rows.flagged(connection, self._owner)

        if updates or beat or sweep:
            return await self._area.write(write)
        return await self._area.read(lambda c: rows.flagged(c, self._owner), quick=True)

    def _drop_unwritten(self) -> None:
        ended = [job.id for job in self._running.values() if job.ended is not None]
        for job_id in ended[:-MOST_UNWRITTEN]:
            del self._running[job_id]

    def _here(self, job_id: str) -> Running | None:
        """The job, if it runs in this event loop."""
        job = self._running.get(job_id)
        return job if job is not None and job.loop is asyncio.get_running_loop() else None

    async def _record(self, job_id: str) -> Record:
        plain = plain_id(job_id)
        job = self._here(plain)
        if job is not None:
            return job.record(time.time())
        record = await self._area.read(lambda c: rows.find(c, plain), quick=True)
        if record is None:
            raise NotFound(
                f"There is no job or terminal {job_id[:40]}.",
                hint="Take the id from the result that named the job; jobs are kept for 7 days.",
            )
        return await self._checked(record)

    async def _checked(self, record: Record) -> Record:
        """The record, with a job whose owner is gone marked as lost."""
        if record.id in self._running or not rows.is_lost(record, time.time()):
            return record
        with contextlib.suppress(StorageFailure, ConfigError):
            await self._area.write(lambda c: rows.mark_lost(c, [record]))
            # The owner may have written the end just before it went.
            return await self._area.read(lambda c: rows.find(c, record.id)) or record
        return record

    async def _view(self, record: Record, offset: int) -> JobView:
        job = self._here(record.id)
        if job is not None:
            return JobView.of(job.record(time.time()), offset, job.ring.segments(offset))
        segments = await self._area.read(lambda c: rows.output(c, record.id, offset, record.total))
        return JobView.of(record, offset, segments)

    async def _pause(self, job_id: str, at_most: float) -> None:
        job = self._here(job_id)
        if job is not None and job.ended is None:
            await job.changed(at_most)
            await asyncio.sleep(min(at_most, GATHER_SECONDS))
        else:
            await asyncio.sleep(min(at_most, POLL_SECONDS))

    # Last in the class: behind it, `list` in an annotation would mean this method.
    async def list(self, session: str | None = None, limit: int = 50) -> list[JobView]:
        """Jobs without their output: running ones first, then the newest.

        Args:
            session: only jobs of this conversation.
            limit: how many at most.
        """
        found: dict[str, Record] = {}
        with contextlib.suppress(StorageFailure, ConfigError):
            kept = await self._area.read(lambda c: rows.recent(c, session, limit))
            found = {record.id: await self._checked(record) for record in kept}
        now = time.time()
        for job in self._running.values():
            if session in (None, job.session):
                found[job.id] = job.record(now)
        ordered = sorted(found.values(), key=lambda r: (r.state != "running", -r.started))
        return [JobView.of(record, 0, []) for record in ordered[:limit]]
