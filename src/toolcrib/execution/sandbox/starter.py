"""The starter of confined runs, and the resource watchdog that ends those above their limits."""

from __future__ import annotations

import asyncio
import heapq
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from toolcrib.core.config import Config
from toolcrib.core.errors import NotFound, Unavailable
from toolcrib.execution.sandbox import launcher, resources
from toolcrib.execution.sandbox.confined import Confined, Stopped, last_words, set_size
from toolcrib.execution.sandbox.landlock import terminal_rule
from toolcrib.execution.sandbox.layout import IN_MEMORY, made_files, system_files
from toolcrib.execution.sandbox.network import RunNetworks
from toolcrib.execution.sandbox.preparation import (
    MACHINE,
    OnNamespace,
    PreparedRun,
    RunPreparer,
    RunRequest,
    Stdin,
    connect_network,
)
from toolcrib.execution.sandbox.resources import ResourceGauge, Usage
from toolcrib.execution.sandbox.terms import Level, Limits, Overlay, ReadOnly, Report
from toolcrib.files.paths import Workspace
from toolcrib.system.processes import Mark, Processes

MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.004, 0.1
"""Seconds between two measurements."""
MAX_FILL_BYTES_PER_SECOND = 3e9
"""Bytes a second that a machine can fill."""
MAX_FORKS_PER_SECOND = 3_000
"""Processes a second that it can start."""
REFUSED_FACTOR = 2
"""Where further processes are refused anyway, a run that has many is not ended for it."""


@dataclass(order=True, slots=True)
class WatchedRun:
    """A run under watch, and when it is measured next."""

    when: float
    confined: Confined = field(compare=False)
    gauge: ResourceGauge = field(compare=False)
    limits: Limits = field(compare=False)
    on_exceeded: Callable[[Stopped], None] = field(compare=False)


class Watchdog:
    """Measures runs until they end; the thread lives as long as there are any.

    A thread and not a task: a tool that keeps the event loop busy must not be the reason
    that a machine runs out of memory.
    """

    def __init__(self) -> None:
        self._runs: list[WatchedRun] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def watch(
        self,
        confined: Confined,
        gauge: ResourceGauge,
        limits: Limits,
        on_exceeded: Callable[[Stopped], None],
    ) -> None:
        """Begin to watch a run.

        Args:
            confined: it.
            gauge: measures it.
            limits: what it may use.
            on_exceeded: called in the thread with what it used too much of, after it was killed.
        """
        with self._changed:
            when = time.monotonic() + pause_seconds(Usage(), limits)
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    raise Unavailable(
                        "The system refuses another thread, without which nothing looks after "
                        "the limits of a run.",
                        hint="Stop other programs of this user, then try again.",
                    ) from None
                self._thread = thread
            heapq.heappush(self._runs, WatchedRun(when, confined, gauge, limits, on_exceeded))
            self._changed.notify()

    def _run(self) -> None:
        while (run := self._next()) is not None:
            if run.confined.exit_code is not None or run.confined.is_over:
                continue
            try:
                usage = run.gauge.measure(run.limits.memory_bytes, run.limits.disk_bytes)
                reason = exceeded(usage, run.limits, counted=run.gauge.counted)
                if reason == "memory":
                    usage = self._measure_again(run)
                    reason = exceeded(usage, run.limits, counted=run.gauge.counted)
            except Exception:  # noqa: BLE001 - the other runs are still to be looked after
                usage, reason = Usage(), ""
            if reason:
                _end(run, reason)
                continue
            run.when = time.monotonic() + pause_seconds(usage, run.limits)
            with self._changed:
                heapq.heappush(self._runs, run)

    def _measure_again(self, run: WatchedRun) -> Usage:
        """What those use that stay: for a moment a child has the memory of its parent."""
        known = run.gauge.members
        time.sleep(MIN_PAUSE_SECONDS)
        return run.gauge.measure(run.limits.memory_bytes, run.limits.disk_bytes, among=known)

    def _next(self) -> WatchedRun | None:
        """The run whose time has come; None when there are no more."""
        with self._changed:
            while self._runs:
                left = self._runs[0].when - time.monotonic()
                if left <= 0:
                    return heapq.heappop(self._runs)
                self._changed.wait(left)
            self._thread = None
            return None


