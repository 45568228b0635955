"""One child of a task, from this side."""

from __future__ import annotations

import asyncio
import json
import signal
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from toolcrib.core import errors
from toolcrib.core.errors import (
    Internal,
    TimedOut,
    TooLarge,
    ToolError,
    Unavailable,
    UnsupportedContent,
)
from toolcrib.execution.worker.task import Task

if TYPE_CHECKING:
    from toolcrib.system.child import Process
    from toolcrib.system.processes import Processes

CHILD = str(Path(__file__).with_name("child.py"))
HEAD = struct.Struct(">QQ")
MAX_HEAD = 64_000_000
LAST_WORDS = 4_000
"""Bytes of what a child wrote to stderr that are kept."""
QUIET = {
    # Threads that a library starts for each core, and the memory that each sets aside.
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "2",
    "TOKIO_WORKER_THREADS": "2",
}
NO_MEMORY = (
    b"memory allocation of",
    b"cannot allocate memory",
    b"MemoryError",
    b"bad_alloc",
    b"out of memory",
)


class Companion:
    """A child that answers one request at a time.

    `sound` says that it can take another: its last answer was whole and what the
    function means. `peak` is the most memory that it had, in MB.
    """

    def __init__(self, task: Task, process: Process) -> None:
        self.task = task
        self.calls = 0
        self.peak = 0
        self.sound = True
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._chunks = process.read("stdout")
        self._buffer = bytearray()
        self._words = b""
        self._listening = asyncio.ensure_future(self._listen())

    @classmethod
    async def start(cls, task: Task, processes: Processes) -> Self:
        """A child that is about to load the function.

        Raises:
            Unavailable: it cannot be started.
        """
        if not sys.executable:
            raise Unavailable(
                f"{task.what} needs a Python program, and none is known here.",
                hint="Start toolcrib by a Python interpreter.",
            )
        process = await processes.spawn(
            [sys.executable, "-I", "-S", "-B", CHILD],
            cwd="/",
            env=QUIET,
            stdin="pipe",
            passed_on=(),
        )
        return cls(task, process)

    def is_ready(self) -> bool:
        """Whether it still runs, in this event loop."""
        return self._process.exit_code is None and self._loop is asyncio.get_running_loop()

    async def ask(self, request: Mapping[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
        """The answer to a request; see `Workers.run`.

        A child of which this is cancelled or fails must be ended, unless it is `sound`.
        """
        self.sound = False
        try:
            if not self.calls:
                await self._write(self._first(), b"")
            self.calls += 1
            await self._write(request, data)
            told, content = await self._answer()
        except (BrokenPipeError, ConnectionResetError, EOFError):
            raise await self._death() from None
        failed = told.get("error")
        self.sound = failed != "MemoryError"
        if failed:
            raise self._error(told)
        self.peak = told["peak"]
        answer: dict[str, Any] = told["answer"]
        return answer, content

    async def end(self) -> None:
        """Kill it, and wait until it is gone."""
        try:
            await self._process.kill(0)
        finally:
            self._listening.cancel()
            self._process.close()

    def _first(self) -> dict[str, Any]:
        package = str(Path(__file__).parents[3])
        task = self.task
        return {
            "path": [*(str(Path(entry).absolute()) for entry in sys.path), package],
            "function": task.function,
            "megabytes": task.megabytes,
            "seconds": task.seconds,
            "most": task.most,
        }

    async def _write(self, told: Mapping[str, Any], data: bytes) -> None:
        head = json.dumps(told).encode()
        await self._process.write(HEAD.pack(len(head), len(data)) + head)
        if data:
            await self._process.write(data)

    async def _answer(self) -> tuple[dict[str, Any], bytes]:
        told, size = HEAD.unpack(await self._exactly(HEAD.size))
        if told > MAX_HEAD or size > self.task.most:
            raise TooLarge(f"{self.task.what} gives too much.", hint=self.task.hint)
        return json.loads(await self._exactly(told)), await self._exactly(size)

    async def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            chunk = await anext(self._chunks, b"")
            if not chunk:
                raise EOFError
            self._buffer += chunk
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    async def _listen(self) -> None:
        async for chunk in self._process.read("stderr"):
            self._words = (self._words + chunk)[-LAST_WORDS:]

    def _error(self, told: Mapping[str, Any]) -> ToolError:
        what, hint = self.task.what, self.task.hint
        name = told["error"]
        if name == "MemoryError":
            return TooLarge(f"{what} needs too much memory.", hint=hint)
        if name == "TooLarge" and not told["message"]:
            return TooLarge(f"{what} gives too much.", hint=hint)
        kind = getattr(errors, name, None)
        if not (isinstance(kind, type) and issubclass(kind, ToolError)):
            return Internal(f"{what} failed: {told['message']}")
        error: ToolError = kind.__new__(kind)
        ToolError.__init__(
            error, told["message"], hint=told["hint"], code=told["code"], **told["details"]
        )
        return error

    async def _death(self) -> ToolError:
        """Why it is gone in the middle of a call."""
        code = await self._process.wait()
        await asyncio.wait([self._listening], timeout=1.0)
        what, hint = self.task.what, self.task.hint
        if code == -signal.SIGXCPU:
            return TimedOut(f"{what} was stopped: it takes too long.", hint=hint)
        if code == -signal.SIGKILL or any(sign in self._words for sign in NO_MEMORY):
            return TooLarge(f"{what} needs too much memory.", hint=hint)
        return UnsupportedContent(f"{what} ended in a crash ({_ending(code)}).", hint=hint)


def _ending(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"
