"""The plan of one launch: how the launcher is started, with its orders in memory files."""

from __future__ import annotations

import ast
import marshal
import os
import resource
import sys
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType

from toolcrib.execution.sandbox.terms import Limits

BOOTSTRAP = (
    "import posix,marshal,sys;f=int(sys.argv[2])\n"
    "for n,c in marshal.loads(posix.pread(f,posix.fstat(f).st_size,0)):\n"
    " m=sys.modules[n]=type(sys)(n);exec(c or '',m.__dict__)"
)
"""A script is compiled at each start, which takes longer than all that it does."""
INSIDE_PACKAGE = "toolcrib.execution.sandbox.inside"
INSIDE_MODULES = ("syscalls", "confinement", "supervisor", "entry")
"""Each after those that it imports."""

CPU, FILE_SIZE, CORE, PROCESSES, OPEN_FILES = 0, 1, 4, 6, 7
CO_FUTURE_ANNOTATIONS = annotations.compiler_flag
PackedLandlock = tuple[bytes, list[tuple[str, int]], list[tuple[int, int]]]


@dataclass(slots=True)
class LaunchPlan:
    """What the launcher does before it becomes the program.

    Attributes:
        argv: the program, found on the PATH of `env`, and its arguments.
        env: its environment.
        cwd: where it starts.
        status: the descriptor on which the launcher reports how far it got.
        filter: the seccomp program; empty for none.
        landlock: see `landlock.Rules.packed`; None for none.
        limits: number, soft and hard value of each.
        terminal: whether stdin is a terminal that becomes the controlling one.
        supervised: whether it stays as the parent and ends what is left, without namespaces.
        lifeline: what the supervisor watches: its end means the end of the run.
        capabilities: whether root's capabilities are given up.
        confined: False for a run without a boundary.
        relay: a port of its own and the socket that its connections go to.
        counts_processes: whether the supervisor must count them, as the system does not.
        notify_filter: the filter where it can do that only by being asked.
        max_processes: how many processes and threads the supervisor allows.
        group: where it enters the control group of the run; -1 without one.
        kernel_settings: the system's own settings, opened outside, where the namespace of the run
            gets a highest number of a process; -1 to leave it as it is.
        pid_max: that highest number, as it is written.
        nice: how far its priority is lowered.
        listener_writer, ack_reader: the supervisor's own.
    """

    argv: list[str]
    env: dict[str, str]
    cwd: str
    status: int = -1
    filter: bytes = b""
    landlock: PackedLandlock | None = None
    limits: list[tuple[int, int, int]] = field(default_factory=list)
    terminal: bool = False
    supervised: bool = False
    lifeline: int = -1
    capabilities: bool = False
    confined: bool = True
    relay: tuple[int, str] | None = None
    counts_processes: bool = False
    notify_filter: bytes = b""
    max_processes: int = 512
    group: int = -1
    kernel_settings: int = -1
    pid_max: bytes = b""
    nice: int = 0
    listener_writer: int = -1
    ack_reader: int = -1

    def packed(self) -> bytes:
        """The plan as the launcher reads it."""
        return marshal.dumps(asdict(self))


def memory_file(name: str, data: bytes) -> int:
    """A file in memory alone, open at its start.

    Raises:
        OSError: no memory, no descriptors.
    """
    fd = os.memfd_create(name)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, os.SEEK_SET)
    except BaseException:
        os.close(fd)
        raise
    return fd


@cache
def inside_code() -> bytes:
    """The modules of `inside`, compiled for the interpreter that runs them."""
    names = INSIDE_PACKAGE.split(".")
    made: list[tuple[str, CodeType | None]] = [
        (".".join(names[:depth]), None) for depth in range(1, len(names) + 1)
    ]
    for name in INSIDE_MODULES:
        tree = ast.parse(Path(__file__).with_name("inside").joinpath(f"{name}.py").read_bytes())
        # The meaning of this import is given to the compiler; the module would have to be found.
        tree.body = [n for n in tree.body if getattr(n, "module", "") != "__future__"]
        code = compile(tree, name, "exec", CO_FUTURE_ANNOTATIONS, dont_inherit=True)
        made.append((f"{INSIDE_PACKAGE}.{name}", code))
    return marshal.dumps(made)


@cache
def interpreter() -> str:
    """The interpreter itself, not the link in a virtual environment."""
    return os.path.realpath(sys.executable)


def command(plan_fd: int, code_fd: int) -> list[str]:
    """The arguments that start the launcher."""
    return [interpreter(), "-I", "-S", "-B", "-c", BOOTSTRAP, str(plan_fd), str(code_fd)]


def rlimits(limits: Limits, *, processes: int) -> list[tuple[int, int, int]]:
    """The limits of one process, as the kernel takes them; `processes` 0 leaves that alone.

    None is above what our own processes may have: nobody in a boundary may raise that.
    """
    seconds = max(int(limits.cpu_seconds + 0.999), 1)
    pairs = [
        (CPU, seconds, seconds + 1),
        (FILE_SIZE, limits.file_bytes, limits.file_bytes),
        (CORE, 0, 0),
        (OPEN_FILES, limits.open_files, limits.open_files),
    ]
    if processes:
        pairs.append((PROCESSES, processes, processes))
    return [(which, *_at_most(which, soft, hard)) for which, soft, hard in pairs]


def _at_most(which: int, soft: int, hard: int) -> tuple[int, int]:
    top = resource.getrlimit(which)[1]
    return (soft, hard) if top == resource.RLIM_INFINITY else (min(soft, top), min(hard, top))
