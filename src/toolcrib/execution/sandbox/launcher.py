"""The plan of a launch, and the last program before the confined one that follows it.

All that has to be done in a run before its program begins is known beforehand, so it is
written down as a table of system calls, and a few machine instructions make them. An
interpreter that did the same (`inside.confinement`) took longer to start than all the rest
of the boundary.
"""

from __future__ import annotations

import ast
import marshal
import os
import resource
import signal
import struct
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType

from toolcrib.execution.sandbox.resources import ENTER
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
    return [(which, *_within_ceiling(which, soft, hard)) for which, soft, hard in pairs]


def _within_ceiling(which: int, soft: int, hard: int) -> tuple[int, int]:
    top = resource.getrlimit(which)[1]
    return (soft, hard) if top == resource.RLIM_INFINITY else (min(soft, top), min(hard, top))


# The table of system calls, the one thing that the machine code (launcher_*.S) goes
# through. It begins with the last error number (8 bytes) and the first step; the others stand
# behind the data. A step has nine numbers of 8 bytes: the number of the call, six
# arguments, and the addresses of the steps to go on with after it worked and after it failed.

BASE = 0x500200
"""Where the table is in memory; the machine code has this number too."""
STEP = struct.Struct("<Q6q2Q")
FIRST = 8
ZERO_ARGUMENTS = [(0,) * (6 - count) for count in range(7)]

MACHINES = {"x86_64": 62, "aarch64": 183}
# What `as` and `objcopy` make of launcher_*.S; a test does it again.
X86_64 = (
    "bb00025000488d6b08488b4500488b7d08488b7510488b55184c8b55204c8b45284c8b4d30"
    "0f05483d01f0ffff7306488b6d38ebd4f7d88903488b6d40ebca"
)
AARCH64 = (
    "134080d2130aa0f274220091880240a9810a41a9831242a9851a40f9010000d41ffc3fb1"
    "62000054941e40f9f8ffff17e003004b600200b9942240f9f4ffff17"
)
CODE = {"x86_64": bytes.fromhex(X86_64), "aarch64": bytes.fromhex(AARCH64)}
HEADER = struct.Struct("<16s2HI3QI6H")
SEGMENT = struct.Struct("<2I6Q")
IDENTITY = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
LOADED, STACK = 1, 0x6474E551
EXECUTE, WRITE, READ = 1, 2, 4
LOAD_ADDRESS, CODE_OFFSET = 0x400000, 0x100
"""Where the program is in memory, and where in it the code begins."""
TABLE_OFFSET = BASE & 0xFFFF
"""Where in the file the table begins: on each page size it must be at the same place of a page."""
PAGE = 0x10000

NUMBERS = {
    "x86_64": {
        "close": 3,
        "rt_sigaction": 13,
        "ioctl": 16,
        "writev": 20,
        "execve": 59,
        "fcntl": 72,
        "chdir": 80,
        "umask": 95,
        "setsid": 112,
        "setpriority": 141,
        "prctl": 157,
        "exit_group": 231,
        "openat": 257,
        "faccessat": 269,
        "dup3": 292,
        "prlimit64": 302,
        "seccomp": 317,
    },
    "aarch64": {
        "close": 57,
        "rt_sigaction": 134,
        "ioctl": 29,
        "writev": 66,
        "execve": 221,
        "fcntl": 25,
        "chdir": 49,
        "umask": 166,
        "setsid": 157,
        "setpriority": 140,
        "prctl": 167,
        "exit_group": 94,
        "openat": 56,
        "faccessat": 48,
        "dup3": 24,
        "prlimit64": 261,
        "seccomp": 277,
    },
}
COMMON_NUMBERS = {"close_range": 436, "create_ruleset": 444, "add_rule": 445, "restrict_self": 446}

AT_FDCWD = -100
PATH_ONLY, DIRECTORY, CLOEXEC = 0x200000, {"x86_64": 0x10000, "aarch64": 0x4000}, 0x80000
EXISTS, RUNS, WRITE_ONLY = 0, 1, 1
SET_FLAGS, TIOCSCTTY, NO_NEW_PRIVS, FILTER = 2, 0x540E, 38, 1
UNDER_PATH, OF_PORT = 1, 2
STATUS_FD, RULESET_FD, RULE_FD = 3, 4, 5
SETTINGS_FD, PID_MAX_FD = 4, 5
"""Descriptors: all others are closed, so that the next one opened has the next number."""
LAST_FD = 0xFFFFFFFF
SIGACTION_BYTES, SIGNAL_SET_BYTES = 32, 8
"""Of the kernel; all zeros mean the default action."""
CANNOT_EXECUTE, NOT_FOUND = 126, 127


@dataclass(slots=True, eq=False)
class StepLabel:
    """A place among the steps, known once it is placed."""

    index: int = -1


@dataclass(slots=True)
class _Step:
    number: int
    arguments: tuple[int, ...]
    done: StepLabel | None
    failed: StepLabel | None


