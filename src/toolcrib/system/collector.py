"""Waiting for the end of a process or of its time, with what it wrote."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from toolcrib.system.child import Chunk, Stream, run_shielded
from toolcrib.system.ring_buffer import Ring

# What a process wrote, bounded: the head and the tail are kept, the middle counted.


@dataclass(frozen=True, slots=True)
class Output:
    """One stream of a finished process. `dropped` bytes between head and tail are gone."""

    head: bytes = b""
    tail: bytes = b""
    dropped: int = 0

    @classmethod
    def of(cls, ring: Ring) -> Self:
        """What a ring has kept so far."""
        head, tail = ring.head_and_tail()
        return cls(head, tail, ring.total - len(head) - len(tail))

    @property
    def size(self) -> int:
        """How many bytes were written."""
        return len(self.head) + self.dropped + len(self.tail)

    def last(self, chars: int) -> str:
        """The last characters of the text."""
        end = bytes(self)[-4 * chars :]
        return end.decode("utf-8", "replace")[-chars:]

    def __bytes__(self) -> bytes:
        """What was kept, with one line in place of what was not."""
        if not self.dropped:
            return self.head + self.tail
        return self.head + f"\n[{self.dropped:,} bytes left out here]\n".encode() + self.tail

    def __str__(self) -> str:
        """The same as text; bytes that are not UTF-8 become U+FFFD."""
        return bytes(self).decode("utf-8", "replace")


LINGER = 0.5
"""Seconds that the end of output may take after the exit, for what still writes."""

OnOutput = Callable[[Chunk], Awaitable[None] | None]


class Child(Protocol):
    """A process of some kind; leaving it ends all of it."""

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Those that can be read."""
        ...

    def read(self, stream: Stream) -> AsyncIterator[bytes]:
        """One of them, until its end."""
        ...

    async def wait(self) -> int:
        """The exit code, when it has ended."""
        ...

    async def kill(self) -> None:
        """End the whole tree."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of it."""
        ...


@dataclass(frozen=True, slots=True)
class Collected:
    """A process that ended. `exit_code` is -9 for one whose time did."""

    exit_code: int
    stdout: Output
    stderr: Output
    timed_out: bool
    seconds: float


async def collect(
    child: Child,
    seconds: float | None,
    on_output: OnOutput | None,
    max_bytes: int,
    has_more: Callable[[], bool] = lambda: True,
) -> Collected:
    """Wait for the end of a process or of its time; then nothing of it is left.

    Args:
        child: the process.
        seconds: its time; None waits for the end.
        on_output: told of each chunk. The program waits while it takes its time.
        max_bytes: bytes kept of each stream, half from its start, half from its end.
        has_more: whether something may go on writing after the exit.
    """
    started = time.monotonic()
    rings: dict[Stream, Ring] = {stream: Ring.halves(max_bytes) for stream in child.streams}

    async def pump(stream: Stream) -> None:
        async for data in child.read(stream):
            rings[stream].write(data)
            callback = on_output(Chunk(stream, data)) if on_output else None
            if callback is not None:
                await callback

    pumps = [asyncio.ensure_future(pump(stream)) for stream in rings]
    timed_out, code = False, -9
    try:
        async with asyncio.timeout(seconds):
            code = await _until_exit(child, pumps, has_more)
    except TimeoutError:
        timed_out = True
    finally:
        await run_shielded(_wind_up(child, pumps))
    out = {stream: Output.of(ring) for stream, ring in rings.items()}
    return Collected(
        exit_code=code,
        stdout=out.get("stdout", Output()),
        stderr=out.get("stderr", Output()),
        timed_out=timed_out,
        seconds=time.monotonic() - started,
    )


async def _until_exit(
    child: Child, pumps: Sequence[asyncio.Future[None]], has_more: Callable[[], bool]
) -> int:
    """Wait for the exit and then for the rest of the output; what a pump raises is raised."""
    exited: asyncio.Future[Any] = asyncio.ensure_future(child.wait())
    waiting = {exited, *pumps}
    try:
        while exited in waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        if waiting and has_more():
            done, _ = await asyncio.wait(waiting, timeout=LINGER)
            for task in done:
                task.result()
        elif waiting:
            await asyncio.gather(*waiting)
        return int(exited.result())
    finally:
        exited.cancel()


async def _wind_up(child: Child, pumps: Sequence[asyncio.Future[None]]) -> None:
    await child.kill()
    if pumps:
        await asyncio.wait(pumps, timeout=LINGER)
    for task in pumps:
        task.cancel()
    await asyncio.gather(*pumps, return_exceptions=True)
    await child.__aexit__(None, None, None)
