"""One running confined program."""

from __future__ import annotations

import asyncio
import errno
import os
import struct
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Self

from toolcrib.execution.sandbox.namespaces import NamespaceInit
from toolcrib.execution.sandbox.terms import Level
from toolcrib.system.child import BLOCK, GRACE, Chunk, Process, Stream, merged, run_shielded

if TYPE_CHECKING or sys.platform != "win32":
    import fcntl
    import termios

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

Stopped = Literal["", "memory", "disk", "output", "processes", "open files", "measuring", "time"]
SUPERVISOR_SECONDS = 5.0


class TerminalReader(asyncio.StreamReader):
    """The output of a terminal, whose end is EIO: nobody holds it any more.

    As an exception it would hide what was received and not read yet.
    """

    def set_exception(self, exc: Exception) -> None:
        """End the stream, or fail it."""
        if isinstance(exc, OSError) and exc.errno == errno.EIO:
            self.feed_eof()
        else:
            super().set_exception(exc)


class Confined:
    """A handle on it; `Sandbox.spawn` makes it.

    Use it in an `async with`, or call `kill` at the end: nothing of it survives that.
    Exit codes are as shells tell them: 128 and the number of the signal that ended it.

    Attributes:
        pid: of the outermost process, which is that of the boundary.
        level: the boundary that it has.
        notes: what could not be done for it, one line for each.
        stopped: what it was ended for; "" for anything else.
        is_over: whether all of it was ended.
        masked: what is masked for it, absolute.
        first: the first process of its namespace; None without one.
        at_end: awaited then.
        lost: files that it made and that are gone with it, where `look_for_lost` was given.
    """

    def __init__(
        self,
        process: Process,
        level: Level,
        *,
        terminal: int = -1,
        lifeline: int = -1,
        output_bytes: int = 0,
    ) -> None:
        self.pid: int = process.pid
        self.level: Level = level
        self.notes: tuple[str, ...] = ()
        self.stopped: Stopped = ""
        self.masked: tuple[str, ...] = ()
        self._process = process
        self._terminal = terminal
        self._lifeline = lifeline
        self._output_bytes = output_bytes
        self._written = 0
        self.at_end: Callable[[], Awaitable[None]] | None = None
        self.lost: tuple[str, ...] = ()
        self._reader: asyncio.StreamReader | None = None
        self._transports: list[asyncio.BaseTransport] = []
        self._ending: asyncio.Task[None] | None = None
        self.first: NamespaceInit | None = None
        self.is_over = False

    @property
    def namespace(self) -> int:
        """A hold on the first process of its namespace; -1 without one. Not to be closed."""
        return -1 if self.first is None else self.first.pidfd

    async def connect(self) -> None:
        """Attach the terminal to the event loop."""
        if self._terminal < 0:
            return
        loop = asyncio.get_running_loop()
        self._reader = TerminalReader(limit=BLOCK, loop=loop)
        protocol = asyncio.StreamReaderProtocol(self._reader, loop=loop)
        file = os.fdopen(os.dup(self._terminal), "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: protocol, file)
        self._transports.append(transport)

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        code = self._process.exit_code
        return code if code is None or code >= 0 else 128 - code

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams that can be read; a terminal has "stdout" alone."""
        return ("stdout",) if self._reader else self._process.streams

    async def read(self, stream: Stream) -> AsyncIterator[bytes]:
        """One stream until its end, or until it wrote more than it may."""
        source = self._from_terminal() if self._reader else self._process.read(stream)
        async for data in source:
            self._written += len(data)
            yield data
            if self._output_bytes and self._written > self._output_bytes:
                self.stop("output")
                return

    async def _from_terminal(self) -> AsyncIterator[bytes]:
        assert self._reader is not None
        while data := await self._reader.read(BLOCK):
            yield data

    def output(self) -> AsyncGenerator[Chunk]:
        """What it writes, as it comes, until every holder of its pipes is gone."""
        return merged(self.streams, self.read)

    async def write(self, data: bytes) -> None:
        """Type into its terminal.

        Raises:
            BrokenPipeError: there is none, or it no longer reads.
        """
        if self._terminal < 0:
            raise BrokenPipeError(errno.EPIPE, "The terminal is closed.")
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._terminal, view) :]
            except BlockingIOError:
                await asyncio.sleep(0.005)
            except OSError as error:
                raise BrokenPipeError(error.errno, "The terminal is closed.") from None

    def stop(self, reason: Stopped) -> None:
        """End it for a reason, at once and in the background; the first reason counts."""
        if self.exit_code is None:
            self.stopped = self.stopped or reason
        self._begin_to_end(0)

    async def wait(self) -> int:
        """Wait until it ends; the exit code. At level strong nothing runs on after it."""
        await self._process.wait()
        code = self.exit_code
        return 137 if code is None else code

    async def kill(self, grace: float = GRACE) -> None:
        """End all of it and wait until it is gone: asked first, killed after `grace`.

        Completes even when the caller is cancelled meanwhile, and may be called again.
        """
        await run_shielded(self._begin_to_end(grace))

    def _begin_to_end(self, grace: float) -> asyncio.Task[None]:
        if self._ending is None or (grace <= 0 and not self._ending.done()):
            self._ending = asyncio.ensure_future(self._end(grace))
        return self._ending

    async def _end(self, grace: float) -> None:
        try:
            if self.level != "none" and self._process.exit_code is None:
                if grace > 0:
                    # The boundary itself stays: with it, all would be gone at once.
                    self._process.ask_what_it_started()
                    await self._until_exit(grace)
                if self._lifeline >= 0 and self.level == "kernel":
                    # The supervisor kills what only it can find.
                    self.close_lifeline()
                    await self._until_exit(SUPERVISOR_SECONDS)
                grace = 0
            if not await self._namespace_ended():
                await self._process.kill(grace)
        finally:
            self.is_over = True
            self.close_lifeline()
            if self.at_end is not None:
                await self.at_end()

    async def _namespace_ended(self) -> bool:
        """End all in the namespace and see all gone, which takes no look at every process."""
        if self.first is None or not await self.first.end():
            return False
        await self._until_exit(SUPERVISOR_SECONDS)
        if self._process.exit_code is None:
            return False
        self._process.let_go()
        return True

    async def _until_exit(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process.wait()

    def close_lifeline(self) -> None:
        """Say no more: in namespaces it was to begin, else it is to end."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def close(self) -> None:
        """Let go of the pipes of a program that was killed."""
        self._process.close()
        if self.first is not None:
            self.first.close()
        for transport in self._transports:
            transport.close()
        if self._terminal >= 0:
            os.close(self._terminal)
            self._terminal = -1

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        try:
            await self.kill()
        finally:
            self.close()


def set_size(terminal: int, rows: int, columns: int) -> None:
    """Tell a terminal its size."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


async def last_words(confined: Confined) -> str:
    """The last lines of a boundary that failed."""
    data = b""
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            for stream in confined.streams[-1:]:
                async for part in confined.read(stream):
                    data += part
                    if len(data) > 10_000:
                        break
    return " ".join(data.decode("utf-8", "replace").split())[-300:]
