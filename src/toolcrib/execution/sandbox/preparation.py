"""What one run gets at its level, worked out before it starts: layout, plan, variables."""

from __future__ import annotations

import errno
import os
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias, TypedDict

from toolcrib.core.config import Config, data_folder, environment
from toolcrib.core.errors import NotFound, Unavailable
from toolcrib.execution.sandbox import resources
from toolcrib.execution.sandbox.confinement import LaunchPlan, rlimits
from toolcrib.execution.sandbox.landlock import accesses
from toolcrib.execution.sandbox.layout import HOME, STORES, TOP, SandboxRoot
from toolcrib.execution.sandbox.masks import Mask, Masks, masks_of_settings
from toolcrib.execution.sandbox.namespaces import MountsMoved
from toolcrib.execution.sandbox.network import RunNetwork
from toolcrib.execution.sandbox.readable_folders import ReadableFolders, real_place
from toolcrib.execution.sandbox.resources import ResourceGauge, threads_of
from toolcrib.execution.sandbox.seccomp import NO_SOCKETS, SOCKETS, TCP_SOCKETS, program
from toolcrib.execution.sandbox.temporary_folders import TemporaryFolders
from toolcrib.execution.sandbox.terms import (
    Limits,
    NetworkAccess,
    Pty,
    ReadOnly,
    Report,
    View,
    need_programs,
)
from toolcrib.execution.toolchains import (
    SYSTEM_FOLDERS,
    interpreter_folders,
    is_among,
    is_known,
    is_there,
    own_interpreter_folders,
)
from toolcrib.files.handles import read_plain
from toolcrib.files.paths import Workspace, code_within, own_places
from toolcrib.files.real_paths import real_path
from toolcrib.files.tree_events import MoveEvents
from toolcrib.system.locked_folders import LockedFolder, open_locked
from toolcrib.system.removal import FOLDER

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

SCRATCH_PREFIX = "run-"
MAX_FOLDERS_OF_PROGRAMS = 5_000
"""Folders of one installation that are searched for protected names, from the top down."""
SETTLED_SECONDS = 60.0
"""Seconds after which a folder that nobody holds is not one that is just being made."""


def empty_file() -> str:
    """A file that nobody can read and that has nothing in it."""
    path = data_folder() / "sandbox" / "nothing"
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o000))
    return real_path(path)


class Scratch(LockedFolder):
    """A folder for temporary files of one run."""

    @classmethod
    def make(cls) -> Self:
        """A new one; those of servers that died are removed."""
        need_programs()
        top = data_folder() / "sandbox"
        top.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in top.glob(f"{SCRATCH_PREFIX}*"):
            with suppress(OSError):
                # Numbers of processes say nothing: another server may not see ours.
                if (
                    time.time() - old.stat().st_mtime > SETTLED_SECONDS
                    and (lock := open_locked(old, FOLDER)) >= 0
                ):
                    cls(old, lock).remove()
        path = Path(tempfile.mkdtemp(prefix=SCRATCH_PREFIX, dir=real_path(top)))
        return cls(path, open_locked(path, FOLDER))


SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
PASSED_VARIABLES = ("LANG", "LANGUAGE", "LC_*", "TZ", "PYTHONUNBUFFERED")
# Into a pipe Python writes in blocks: a server's output would be seen at its end.
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
BARE_VARIABLES = (*PASSED_VARIABLES, "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR")


def confined_variables(
    home: str,
    scratch: str,
    allowed: Iterable[str],
    visible: Iterable[str],
    given: Mapping[str, str] | None,
) -> dict[str, str]:
    """What a run sees.

    Args:
        home: its home folder.
        scratch: its folder for temporary files.
        allowed: names of the user's variables that it may see.
        visible: folders that it can read: of the user's PATH only these remain.
        given: more variables, which win.
    """
    theirs = environment(["PATH"]).get("PATH", "").split(":")
    found = [p for p in theirs if is_among(p, [*visible, "/usr"])]
    return {
        "PATH": ":".join(dict.fromkeys((*found, *SYSTEM_PATH))),
        "LANG": "C.UTF-8",
        "HOME": home,
        "TMPDIR": scratch,
        "USER": "sandbox",
        "LOGNAME": "sandbox",
        "SHELL": "/bin/sh",
        # These lie outside, and Git takes a file that it may not read for an error.
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        **UNBUFFERED,
        **environment((*PASSED_VARIABLES, *allowed)),
        **(given or {}),
    }


