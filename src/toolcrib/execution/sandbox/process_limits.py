"""Limits that the kernel keeps for a whole run: a control group, and the highest pid.

A control group is made where the system lets its user make one.
Only what was delegated is used, as systemd does for the programs of a session: a group beside
or beneath our own, in a place whose controllers are on already. Nothing is turned on here.
The watchdog looks at the run all the same; the group is what stands where it measures too late.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from toolcrib.execution.sandbox.terms import Limits

# The highest pid limits the processes of a namespace where nothing else refuses one to root,
# with no work at all for the server. Since Linux 6.14 each namespace of processes has its own;
# before, the machine has one, which is not ours to change.

OWN_PID_MAX_SINCE = (6, 14)
RESERVED_NUMBERS = 300
"""The kernel gives numbers up to here once only; a first burst may have as many more."""
NUMBERS_PER_PROCESS = 3
"""Numbers that one process may hold: its own, its group's and its session's."""
OUTER_PROCESSES = 2
"""The first process of the namespace, and the one that carries connections out."""
LOWEST_FD = 5
"""Not among the descriptors that a start moves others to."""


@cache
def has_own_pid_max() -> bool:
    """Whether a namespace has a highest number of its own."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return release is not None and (int(release[1]), int(release[2])) >= OWN_PID_MAX_SINCE


def pid_max(processes: int) -> bytes:
    """What to write, so that a run may have so many processes and threads.

    It is a ceiling for a burst alone: the watchdog ends a run at the limit.
    """
    return str(RESERVED_NUMBERS + OUTER_PROCESSES + NUMBERS_PER_PROCESS * processes).encode()


def open_kernel_settings() -> int:
    """The folder of the machine's settings, open: within a run they are behind a lock.

    Raises:
        OSError: no descriptors, no such folder.
    """
    fd = os.open("/proc/sys/kernel", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, LOWEST_FD)
    finally:
        os.close(fd)


PREFIX = "toolcrib-"
ENTER = b"0"
"""What a process writes to `cgroup.procs` to go in itself."""
REMOVE_SECONDS = 0.2
"""Seconds that the kernel may take to empty a group; what stays longer is removed later."""
CONTROLLERS = frozenset({"memory", "pids"})


@dataclass(slots=True)
class ControlGroup:
    """A group for one run.

    Attributes:
        path: its folder.
        procs_fd: a descriptor to which a process writes `ENTER`.
        of_memory: whether memory is limited.
        of_processes: whether the number of processes is.
    """

    path: Path
    procs_fd: int
    of_memory: bool
    of_processes: bool

    @classmethod
    def make(cls, limits: Limits) -> Self | None:
        """A new one with limits on; None where none can be made."""
        place = delegated()
        if place is None:
            return None
        path = place / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        try:
            path.mkdir()
        except OSError:
            return None
        of_memory = _set(path / "memory.max", limits.memory_bytes)
        if of_memory:
            _set(path / "memory.swap.max", 0)
            _set(path / "memory.oom.group", 1)
        of_processes = _set(path / "pids.max", limits.processes)
        try:
            procs_fd = os.open(path / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            procs_fd = -1
        group = cls(path, procs_fd, of_memory, of_processes)
        if procs_fd < 0 or not (of_memory or of_processes):
            group.close()
            return None
        return group

    def ran_out(self) -> bool:
        """Whether the kernel killed for want of memory in there."""
        with suppress(OSError):
            for line in (self.path / "memory.events").read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1]) > 0
        return False

    def close(self) -> None:
        """Kill what is in it, and remove it; blocking, for a moment."""
        if self.procs_fd >= 0:
            os.close(self.procs_fd)
            self.procs_fd = -1
        _set(self.path / "cgroup.kill", 1)
        end = time.monotonic() + REMOVE_SECONDS
        while True:
            try:
                self.path.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                if time.monotonic() > end:
                    return
                time.sleep(0.002)
            else:
                return


@cache
def delegated() -> Path | None:
    """The group in which others can be made, with controllers of what we limit; None without."""
    top, own = _top(), _own()
    if top is None or own is None:
        return None
    mine = top / own.lstrip("/")
    for place in (mine, mine.parent):
        if place != top and place.is_relative_to(top) and _serves(place):
            _tidy(place)
            return place
    return None


def _serves(place: Path) -> bool:
    """Whether groups made in it are limited, and we may make them and go into them."""
    try:
        on = (place / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
    mine = os.access(place, os.W_OK) and os.access(place / "cgroup.procs", os.W_OK)
    return mine and not CONTROLLERS.isdisjoint(on)


def _own() -> str | None:
    """The group of this process, as seen from the top."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::"):
                return line[3:]
    return None


def _top() -> Path | None:
    """Where the groups of version 2 are mounted."""
    with suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            fields, _, rest = line.partition(" - ")
            if rest.startswith("cgroup2 "):
                return Path(fields.split()[4])
    return None


def _tidy(place: Path) -> None:
    """Remove what dead servers left; a group that somebody is in stays."""
    for path in place.glob(f"{PREFIX}*"):
        pid = path.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            with suppress(OSError):
                path.rmdir()


def _set(path: Path, value: int) -> bool:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(fd, str(value).encode())
    except OSError:
        return False
    finally:
        os.close(fd)
    return True
