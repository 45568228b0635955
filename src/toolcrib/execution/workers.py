"""Pure functions of bytes, run in a child process that can be killed.

For work on content that others wrote and that may hang, crash or fill the memory::

    PAGE = Task("package.module:extract", "Reading the page", seconds=10, megabytes=1000)

    answer, content = await ctx.use(Workers).run(PAGE, {"url": url}, html, ctx.deadline)

The function stands in a module of its own, with few imports::

    def prepare() -> None:
        extract({"url": ""}, b"<p>tiny</p>")

    def extract(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]: ...

`request` and the first half of the answer are JSON values, the other halves are bytes.
A `ToolError` that it raises is raised again by `run`. `prepare`, where there is one,
runs once when a child starts and must load all that is imported late (best by doing the
work once on something tiny): after it no file and no socket can be opened.

A task may be given open files by their descriptors, which its child has under the same
numbers. With `access="read"` it may also open them again, by `/proc/self/fd/<number>` or by
their paths, only to read, and the kernel refuses every other file; with `access="change"` it
may change them and what lies beside them. A child that is given files serves one call.

A child stays for the next call of the same task, since loading a library takes longer
than most work. It is ended after a while without calls, after many calls, when it grew,
and at once when a call is cancelled, runs out of its time or fails in an odd way.
"""

from __future__ import annotations

import asyncio
import json
import signal
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from toolcrib.core import errors
from toolcrib.core.errors import (
    Busy,
    Internal,
    TimedOut,
    TooLarge,
    ToolError,
    Unavailable,
    UnsupportedContent,
)
from toolcrib.system.sweep import KILL

if TYPE_CHECKING:
    from toolcrib.core.context import Services
    from toolcrib.system.child import Process
    from toolcrib.system.processes import Processes


@dataclass(frozen=True, slots=True)
class Task:
    """A function and its bounds.

    Attributes:
        function: `package.module:name`.
        what: what it does, as the start of a sentence: "Reading the document".
        seconds: of the clock for one call, the start of the child included, and also of
            the processor.
        megabytes: address space of the child. Libraries map more than they use.
        max_bytes: of an answer.
        hint: what to do when a bound is met.
        access: what the child may open once it works; see the module.
        folders: what it may read besides, where it has any access.
    """

    function: str
    what: str
    seconds: float = 30.0
    megabytes: int = 1024
    max_bytes: int = 16_000_000
    hint: str = "Ask for less at a time, or use another form of the same content."
    access: Literal["", "read", "write", "change"] = ""
    folders: tuple[str, ...] = ()


CHILD = str(Path(__file__).with_name("worker_child.py"))
HEAD = struct.Struct(">QQ")
TIME_IS_UP: int = getattr(signal, "SIGXCPU", 0)
MAX_HEADER_BYTES = 64_000_000
MAX_STDERR_BYTES = 4_000
"""Bytes of what a child wrote to stderr that are kept."""
CHILD_ENVIRONMENT = {
    # Threads that a library starts for each core, and the memory that each sets aside.
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "2",
    "TOKIO_WORKER_THREADS": "2",
}
OUT_OF_MEMORY_SIGNS = (
    b"memory allocation of",
    b"cannot allocate memory",
    b"MemoryError",
    b"bad_alloc",
    b"out of memory",
)