def bare_variables(allowed: Iterable[str], given: Mapping[str, str] | None) -> dict[str, str]:
    """What a run without a boundary sees: still no keys of the user."""
    return {
        "PATH": ":".join(SYSTEM_PATH),
        "LANG": "C.UTF-8",
        **UNBUFFERED,
        **environment((*BARE_VARIABLES, *allowed)),
        **(given or {}),
    }


OnNamespace: TypeAlias = Callable[[int], Awaitable[None]]
"""Awaited, at level strong, with a hold on a run's first process before its program begins."""
NICE = 5
"""Runs get a little less processor time than the server, which watches over them."""
MACHINE = platform.machine()


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to be run, and how.

    Attributes:
        argv: the program, found on its PATH, and its arguments. No shell.
        cwd: where it starts.
        views: how it sees the roots of the workspace, by real path; it sees no others.
        options: how it is run.
    """

    argv: Sequence[str]
    cwd: str
    views: Mapping[str, View]
    options: RunOptions

    @property
    def limits(self) -> Limits:
        """What it may use."""
        return self.options["limits"]


class RunOptions(TypedDict, total=False):
    """What whoever runs something may ask for.

    Attributes:
        env: variables beside the few that every run has.
        stdin: what it reads; None, as by default, is nothing.
        merge: send stderr into stdout, in the order of writing.
        pty: a terminal in place of the pipes; `stdin` is not used then.
        readable: more files and folders that it may read, such as a toolchain.
        links: names by which it finds some of that, and where they lead.
        writable: scratch folders.
        network: what it may reach, through the guard; with no hosts, no network.
        limits: what it may use.
        masks: what is masked in place of the protected names, for programs that the user trusts
            with these.
        on_namespace: see `OnNamespace`.
        look_for_lost: find out which files it made that go with it; see `Confined.lost`.
    """

    env: Mapping[str, str] | None
    stdin: bytes | None
    merge: bool
    pty: Pty | None
    readable: Sequence[Path]
    links: Mapping[str, str]
    writable: Sequence[Path]
    network: NetworkAccess | None
    limits: Limits
    masks: Sequence[Mask] | None
    on_namespace: OnNamespace | None
    look_for_lost: bool


@dataclass(slots=True)
class PreparedRun:
    """A run that can be started, with what must be cleaned up after it."""

    request: RunRequest
    report: Report
    layout: SandboxRoot
    plan: LaunchPlan
    network: RunNetwork | None = None
    moves: MoveEvents | None = None
    scratch: Scratch | None = None
    gauge: ResourceGauge | None = None
    notes: list[str] = field(default_factory=list)
    temporary: TemporaryFolders = field(default_factory=TemporaryFolders)
    _cleaning: threading.Lock = field(default_factory=threading.Lock)

    def check_moves(self) -> None:
        """Refuse the run if what it sees was moved since it was prepared.

        Raises:
            MountsMoved: it was.
        """
        if self.moves is not None and (path := self.moves.moved()):
            raise MountsMoved.of(path)

    def end_watch(self) -> None:
        """Let go of what the run sees; a second time does nothing."""
        with self._cleaning:
            if self.moves is not None:
                self.moves.close()

    def clean(self) -> None:
        """Remove what was made for it; a second time, or in two threads at once, does nothing."""
        # Two may end a run at once, and a descriptor closed twice may be somebody else's by then.
        self.end_watch()
        with self._cleaning:
            self.temporary.close()
            if self.scratch is not None:
                self.scratch.remove()
                self.scratch = None


def watch_for_moves(places: Sequence[str]) -> MoveEvents:
    """Hold what a run is to see, so that it is told if it leads elsewhere for a moment.

    Raises:
        MountsMoved: it does already.
    """
    try:
        return MoveEvents(places)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        raise MountsMoved.of(str(error.filename)) from None


def check_folder(folder: str) -> None:
    """Refuse a folder where nothing can start.

    Raises:
        NotFound: it is none, or may not be entered.
    """
    try:
        os.stat(f"{folder}/.")  # noqa: PTH116 - the dot asks whether it may be entered
    except OSError as error:
        raise NotFound(
            f"The folder {folder} cannot be used: {error.strerror}.",
            hint="Name a folder of the workspace that exists.",
        ) from None


def located(request: RunRequest, path: str, visible: Sequence[str]) -> str:
    """The path of the program that is meant.

    Args:
        request: what is to be run.
        path: the folders to look in, for a mere name.
        visible: folders that the run can read.

    Raises:
        Unavailable: it is not there, or no program.
    """
    name = request.argv[0]
    folders = [""] if "/" in name else path.split(":")
    for folder in folders:
        whole = os.path.normpath(Path(request.cwd, folder, name))
        there = is_among(Path(whole), visible) and os.path.isfile(whole)  # noqa: PTH113
        if there and ("/" in name or os.access(whole, os.X_OK)):
            check_program(whole)
            return whole
    raise Unavailable(
        f"The program {name} is not there.",
        hint="Install it, name another, or make its folder readable with run.readable.",
    )


def check_program(path: str) -> None:
    """Refuse what the system would: else data would be taken for a script of the shell.

    Raises:
        Unavailable: it is no program.
    """
    number = 0 if os.access(path, os.X_OK) else errno.EACCES
    with suppress(OSError):
        start = read_plain(path, 128)
        is_text = b"\0" not in start.partition(b"\n")[0]
        number = number or (0 if start.startswith(b"\x7fELF") or is_text else errno.ENOEXEC)
    if number:
        raise cannot_run(f"{path}: {os.strerror(number)}")


def cannot_run(words: str) -> Unavailable:
    """A program that is there, and that the system does not execute."""
    return Unavailable(
        f"The program cannot be run: {words}.",
        hint="It must be a program of this machine, or a script whose first line"
        " names one, and have the right to be executed.",
    )


def refuse_other_spellings(masks: Iterable[Mask]) -> None:
    """Refuse masks of what the file system also finds by a name in other capitals.

    A mask lies over one name. Folders of Windows and macOS that Linux sees through WSL or a
    virtual machine are such: the same file is read by another spelling, beside the mask.

    Raises:
        Unavailable: there is one whose content must not be seen.
    """
    for mask in masks:
        if mask.kind not in ("fixed", "pinned") and _has_other_spelling(mask.path):
            raise Unavailable(
                f"Nothing can be run: {mask.path} must not be read, and its file system, "
                "which does not tell capitals apart, gives it by other spellings too.",
                hint="The user can move it, or the workspace to a file system of Linux, or "
                "lift the protection of that name with workspace.unprotect.",
            )


def _has_other_spelling(path: str) -> bool:
    """Whether a file or folder is also found by a name that its folder does not list."""
    folder, name = os.path.split(path)
    other = name.swapcase()
    with suppress(OSError):
        same = other != name and os.path.samestat(os.lstat(path), os.lstat(f"{folder}/{other}"))
        # A listed one is a second name of the same file, and masked itself.
        return same and Path(folder, other) not in Path(folder).iterdir()
    return False


class RunPreparer:
    """Works out what runs get.

    Args:
        workspace: its roots and protected names.
        config: `run`, and where our own files are.
        readable: the folders of `run.readable`.
    """

    def __init__(self, workspace: Workspace, config: Config, readable: ReadableFolders) -> None:
        self._workspace = workspace
        self._config = config
        self._masks = Masks(workspace.gate.protection)
        self._own = own_places(config)
        self._readable = readable

    def protected(self) -> list[Mask]:
        """The places in the workspace that are protected; blocking."""
        tops = [root.real for root in self._workspace.roots]
        found = [mask for top in tops for mask in self._masks.beneath(top)[0]]
        return masks_of_settings(found, tops)

    def prepare(
        self, request: RunRequest, report: Report, network: RunNetwork | None
    ) -> PreparedRun:
        """Work out what the run sees; blocking.

        Raises:
            MountsMoved: it cannot be told where it is.
        """
        check_folder(request.cwd)
        options, level = request.options, report.level
        # What an environment in the workspace says of itself opens nothing: the caller names it.
        theirs = self._workspace.holds(request.argv[0])
        names = {name: real_path(name) for name in interpreter_folders(request.argv[0])}
        configured, notes = self._readable.current()
        named = [
            *own_interpreter_folders(),
            *(() if theirs else names.values()),
            *map(real_place, options.get("readable", ())),
            *configured.values(),
        ]
        readable = list(filter(is_there, dict.fromkeys(named)))
        writable = [real_path(path) for path in options.get("writable", ())]
        seen = [*readable, *SYSTEM_FOLDERS]
        named_by_links = (names | configured).items()
        names = {name: real for name, real in named_by_links if is_among(real, seen)}
        names |= {r.name: r.real for r in self._workspace.roots if r.real in request.views}
        names |= options.get("links", {})
        with ExitStack() as undo:
            moves = None
            if level != "none":  # from here to the start, all that is found by its path stays
                moves = watch_for_moves([*request.views, *readable, *writable])
                undo.callback(moves.close)
            masks: list[Mask] = []
            if level == "strong":
                masks, more = self._masked(request, readable)
                notes += more
            layout = SandboxRoot(
                roots=request.views,
                links={name: real for name, real in names.items() if name != real},
                readable=readable,
                writable=writable,
                masks=masks,
                empty=empty_file() if masks else "",
                small=min(request.limits.memory_bytes // 4, request.limits.disk_bytes),
            )
            plan = LaunchPlan(list(request.argv), {}, request.cwd, level)
            prepared = PreparedRun(request, report, layout, plan, network, moves, notes=notes)
            undo.callback(prepared.clean)
            self._fill(prepared)
            undo.pop_all()
        return prepared

    def _fill(self, prepared: PreparedRun) -> None:
        """Complete the plan."""
        request, env = prepared.request, prepared.request.options.get("env")
        plan, layout, processes = prepared.plan, prepared.layout, request.limits.processes
        visible = [*layout.readable, *layout.writable, *request.views]
        seen = [*visible, *layout.links, *SYSTEM_FOLDERS, *STORES, *(f"/{name}" for name in TOP)]
        allowed, is_root = self._config.run.environment, os.getuid() == 0
        if plan.level == "none":
            plan.env = bare_variables(allowed, env)
            seen, limited = ["/"], 0
        else:
            home, scratch, sockets, limited = HOME, "/tmp", SOCKETS, processes + 1  # noqa: S108
            if plan.level == "kernel":
                prepared.scratch = Scratch.make()
                scratch = str(prepared.scratch.path)
                home = f"{scratch}/home"
                Path(home).mkdir(mode=0o700)
                written = [p for p, view in request.views.items() if not isinstance(view, ReadOnly)]
                plan.accesses = accesses(visible, [*written, *layout.writable, scratch])
                sockets = NO_SOCKETS if prepared.network is None else TCP_SOCKETS
                # There it counts all that the user runs, so that comes on top.
                limited = 0 if is_root else processes + threads_of(os.getuid())
            plan.env = confined_variables(home, scratch, allowed, [*visible, *layout.links], env)
            plan.filter = program(MACHINE, sockets, alone=plan.level == "strong")
            plan.nice = NICE
            if is_root and resources.has_own_pid_max():
                # To root the system refuses no process, so the namespace gets no more numbers.
                plan.pid_max = resources.pid_max(processes)
        if prepared.network is not None:
            plan.env = {**prepared.network.variables(), **plan.env}
            plan.port = prepared.network.lease.port
        if request.options.get("pty") is not None:
            plan.terminal = True
            plan.env.setdefault("TERM", "xterm-256color")
        plan.env.setdefault("PWD", request.cwd)
        plan.limits = rlimits(request.limits, processes=limited)
        plan.argv[0] = located(request, plan.env["PATH"], seen)

    def _masked(self, request: RunRequest, readable: Sequence[str]) -> tuple[list[Mask], list[str]]:
        given = request.options.get("masks")
        if given is not None:
            return [*given, *self._of_toolcrib(request.views, readable)], []
        masks: list[Mask] = []
        notes: list[str] = []
        for root in request.views:
            found, whole = self._masks.beneath(root)
            masks += found
            if not whole:
                notes.append(f"{root} is too large: not all protected names in it are covered")
        installed = (*SYSTEM_FOLDERS, *own_interpreter_folders())
        for top in readable:
            if not is_among(Path(top), installed) and not is_known(Path(top)):
                found, _ = self._masks.beneath(top, MAX_FOLDERS_OF_PROGRAMS)
                masks += found
        masks = masks_of_settings(masks, [*request.views, *readable])
        masks += self._of_toolcrib(request.views, readable)
        refuse_other_spellings(masks)
        return masks, notes

    def _of_toolcrib(self, roots: Iterable[str], readable: Sequence[str]) -> list[Mask]:
        """Our own files that lie in what a run sees."""
        masks: list[Mask] = []
        tops = [*roots, *readable]
        for place in self._own:
            real = real_path(place)
            if is_among(real, tops) and is_there(real):
                masks.append(Mask(real, "hidden folder" if Path(real).is_dir() else "hidden file"))
        # What runs in the server itself; a folder that lies in it is covered whole.
        for root in roots:
            code = [real_path(p) for p in code_within([root]) if is_there(p)]
            masks += [Mask(max(place, root, key=len), "fixed") for place in code]
        return masks
