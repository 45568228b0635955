"""The seccomp program: which system calls a confined process may make, as BPF.

Everything is allowed but for the calls in `system_calls.toml` and for some arguments, for which
there are rules below: namespaces, sockets of other families, input pushed into a terminal, setuid
bits, device nodes.
"""

from __future__ import annotations

import errno
import struct
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

CALLS: dict[str, dict[str, list[int]]] = tomllib.loads(
    Path(__file__).with_name("system_calls.toml").read_text("utf-8")
)
"""By what becomes of them; each with its numbers by processor."""


def _numbers(column: int) -> dict[str, int]:
    rows = {name: row for group in CALLS.values() for name, row in group.items()}
    return {name: row[column] for name, row in rows.items() if len(row) > column}


ARCHITECTURES = {"x86_64": (0xC000003E, _numbers(0)), "aarch64": (0xC00000B7, _numbers(1))}
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
LOAD, EQUAL, AT_LEAST, ANY_BIT, MASK, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
X32 = 0x40000000
LAST_KNOWN = 468
"""file_getattr of Linux 6.17, the same on both. The next one sets attributes of files, and what is
newer was looked at by nobody: absent until it was."""

NAMESPACES = 0x7E020080
"""CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
SET_ID_BITS, DEVICE_BIT = 0o6000, 0o020000
"""Bit 13 of a mode, alone or with 14, is a device; a FIFO, a file and a socket lack it."""
LEAVE_WHITEOUT = 4
"""RENAME_WHITEOUT: a device stays under the old name, which ordinary users may make too."""
CREATES = 0o20000000 | 0o100
"""O_CREAT and the bit of O_TMPFILE: without them the mode is not looked at."""
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
STREAM, RAW, RECORDS, KIND_OF_SOCKET, TCP = 1, 3, 5, 0xF, 6
TYPE_OF_REQUEST = 0xFF00
REFUSED_REQUESTS = (0x5412, 0x541C, 0x541D, 0x5423)
"""TIOCSTI, TIOCLINUX, TIOCCONS; and TIOCSETD, for which the kernel loads modules."""
TYPES_OF_REQUESTS = (0x5400, 0x8900)
"""Those of terminals and pipes, and of sockets."""
FILE_REQUESTS = (
    *(0x2, 0x80086601, 0x80046601, 0x801C581F, 0x80087601, 0xC020660B),
    *(0x40049409, 0x4020940D, 0xC0189436),
)
"""FIGETBSZ, FS_IOC_GETFLAGS with its form for 32 bits, FSGETXATTR, GETVERSION and FIEMAP, which
only tell; FICLONE, FICLONERANGE and FIDEDUPERANGE, by which files share content. All others are
absent: each kind of file system has its own, that take a snapshot with what is masked, reserve
space that nobody counts, or set what is in no step that could be undone."""
CLONE_FILES, THREAD, UNSHARE_FILES = 0x400, 0x10000, 2
"""CLONE_FILES, CLONE_THREAD and CLOSE_RANGE_UNSHARE. The watchdog looks at the descriptors of
processes, so no thread may have some of its own."""
SET_DUMPABLE = 4
"""Who is not dumpable lets nobody look at it; said to be done, and not done."""
UNCHANGED = 0xFFFFFFFF
MAX_SEGMENT_BYTES, MAX_SEMAPHORES = 1 << 16, 64
"""Of one piece of shared memory and one set of semaphores of System V. Nobody counts them, and
there may be thousands; programs that need more of one use files in memory."""
FAST_OPEN = 0x20000000
SENDING = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
"""Calls that connect with that flag, and which argument it stands in."""
LEASES = (1024, 1026)
"""F_SETLEASE and F_NOTIFY: who opens a file that is leased waits for 45 seconds."""

Line = tuple[int, int, int, int]
"""A code, how many lines to jump over if it holds and if not, and a value."""
Holds = Literal["is", "is not", "has", "above"]


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of one argument, of whose low half alone the kernel takes notice."""

    argument: int
    holds: Holds
    value: int
    mask: int = 0

    def lines(self, otherwise: int) -> list[Line]:
        """Lines that go on where it holds, and jump over so many more where it does not."""
        at = ARGUMENTS + 8 * self.argument
        low: list[Line] = [(LOAD, 0, 0, at)]
        low += [(MASK, 0, 0, self.mask)] if self.mask else []
        if self.holds == "above":  # a number of the machine's size
            high: list[Line] = [(LOAD, 0, 0, at + 4), (AT_LEAST, 2, 0, 1)]
            return [*high, *low, (AT_LEAST, 0, otherwise, self.value + 1)]
        if self.holds == "is not":
            return [*low, (EQUAL, otherwise, 0, self.value)]
        return [*low, (EQUAL if self.holds == "is" else ANY_BIT, 0, otherwise, self.value)]


Rule = tuple[str, int, tuple[Condition, ...]]
"""The names of calls, what they answer, and when. The first that holds counts; without any, a call
is allowed."""


Given = Condition | tuple[int, Holds, int]


def _rule(names: str, answer: int, *given: Given) -> Rule:
    return names, answer, tuple(c if isinstance(c, Condition) else Condition(*c) for c in given)


def _refuse(names: str, *given: Given, number: int = errno.EPERM) -> Rule:
    return _rule(names, ERRNO | number, *given)


