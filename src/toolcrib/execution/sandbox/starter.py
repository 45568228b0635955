"""The starter of confined runs."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from toolcrib.core.context import Services
from toolcrib.execution.sandbox import confinement, namespaces
from toolcrib.execution.sandbox.confined import Confined, last_words, set_size
from toolcrib.execution.sandbox.confinement import memory_file
from toolcrib.execution.sandbox.landlock import DEVICE
from toolcrib.execution.sandbox.layout import IN_MEMORY, made_files, system_files
from toolcrib.execution.sandbox.masks import Mask
from toolcrib.execution.sandbox.namespace_helper import NamespaceHelper
from toolcrib.execution.sandbox.namespaces import (
    BoundaryFailed,
    MountsMoved,
    check_mounts,
    first_process,
    let_go,
    read_status,
)
from toolcrib.execution.sandbox.network import RunNetwork, open_network
from toolcrib.execution.sandbox.preparation import (
    PreparedRun,
    RunPreparer,
    RunRequest,
    cannot_run,
)
from toolcrib.execution.sandbox.readable_folders import ReadableFolders
from toolcrib.execution.sandbox.resources import ResourceGauge
from toolcrib.execution.sandbox.terms import SHORTAGES, Level, Overlay, ReadOnly, Report
from toolcrib.execution.sandbox.watchdog import watch
from toolcrib.files.paths import Workspace
from toolcrib.system.processes import Mark, Processes

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

STARTED = b"R"
"""What the confining program reports when it becomes the program."""


def start_error(status: bytes, words: str) -> Exception:
    """Why a program was not reached.

    Args:
        status: what the confining program reported.
        words: the last output of the boundary.
    """
    text = status.removeprefix(b"R").decode("utf-8", "replace")
    if text.startswith("X"):
        return cannot_run(text[1:])
    return BoundaryFailed(text[1:] or words or "it ended before the program was reached")


class Starter:
    """Starts runs.

    Args:
        services: of the toolbox.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        readable = services.use(ReadableFolders)
        self.preparer = RunPreparer(services.use(Workspace), services.config, readable)
        self._processes = services.use(Processes)

    async def start(self, request: RunRequest, report: Report) -> Confined:
        """Start a run.

        Raises:
            BoundaryFailed: the boundary could not be made.
            Unavailable, NotFound: see `Sandbox.spawn`.
        """
        with ExitStack() as undo:
            network = None
            access = request.options.get("network")
            if access is not None and access.hosts and report.level != "none":
                network = await open_network(self._services, access, report.level)
                undo.callback(network.close)
            prepared = await self._prepared(request, report, network)
            undo.callback(prepared.clean)
            confined = await self.launch(prepared)
            undo.pop_all()
            return confined

    async def _prepared(
        self, request: RunRequest, report: Report, network: RunNetwork | None
    ) -> PreparedRun:
        """Prepare in a thread; of a start that is cancelled meanwhile, nothing stays."""
        made: list[PreparedRun] = []
        given_up = threading.Event()

        def drop() -> None:
            with suppress(IndexError):
                made.pop().clean()

        def work() -> None:
            made.append(self.preparer.prepare(request, report, network))
            if given_up.is_set():
                drop()

        try:
            await asyncio.to_thread(work)
        except BaseException:
            given_up.set()
            drop()
            raise
        return made[0]

    async def launch(self, prepared: PreparedRun) -> Confined:
        """Start what was prepared and wait until it is confined."""
        plan, options = prepared.plan, prepared.request.options
        if options.get("look_for_lost") and prepared.scratch is not None:
            prepared.temporary.open_folder(str(prepared.scratch.path))
        lifeline = terminal = slave = -1
        with ExitStack() as theirs, ExitStack() as ours:
            status, plan.status = os.pipe()
            theirs.callback(os.close, plan.status)
            ours.callback(os.close, status)
            if plan.level != "none":
                plan.lifeline, lifeline = os.pipe()
                theirs.callback(os.close, plan.lifeline)
                ours.callback(os.close, lifeline)
            if (pty := options.get("pty")) is not None:
                terminal, slave = os.openpty()
                theirs.callback(os.close, slave)
                ours.callback(os.close, terminal)
                set_size(terminal, pty.rows, pty.columns)
                os.set_blocking(terminal, False)
                plan.accesses.append((os.ttyname(slave), DEVICE))

            def begin(mark: Mark) -> subprocess.Popen[bytes]:
                return self._popen(prepared, mark, slave)

            process = await self._processes.adopt(begin)
            ours.pop_all()
        confined = Confined(
            process,
            plan.level,
            terminal=terminal,
            lifeline=lifeline,
            output_bytes=prepared.request.limits.output_bytes,
        )
        confined.at_end = lambda: self._finish(prepared, confined)
        confined.notes = tuple(prepared.notes)
        confined.masked = tuple(mask.path for mask in prepared.layout.mounts())
        try:
            await confined.connect()
            if plan.level == "strong":
                await self._begin(confined, prepared, status, lifeline)
            else:
                reported = await read_status(status)
                if reported != STARTED:
                    raise start_error(reported, await last_words(confined))
                prepared.check_moves()
                self._watch(confined, prepared)
        except BaseException:
            try:
                await confined.kill(0)
            finally:
                confined.close()
            raise
        finally:
            os.close(status)
            # Not waited for: the kernel takes some milliseconds to end watches.
            with suppress(RuntimeError):  # no more threads: then it ends with the run
                asyncio.get_running_loop().run_in_executor(None, prepared.end_watch)
        return confined

    async def _begin(
        self, confined: Confined, prepared: PreparedRun, status: int, gate: int
    ) -> None:
        """Let a program in namespaces begin, after what is to be done in there before."""
        options = prepared.request.options
        try:
            pid, first = await first_process(status)
            confined.first = first
            # Before anything is made in there: it may have to be started once more.
            is_seen = await asyncio.to_thread(check_mounts, pid, prepared.layout)
            _, _, late = await asyncio.to_thread(prepared.layout.split)
            if late:
                await self._cover(first.pidfd, late)
            prepared.check_moves()
            if prepared.network is not None:
                await prepared.network.enter(first.pidfd)
            if (on_namespace := options.get("on_namespace")) is not None:
                await on_namespace(first.pidfd)
            self._watch(confined, prepared)
            if options.get("look_for_lost") and is_seen:
                prepared.temporary.open_inside(pid)
            await let_go(pid, prepared.plan, gate)
        except MountsMoved:
            raise
        except BoundaryFailed as failed:
            raise start_error(b"", str(failed) or await last_words(confined)) from None
        confined.close_lifeline()

    async def _cover(self, pidfd: int, masks: Sequence[Mask]) -> None:
        """Mount what was too much for bubblewrap."""
        try:
            helper = await NamespaceHelper.open(self._processes, pidfd, "mnt")
            try:
                for mask in masks:
                    try:
                        await helper.cover(mask)
                    except OSError as error:
                        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):
                            raise MountsMoved.of(mask.path) from None
                        raise
            finally:
                await helper.close()
        except OSError as error:
            raise BoundaryFailed(f"not all protected names could be covered: {error}") from None

    def _watch(self, confined: Confined, prepared: PreparedRun) -> None:
        """Have the watchdog enforce the limits of the whole run."""
        assert prepared.gauge is not None
        prepared.gauge.pid = confined.pid
        watch(confined, prepared.gauge, prepared.request.limits)

    def _popen(self, prepared: PreparedRun, mark: Mark, slave: int) -> subprocess.Popen[bytes]:
        plan, options = prepared.plan, prepared.request.options
        with ExitStack() as stack:
            passed = [fd for fd in (plan.status, plan.lifeline) if fd >= 0]

            def keep(data: bytes) -> int:
                fd = memory_file(data)
                stack.callback(os.close, fd)
                passed.append(fd)
                return fd

            variables, folder = {mark.name: mark.value}, "/"
            if plan.level == "strong":
                contents = system_files() | made_files() | prepared.layout.copies
                files = {path: keep(data) for path, data in contents.items()}
                words = prepared.layout.arguments(files)
                argv = namespaces.command(prepared.report.program, words, plan, keep)
            elif sys.platform != "linux":  # no confining program, and no limits either
                argv, variables, folder = plan.argv, {**plan.env, **variables}, plan.cwd
            else:
                plan.env[mark.name] = mark.value
                if plan.level == "kernel":
                    variables = {}  # a sweep for the mark must not end the supervisor first
                argv = confinement.command(keep(plan.packed()), keep(confinement.child_code()))
            data = options.get("stdin")
            source = subprocess.DEVNULL if data is None else keep(data)
            source = slave if slave >= 0 else source
            output = slave if slave >= 0 else subprocess.PIPE
            errors = subprocess.STDOUT if options.get("merge") and slave < 0 else output
            # Before the program runs: what it takes while the event loop is busy counts too.
            prepared.gauge = _gauge(prepared.request, plan.level)
            try:
                popen = subprocess.Popen(  # noqa: S603 - what to run is decided before
                    argv,
                    stdin=source,
                    stdout=output,
                    stderr=errors,
                    cwd=folder,
                    env=variables,
                    bufsize=0,
                    pass_fds=passed,
                    start_new_session=True,
                )
            except OSError as error:
                if error.errno in SHORTAGES:
                    raise
                raise BoundaryFailed(f"{argv[0]}: {error.strerror}") from None
            if sys.platform != "linux":
                os.write(plan.status, STARTED)
            return popen

    async def _finish(self, prepared: PreparedRun, confined: Confined) -> None:
        if prepared.network is not None:
            prepared.network.close()
        lost = await asyncio.to_thread(prepared.temporary.close)
        confined.lost += lost  # read after the wait: two may end it at once
        await asyncio.to_thread(prepared.clean)  # it may hold very much


def _gauge(request: RunRequest, level: Level) -> ResourceGauge:
    """What measures a run that is about to start."""
    if level == "strong":
        gauge = ResourceGauge(0, 2, namespaces=True, in_memory=IN_MEMORY)
    else:
        gauge = ResourceGauge(0, int(level == "kernel"))
    gauge.counted = level != "none" and os.getuid() != 0
    gauge.folders = [
        str(view.upper) if isinstance(view, Overlay) else root
        for root, view in request.views.items()
        if not isinstance(view, ReadOnly)
    ]
    gauge.folders += map(str, request.options.get("writable", ()))
    return gauge
