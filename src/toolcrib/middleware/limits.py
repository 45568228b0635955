"""How many calls run at once, for how long, and when a long one goes on as a job."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Self

from toolcrib.core.context import Call, Caller, Notify, Proceed, Progress, Services
from toolcrib.core.errors import Busy, TimedOut
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import NONE, Tool
from toolcrib.execution.jobs import Jobs

HEARTBEAT = 10.0
"""Seconds without a word after which the caller is told that the work goes on."""
MAX_PROGRESS_CHARS = 64_000
"""Characters of what was told that a job begins with."""
TITLE_CHARS = 80


@dataclass(slots=True)
class Places:
    """A service: the places in which calls run. Tools without any right need none."""

    total: int
    max_waiting: int
    running: asyncio.Semaphore
    per_tool: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    waiting: int = 0

    @classmethod
    def open(cls, services: Services) -> Self:
        """Places as configured under `limits`."""
        limits = services.config.limits
        return cls(limits.concurrency, limits.waiting, asyncio.Semaphore(limits.concurrency))

    @contextlib.asynccontextmanager
    async def place(self, tool: Tool) -> AsyncIterator[None]:
        """Wait for a place and hold it.

        Raises:
            Busy: too many are waiting already.
        """
        if tool.rights == NONE:
            yield
            return
        if self.waiting >= self.max_waiting:
            raise Busy(f"{self.total} calls are running and {self.waiting} are waiting.")
        async with contextlib.AsyncExitStack() as held:
            self.waiting += 1
            try:
                if tool.concurrency is not None:
                    own = self.per_tool.setdefault(tool.name, asyncio.Semaphore(tool.concurrency))
                    await held.enter_async_context(own)
                await held.enter_async_context(self.running)
            finally:
                self.waiting -= 1
            yield


@dataclass(slots=True)
class _Relay:
    """Carries progress to the caller, and to the job once the caller has gone.

    Attributes:
        messages: the last messages so far, for a job that they become the beginning of.
    """

    notify: Notify | None
    last: float = field(default_factory=time.monotonic)
    messages: deque[str] = field(default_factory=deque)
    _chars: int = 0

    async def __call__(self, progress: Progress) -> None:
        """Tell what a tool says."""
        self.messages.append(progress.message)
        self._chars += len(progress.message)
        while self._chars > MAX_PROGRESS_CHARS and len(self.messages) > 1:
            self._chars -= len(self.messages.popleft())
        await self.tell(progress)

    async def tell(self, progress: Progress) -> None:
        """Tell it, but do not keep it."""
        self.last = time.monotonic()
        if self.notify is not None:
            await self.notify(progress)


async def limits(call: Call, proceed: Proceed) -> Result:
    """Hold a place, keep the deadline, and answer in time even if the work is not done.

    Raises:
        Busy: no place and no room to wait.
        TimedOut: the work took longer than the tool may.
    """
    relay = _Relay(call.ctx.caller.notify)
    seconds = call.tool.seconds or call.ctx.config.limits.job_seconds
    if call.ctx.deadline is not None:
        seconds = max(min(seconds, call.ctx.deadline - time.monotonic()), 0.0)
    caller: Caller = replace(call.ctx.caller, notify=relay)
    ctx = replace(call.ctx, caller=caller, deadline=time.monotonic() + seconds)
    began = time.monotonic()
    work = asyncio.create_task(_work(replace(call, ctx=ctx), proceed, seconds))
    try:
        if await _wait(work, relay, call.ctx.answer_by):
            return work.result()
        return await _hand_over(call, work, relay, time.monotonic() - began)
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        raise


async def _work(call: Call, proceed: Proceed, seconds: float) -> Result:
    async with call.ctx.use(Places).place(call.tool):
        clock = asyncio.timeout(seconds)
        try:
            async with clock:
                return await proceed(call)
        except TimeoutError:
            if not clock.expired():
                raise
            raise TimedOut(
                f"{call.tool.name} was stopped after {seconds:g} seconds.",
                hint="Ask for less at a time, or raise the limit in the configuration.",
            ) from None


async def _wait(work: asyncio.Task[Result], relay: _Relay, until: float | None) -> bool:
    """Wait for the work with a sign of life now and then; False when time is up."""
    began = time.monotonic()
    while True:
        now = time.monotonic()
        left = None if until is None else until - now
        if left is not None and left <= 0:
            return False
        quiet = max(0.0, relay.last + HEARTBEAT - now)
        done, _ = await asyncio.wait({work}, timeout=quiet if left is None else min(quiet, left))
        if done:
            return True
        if time.monotonic() - relay.last >= HEARTBEAT:
            await relay.tell(Progress(f"working, {time.monotonic() - began:.0f} s"))


async def _hand_over(call: Call, work: asyncio.Task[Result], relay: _Relay, ran: float) -> Result:
    job = await call.ctx.use(Jobs).adopt(
        work,
        kind="call",
        title=_title(call),
        session=call.ctx.session.id,
        tool=call.tool.name,
        rights=call.tool.rights,
        ran=ran,
    )

    async def to_job(progress: Progress) -> None:
        job.write(f"{progress.message}\n")

    job.write("".join(f"{message}\n" for message in relay.messages))
    relay.messages.clear()
    relay.notify = to_job
    return Result(
        text=f"{call.tool.name} is still running and goes on as job {job.id}.",
        next=Next("read_job", {"id": job.id, "wait": "exit"}),
        job=job.id,
    )


def _title(call: Call) -> str:
    """What a person would call it: the command, else the name of the tool."""
    command = call.arguments.get("command") if isinstance(call.arguments, dict) else None
    return " ".join(str(command or "").split())[:TITLE_CHARS] or call.tool.name
