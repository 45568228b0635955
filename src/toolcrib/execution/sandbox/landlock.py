"""Landlock: which files and ports a run may use, as the kernel takes it."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from toolcrib.execution.sandbox.layout import ETC, STORES, TOP
from toolcrib.execution.sandbox.toolchains import is_there

MEMORY = "/dev/shm"  # noqa: S108
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
"""Not /dev/pts: there are the terminals in which the user types, and no others can be made."""
PROC = (
    *("self", "cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems"),
    *("sys/kernel", "sys/vm", "sys/fs"),
)


def kernel_rules(read: Sequence[str], written: Sequence[str]) -> LandlockRules:
    """What a run may read of the machine, and what it may write."""
    places = ["/usr", *(f"/{name}" for name in TOP), *STORES, *(f"/etc/{name}" for name in ETC)]
    places += ["/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"]
    places += [f"/proc/{name}" for name in PROC]
    paths = [(place, _rights(place, READ)) for place in (*places, *read) if is_there(place)]
    paths += [(f"/dev/{name}", _rights(f"/dev/{name}", READ | DEVICE)) for name in DEVICES]
    paths += [(MEMORY, WRITE)]
    paths += [(path, _rights(path, WRITE)) for path in written]
    # No port: a run that is given hosts gets that of the guard's proxy.
    return LandlockRules(tuple(paths), ports=())


def _rights(path: str, wanted: int) -> int:
    """A file cannot have the rights of a folder."""
    return wanted if os.path.isdir(path) else wanted & OF_FILES  # noqa: PTH112


EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK = 1 << 6, 1 << 7, 1 << 8, 1 << 9
MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = 1 << 10, 1 << 11, 1 << 12
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
BIND_TCP, CONNECT_TCP = 1, 2
ABSTRACT_SOCKETS, SIGNALS = 1, 2

OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
READ = EXECUTE | READ_FILE | READ_DIR
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEVICE
WRITE = (
    READ
    | WRITE_FILE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | MAKE_SOCK
    | MAKE_FIFO
    | MAKE_SYM
    | REFER
    | TRUNCATE
)

NR_CREATE_RULESET = 444
ASK_VERSION = 1


@cache
def version() -> int:
    """Which Landlock this kernel has; 0 for none."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    found = library.syscall(NR_CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION)
    return max(int(found), 0)


def known(abi: int) -> int:
    """The rights on files that a version knows."""
    count = 13 + (abi >= 2) + (abi >= 3)
    return (1 << count) - 1 | (IOCTL_DEVICE if abi >= 5 else 0)


def terminal_rule(path: str) -> tuple[str, int]:
    """What a run may do with its own terminal."""
    return path, DEVICE & known(version())


@dataclass(frozen=True, slots=True)
class LandlockRules:
    """What a run may do with files and ports.

    Attributes:
        paths: rights by path; a path that is a file must have rights of files alone.
        ports: TCP ports that it may connect to; None leaves TCP to others.
    """

    paths: tuple[tuple[str, int], ...]
    ports: tuple[int, ...] | None = None

    def packed(self, abi: int) -> tuple[bytes, list[tuple[str, int]], list[tuple[int, int]]] | None:
        """The arguments of the calls as `confinement_child` makes them; None without Landlock."""
        if abi < 1:
            return None
        rights = known(abi)
        network = BIND_TCP | CONNECT_TCP if abi >= 4 and self.ports is not None else 0
        scope = ABSTRACT_SOCKETS | SIGNALS if abi >= 6 else 0
        sizes = 3 if abi >= 6 else 2 if abi >= 4 else 1
        attributes = struct.pack("<3Q", rights, network, scope)[: 8 * sizes]
        ports = [(port, CONNECT_TCP) for port in self.ports or ()] if network else []
        return attributes, [(p, access & rights) for p, access in self.paths], ports
