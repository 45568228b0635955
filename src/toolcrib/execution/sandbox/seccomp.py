"""The seccomp program: which system calls a confined process may make, as BPF.

Everything is allowed but for the calls that are listed here and for some arguments: namespaces,
sockets of other families, input pushed into a terminal, setuid bits, device nodes.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass
from functools import lru_cache

# System calls with their numbers on x86_64 and aarch64; "-" where there is none. The column of
# aarch64 was written from the kernel's headers and has not been run.


def _table(text: str) -> dict[str, tuple[str, str]]:
    return {name: (x86_64, aarch64) for name, x86_64, aarch64 in map(str.split, text.splitlines())}


ABSENT = _table("""\
    clone3                435  435
    openat2               437  437
    fchmodat2             452  452
    io_uring_setup        425  425
    io_uring_enter        426  426
    io_uring_register     427  427
    memfd_secret          447  447
    vmsplice              278   75
    uselib                134    -
    _sysctl               156    -
    create_module         174    -
    nfsservctl            180   42
    lookup_dcookie        212   18
    modify_ldt            154    -
""")
"""These answer that the kernel does not have them, and programs use something else: the C
library takes clone for clone3, whose flags lie in memory, and openat for openat2 (its mode)."""

FILE_SYSTEMS = _table("""\
    mount                 165   40
    umount2               166   39
    pivot_root            155   41
    chroot                161   51
    open_tree             428  428
    open_tree_attr        467  467
    move_mount            429  429
    fsopen                430  430
    fsconfig              431  431
    fsmount               432  432
    fspick                433  433
    mount_setattr         442  442
    quotactl              179   60
    quotactl_fd           443  443
    swapon                167  224
    swapoff               168  225
    name_to_handle_at     303  264
    open_by_handle_at     304  265
    fanotify_init         300  262
""")
OTHER_PROCESSES = _table("""\
    ptrace                101  117
    process_vm_readv      310  270
    process_vm_writev     311  271
    pidfd_getfd           438  438
    process_madvise       440  440
    process_mrelease      448  448
    kcmp                  312  272
    setns                 308  268
    move_pages            279  239
    migrate_pages         256  238
""")
KERNEL = _table("""\
    bpf                   321  280
    perf_event_open       298  241
    userfaultfd           323  282
    add_key               248  217
    request_key           249  218
    keyctl                250  219
    init_module           175  105
    finit_module          313  273
    delete_module         176  106
    kexec_load            246  104
    kexec_file_load       320  294
    reboot                169  142
    syslog                103  116
    acct                  163   89
    iopl                  172    -
    ioperm                173    -
    sethostname           170  161
    setdomainname         171  162
    settimeofday          164  170
    clock_settime         227  112
    clock_adjtime         305  266
    adjtimex              159  171
    vhangup               153   58
""")
REFUSED = {**FILE_SYSTEMS, **OTHER_PROCESSES, **KERNEL}
"""These are not permitted, whatever their arguments."""

LASTING = _table("""\
    shmget                 29  194
    semget                 64  190
    msgget                 68  186
    mq_open               240  180
""")
"""What these make outlives its maker, where it does not go with a namespace."""

CHECKED = _table("""\
    open                    2    -
    ioctl                  16   29
    socket                 41  198
    clone                  56  220
    creat                  85    -
    chmod                  90    -
    fchmod                 91   52
    mknod                 133    -
    personality           135   92
    setpriority           141  140
    sched_setparam        142  118
    sched_setscheduler    144  119
    sched_setaffinity     203  122
    ioprio_set            251   30
    openat                257   56
    mknodat               259   33
    fchmodat              268   53
    unshare               272   97
    fallocate             285   47
    prlimit64             302  261
    sched_setattr         314  274
""")
"""These are allowed or refused by their arguments."""


def _numbers(column: int) -> dict[str, int]:
    found = {**ABSENT, **REFUSED, **LASTING, **CHECKED}
    return {name: int(row[column]) for name, row in found.items() if row[column] != "-"}


ARCHITECTURES = {"x86_64": (0xC000003E, _numbers(0)), "aarch64": (0xC00000B7, _numbers(1))}
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
LOAD, EQUAL, AT_LEAST, ANY_BIT, MASK, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
X32 = 0x40000000
LAST_KNOWN = 469
"""file_setattr of Linux 6.17, the same on both: what is newer was looked at by nobody, and is
absent until it was."""

NAMESPACES = 0x7E020080
"""CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
SET_ID_BITS = 0o6000
CREATES = 0o20000000 | 0o100
"""O_CREAT and the bit of O_TMPFILE: without them the mode is not looked at."""
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
STREAM = 1
TERMINAL_INPUT = (0x5412, 0x541C, 0x541D)
"""TIOCSTI, TIOCLINUX and TIOCCONS."""
OF_OTHERS = (
    *((name, 0) for name in ("prlimit64", "sched_setaffinity", "sched_setscheduler")),
    *((name, 0) for name in ("sched_setparam", "sched_setattr")),
    *((name, 1) for name in ("setpriority", "ioprio_set")),
)
"""Calls that change another process, and which argument names it; 0 is the caller."""
OF_A_USER = (("setpriority", 2), ("ioprio_set", 3))
"""With this first argument, 0 is no process but all of a user."""
SEGMENT = 1 << 20
"""Shared memory of System V is counted by nobody; small segments are enough for programs."""

