"""How a run is put together and started, at each level."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from toolcrib.core.config import Config
from toolcrib.kit.paths import Workspace
from toolcrib.kit.paths.workspace import own_places
from toolcrib.kit.process import Mark, Processes
from toolcrib.kit.sandbox import environment, landlock, launcher, numbering, plan
from toolcrib.kit.sandbox.answer import BoundaryFailed, fault, told
from toolcrib.kit.sandbox.cgroups import Group
from toolcrib.kit.sandbox.confined import Confined, Stopped, last_words, set_size
from toolcrib.kit.sandbox.filtering import Sockets, program
from toolcrib.kit.sandbox.interpreters import folders_of, own_folders
from toolcrib.kit.sandbox.layout import HOME, IN_MEMORY, Layout, made_files, system_files
from toolcrib.kit.sandbox.masks import Mask, Masks
from toolcrib.kit.sandbox.network import PLACE, PORT, Door, Doors
from toolcrib.kit.sandbox.places import empty_file, scratch_folder
from toolcrib.kit.sandbox.rules import kernel_rules, strong_rules
from toolcrib.kit.sandbox.terms import Level, Limits, Overlay, Pty, ReadOnly, Report, View
from toolcrib.kit.sandbox.usage import Gauge, threads_of
from toolcrib.kit.sandbox.watchdog import Watchdog

Stdin: TypeAlias = bytes | Literal["pipe"] | None
NICE = 5
"""Runs stand back a little behind the server, which has to keep an eye on them."""
MACHINE = platform.machine()


@dataclass(frozen=True, slots=True)
class Request:
    """What `Sandbox.spawn` was asked for, with the views by real path."""

    argv: tuple[str, ...]
    cwd: str
    views: Mapping[str, View]
    env: Mapping[str, str] | None = None
    stdin: Stdin = None
    merge: bool = False
    pty: Pty | None = None
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(slots=True)
class Prepared:
    """What is worked out before anything starts."""

    layout: Layout
    plan: plan.Plan
    scratch: str = ""
    door: Door | None = None
    group: Group | None = None
    gauge: Gauge | None = None
    notes: list[str] = field(default_factory=list)


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
        self._workspace = workspace
        self._config = config
        self._processes = processes
        self._network = network
        self._masks = Masks(workspace.gate.protection)
        self._own = own_places(config)
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
                _lead_out(prepared, prepared.door)
            return await self.launch(request, prepared, report)
        except BaseException:
            self._clean(prepared)
            raise

    async def _prepared(self, request: Request, level: Level) -> Prepared:
        """Prepare in a thread; of a start that is cancelled meanwhile, nothing stays."""
        made: list[Prepared] = []
        given_up = threading.Event()

        def drop() -> None:
            with suppress(IndexError):
                self._clean(made.pop())

        def work() -> None:
            made.append(self.prepare(request, level))
            if given_up.is_set():
                drop()

        try:
            await asyncio.to_thread(work)
        except BaseException:
            given_up.set()
            drop()
            raise
        return made[0]

    def prepare(self, request: Request, level: Level) -> Prepared:
        """Work out what the run sees; blocking."""
        limits = request.limits
        # What an environment in the workspace says of itself opens nothing: the caller names it.
        theirs = self._workspace.holds(request.argv[0])
        readable = [*own_folders(), *(() if theirs else folders_of(request.argv[0]))]
        readable += [os.path.realpath(Path(path).expanduser()) for path in request.readable]
        readable = [path for path in dict.fromkeys(readable) if Path(path).exists()]
        writable = [os.path.realpath(path) for path in request.writable]
        masks, notes = self._covered(request, readable) if level == "strong" else ([], [])
        layout = Layout(
            roots=request.views,
            links={r.name: r.real for r in self._workspace.roots if r.name != r.real},
            readable=readable,
            writable=writable,
            masks=masks,
            empty=empty_file() if masks else "",
            small=min(limits.memory_bytes // 4, limits.disk_bytes),
        )
        made = plan.Plan(argv=list(request.argv), env={}, cwd=request.cwd)
        made.terminal = request.pty is not None
        prepared = Prepared(layout, made, notes=notes)
        try:
            self._fill(request, prepared, level)
        except BaseException:
            self._clean(prepared)
            raise
        return prepared

    def _fill(self, request: Request, prepared: Prepared, level: Level) -> None:
        """What hangs on the level."""
        limits, made, layout = request.limits, prepared.plan, prepared.layout
        visible = [*layout.readable, *layout.writable, *request.views]
        allowed = self._config.run.environment
        if level == "none":
            made.env = environment.bare(allowed, request.env)
            made.confined = False
        elif level == "kernel":
            self._kernel(request, prepared, visible)
        else:
            self._strong(request, prepared, visible)
        if request.pty is not None:
            made.env.setdefault("TERM", "xterm-256color")
        made.most = limits.processes
        made.nice = NICE if level != "none" else 0
        made.env.setdefault("PWD", request.cwd)
        processes = limits.processes + 1 if level == "strong" else 0
        if level == "kernel" and not made.root:
            # There it counts all that the user runs, so that comes on top.
            processes = limits.processes + threads_of(os.getuid())
        made.limits = plan.numbers(limits, processes=processes)
        prepared.group = Group.make(limits) if level != "none" else None
        if level == "strong" and os.getuid() == 0 and numbering.is_own():
            # To root the system refuses no process, so the namespace gets no more numbers.
            made.highest = numbering.highest(limits.processes)
        if prepared.group is not None:
            made.group = prepared.group.door

    def _strong(self, request: Request, prepared: Prepared, visible: Sequence[str]) -> None:
        made = prepared.plan
        allowed = self._config.run.environment
        made.env = environment.variables(HOME, "/tmp", allowed, visible, request.env)  # noqa: S108
        made.filter = program(MACHINE, Sockets(), alone=True, counted=False)
        written = [p for p, view in request.views.items() if not isinstance(view, ReadOnly)]
        rules = strong_rules([*written, *prepared.layout.writable])
        made.landlock = rules.packed(landlock.version())

    def _kernel(self, request: Request, prepared: Prepared, visible: Sequence[str]) -> None:
        made = prepared.plan
        allowed = self._config.run.environment
        prepared.scratch = scratch_folder()
        home = f"{prepared.scratch}/home"
        Path(home).mkdir(mode=0o700)
        made.env = environment.variables(home, prepared.scratch, allowed, visible, request.env)
        sockets = Sockets(unix=False, inet=False, netlink=False, datagrams=False)
        made.filter = program(MACHINE, sockets, alone=False, counted=False)
        made.asking_filter = program(MACHINE, sockets, alone=False, counted=True)
        written = [p for p, view in request.views.items() if not isinstance(view, ReadOnly)]
        rules = kernel_rules([*visible], [*written, *prepared.layout.writable, prepared.scratch])
        made.landlock = rules.packed(landlock.version())
        made.stage = True
        made.capabilities = made.root = os.getuid() == 0

    def _covered(self, request: Request, readable: Sequence[str]) -> tuple[list[Mask], list[str]]:
        masks: list[Mask] = []
        notes: list[str] = []
        for root in request.views:
            found, whole = self._masks.beneath(root)
            masks += found
            if not whole:
                notes.append(f"{root} is too large: not all protected names in it are covered")
        tops = [*request.views, *readable]
        for place in self._own:
            real = os.path.realpath(place)
            if any(real == top or real.startswith(f"{top.rstrip('/')}/") for top in tops):
                if Path(real).is_dir():
                    masks.append(Mask(real, "hidden folder"))
                elif Path(real).exists():
                    masks.append(Mask(real, "hidden file"))
        return masks, notes

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
            source: int
            if slave >= 0:
                source = slave
            elif isinstance(request.stdin, bytes):
                source = held("stdin", request.stdin)
            else:
                source = subprocess.PIPE if request.stdin == "pipe" else subprocess.DEVNULL
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
        scratch, prepared.scratch = prepared.scratch, ""
        self._clean(prepared)
        if scratch:  # which may hold very much
            await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)

    def _clean(self, prepared: Prepared) -> None:
        if prepared.door is not None:
            prepared.door.close()
            prepared.door = None
        if prepared.group is not None:
            prepared.group.close()
            prepared.group = None
        if prepared.scratch:
            shutil.rmtree(prepared.scratch, ignore_errors=True)
            prepared.scratch = ""


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


def _lead_out(prepared: Prepared, door: Door) -> None:
    """Let a run use its way out."""
    made = prepared.plan
    made.env = {**door.variables(), **made.env}
    if door.socket:
        prepared.layout.doors[door.socket] = PLACE
        made.relay = (PORT, PLACE)
        return
    sockets = Sockets(unix=False, inet=True, netlink=False, datagrams=False)
    made.filter = program(MACHINE, sockets, alone=False, counted=False)
    made.asking_filter = program(MACHINE, sockets, alone=False, counted=True)
    assert made.landlock is not None
    attributes, paths, _ = made.landlock
    made.landlock = (attributes, paths, [(door.lease.port, landlock.CONNECT_TCP)])