class WorkerProcess:
    """A child that answers one request at a time.

    `sound` says that it can take another: its last answer was whole and what the
    function means. `peak` is the most memory that it had, in MB.
    """

    def __init__(self, task: Task, process: Process, files: Sequence[int] = ()) -> None:
        self.task = task
        self.single = bool(files) or task.access in ("write", "change")
        self._files = list(files)
        self.calls = 0
        self.peak = 0
        self.sound = True
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._chunks = process.read("stdout")
        self._buffer = bytearray()
        self._stderr = b""
        self._listening = asyncio.ensure_future(self._listen())

    @classmethod
    async def start(cls, task: Task, processes: Processes, files: Sequence[int] = ()) -> Self:
        """A child that is about to load the function.

        Args:
            task: the function.
            processes: who looks after it.
            files: descriptors that are open in it too.

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
            env=CHILD_ENVIRONMENT,
            stdin="pipe",
            passed_on=(),
            descriptors=files,
        )
        return cls(task, process, files)

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
            header, content = await self._answer()
        except (BrokenPipeError, ConnectionResetError, EOFError):
            raise await self._death() from None
        failed = header.get("error")
        self.sound = failed != "MemoryError"
        if failed:
            raise self._error(header)
        self.peak = header["peak"]
        answer: dict[str, Any] = header["answer"]
        return answer, content

    async def end(self) -> None:
        """Kill it, and wait until it is gone."""
        try:
            await self._process.kill(0)
        finally:
            self._listening.cancel()
            self._process.close()

    def _first(self) -> dict[str, Any]:
        package = str(Path(__file__).parents[2])
        task = self.task
        return {
            "path": [*(str(Path(entry).absolute()) for entry in sys.path), package],
            "function": task.function,
            "megabytes": task.megabytes,
            "seconds": task.seconds,
            "max_bytes": task.max_bytes,
            "access": task.access,
            "files": self._files,
            "folders": self.task.folders,
        }

    async def _write(self, header: Mapping[str, Any], data: bytes) -> None:
        head = json.dumps(header).encode()
        await self._process.write(HEAD.pack(len(head), len(data)) + head)
        if data:
            await self._process.write(data)

    async def _answer(self) -> tuple[dict[str, Any], bytes]:
        header_size, size = HEAD.unpack(await self._exactly(HEAD.size))
        if header_size > MAX_HEADER_BYTES or size > self.task.max_bytes:
            raise TooLarge(f"{self.task.what} gives too much.", hint=self.task.hint)
        return json.loads(await self._exactly(header_size)), await self._exactly(size)

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
            self._stderr = (self._stderr + chunk)[-MAX_STDERR_BYTES:]

    def _error(self, header: Mapping[str, Any]) -> ToolError:
        what, hint = self.task.what, self.task.hint
        name = header["error"]
        if name == "MemoryError":
            return TooLarge(f"{what} needs too much memory.", hint=hint)
        if name == "TooLarge" and not header["message"]:
            return TooLarge(f"{what} gives too much.", hint=hint)
        kind = getattr(errors, name, None)
        if not (isinstance(kind, type) and issubclass(kind, ToolError)):
            return Internal(f"{what} failed: {header['message']}")
        error: ToolError = kind.__new__(kind)
        ToolError.__init__(
            error, header["message"], hint=header["hint"], code=header["code"], **header["details"]
        )
        return error

    async def _death(self) -> ToolError:
        """Why it is gone in the middle of a call."""
        code = await self._process.wait()
        await asyncio.wait([self._listening], timeout=1.0)
        what, hint = self.task.what, self.task.hint
        if code and code == -TIME_IS_UP:
            return TimedOut(f"{what} was stopped: it takes too long.", hint=hint)
        if code == -KILL or any(sign in self._stderr for sign in OUT_OF_MEMORY_SIGNS):
            return TooLarge(f"{what} needs too much memory.", hint=hint)
        return UnsupportedContent(f"{what} ended in a crash ({_ending(code)}).", hint=hint)


def _ending(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"


MAX_RUNNING = 4
"""Children that work at the same time, of all tasks."""
MAX_IDLE = 3
"""Children that wait for a next call, of all tasks."""
IDLE_SECONDS = 30.0
MAX_CALLS = 200
MAX_IDLE_MEGABYTES = 400
"""A child that once needed more is not kept."""


class Workers:
    """A service: runs the functions of tasks in child processes; see the module."""

    def __init__(self, processes: Processes, idle_seconds: float = IDLE_SECONDS) -> None:
        self._processes = processes
        self._idle_seconds = idle_seconds
        self._places = asyncio.Semaphore(MAX_RUNNING)
        self._idle: list[tuple[WorkerProcess, asyncio.TimerHandle]] = []
        self._ending: set[asyncio.Task[None]] = set()

    @classmethod
    def open(cls, services: Services) -> Self:
        """No child before the first call."""
        from toolcrib.system.processes import Processes

        return cls(services.use(Processes))

    @property
    def idle(self) -> int:
        """How many children wait for a next call."""
        return len(self._idle)

    async def run(
        self,
        task: Task,
        request: Mapping[str, Any],
        data: bytes = b"",
        deadline: float | None = None,
        files: Sequence[int] = (),
    ) -> tuple[dict[str, Any], bytes]:
        """What the function of a task makes of a request.

        Args:
            task: the function and its bounds.
            request: JSON values.
            data: what the function works on.
            deadline: a `time.monotonic()` value after which it is stopped, or None.
            files: descriptors that stay open until the end, for the child.

        Raises:
            TimedOut: it takes too long.
            TooLarge: it needs too much memory, or gives too much.
            Busy: too many such calls run for all of that time.
            Unavailable: it is given files, and this system cannot keep it to them.
            UnsupportedContent: it crashed.
            Internal: it failed, or could not be loaded.
            ToolError: what the function itself raises.
        """
        if files and sys.platform != "linux":
            raise Unavailable(
                f"{task.what} needs Linux, which keeps it to its files.",
                hint="Use query_table for tables; it works everywhere.",
            )
        end = time.monotonic() + task.seconds
        end = end if deadline is None else min(end, deadline)
        await self._place(task, end)
        try:
            return await self._run(task, request, data, end, files)
        finally:
            self._places.release()

    async def _place(self, task: Task, end: float) -> None:
        try:
            async with asyncio.timeout(max(end - time.monotonic(), 0)):
                await self._places.acquire()
        except TimeoutError:
            raise Busy(f"{task.what} has to wait: too much is being worked on.") from None

    async def _run(
        self,
        task: Task,
        request: Mapping[str, Any],
        data: bytes,
        end: float,
        files: Sequence[int],
    ) -> tuple[dict[str, Any], bytes]:
        began = time.monotonic()
        child: WorkerProcess | None = None
        fit = False
        try:
            async with asyncio.timeout(max(end - began, 0)):
                child = None if files else self._waiting(task)
                child = child or await WorkerProcess.start(task, self._processes, files)
                answer, content = await child.ask(request, data)
            fit = True
        except TimeoutError:
            took = time.monotonic() - began
            raise TimedOut(f"{task.what} was stopped after {took:.1f} s.", hint=task.hint) from None
        finally:
            if child is not None:
                if (fit or child.sound) and child.calls < MAX_CALLS and not child.single:
                    self._keep(child)
                else:
                    await child.end()
        if len(content) > task.max_bytes:
            raise TooLarge(f"{task.what} gives too much.", hint=task.hint)
        return answer, content

    def _waiting(self, task: Task) -> WorkerProcess | None:
        """A child of this task that is ready; of another event loop none is."""
        for item in reversed(self._idle):
            child, timer = item
            if child.task == task and child.is_ready():
                timer.cancel()
                self._idle.remove(item)
                return child
        return None

    def _keep(self, child: WorkerProcess) -> None:
        if child.peak > MAX_IDLE_MEGABYTES:
            self._dismiss(child)
            return
        while len(self._idle) >= MAX_IDLE:
            old, timer = self._idle.pop(0)
            timer.cancel()
            self._dismiss(old)
        timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._expire, child)
        self._idle.append((child, timer))

    def _expire(self, child: WorkerProcess) -> None:
        self._idle = [item for item in self._idle if item[0] is not child]
        self._dismiss(child)

    def _dismiss(self, child: WorkerProcess) -> None:
        ending = asyncio.ensure_future(child.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End all children."""
        idle, self._idle = self._idle, []
        for _, timer in idle:
            timer.cancel()
        await asyncio.gather(*(child.end() for child, _ in idle), *self._ending)
