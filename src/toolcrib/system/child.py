"""One running process and all that it starts."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, TYPE_CHECKING, Literal, Self, TypeVar

from toolcrib.system.pipe_threads import PipeReader, PipeWriter
from toolcrib.system.sweep import (
    HAS_PROC,
    KILL,
    RUNNING_ON,
    WAKE,
    Seen,
    collect_zombie,
    find,
    hold,
    kill_now,
    look,
    send,
    send_to_group,
    ticks,
)

if TYPE_CHECKING:
    from toolcrib.system.windows import ProcessJob

T = TypeVar("T")
Stream = Literal["stdout", "stderr"]

GRACE = 2.0
"""Seconds between the request to end and the kill."""
KILL_WITHIN = 5.0
"""Seconds after which a process that not even SIGKILL ends is given up (a hung disk)."""
LINGER = 1.0
"""Seconds for which output can still be read after the kill."""
BLOCK = 65_536
QUEUED = 8
CAN_WAIT_ON_PIPES = sys.platform != "win32"
"""Whether event loops can; else threads do."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some output, as it came."""

    stream: Stream
    data: bytes


class Process:
    """A handle on a process; `Processes.spawn` makes it.

    Use it in an `async with`, or call `kill` at the end: both end the whole tree, also
    what left the process group. Output that nobody reads fills the pipe and makes the
    process wait.

    Attributes:
        gather: seconds that output is left alone after some was read, so that a program
            that writes little at a time does not keep the event loop busy.
    """

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        mark: str,
        since: int,
        on_gone: Callable[[Process], None],
    ) -> None:
        self.pid = popen.pid
        self.gather = 0.0
        self._popen = popen
        self._mark = mark
        self._since = since
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._exited = asyncio.Event()
        self._ended = RUNNING_ON
        self._readers: dict[Stream, asyncio.StreamReader | PipeReader] = {}
        self._sources: dict[Stream, asyncio.ReadTransport] = {}
        self._transports: list[asyncio.BaseTransport] = []
        self._loose = [p for p in (popen.stdin, popen.stdout, popen.stderr) if p]
        self._writer: asyncio.StreamWriter | PipeWriter | None = None
        self._seen: dict[int, Seen] = {}
        self._job = _job(popen)
        self._all_gone = False
        self._watch()

    @property
    def exit_code(self) -> int | None:
        """None while it runs; minus the signal that ended it."""
        return self._popen.returncode if self._exited.is_set() else None

    @property
    def group(self) -> dict[int, int]:
        """Its process group, as `sweep.find` takes it."""
        return {self.pid: self._ended}

    async def connect(self) -> None:
        """Attach the pipes to the event loop, or to threads."""
        if not CAN_WAIT_ON_PIPES:
            self._connect_threads()
            return
        if self._popen.stdout:
            self._readers["stdout"] = await self._reader("stdout", self._popen.stdout)
        if self._popen.stderr:
            self._readers["stderr"] = await self._reader("stderr", self._popen.stderr)
        if self._popen.stdin:
            transport, protocol = await self._loop.connect_write_pipe(
                asyncio.streams.FlowControlMixin, self._popen.stdin
            )
            self._attached(transport, self._popen.stdin)
            self._writer = asyncio.StreamWriter(transport, protocol, None, self._loop)

    def _connect_threads(self) -> None:
        pipes: dict[Stream, IO[bytes] | None]
        pipes = {"stdout": self._popen.stdout, "stderr": self._popen.stderr}
        self._readers = {stream: PipeReader(pipe) for stream, pipe in pipes.items() if pipe}
        if self._popen.stdin:
            self._writer = PipeWriter(self._popen.stdin)

    async def _reader(self, stream: Stream, pipe: IO[bytes]) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(limit=BLOCK, loop=self._loop)
        transport, _ = await self._loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader, loop=self._loop), pipe
        )
        self._attached(transport, pipe)
        self._sources[stream] = transport
        return reader

    def _attached(self, transport: asyncio.BaseTransport, pipe: IO[bytes]) -> None:
        self._transports.append(transport)
        self._loose.remove(pipe)

    def output(self) -> AsyncGenerator[Chunk]:
        """What it writes, as it comes, until every holder of its pipes is gone."""
        return merged(tuple(self._readers), self.read)

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams that can be read; stderr is missing where it was merged."""
        return tuple(self._readers)

    async def read(self, stream: Stream) -> AsyncIterator[bytes]:
        """One stream until its end."""
        reader, source = self._readers[stream], self._sources.get(stream)
        while data := await reader.read(BLOCK):
            yield data
            if self.gather:
                if source is not None:
                    source.pause_reading()
                await asyncio.sleep(self.gather)
                if source is not None:
                    source.resume_reading()

    async def write(self, data: bytes) -> None:
        """Send to its stdin, which must have been opened with `stdin="pipe"`.

        Raises:
            BrokenPipeError, ConnectionResetError: it no longer reads.
        """
        assert self._writer is not None
        self._writer.write(data)
        await self._writer.drain()

    def close_stdin(self) -> None:
        """Tell it that no more input comes."""
        if self._writer is not None:
            self._writer.close()

    async def wait(self) -> int:
        """Wait until it ends, not for what it started; the exit code."""
        await self._exited.wait()
        return int(self._popen.returncode)

    async def kill(self, grace: float = GRACE) -> None:
        """End the whole tree and wait until it is gone: asked first, killed after `grace`.

        Completes even when the caller is cancelled meanwhile, and may be called again.
        """
        await run_shielded(self._end(grace))

    async def _end(self, grace: float) -> None:
        if self._all_gone:  # nobody is left who could start another
            return
        try:
            if self._tell(signal.SIGTERM if grace > 0 else KILL):
                # A stopped process cannot end, so it is woken too.
                await self._until_gone(grace, WAKE)
                await self._until_gone(KILL_WITHIN, KILL)
        except asyncio.CancelledError:
            self.kill_now()
            raise
        finally:
            self._collect_orphans()
            self.let_go()

    def let_go(self) -> None:
        """Close the pipes of a tree that is gone: after a moment, for whoever reads the rest."""
        self._loop.call_later(LINGER, self.close)

    async def _until_gone(self, within: float, number: int) -> None:
        """Keep sending a signal until nothing is left or the time is over."""
        end, pause = time.monotonic() + within, 0.005
        while self._tell(number) and time.monotonic() < end:
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.05)

    def _tell(self, number: int) -> bool:
        """Send a signal to all of the tree; whether there was anything to send it to."""
        if self._job is not None:  # nobody can be asked there
            self._job.kill()
            return self._job.has_more() or not self._exited.is_set()
        tree = find(self._mark, self.group, self._since)
        for seen in tree:
            if number == WAKE and seen.pid not in self._seen:
                send(seen, signal.SIGTERM)  # born after the others were asked
            send(seen, number)
            self._seen[seen.pid] = seen
        left = not HAS_PROC and send_to_group(self.pid, number)
        self._all_gone = not (tree or left) and self._exited.is_set()
        return not self._all_gone

    def ask_what_it_started(self) -> None:
        """Ask all but this process itself to end, which may be only a shell around them."""
        for seen in find(self._mark, self.group, self._since):
            if seen.pid != self.pid:
                send(seen, signal.SIGTERM)
                send(seen, WAKE)  # a stopped process cannot end

    def has_more(self) -> bool:
        """Whether anything of the tree runs, also after the exit."""
        if self._job is not None:
            return self._job.has_more()
        if not HAS_PROC:
            return send_to_group(self.pid, 0)
        return bool(find(self._mark, self.group, self._since))

    def kill_now(self) -> None:
        """Kill the tree at once, without an event loop; from any thread."""
        if self._job is not None:
            self._job.kill()
        else:
            kill_now(self._mark, self.group, self._since, within=0.5)

    def _watch(self) -> None:
        """Notice the exit by a descriptor of the process, or by a thread where there is none."""
        held = hold(self.pid)
        if held < 0:
            threading.Thread(target=self._wait_in_thread, daemon=True).start()
            return
        self._loop.add_reader(held, self._collect_exit, held)

    def _collect_exit(self, held: int) -> None:
        self._loop.remove_reader(held)
        os.close(held)
        self._ended = ticks() + 1
        self._popen.wait()
        self._exited.set()

    def _wait_in_thread(self) -> None:
        self._popen.wait()
        self._ended = ticks() + 1
        self._loop.call_soon_threadsafe(self._exited.set)

    def _collect_orphans(self) -> None:
        """Collect those that were handed to this process, as the first one of a container."""
        for pid, seen in self._seen.items():
            now = look(pid) if pid != self.pid else None
            if now and now.parent == os.getpid() and now.started == seen.started:
                collect_zombie(pid)
        self._seen.clear()

    def close(self) -> None:
        """Let go of the pipes of a process that was killed."""
        for transport in self._transports:
            transport.close()
        for reader in self._readers.values():
            if isinstance(reader, PipeReader):
                reader.close()
        for pipe in self._loose:
            pipe.close()
        if self._job is not None:
            self._job.close()
        self._on_gone(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self.kill()
        finally:
            self.close()


def _job(popen: subprocess.Popen[bytes]) -> ProcessJob | None:
    if sys.platform == "win32":
        from toolcrib.system.windows import ProcessJob

        return ProcessJob(popen)
    return None


async def merged(
    streams: Sequence[Stream], read: Callable[[Stream], AsyncIterator[bytes]]
) -> AsyncGenerator[Chunk]:
    """Chunks of several streams in the order in which they come, until all have ended."""
    queue: asyncio.Queue[Chunk | None] = asyncio.Queue(QUEUED)

    async def pump(stream: Stream) -> None:
        async for data in read(stream):
            await queue.put(Chunk(stream, data))
        await queue.put(None)

    pumps = [asyncio.ensure_future(pump(stream)) for stream in streams]
    try:
        open_streams = len(pumps)
        while open_streams:
            chunk = await queue.get()
            if chunk is None:
                open_streams -= 1
            else:
                yield chunk
    finally:
        for task in pumps:
            task.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def run_shielded(work: Awaitable[T]) -> T:
    """Await something that must complete; a cancellation waits until it has."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()
