"""Output of a process, bounded, and the wait for its end or the end of its time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from toolcrib.system.child import Chunk, Stream, run_shielded

# Output of any length: its beginning and its end, by byte offsets, the middle dropped.

HEAD_BYTES = 16 * 1024
TAIL_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes that stand together, and where they begin."""

    start: int
    data: bytes

    @property
    def end(self) -> int:
        """The offset behind the last byte."""
        return self.start + len(self.data)


class Ring:
    """Takes any amount of output and keeps a bounded part. Safe to write from any thread."""

    def __init__(self, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._head_room = head
        self._tail_room = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._lock = threading.Lock()
        self.total = 0

    def write(self, data: bytes) -> None:
        """Append."""
        with self._lock:
            self.total += len(data)
            room = self._head_room - len(self._head)
            if room > 0:
                self._head += data[:room]
                data = data[room:]
            self._tail += data[max(len(data) - self._tail_room, 0) :]
            if len(self._tail) > self._tail_room:
                del self._tail[: len(self._tail) - self._tail_room]

    @classmethod
    def halves(cls, limit: int) -> Self:
        """One that keeps `limit` bytes, half of them from the end."""
        return cls(limit - limit // 2, limit // 2)

    def head_and_tail(self) -> tuple[bytes, bytes]:
        """What is kept of the beginning and of the end."""
        with self._lock:
            return bytes(self._head), bytes(self._tail)

    def segments(self, offset: int = 0) -> list[Segment]:
        """What is kept from an offset on: one segment, or two with a gap between them."""
        with self._lock:
            head = Segment(0, bytes(self._head))
            tail = Segment(self.total - len(self._tail), bytes(self._tail))
        return join([head, tail], offset)

    @property
    def tail_start(self) -> int:
        """Where the kept end begins."""
        return self.total - len(self._tail)


def join(segments: Iterable[Segment], offset: int = 0) -> list[Segment]:
    """Ordered segments from an offset on, those that touch made one."""
    joined: list[Segment] = []
    for segment in segments:
        least = joined[-1].end if joined else offset
        start = max(segment.start, least)
        part = segment.data[start - segment.start :]
        if not part:
            continue
        if joined and joined[-1].end == start:
            last = joined.pop()
            start, part = last.start, last.data + part
        joined.append(Segment(start, part))
    return joined


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
