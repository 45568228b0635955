"""How a run is started and its limits are looked after."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress

from toolcrib.core.config import Config
from toolcrib.execution.sandbox import pid_limit as numbering
from toolcrib.execution.sandbox import plan
from toolcrib.execution.sandbox.answer import BoundaryFailed, fault, told
from toolcrib.execution.sandbox.confined import Confined, Stopped, last_words, set_size
from toolcrib.execution.sandbox.launcher import confinement as launcher
from toolcrib.execution.sandbox.layout import IN_MEMORY, made_files, system_files
from toolcrib.execution.sandbox.network import Doors
from toolcrib.execution.sandbox.preparation import (
    MACHINE,
    Prepared,
    Preparer,
    Request,
    Stdin,
    lead_out,
)
from toolcrib.execution.sandbox.terms import Level, Limits, Overlay, ReadOnly, Report
from toolcrib.execution.sandbox.usage import Gauge
from toolcrib.execution.sandbox.watchdog import Watchdog
from toolcrib.files.workspace import Workspace
from toolcrib.system.processes import Mark, Processes


class Starter:
    """Starts runs.

    Args:
        workspace: its roots and protected names.
        config: `run`, and where our own files are.
        processes: who looks after what is started.
        network: opens the way out, for runs that are given hosts.
    """

    def __init__(
        self, workspace: Workspace, config: Config, processes: Processes, network: Doors
    ) -> None:
        self._preparer = Preparer(workspace, config)
        self._processes = processes
        self._network = network
        self._watchdog = Watchdog()

    async def start(self, request: Request, report: Report) -> Confined:
        """Start a run.

        Raises:
            BoundaryFailed: the boundary could not be made.
            Unavailable, NotFound: see `Sandbox.spawn`.
        """
        prepared = await self._prepared(request, report.level)
        try:
            if request.network and report.level != "none":
                prepared.door = await self._network.open(request.network, report.level)
                lead_out(prepared, prepared.door)
            return await self.launch(request, prepared, report)
        except BaseException:
            prepared.clean()
            raise

    async def _prepared(self, request: Request, level: Level) -> Prepared:
        """Prepare in a thread; of a start that is cancelled meanwhile, nothing stays."""
        made: list[Prepared] = []
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

    async def launch(self, request: Request, prepared: Prepared, report: Report) -> Confined:
        """Start what was prepared and wait until it is confined."""
        made = prepared.plan
        heard, tells = os.pipe()
        made.status = tells
        lifeline = terminal = slave = -1
        with ExitStack() as theirs, ExitStack() as ours:
            theirs.callback(os.close, tells)
            ours.callback(os.close, heard)
            if made.stage:
                made.lifeline, lifeline = os.pipe()
                theirs.callback(os.close, made.lifeline)
                ours.callback(os.close, lifeline)
            if request.pty is not None:
                terminal, slave = os.openpty()
                theirs.callback(os.close, slave)
                ours.callback(os.close, terminal)
                set_size(terminal, request.pty.rows, request.pty.columns)
                os.set_blocking(terminal, False)

            def begin(mark: Mark) -> subprocess.Popen[bytes]:
                return self._popen(request, prepared, report, mark, slave)

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
            said = await told(heard)
            if said != b"R":
                words = await last_words(confined)
                raise fault(said, request.argv[0], request.cwd, words)
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
            os.close(heard)
        return confined

    def _watch(self, confined: Confined, gauge: Gauge, limits: Limits) -> None:
        """Have the limits of the whole run looked after."""
        gauge.pid = confined.pid
        loop = asyncio.get_running_loop()

        def tell(reason: Stopped) -> None:
            loop.call_soon_threadsafe(confined.stop, reason)

        self._watchdog.watch(confined, gauge, limits, tell)

    def _popen(
        self, request: Request, prepared: Prepared, report: Report, mark: Mark, slave: int
    ) -> subprocess.Popen[bytes]:
        made = prepared.plan
        with ExitStack() as stack:
            passed = [made.status]
            passed += [fd for fd in (made.lifeline, made.group) if fd >= 0]

            if made.highest:
                with suppress(OSError):
                    made.settings = numbering.settings()
                    stack.callback(os.close, made.settings)
                    passed.append(made.settings)

            def held(name: str, data: bytes) -> int:
                fd = plan.in_memory(name, data)
                stack.callback(os.close, fd)
                passed.append(fd)
                return fd

            outer: list[str] = []
            variables = {mark.name: mark.value}
            if report.level == "strong":
                files = {
                    path: held("file", data)
                    for path, data in {**system_files(), **made_files()}.items()
                }
                outer = [report.program, *prepared.layout.arguments(files), "--"]
            else:
                made.env[mark.name] = mark.value
                if made.stage:
                    variables = {}  # whoever looks for the mark must not end the stage first
            if report.quick and made.relay is None:
                start = held("start", launcher.image(made, MACHINE))
                argv = [*outer, f"/proc/self/fd/{start}"]
            else:
                code = held("launcher", plan.inside_code())
                argv = [*outer, *plan.command(held("plan", made.packed()), code)]
            source = slave if slave >= 0 else _source(request.stdin, held)
            output = slave if slave >= 0 else subprocess.PIPE
            errors = subprocess.STDOUT if request.merge and slave < 0 else output
            # Before the program runs: what it takes while the event loop is busy counts too.
            prepared.gauge = _gauge(request, report.level, stage=made.stage)
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

    async def _finish(self, confined: Confined, prepared: Prepared) -> None:
        if prepared.group is not None and prepared.group.ran_out():
            confined.stopped = confined.stopped or "memory"
        scratch, prepared.scratch = prepared.scratch, None
        prepared.clean()
        if scratch is not None:  # which may hold very much
            await asyncio.to_thread(scratch.remove)


def _source(stdin: Stdin, held: Callable[[str, bytes], int]) -> int:
    """Where a run reads from, as `subprocess` takes it."""
    if isinstance(stdin, bytes):
        return held("stdin", stdin)
    return subprocess.PIPE if stdin == "pipe" else subprocess.DEVNULL


def _gauge(request: Request, level: Level, *, stage: bool) -> Gauge:
    """What measures a run that is about to start."""
    if level == "strong":
        gauge = Gauge(0, 2, namespaces=True, in_memory=IN_MEMORY)
    else:
        gauge = Gauge(0, int(stage))
    gauge.counted = level != "none" and os.getuid() != 0
    gauge.folders = [
        str(view.upper) if isinstance(view, Overlay) else root
        for root, view in request.views.items()
        if not isinstance(view, ReadOnly)
    ]
    return gauge
