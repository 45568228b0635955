"""Which files a run may use, as rules of Landlock."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from toolcrib.execution.sandbox.landlock import DEVICE, OF_FILES, READ, WRITE, Rules
from toolcrib.execution.sandbox.layout import ETC, HOME, STORES, TOP

MEMORY = "/dev/shm"  # noqa: S108
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
PROC = (
    "self",
    "cpuinfo",
    "meminfo",
    "stat",
    "loadavg",
    "uptime",
    "version",
    "filesystems",
    "sys/kernel",
    "sys/vm",
    "sys/fs",
)


def strong_rules(written: Sequence[str]) -> Rules:
    """Inside namespaces all that is there may be read, and these written.

    Not /proc: to the kernel, root in there is root, and settings of the machine are its own.
    """
    paths = [("/", READ), ("/dev", READ | DEVICE), ("/proc", READ)]
    paths += [(path, WRITE) for path in ("/tmp", MEMORY, HOME)]  # noqa: S108
    return Rules((*paths, *((path, _rights(path, WRITE)) for path in written)))


def kernel_rules(read: Sequence[str], written: Sequence[str]) -> Rules:
    """Without namespaces: what a run may read of the machine, and what it may write."""
    places = ["/usr", *(f"/{name}" for name in TOP), *STORES, *(f"/etc/{name}" for name in ETC)]
    places += ["/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"]
    places += [f"/proc/{name}" for name in PROC]
    paths = [(place, _rights(place, READ)) for place in (*places, *read) if Path(place).exists()]
    paths += [(f"/dev/{name}", _rights(f"/dev/{name}", READ | DEVICE)) for name in DEVICES]
    paths += [(MEMORY, WRITE)]
    paths += [(path, _rights(path, WRITE)) for path in written]
    # No port: a run that is given hosts gets that of the guard's proxy.
    return Rules(tuple(paths), ports=())


def _rights(path: str, wanted: int) -> int:
    """A file cannot have the rights of a folder."""
    return wanted if os.path.isdir(path) else wanted & OF_FILES  # noqa: PTH112
