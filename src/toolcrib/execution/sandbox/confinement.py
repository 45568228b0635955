"""The confining program, which starts what is run without namespaces, and what it is told.

It is `confinement_child`, for an interpreter that has nothing else: at level kernel it confines
itself by Landlock and seccomp and becomes the program; at level none it only sets limits.
"""

from __future__ import annotations

import marshal
import os
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.execution.sandbox import landlock
from toolcrib.execution.sandbox.terms import Level, Limits

if TYPE_CHECKING or sys.platform != "win32":
    import resource

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

CHILD = Path(__file__).with_name("confinement_child.py")
BOOTSTRAP = (
    "import posix,marshal,sys;f=int(sys.argv[2])\n"
    "exec(marshal.loads(posix.pread(f,posix.fstat(f).st_size,0)))"
)
"""A script is compiled at each start, which takes longer than all that it does."""
MIN_OPEN_FILES = 64
"""What the boundary itself needs while it is made."""
MAX_PENDING_SIGNALS, MAX_QUEUE_BYTES = 4_096, 200_000
"""Of all that the user runs, of signals and of messages in queues: what is above is refused to the
run, and to nobody else."""


@dataclass(slots=True)
class LaunchPlan:
    """How a program is started: in namespaces by bubblewrap, else by the confining program.

    Attributes:
        argv: the program, by its path, and its arguments.
        env: its environment.
        cwd: where it starts.
        level: the boundary; at level kernel a parent stays that ends what is left.
        filter: the seccomp program; empty for none.
        limits: number, soft and hard value of each.
        nice: how far its priority is lowered.
        pid_max: the highest number of a process in a namespace for root; "" for no change.
        accesses: what Landlock lets it do with files, at level kernel.
        port: the port of the guard's proxy, which Landlock lets it connect to; 0 for none.
        terminal: whether stdin is a terminal that becomes the controlling one.
        status: the descriptor on which is told how far the start got.
        lifeline: in namespaces, its program begins with a byte from here; else its end means
            the end of the run.
    """

    argv: list[str]
    env: dict[str, str]
    cwd: str
    level: Level
    filter: bytes = b""
    limits: list[tuple[int, int, int]] = field(default_factory=list)
    nice: int = 0
    pid_max: str = ""
    accesses: list[landlock.Access] = field(default_factory=list)
    port: int = 0
    terminal: bool = False
    status: int = -1
    lifeline: int = -1

    def packed(self) -> bytes:
        """The plan as the confining program reads it."""
        rules = landlock.packed(self.accesses, self.port) if self.level == "kernel" else None
        return marshal.dumps({**asdict(self), "landlock": rules})


def memory_file(data: bytes) -> int:
    """A file in memory alone, open at its start.

    Raises:
        OSError: no memory, no descriptors.
    """
    fd = _new_memory_file()
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, os.SEEK_SET)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _new_memory_file() -> int:
    if sys.platform == "linux":
        return os.memfd_create("toolcrib")
    with tempfile.TemporaryFile() as file:  # elsewhere one without a name
        return os.dup(file.fileno())


@cache
def child_code() -> bytes:
    """The confining program, compiled for the interpreter that runs it.

    It is read once: no run can change what later ones are confined by.
    """
    return marshal.dumps(compile(CHILD.read_bytes(), CHILD.name, "exec", dont_inherit=True))


@cache
def interpreter() -> str:
    """The interpreter itself, not the link in a virtual environment."""
    return os.path.realpath(sys.executable)


def command(plan_fd: int, code_fd: int) -> list[str]:
    """The arguments that start the confining program."""
    return [interpreter(), "-I", "-S", "-B", "-c", BOOTSTRAP, str(plan_fd), str(code_fd)]


def rlimits(limits: Limits, *, processes: int) -> list[tuple[int, int, int]]:
    """The limits of one process, as the kernel takes them; `processes` 0 leaves that alone.

    None is above what our own processes may have: nobody in a boundary may raise that.
    """
    if sys.platform != "linux":  # there a program starts by itself, see `Starter`
        return []
    seconds = max(int(limits.cpu_seconds + 0.999), 1)
    files = max(limits.open_files, MIN_OPEN_FILES)
    pairs = [
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes),
        # One byte, and no more: with 0 the system would still start its program for crashes.
        (resource.RLIMIT_CORE, 1, 1),
        (resource.RLIMIT_RTPRIO, 0, 0),
        (resource.RLIMIT_NICE, 0, 0),
        (resource.RLIMIT_SIGPENDING, MAX_PENDING_SIGNALS, MAX_PENDING_SIGNALS),
        (resource.RLIMIT_MSGQUEUE, MAX_QUEUE_BYTES, MAX_QUEUE_BYTES),
        (resource.RLIMIT_NOFILE, files, files),
    ]
    if processes:
        pairs.append((resource.RLIMIT_NPROC, processes, processes))
    return [(which, *_within_ceiling(which, soft, hard)) for which, soft, hard in pairs]


def _within_ceiling(which: int, soft: int, hard: int) -> tuple[int, int]:
    top = resource.getrlimit(which)[1]
    return (soft, hard) if top == resource.RLIM_INFINITY else (min(soft, top), min(hard, top))