@dataclass(slots=True)
class StepTable:
    """The table while it is written."""

    _data: bytearray = field(default_factory=lambda: bytearray(FIRST + STEP.size))
    _steps: list[_Step] = field(default_factory=list)

    @property
    def error(self) -> int:
        """The address of the last error number."""
        return BASE

    def call(
        self,
        number: int,
        *arguments: int,
        done: StepLabel | None = None,
        failed: StepLabel | None = None,
    ) -> None:
        """Add a step; after it the next one follows where no label says otherwise."""
        self._steps.append(_Step(number, arguments, done, failed))

    def place(self, label: StepLabel) -> None:
        """Let a label mean the next step that is added."""
        label.index = len(self._steps)

    def data(self, content: bytes) -> int:
        """Bytes in memory; their address, a multiple of 8."""
        self._data += bytes(-len(self._data) % 8)
        address = BASE + len(self._data)
        self._data += content
        return address

    def text(self, text: str) -> int:
        """A string that ends with a zero."""
        return self.data(os.fsencode(text) + b"\0")

    def texts(self, texts: Sequence[str]) -> int:
        """An array of strings, as a program gets its arguments."""
        return self.data(struct.pack(f"<{len(texts) + 1}Q", *map(self.text, texts), 0))

    def parts(self, *parts: tuple[int, int]) -> int:
        """Addresses and lengths, for a write of several pieces."""
        return self.data(b"".join(struct.pack("<2Q", *part) for part in parts))

    def packed(self) -> bytes:
        """The whole table."""
        self._data += bytes(-len(self._data) % 8)
        second = BASE + len(self._data)
        places = [BASE + FIRST, *range(second, second + len(self._steps) * STEP.size, STEP.size)]
        lines = []
        for index, step in enumerate(self._steps, 1):
            done = places[step.done.index if step.done else index]
            failed = places[step.failed.index if step.failed else index]
            spare = ZERO_ARGUMENTS[len(step.arguments)]
            lines.append(STEP.pack(step.number, *step.arguments, *spare, done, failed))
        self._data[FIRST : FIRST + STEP.size] = lines[0]
        return b"".join((self._data, *lines[1:]))


def elf_program(table: bytes, machine: str) -> bytes:
    """A file to execute.

    Raises:
        KeyError: there is no code for this machine.
    """
    entry, sizes = LOAD_ADDRESS + CODE_OFFSET, (HEADER.size, SEGMENT.size, 3, 0, 0, 0)
    head = HEADER.pack(IDENTITY, 2, MACHINES[machine], 1, entry, HEADER.size, 0, 0, *sizes)
    size = len(table)
    head += SEGMENT.pack(
        LOADED, READ | EXECUTE, 0, LOAD_ADDRESS, LOAD_ADDRESS, TABLE_OFFSET, TABLE_OFFSET, PAGE
    )
    head += SEGMENT.pack(LOADED, READ | WRITE, TABLE_OFFSET, BASE, BASE, size, size, PAGE)
    head += SEGMENT.pack(STACK, READ | WRITE, 0, 0, 0, 0, 0, 16)
    return (head.ljust(CODE_OFFSET, b"\0") + CODE[machine]).ljust(TABLE_OFFSET, b"\0") + table


def knows(machine: str) -> bool:
    """Whether there is code for a machine."""
    return machine in CODE


def image(plan: LaunchPlan, machine: str) -> bytes:
    """A program that does what a plan says, for a run without supervisor and relay."""
    return elf_program(_Writer(plan, machine).table(), machine)