def exceeded(usage: Usage, limits: Limits, *, counted: bool) -> Stopped:
    """What a run uses too much of; "" where there is nothing."""
    if usage.memory > limits.memory_bytes:
        return "memory"
    if usage.processes > limits.processes * (REFUSED_FACTOR if counted else 1):
        return "processes"
    if usage.disk > limits.disk_bytes:
        return "disk"
    return ""


def pause_seconds(usage: Usage, limits: Limits) -> float:
    """How long a run can be left alone: it must not get far above a limit meanwhile."""
    soonest = min(
        (limits.memory_bytes - usage.memory) / MAX_FILL_BYTES_PER_SECOND,
        (limits.disk_bytes - usage.disk) / MAX_FILL_BYTES_PER_SECOND,
        (limits.processes - usage.processes) / MAX_FORKS_PER_SECOND,
    )
    return min(max(soonest / 2, MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS)


def _end(run: WatchedRun, reason: Stopped) -> None:
    """Stop it at once, in this thread; the rest of its end is the event loop's."""
    run.confined.stopped = run.confined.stopped or reason
    for pid in run.gauge.innermost():
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with suppress(RuntimeError):  # the event loop may be closed
        run.on_exceeded(reason)


STATUS_SECONDS = 20.0
"""How long the launcher may take to report."""


class BoundaryFailed(Exception):
    """The boundary itself could not be made, though the probe had worked."""

    def unavailable(self) -> Unavailable:
        """As the caller gets it."""
        return Unavailable(
            f"The sandbox could not be started: {self}.", hint="`toolcrib doctor` says more."
        )


async def read_status(fd: int) -> bytes:
    """What the launcher reports: R alone once the program took over, else why not."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    status = b""

    def on_readable() -> None:
        nonlocal status
        data = os.read(fd, 4096)
        status += data
        if not data:
            loop.remove_reader(fd)
            ended.set()

    loop.add_reader(fd, on_readable)
    try:
        async with asyncio.timeout(STATUS_SECONDS):
            await ended.wait()
    except TimeoutError:
        pass
    finally:
        loop.remove_reader(fd)
    return status


def parse_status(status: bytes) -> tuple[bytes, str]:
    """A letter for what went wrong, and what the system says of it."""
    status = status.removeprefix(b"R")
    what, _, error = status[1:].partition(b"\0")
    words = [what.decode("utf-8", "replace")] if what else []
    words += [os.strerror(int.from_bytes(error, "little"))] if error else []
    return status[:1], ": ".join(words)


def launch_error(status: bytes, program: str, folder: str, words: str) -> Exception:
    """Why a program was not reached.

    Args:
        status: what the launcher reported.
        program: it.
        folder: where it was to start.
        words: the last output of the boundary.
    """
    kind, text = parse_status(status)
    match kind:
        case b"M":
            return Unavailable(
                f"The program {program} is not there.",
                hint="Install it, name another, or make its folder readable with run.readable.",
            )
        case b"X":
            return Unavailable(
                f"The program cannot be run: {text}.",
                hint="It must be a program of this machine, or a script whose first line"
                " names one, and have the right to be executed.",
            )
        case b"D":
            return NotFound(
                f"The folder {folder} cannot be used: {text}.",
                hint="Name a folder of the workspace that exists.",
            )
    return BoundaryFailed(text or words or "it ended before the program was reached")


class Starter:
    """Starts runs.

    Args:
        workspace: its roots and protected names.
        config: `run`, and where our own files are.
        processes: who looks after what is started.
        network: opens the way out, for runs that are given hosts.
    """

    def __init__(
        self, workspace: Workspace, config: Config, processes: Processes, network: RunNetworks
    ) -> None:
        self._preparer = RunPreparer(workspace, config)
        self._processes = processes
        self._network = network
        self._watchdog = Watchdog()

    async def start(self, request: RunRequest, report: Report) -> Confined:
        """Start a run.

        Raises:
            BoundaryFailed: the boundary could not be made.
            Unavailable, NotFound: see `Sandbox.spawn`.
        """
        prepared = await self._prepared(request, report.level)
        try:
            if request.network.hosts and report.level != "none":
                prepared.network = await self._network.open(request.network, report.level)
                connect_network(prepared, prepared.network)
            return await self.launch(request, prepared, report)
        except BaseException:
            prepared.clean()
            raise

    async def _prepared(self, request: RunRequest, level: Level) -> PreparedRun:
        """Prepare in a thread; of a start that is cancelled meanwhile, nothing stays."""
        made: list[PreparedRun] = []
        given_up = threading.Event()

        def drop() -> None:
            with suppress(IndexError):
                made.pop().clean()

        def work() -> None:
            made.append(self._preparer.prepare(request, level))
            if given_up.is_set():
                drop()

        try:
            await asyncio.to_thread(work)
        except BaseException:
            given_up.set()
            drop()
            raise
        return made[0]

    async def launch(self, request: RunRequest, prepared: PreparedRun, report: Report) -> Confined:
        """Start what was prepared and wait until it is confined."""
        made = prepared.plan
        status_reader, status_writer = os.pipe()
        made.status = status_writer
        lifeline = terminal = slave = gate = go = -1
        with ExitStack() as theirs, ExitStack() as ours:
            theirs.callback(os.close, status_writer)
            ours.callback(os.close, status_reader)
            if made.supervised:
                made.lifeline, lifeline = _pipe(theirs, ours)
            if request.on_namespace is not None and report.level == "strong":
                gate, go = _pipe(theirs, ours)
            if request.pty is not None:
                terminal, slave = os.openpty()
                theirs.callback(os.close, slave)
                ours.callback(os.close, terminal)
                set_size(terminal, request.pty.rows, request.pty.columns)
                os.set_blocking(terminal, False)
                if report.level == "kernel" and made.landlock is not None:
                    made.landlock[1].append(terminal_rule(os.ttyname(slave)))

            def begin(mark: Mark) -> subprocess.Popen[bytes]:
                return self._popen(request, prepared, report, mark, slave, gate)

            process = await self._processes.adopt(begin)
            ours.pop_all()
        confined = Confined(
            process,
            report.level,
            terminal=terminal,
            lifeline=lifeline,
            output_bytes=request.limits.output_bytes,
            at_end=lambda: self._finish(confined, prepared),
        )
        confined.notes = tuple(prepared.notes)
        try:
            await confined.connect()
            if request.on_namespace is not None:
                await _enter(confined, request.on_namespace, go)
            status = await read_status(status_reader)
            if status != b"R":
                words = await last_words(confined)
                raise launch_error(status, request.argv[0], request.cwd, words)
            if report.level == "strong":
                confined.in_namespace()
            assert prepared.gauge is not None
            self._watch(confined, prepared.gauge, request.limits)
        except BaseException:
            try:
                await confined.kill(0)
            finally:
                confined.close()
            raise
        finally:
            os.close(status_reader)
        return confined

    def _watch(self, confined: Confined, gauge: ResourceGauge, limits: Limits) -> None:
        """Have the watchdog enforce the limits of the whole run."""
        gauge.pid = confined.pid
        loop = asyncio.get_running_loop()

        def notify(reason: Stopped) -> None:
            loop.call_soon_threadsafe(confined.stop, reason)

        self._watchdog.watch(confined, gauge, limits, notify)

    def _popen(
        self,
        request: RunRequest,
        prepared: PreparedRun,
        report: Report,
        mark: Mark,
        slave: int,
        gate: int,
    ) -> subprocess.Popen[bytes]:
        made = prepared.plan
        with ExitStack() as stack:
            passed = [made.status]
            passed += [fd for fd in (made.lifeline, made.group, gate) if fd >= 0]

            if made.pid_max:
                with suppress(OSError):
                    made.kernel_settings = resources.open_kernel_settings()
                    stack.callback(os.close, made.kernel_settings)
                    passed.append(made.kernel_settings)

            def memory_file(name: str, data: bytes) -> int:
                fd = launcher.memory_file(name, data)
                stack.callback(os.close, fd)
                passed.append(fd)
                return fd

            outer: list[str] = []
            variables = {mark.name: mark.value}
            if report.level == "strong":
                files = {
                    path: memory_file("file", data)
                    for path, data in (
                        system_files() | made_files() | prepared.layout.copies
                    ).items()
                }
                outer = [report.program, *prepared.layout.arguments(files)]
                outer += ["--block-fd", str(gate), "--"] if gate >= 0 else ["--"]
            else:
                made.env[mark.name] = mark.value
                if made.supervised:
                    variables = {}  # a sweep for the mark must not end the supervisor first
            if report.quick and made.relay is None:
                start = memory_file("start", launcher.image(made, MACHINE))
                argv = [*outer, f"/proc/self/fd/{start}"]
            else:
                code = memory_file("launcher", launcher.inside_code())
                argv = [*outer, *launcher.command(memory_file("plan", made.packed()), code)]
            source = slave if slave >= 0 else _source(request.stdin, memory_file)
            output = slave if slave >= 0 else subprocess.PIPE
            errors = subprocess.STDOUT if request.merge and slave < 0 else output
            # Before the program runs: what it takes while the event loop is busy counts too.
            prepared.gauge = _gauge(request, report.level, supervised=made.supervised)
            try:
                return subprocess.Popen(  # noqa: S603 - what to run is decided before
                    argv,
                    stdin=source,
                    stdout=output,
                    stderr=errors,
                    cwd="/",
                    env=variables,
                    bufsize=0,
                    pass_fds=passed,
                    start_new_session=True,
                )
            except OSError as error:
                raise BoundaryFailed(f"{argv[0]}: {error.strerror}") from None

    async def _finish(self, confined: Confined, prepared: PreparedRun) -> None:
        if prepared.group is not None and prepared.group.ran_out():
            confined.stopped = confined.stopped or "memory"
        scratch, prepared.scratch = prepared.scratch, None
        prepared.clean()
        if scratch is not None:  # which may hold very much
            await asyncio.to_thread(scratch.remove)


def _pipe(theirs: ExitStack, ours: ExitStack) -> tuple[int, int]:
    """A pipe whose ends are closed with what they belong to."""
    reader, writer = os.pipe()
    theirs.callback(os.close, reader)
    ours.callback(os.close, writer)
    return reader, writer


async def _enter(confined: Confined, work: OnNamespace, go: int) -> None:
    """Do what is to be done in the namespace of a run, and then let its program begin."""
    if go < 0:
        return
    try:
        await confined.entered(work)
    finally:
        os.close(go)  # which is as good as a byte


def _source(stdin: Stdin, memory_file: Callable[[str, bytes], int]) -> int:
    """Where a run reads from, as `subprocess` takes it."""
    if isinstance(stdin, bytes):
        return memory_file("stdin", stdin)
    return subprocess.PIPE if stdin == "pipe" else subprocess.DEVNULL


def _gauge(request: RunRequest, level: Level, *, supervised: bool) -> ResourceGauge:
    """What measures a run that is about to start."""
    if level == "strong":
        gauge = ResourceGauge(0, 2, namespaces=True, in_memory=IN_MEMORY)
    else:
        gauge = ResourceGauge(0, int(supervised))
    gauge.counted = level != "none" and os.getuid() != 0
    gauge.folders = [
        str(view.upper) if isinstance(view, Overlay) else root
        for root, view in request.views.items()
        if not isinstance(view, ReadOnly)
    ]
    return gauge
