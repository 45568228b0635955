"""Pipes of child processes read and written by threads, where no event loop can wait on them."""

from __future__ import annotations

import asyncio
import threading
from typing import IO

BLOCK_BYTES = 65_536
QUEUED_BLOCKS = 8
"""Blocks that wait to be taken; the child waits when there are so many."""


class PipeReader:
    """Reads a pipe in a thread of its own until its end, some blocks ahead."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(QUEUED_BLOCKS)
        self._closed = False
        self._ended = False
        threading.Thread(target=self._pump, name="pipe", daemon=True).start()

    async def read(self, size: int = BLOCK_BYTES) -> bytes:
        """Some bytes, as they came; none at the end. `size` is that of a block."""
        del size
        if self._ended:
            return b""
        data = await self._queue.get()
        self._room.release()
        self._ended = not data
        return data

    def close(self) -> None:
        """Read nothing more."""
        self._closed = True
        self._room.release()

    def _pump(self) -> None:
        data = b"-"
        while data and not self._closed:
            try:
                data = self._pipe.read(BLOCK_BYTES) or b""
            except (OSError, ValueError):  # closed meanwhile
                data = b""
            self._room.acquire()
            try:
                self._loop.call_soon_threadsafe(self._queue.put_nowait, data)
            except RuntimeError:  # the loop is closed: nobody reads any more
                return


class PipeWriter:
    """Writes to a pipe in threads."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._pending = bytearray()

    def write(self, data: bytes) -> None:
        """Take down what `drain` will write."""
        self._pending += data

    async def drain(self) -> None:
        """Write it; waits while the child does not read.

        Raises:
            BrokenPipeError: nobody reads it any more.
        """
        data = bytes(self._pending)
        self._pending.clear()
        await asyncio.to_thread(self._write, data)

    def close(self) -> None:
        """No more input comes."""
        self._pipe.close()

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._pipe.write(rest) or 0 :]
        except (OSError, ValueError) as error:
            raise BrokenPipeError from error
