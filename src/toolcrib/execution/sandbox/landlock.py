"""Landlock: which files and ports a run may use, as the kernel takes it."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence
from functools import cache

from toolcrib.execution.sandbox.layout import STORES, TOP, etc_places
from toolcrib.execution.toolchains import is_there

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << n for n in range(6))
MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_SYM = 1 << 7, 1 << 8, 1 << 9, 1 << 10, 1 << 12
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
BIND_TCP, CONNECT_TCP = 1, 2
ABSTRACT_SOCKETS, SIGNALS = 1, 2

OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
READ = EXECUTE | READ_FILE | READ_DIR
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEVICE
MAKE = MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM
WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE | REFER | TRUNCATE
"""No devices: neither made, nor told what no other program may tell them."""

MEMORY = "/dev/shm"  # noqa: S108
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
"""Not /dev/pts: there are the terminals in which the user types, and no others can be made."""
PROC = (
    *("self", "cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems"),
    *("sys/kernel", "sys/vm", "sys/fs"),
)
MADE_UP = ("passwd", "group", "nsswitch.conf", "hosts")
"""Files of /etc in whose place others are read at level strong."""
NR_CREATE_RULESET = 444
ASK_VERSION = 1
MIN_SCOPES, MIN_PORTS = 6, 4
"""The versions of Landlock that know these."""

Access = tuple[str, int]
"""A path, and the rights on it and what is beneath it."""
PackedLandlock = tuple[bytes, list[Access], list[tuple[int, int]]]
"""The arguments of the calls as `confinement_child` makes them: attributes, paths, ports."""


@cache
def version() -> int:
    """Which Landlock this kernel has; 0 for none."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    found = library.syscall(NR_CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION)
    return max(int(found), 0)


def packed(paths: Iterable[Access], port: int = 0) -> PackedLandlock:
    """What a run may do with files and ports, as far as this kernel, which has Landlock, knows it.

    Args:
        paths: a path that is a file must have rights of files alone.
        port: the only one that it may connect to by TCP; 0 for none.
    """
    abi = version()
    rights = ((1 << (13 + (abi >= 2) + (abi >= 3))) - 1) | (IOCTL_DEVICE if abi >= 5 else 0)
    parts = [rights]
    parts += [BIND_TCP | CONNECT_TCP] if abi >= MIN_PORTS else []
    parts += [ABSTRACT_SOCKETS | SIGNALS] if abi >= MIN_SCOPES else []
    ports = [(port, CONNECT_TCP)] if port and abi >= MIN_PORTS else []
    known = [(path, access & rights) for path, access in paths]
    return struct.pack(f"<{len(parts)}Q", *parts), known, ports


def accesses(read: Sequence[str], written: Sequence[str]) -> list[Access]:
    """What a run may read of the machine, and what it may write."""
    places = ["/usr", *(f"/{name}" for name in TOP), *STORES]
    places += [*etc_places(), *(f"/etc/{name}" for name in MADE_UP)]
    places += [f"/proc/{name}" for name in PROC]
    return [
        *((place, _rights(place, READ)) for place in (*places, *read) if is_there(place)),
        *((f"/dev/{name}", DEVICE) for name in DEVICES),
        (MEMORY, WRITE),
        *((place, _rights(place, WRITE)) for place in written),
    ]


def _rights(path: str, wanted: int) -> int:
    """A file cannot have the rights of a folder."""
    return wanted if os.path.isdir(path) else wanted & OF_FILES  # noqa: PTH112