Line = tuple[int, int | str, int | str, int]


@dataclass(frozen=True, slots=True)
class Sockets:
    """The families that `socket` gives."""

    unix: bool = True
    inet: bool = True
    netlink: bool = True
    datagrams: bool = True


class _Program:
    """Lines with labels in place of distances; only jumps forward are made."""

    def __init__(self) -> None:
        self.lines: list[Line | str] = []
        self._labels = 0

    def add(self, code: int, value: int, yes: int | str = 0, no: int | str = 0) -> None:
        self.lines.append((code, yes, no, value))

    def label(self) -> str:
        self._labels += 1
        return f"l{self._labels}"

    def here(self, label: str) -> None:
        self.lines.append(label)

    def refuse(self, number: int) -> None:
        self.add(RETURN, ERRNO | number)

    def argument(self, index: int) -> None:
        """Load the low half of an argument; the kernel looks at no more of these."""
        self.add(LOAD, ARGUMENTS + 8 * index)

    def packed(self) -> bytes:
        """The program as the kernel takes it."""
        places: dict[str, int] = {}
        count = 0
        for line in self.lines:
            if isinstance(line, str):
                places[line] = count
            else:
                count += 1
        packed = bytearray()
        at = 0
        for line in self.lines:
            if isinstance(line, str):
                continue
            code, yes, no, value = line
            at += 1
            jumps = [places[j] - at if isinstance(j, str) else j for j in (yes, no)]
            packed += struct.pack("<HBBI", code, *jumps, value)
        return bytes(packed)


def machine_known(machine: str) -> bool:
    """Whether there is a table for this processor."""
    return machine in ARCHITECTURES


@lru_cache(maxsize=32)
def program(machine: str, sockets: Sockets, *, alone: bool) -> bytes:
    """The filter for a processor.

    Args:
        machine: as `uname` names it.
        sockets: what `socket` may give.
        alone: whether other processes of the machine are out of sight; where they are
            not, their limits may not be set either.
    """
    code, numbers = ARCHITECTURES[machine]
    made = _Program()
    made.add(LOAD, ARCHITECTURE)
    made.add(EQUAL, code, 1, 0)
    made.add(RETURN, KILL)
    made.add(LOAD, NUMBER)
    if machine == "x86_64":
        made.add(AT_LEAST, X32, 0, 1)
        made.add(RETURN, KILL)
    made.add(AT_LEAST, LAST_KNOWN + 1, 0, 1)
    made.refuse(errno.ENOSYS)
    for name in (n for n in ABSENT if n in numbers):
        made.add(EQUAL, numbers[name], 0, 1)
        made.refuse(errno.ENOSYS)
    for name in (n for n in (*REFUSED, *(() if alone else LASTING)) if n in numbers):
        made.add(EQUAL, numbers[name], 0, 1)
        made.refuse(errno.EPERM)
    # What hangs on arguments comes last: they replace the number that is loaded.
    _by_bits(made, numbers, ("clone", "unshare"), 0, NAMESPACES)
    _modes(made, numbers)
    _sockets(made, numbers["socket"], sockets)
    _others(made, numbers, alone=alone)
    made.add(RETURN, ALLOW)
    return made.packed()


def _by_bits(
    made: _Program,
    numbers: dict[str, int],
    names: tuple[str, ...],
    index: int,
    bits: int,
) -> None:
    """Refuse calls that have any of some bits in an argument."""
    for name in names:
        if name in numbers:
            after = made.label()
            made.add(EQUAL, numbers[name], 0, after)
            made.argument(index)
            made.add(ANY_BIT, bits, 0, 1)
            made.refuse(errno.EPERM)
            made.add(RETURN, ALLOW)
            made.here(after)