RULES: tuple[Rule, ...] = (
    _refuse("clone unshare", (0, "has", NAMESPACES)),
    _refuse("clone", Condition(0, "is", THREAD, mask=THREAD | CLONE_FILES)),
    _refuse("unshare", (0, "has", CLONE_FILES)),
    _refuse("close_range", (2, "has", UNSHARE_FILES), number=errno.EINVAL),
    _refuse("chmod fchmod creat mknod", (1, "has", SET_ID_BITS)),
    _refuse("fchmodat mknodat", (2, "has", SET_ID_BITS)),
    _refuse("open", (1, "has", CREATES), (2, "has", SET_ID_BITS)),
    _refuse("openat", (2, "has", CREATES), (3, "has", SET_ID_BITS)),
    _refuse("mknod", (1, "has", DEVICE_BIT)),
    _refuse("mknodat", (2, "has", DEVICE_BIT)),
    _refuse("renameat2", (4, "has", LEAVE_WHITEOUT), number=errno.EINVAL),
    *(_refuse("ioctl", (1, "is", request)) for request in REFUSED_REQUESTS),
    *(
        _rule("ioctl", ALLOW, Condition(1, "is", kind, mask=TYPE_OF_REQUEST))
        for kind in TYPES_OF_REQUESTS
    ),
    *(_rule("ioctl", ALLOW, (1, "is", request)) for request in FILE_REQUESTS),
    _refuse("ioctl", number=errno.ENOTTY),
    _refuse("prctl", (0, "is", SET_DUMPABLE), number=0),
    *(_refuse("fcntl", (1, "is", command)) for command in LEASES),
    # Reserving space counts as writing for nobody; without it, programs write.
    _refuse("fallocate", number=errno.EOPNOTSUPP),
    _refuse("personality", (0, "is not", 0), (0, "is not", UNCHANGED)),
    _refuse("shmget", (1, "above", MAX_SEGMENT_BYTES), number=errno.ENOSPC),
    _refuse("semget", (1, "above", MAX_SEMAPHORES), number=errno.ENOSPC),
)
A_STREAM, A_RAW_ONE, OF_RECORDS = (
    Condition(1, "is", kind, mask=KIND_OF_SOCKET) for kind in (STREAM, RAW, RECORDS)
)
OF_OTHERS: tuple[Rule, ...] = (
    _refuse(
        "prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr",
        (0, "is not", 0),  # the caller
    ),
    _refuse("setpriority ioprio_set", (1, "is not", 0)),
    # With this first argument, 0 is no process but all of a user.
    _refuse("setpriority", (0, "is", 2)),
    _refuse("ioprio_set", (0, "is", 3)),
    # One of a pair of datagrams sends to any path.
    *(_rule("socketpair", ALLOW, kind) for kind in (A_STREAM, OF_RECORDS)),
    _refuse("socketpair", number=errno.EACCES),
    # Of these Landlock takes no notice: to be connected with the first data, and to a port that
    # the system chooses.
    *(_refuse(name, (flags, "has", FAST_OPEN)) for name, flags in SENDING.items()),
    _refuse("listen"),
)
"""Calls that reach another process of the machine."""
NO_SOCKETS: tuple[Rule, ...] = (_refuse("socket", number=errno.EACCES),)
TCP_SOCKETS: tuple[Rule, ...] = (
    # TCP or the default; not MPTCP, which Landlock does not see.
    *(
        _rule("socket", ALLOW, (0, "is", family), A_STREAM, (2, "is", protocol))
        for family in (INET, INET6)
        for protocol in (0, TCP)
    ),
    *NO_SOCKETS,
)
SOCKETS: tuple[Rule, ...] = (
    _rule("socket", ALLOW, (0, "is", UNIX)),
    *(_refuse("socket", (0, "is", family), A_RAW_ONE) for family in (INET, INET6)),
    *(_rule("socket", ALLOW, (0, "is", family)) for family in (INET, INET6)),
    # Only to ask about routes and addresses.
    _rule("socket", ALLOW, (0, "is", NETLINK), (2, "is", 0)),
    *NO_SOCKETS,
)


def machine_known(machine: str) -> bool:
    """Whether there is a table for this processor."""
    return machine in ARCHITECTURES


@lru_cache(maxsize=32)
def program(machine: str, sockets: tuple[Rule, ...], *, alone: bool) -> bytes:
    """The filter for a processor.

    Args:
        machine: as `uname` names it.
        sockets: what `socket` may give.
        alone: whether other processes of the machine are out of sight; where they are
            not, their limits may not be set either.
    """
    code, numbers = ARCHITECTURES[machine]
    absent = [*CALLS["absent"], *(() if alone else CALLS["shared"])]
    lines: list[Line] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, code),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        *(((AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)) if machine == "x86_64" else ()),
        (AT_LEAST, 0, 1, LAST_KNOWN + 1),
        (RETURN, 0, 0, ERRNO | errno.ENOSYS),
    ]
    for names, error in ((absent, errno.ENOSYS), (CALLS["refused"], errno.EPERM)):
        for name in filter(numbers.__contains__, names):
            lines += [(EQUAL, 0, 1, numbers[name]), (RETURN, 0, 0, ERRNO | error)]
    rules = [*RULES, *sockets, *(() if alone else OF_OTHERS)]
    for name in filter(numbers.__contains__, CALLS["checked"] | CALLS["shared"]):
        if its_rules := [rule for rule in rules if name in rule[0].split()]:
            lines += _of_call(numbers[name], its_rules)
    lines.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


def _of_call(number: int, rules: Iterable[Rule]) -> list[Line]:
    """What holds for one call. It decides: conditions replace the number that is loaded."""
    lines: list[Line] = [(RETURN, 0, 0, ALLOW)]
    for _, answer, conditions in reversed(list(rules)):
        one: list[Line] = [(RETURN, 0, 0, answer)]
        for condition in reversed(conditions):
            one = [*condition.lines(len(one)), *one]
        lines = [*one, *lines]
    return [(EQUAL, 0, len(lines), number), *lines]