class _Writer:
    """Writes the steps of one plan."""

    def __init__(self, plan: LaunchPlan, machine: str) -> None:
        self._plan = plan
        self._numbers = NUMBERS[machine] | COMMON_NUMBERS
        self._folder = DIRECTORY[machine]
        self._steps = StepTable()
        self._failures: dict[bytes, StepLabel] = {}

    def table(self) -> bytes:
        """All of it, in the order in which it happens."""
        plan = self._plan
        if plan.group >= 0:
            # The watchdog looks at all runs, also at one that could not enter.
            self._try("writev", plan.group, self._steps.parts((self._steps.data(ENTER), 1)), 1)
        self._keep_only_status()
        if plan.kernel_settings >= 0:
            self._set_pid_max(plan.pid_max)
        if plan.terminal:
            self._try("setsid")  # it may lead its session already
            self._require("terminal", "ioctl", 0, TIOCSCTTY, 0)
        self._try("umask", 0o022)
        self._call("chdir", self._steps.text(plan.cwd), failed=self._failure(b"D"))
        if plan.nice:
            self._try("setpriority", 0, 0, min(os.nice(0) + plan.nice, 19))
        # Under nohup these are ignored, and a program would inherit that: Ctrl-C would do nothing.
        default = self._steps.data(bytes(SIGACTION_BYTES))
        for number in (signal.SIGINT, signal.SIGQUIT):
            self._try("rt_sigaction", number, default, 0, SIGNAL_SET_BYTES)
        for which, soft, hard in plan.limits:
            pair = self._steps.data(struct.pack("<2Q", soft, hard))
            self._require("limit", "prlimit64", 0, which, pair, 0)
        self._require("no new privileges", "prctl", NO_NEW_PRIVS, 1, 0, 0, 0)
        if plan.landlock:
            self._landlock(*plan.landlock)
        if plan.filter:
            self._seccomp(plan.filter)
        self._exec()
        for message, label in self._failures.items():
            self._steps.place(label)
            self._write(message + b"\0", with_error=True)
            self._call("exit_group", CANNOT_EXECUTE)
        return self._steps.packed()

    def _call(
        self,
        name: str,
        *arguments: int,
        done: StepLabel | None = None,
        failed: StepLabel | None = None,
    ) -> None:
        self._steps.call(self._numbers[name], *arguments, done=done, failed=failed)

    def _try(self, name: str, *arguments: int) -> None:
        """A call that may fail."""
        self._call(name, *arguments)

    def _require(self, what: str, name: str, *arguments: int) -> None:
        """A call without which nothing is run."""
        self._call(name, *arguments, failed=self._failure(b"F" + os.fsencode(what)))

    def _failure(self, message: bytes) -> StepLabel:
        """Where something is told, with the last error, and then the end."""
        return self._failures.setdefault(message, StepLabel())

    def _write(self, message: bytes, *, with_error: bool) -> None:
        """Tell the server, and the last error number with it."""
        parts = [(self._steps.data(message), len(message))]
        parts += [(self._steps.error, 4)] * with_error
        self._try("writev", STATUS_FD, self._steps.parts(*parts), len(parts))

    def _keep_only_status(self) -> None:
        if self._plan.status != STATUS_FD:
            self._require("status", "dup3", self._plan.status, STATUS_FD, 0)
        self._require("status", "fcntl", STATUS_FD, SET_FLAGS, 1)  # closed by the program's begin
        first = STATUS_FD + 1
        if self._plan.kernel_settings >= 0:
            self._require("settings", "dup3", self._plan.kernel_settings, SETTINGS_FD, CLOEXEC)
            first = SETTINGS_FD + 1
        self._require("descriptors", "close_range", first, LAST_FD, 0)

    def _set_pid_max(self, highest: bytes) -> None:
        """Let the processes of the namespace have no higher number."""
        name = self._steps.text("pid_max")
        self._try("openat", SETTINGS_FD, name, WRITE_ONLY | CLOEXEC, 0)
        self._try(
            "writev", PID_MAX_FD, self._steps.parts((self._steps.data(highest), len(highest))), 1
        )
        self._try("close", PID_MAX_FD)
        self._try("close", SETTINGS_FD)

    def _landlock(
        self, attributes: bytes, paths: list[tuple[str, int]], ports: list[tuple[int, int]]
    ) -> None:
        where = self._steps.data(attributes)
        self._require("Landlock", "create_ruleset", where, len(attributes), 0)
        for path, access in paths:
            absent = StepLabel()
            name = self._steps.text(path)
            self._call("openat", AT_FDCWD, name, PATH_ONLY | CLOEXEC, 0, failed=absent)
            rule = self._steps.data(struct.pack("<QI", access, RULE_FD))
            self._require(f"Landlock for {path}", "add_rule", RULESET_FD, UNDER_PATH, rule, 0)
            self._try("close", RULE_FD)
            self._steps.place(absent)
        for port, access in ports:
            rule = self._steps.data(struct.pack("<2Q", access, port))
            self._require("Landlock for a port", "add_rule", RULESET_FD, OF_PORT, rule, 0)
        self._require("Landlock", "restrict_self", RULESET_FD, 0)
        self._try("close", RULESET_FD)

    def _seccomp(self, lines: bytes) -> None:
        where = self._steps.data(lines)
        whole = self._steps.data(struct.pack("<2Q", len(lines) // 8, where))
        self._require("seccomp", "seccomp", FILTER, 0, whole)

    def _exec(self) -> None:
        """Take the first program of the name that can be run."""
        plan = self._plan
        name = plan.argv[0]
        arguments = self._steps.texts(plan.argv)
        variables = self._steps.texts([f"{key}={value}" for key, value in plan.env.items()])
        if "/" in name:
            places, wanted = [name], EXISTS
        else:
            folders = plan.env.get("PATH", "").split(":")
            places, wanted = [f"{folder or '.'}/{name}" for folder in folders], RUNS
        for place in places:
            other = StepLabel()
            path = self._steps.text(place)
            self._call("faccessat", AT_FDCWD, path, wanted, failed=other)
            if wanted == RUNS:
                # Folders may be run too, in the eyes of the system.
                found = StepLabel()
                how = PATH_ONLY | self._folder | CLOEXEC
                self._call("openat", AT_FDCWD, path, how, 0, done=other, failed=found)
                self._steps.place(found)
            self._write(b"R", with_error=False)
            wrong = self._failure(b"X" + os.fsencode(place))
            self._call("execve", path, arguments, variables, failed=wrong)
            self._steps.place(other)
        self._write(b"M", with_error=False)
        self._call("exit_group", NOT_FOUND)