def _modes(made: _Program, numbers: dict[str, int]) -> None:
    """No setuid and setgid bits, no device nodes."""
    for names, index in ((("chmod", "fchmod", "creat"), 1), (("fchmodat",), 2)):
        _by_bits(made, numbers, names, index, SET_ID_BITS)
    for name, flags in (("open", 1), ("openat", 2)):
        if name in numbers:
            after = made.label()
            made.add(EQUAL, numbers[name], 0, after)
            made.argument(flags)
            made.add(ANY_BIT, CREATES, 1, 0)
            made.add(RETURN, ALLOW)
            made.argument(flags + 1)
            made.add(ANY_BIT, SET_ID_BITS, 0, 1)
            made.refuse(errno.EPERM)
            made.add(RETURN, ALLOW)
            made.here(after)
    for name, index in (("mknod", 1), ("mknodat", 2)):
        if name in numbers:
            after = made.label()
            made.add(EQUAL, numbers[name], 0, after)
            made.argument(index)
            made.add(ANY_BIT, SET_ID_BITS, 2, 0)
            # Bit 13 alone or with 14 is a device; a FIFO, a file and a socket lack it.
            made.add(ANY_BIT, 0o020000, 1, 0)
            made.add(RETURN, ALLOW)
            made.refuse(errno.EPERM)
            made.here(after)


def _sockets(made: _Program, number: int, sockets: Sockets) -> None:
    """Only some families; netlink only to ask about routes and addresses."""
    after = made.label()
    made.add(EQUAL, number, 0, after)
    made.argument(0)
    if sockets.unix:
        made.add(EQUAL, UNIX, 0, 1)
        made.add(RETURN, ALLOW)
    if sockets.inet:
        stream = made.label()
        other = made.label()
        made.add(EQUAL, INET, stream, 0)
        made.add(EQUAL, INET6, 0, other)
        made.here(stream)
        if sockets.datagrams:
            made.argument(1)
            made.add(MASK, 0xF)
            made.add(EQUAL, 3, 0, 1)  # raw
            made.refuse(errno.EPERM)
        else:
            made.argument(1)
            made.add(MASK, 0xF)
            made.add(EQUAL, STREAM, 1, 0)
            made.refuse(errno.EACCES)
            made.argument(2)  # TCP or the default; not MPTCP, which Landlock does not see
            made.add(EQUAL, 0, 2, 0)
            made.add(EQUAL, 6, 1, 0)
            made.refuse(errno.EACCES)
        made.add(RETURN, ALLOW)
        made.here(other)
    if sockets.netlink:
        refused = made.label()
        made.add(EQUAL, NETLINK, 0, refused)
        made.argument(2)
        made.add(EQUAL, 0, 0, refused)
        made.add(RETURN, ALLOW)
        made.here(refused)
    made.refuse(errno.EACCES)
    made.here(after)


def _others(made: _Program, numbers: dict[str, int], *, alone: bool) -> None:
    after = made.label()
    made.add(EQUAL, numbers["ioctl"], 0, after)
    made.argument(1)
    for value in TERMINAL_INPUT:
        made.add(EQUAL, value, 0, 1)
        made.refuse(errno.EPERM)
    made.add(RETURN, ALLOW)
    made.here(after)
    # Reserving space counts as writing for nobody; without it, programs write.
    made.add(EQUAL, numbers["fallocate"], 0, 1)
    made.refuse(errno.EOPNOTSUPP)
    after = made.label()
    made.add(EQUAL, numbers["personality"], 0, after)
    made.argument(0)
    made.add(EQUAL, 0, 2, 0)
    made.add(EQUAL, 0xFFFFFFFF, 1, 0)
    made.refuse(errno.EPERM)
    made.add(RETURN, ALLOW)
    made.here(after)
    after = made.label()
    made.add(EQUAL, numbers["shmget"], 0, after)
    made.add(LOAD, ARGUMENTS + 12)
    made.add(EQUAL, 0, 1, 0)
    made.refuse(errno.ENOMEM)
    made.argument(1)
    made.add(AT_LEAST, SEGMENT + 1, 0, 1)
    made.refuse(errno.ENOMEM)
    made.add(RETURN, ALLOW)
    made.here(after)
    for name, index in () if alone else OF_OTHERS:
        after = made.label()
        made.add(EQUAL, numbers[name], 0, after)
        made.argument(index)
        made.add(EQUAL, 0, 1, 0)
        made.refuse(errno.EPERM)
        for _, users in (pair for pair in OF_A_USER if pair[0] == name):
            made.argument(0)
            made.add(EQUAL, users, 0, 1)
            made.refuse(errno.EPERM)
        made.add(RETURN, ALLOW)
        made.here(after)
