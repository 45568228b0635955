"""A confined process: its output collected, and one that goes on after the call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolcrib.kit.process import Chunk, Output
from toolcrib.kit.process.child import Stream, to_the_end
from toolcrib.kit.process.processes import OnOutput
from toolcrib.kit.ring import Ring
from toolcrib.kit.runs.outcome import Outcome

if TYPE_CHECKING:
    from toolcrib.kit.sandbox import Confined

KEPT = 1_000_000
"""Bytes kept of each stream, half from its start, half from its end."""
LINGER = 0.5
"""Seconds that the end of output may take after the exit."""


@dataclass(frozen=True, slots=True)
class Collected:
    """A process that ended, and what it wrote."""

    exit_code: int
    stdout: Output
    stderr: Output
    timed_out: bool
    seconds: float
    stopped: str


async def collect(
    confined: Confined, seconds: float | None, on_output: OnOutput | None, kept: int = KEPT
) -> Collected:
    """Wait for the end of a process or of its time; then nothing of it is left."""
    started = time.monotonic()
    rings: dict[Stream, Ring] = {stream: Ring.halves(kept) for stream in confined.streams}

    async def pump(stream: Stream) -> None:
        async for data in confined.read(stream):
            rings[stream].write(data)
            told = on_output(Chunk(stream, data)) if on_output else None
            if told is not None:
                await told

    pumps = [asyncio.ensure_future(pump(stream)) for stream in rings]
    timed_out, code = False, -9
    try:
        async with asyncio.timeout(seconds):
            code = await _until_exit(confined, pumps)
    except TimeoutError:
        timed_out = True
    finally:
        await to_the_end(_wind_up(confined, pumps))
    out = {stream: Output.of(ring) for stream, ring in rings.items()}
    return Collected(
        exit_code=code,
        stdout=out.get("stdout", Output()),
        stderr=out.get("stderr", Output()),
        timed_out=timed_out,
        seconds=time.monotonic() - started,
        stopped=confined.stopped,
    )


async def _until_exit(confined: Confined, pumps: Sequence[asyncio.Future[None]]) -> int:
    """Wait for the exit and a moment for the rest of the output; what a pump raises is raised."""
    exited: asyncio.Future[Any] = asyncio.ensure_future(confined.wait())
    waiting = {exited, *pumps}
    try:
        while exited in waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        if waiting:
            await asyncio.wait(waiting, timeout=LINGER)
        return int(exited.result())
    finally:
        exited.cancel()


async def _wind_up(confined: Confined, pumps: Sequence[asyncio.Future[None]]) -> None:
    await confined.kill()
    if pumps:
        await asyncio.wait(pumps, timeout=LINGER)
    for task in pumps:
        task.cancel()
    await asyncio.gather(*pumps, return_exceptions=True)
    await confined.__aexit__(None, None, None)


@dataclass(slots=True)
class Running:
    """A process that goes on: a job in the background, or a terminal.

    It works on the files themselves. After its end `finish` makes one step of the undo log
    of all that differs from before its start.

    Attributes:
        confined: the process; read from it, write to it, wait for it, kill it.
        level: the boundary that holds.
    """

    confined: Confined
    _finish: Callable[[], Awaitable[Outcome]]
    _outcome: Outcome | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def level(self) -> str:
        """The boundary that holds: "strong", "kernel" or "none"."""
        return str(self.confined.level)

    async def finish(self) -> Outcome:
        """End it if it still runs, and say what it changed; more than once gives the same."""
        async with self._lock:
            if self._outcome is None:
                await self.confined.kill()
                await self.confined.__aexit__(None, None, None)
                self._outcome = await to_the_end(_awaited(self._finish()))
            return self._outcome


async def _awaited(work: Awaitable[Outcome]) -> Outcome:
    return await work
