"""What a run gets at each level, worked out before anything starts."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from toolcrib.core.config import Config
from toolcrib.execution.sandbox import environment, landlock, plan
from toolcrib.execution.sandbox import pid_limit as numbering
from toolcrib.execution.sandbox.cgroups import Group
from toolcrib.execution.sandbox.interpreters import folders_of, own_folders
from toolcrib.execution.sandbox.layout import HOME, Layout
from toolcrib.execution.sandbox.masks import Mask, Masks
from toolcrib.execution.sandbox.network import PLACE, PORT, Door
from toolcrib.execution.sandbox.places import Scratch, empty_file
from toolcrib.execution.sandbox.rules import kernel_rules, strong_rules
from toolcrib.execution.sandbox.seccomp import Sockets, program
from toolcrib.execution.sandbox.terms import Level, Limits, Pty, ReadOnly, View
from toolcrib.execution.sandbox.usage import Gauge, threads_of
from toolcrib.files.workspace import Workspace, own_places

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
    scratch: Scratch | None = None
    door: Door | None = None
    group: Group | None = None
    gauge: Gauge | None = None
    notes: list[str] = field(default_factory=list)

    def clean(self) -> None:
        """Remove what was made for it; a second time does nothing."""
        if self.door is not None:
            self.door.close()
            self.door = None
        if self.group is not None:
            self.group.close()
            self.group = None
        if self.scratch is not None:
            self.scratch.remove()
            self.scratch = None


class Preparer:
    """Works out what runs get.

    Args:
        workspace: its roots and protected names.
        config: `run`, and where our own files are.
    """

    def __init__(self, workspace: Workspace, config: Config) -> None:
        self._workspace = workspace
        self._config = config
        self._masks = Masks(workspace.gate.protection)
        self._own = own_places(config)

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
            prepared.clean()
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
        prepared.scratch = Scratch.make()
        scratch = prepared.scratch.path
        home = f"{scratch}/home"
        Path(home).mkdir(mode=0o700)
        made.env = environment.variables(home, scratch, allowed, visible, request.env)
        sockets = Sockets(unix=False, inet=False, netlink=False, datagrams=False)
        made.filter = program(MACHINE, sockets, alone=False, counted=False)
        made.asking_filter = program(MACHINE, sockets, alone=False, counted=True)
        written = [p for p, view in request.views.items() if not isinstance(view, ReadOnly)]
        rules = kernel_rules([*visible], [*written, *prepared.layout.writable, scratch])
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


def lead_out(prepared: Prepared, door: Door) -> None:
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
