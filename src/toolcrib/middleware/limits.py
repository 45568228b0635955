"""How many calls run at once, for how long, and when a long one goes on as a job."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import OrderedDict, deque
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
CALL_WEIGHT = 0.1
"""How much of the mean time of calls the last one makes."""
WAITING_SHARE = 0.9
"""How much of the time until an answer is due a call may wait for its place."""


class FairQueue:
    """Places for calls, given in turn to the conversations that wait, one call each.

    Args:
        total: how many there are.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.waiting = 0
        self._free = total
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._call_seconds = 0.0

    @property
    def is_full(self) -> bool:
        """Whether the next call has to wait."""
        return self._free == 0 or self.waiting > 0

    def expected_seconds(self, session: str) -> float:
        """About how long the next call of a conversation would wait, from how long calls took."""
        if not self.is_full:
            return 0.0
        own = len(self._queues.get(session, ()))
        ahead = sum(min(len(queue), own + 1) for queue in self._queues.values())
        return (ahead + 1) / self.total * self._call_seconds

    async def take(self, session: str) -> None:
        """Wait for a place."""
        if not self.is_full:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(session, deque()).append(turn)
        self.waiting += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give(None)
            else:
                self._forget(session, turn)
            raise

    def give(self, seconds: float | None) -> None:
        """Give a place back, after a call that took so long; None where none was made."""
        if seconds is not None:
            known = self._call_seconds or seconds
            self._call_seconds = known + (seconds - known) * CALL_WEIGHT
        if not self._queues:
            self._free += 1
            return
        session, queue = next(iter(self._queues.items()))
        turn = queue.popleft()
        self.waiting -= 1
        self._queues.move_to_end(session)
        if not queue:
            del self._queues[session]
        turn.set_result(None)

    def _forget(self, session: str, turn: asyncio.Future[None]) -> None:
        queue = self._queues[session]
        queue.remove(turn)
        self.waiting -= 1
        if not queue:
            del self._queues[session]


@dataclass(slots=True)
class Places:
    """A service: the places in which calls run. Tools without any right need none."""

    max_waiting: int
    running: FairQueue
    per_tool: dict[str, asyncio.Semaphore] = field(default_factory=dict)

    @classmethod
    def open(cls, services: Services) -> Self:
        """Places as configured under `limits`."""
        limits = services.config.limits
        return cls(limits.waiting, FairQueue(limits.concurrency))

    @contextlib.asynccontextmanager
    async def place(self, tool: Tool, session: str, max_wait: float) -> AsyncIterator[None]:
        """Wait for a place and hold it.

        Args:
            tool: what runs in it.
            session: whose call it is; conversations take turns.
            max_wait: seconds that the call may wait.

        Raises:
            Busy: too many are waiting already, or it would wait too long.
        """
        if tool.rights == NONE:
            yield
            return
        async with contextlib.AsyncExitStack() as held:
            if tool.concurrency is not None:
                own = self.per_tool.setdefault(tool.name, asyncio.Semaphore(tool.concurrency))
                await held.enter_async_context(own)
            await self._take(session, max_wait)
            began = time.monotonic()
            try:
                yield
            finally:
                self.running.give(time.monotonic() - began)

    async def _take(self, session: str, max_wait: float) -> None:
        running = self.running
        expected = running.expected_seconds(session)
        if expected > max_wait or (running.is_full and running.waiting >= self.max_waiting):
            raise self._busy(expected)
        if not running.is_full:  # at once, without a clock
            await running.take(session)
            return
        try:
            async with asyncio.timeout(max_wait):
                await running.take(session)
        except TimeoutError:
            raise self._busy(max(running.expected_seconds(session), 1.0)) from None

    def _busy(self, expected: float) -> Busy:
        seconds = max(math.ceil(expected), 1)
        return Busy(
            f"{self.running.total} calls are running and {self.running.waiting} are waiting.",
            hint=f"Send this call again in {seconds} s.",
            retry_after=seconds,
        )


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
    async with call.ctx.use(Places).place(call.tool, call.ctx.session.id, _max_wait(call)):
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


def _max_wait(call: Call) -> float:
    """Seconds that a call may wait for a place, so that it can still be answered in time."""
    until = call.ctx.answer_by
    if until is None:
        return call.ctx.config.limits.answer_within
    return max((until - time.monotonic()) * WAITING_SHARE, 0.0)


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
