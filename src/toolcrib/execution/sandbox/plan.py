"""How the launcher is started and told what to do: by files in memory, that nobody else sees."""

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
INSIDE = "toolcrib.execution.sandbox.inside"
FILES = ("syscalls", "fork_limiter", "relay", "confinement", "supervisor", "entry")
"""Each after those that it imports."""

CPU, FILE_SIZE, CORE, PROCESSES, OPEN_FILES = 0, 1, 4, 6, 7
CO_FUTURE_ANNOTATIONS = annotations.compiler_flag
Landlock = tuple[bytes, list[tuple[str, int]], list[tuple[int, int]]]


@dataclass(slots=True)
class Plan:
    """What the launcher does before it becomes the program.

    Attributes:
        argv: the program, found on the PATH of `env`, and its arguments.
        env: its environment.
        cwd: where it starts.
        status: the descriptor on which the launcher tells how far it got.
        filter: the seccomp program; empty for none.
        landlock: see `landlock.Rules.packed`; None for none.
        limits: number, soft and hard value of each.
        terminal: whether stdin is a terminal that becomes the controlling one.
        stage: whether it stays as the parent and ends what is left, without namespaces.
        lifeline: what the stage watches: its end means the end of the run.
        capabilities: whether root's capabilities are given up.
        confined: False for a run without a boundary.
        relay: a port of its own and the socket that its connections go to.
        root: whether the stage must count processes itself, as the system does not.
        asking_filter: the filter where it can do that only by being asked.
        most: how many processes and threads the stage lets be.
        group: where it enters the control group of the run; -1 without one.
        settings: the system's own settings, opened outside, where the namespace of the run
            gets a highest number of a process; -1 to leave it as it is.
        highest: that number, as it is written.
        nice: how much it stands back behind other programs.
        asking, told: the stage's own.
    """

    argv: list[str]
    env: dict[str, str]
    cwd: str
    status: int = -1
    filter: bytes = b""
    landlock: Landlock | None = None
    limits: list[tuple[int, int, int]] = field(default_factory=list)
    terminal: bool = False
    stage: bool = False
    lifeline: int = -1
    capabilities: bool = False
    confined: bool = True
    relay: tuple[int, str] | None = None
    root: bool = False
    asking_filter: bytes = b""
    most: int = 512
    group: int = -1
    settings: int = -1
    highest: bytes = b""
    nice: int = 0
    asking: int = -1
    told: int = -1

    def packed(self) -> bytes:
        """As the launcher reads it."""
        return marshal.dumps(asdict(self))


def in_memory(name: str, data: bytes) -> int:
    """A file without a place, at its start.

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
    names = INSIDE.split(".")
    made: list[tuple[str, CodeType | None]] = [
        (".".join(names[:depth]), None) for depth in range(1, len(names) + 1)
    ]
    for name in FILES:
        tree = ast.parse(Path(__file__).with_name("inside").joinpath(f"{name}.py").read_bytes())
        # The meaning of this import is given to the compiler; the module would have to be found.
        tree.body = [n for n in tree.body if getattr(n, "module", "") != "__future__"]
        code = compile(tree, name, "exec", CO_FUTURE_ANNOTATIONS, dont_inherit=True)
        made.append((f"{INSIDE}.{name}", code))
    return marshal.dumps(made)


@cache
def interpreter() -> str:
    """The interpreter itself, not the link in a virtual environment."""
    return os.path.realpath(sys.executable)


def command(plan_fd: int, code_fd: int) -> list[str]:
    """The arguments that start the launcher."""
    return [interpreter(), "-I", "-S", "-B", "-c", BOOTSTRAP, str(plan_fd), str(code_fd)]


def numbers(limits: Limits, *, processes: int) -> list[tuple[int, int, int]]:
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
