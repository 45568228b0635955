"""The confining program, which starts what is run without namespaces, and what it is told.

It is `confinement_child`, for an interpreter that has nothing else: at level kernel it confines
itself by Landlock and seccomp and becomes the program; at level none it only sets limits.
"""

from __future__ import annotations

import marshal
import os
import resource
import sys
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from toolcrib.execution.sandbox.terms import Limits

CHILD = Path(__file__).with_name("confinement_child.py")
BOOTSTRAP = (
    "import posix,marshal,sys;f=int(sys.argv[2])\n"
    "exec(marshal.loads(posix.pread(f,posix.fstat(f).st_size,0)))"
)
"""A script is compiled at each start, which takes longer than all that it does."""
MIN_OPEN_FILES = 64
"""What the boundary itself needs while it is made."""
PackedLandlock = tuple[bytes, list[tuple[str, int]], list[tuple[int, int]]]


@dataclass(slots=True)
class LaunchPlan:
    """How a program is started: in namespaces by bubblewrap, else by the confining program.

    Attributes:
        argv: the program, by its path, and its arguments.
        env: its environment.
        cwd: where it starts.
        status: the descriptor on which is told how far the start got.
        lifeline: in namespaces, its program begins with a byte from here; else its end means
            the end of the run.
        filter: the seccomp program; empty for none.
        limits: number, soft and hard value of each.
        nice: how far its priority is lowered.
        pid_max: the highest number of a process in a namespace for root; "" for no change.
        landlock: see `landlock.LandlockRules.packed`; None for none.
        terminal: whether stdin is a terminal that becomes the controlling one.
        supervised: whether a parent stays that ends what is left.
        is_root: root has capabilities to give up, and namespaces of processes to gain.
        confined: False for a run without a boundary.
    """

    argv: list[str]
    env: dict[str, str]
    cwd: str
    status: int = -1
    lifeline: int = -1
    filter: bytes = b""
    limits: list[tuple[int, int, int]] = field(default_factory=list)
    nice: int = 0
    pid_max: str = ""
    landlock: PackedLandlock | None = None
    terminal: bool = False
    supervised: bool = False
    is_root: bool = False
    confined: bool = True

    def packed(self) -> bytes:
        """The plan as the confining program reads it."""
        return marshal.dumps(asdict(self))


def memory_file(data: bytes) -> int:
    """A file in memory alone, open at its start.

    Raises:
        OSError: no memory, no descriptors.
    """
    fd = os.memfd_create("toolcrib")
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
    seconds = max(int(limits.cpu_seconds + 0.999), 1)
    files = max(limits.open_files, MIN_OPEN_FILES)
    pairs = [
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, files, files),
    ]
    if processes:
        pairs.append((resource.RLIMIT_NPROC, processes, processes))
    return [(which, *_within_ceiling(which, soft, hard)) for which, soft, hard in pairs]


def _within_ceiling(which: int, soft: int, hard: int) -> tuple[int, int]:
    top = resource.getrlimit(which)[1]
    return (soft, hard) if top == resource.RLIM_INFINITY else (min(soft, top), min(hard, top))
