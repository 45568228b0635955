"""A ceiling for the processes of a namespace: the highest number that one may have.

Where nothing else refuses a process to root, this does, with no work at all for the server.
Since Linux 6.14 each namespace of processes has a highest number of its own; before, the
machine has one, which is not ours to change.
"""

from __future__ import annotations

import fcntl
import os
import re
from functools import cache

SINCE = (6, 14)
RESERVED = 300
"""The kernel gives numbers up to here once only; a first burst may have as many more."""
HELD = 3
"""Numbers that one process may hold: its own, its group's and its session's."""
OUTER = 2
"""The first process of the namespace, and the one that carries connections out."""
LOWEST = 5
"""Not among the descriptors that a start moves others to."""


@cache
def is_own() -> bool:
    """Whether a namespace has a highest number of its own."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return release is not None and (int(release[1]), int(release[2])) >= SINCE


def highest(most: int) -> bytes:
    """What to write, so that a run may have so many processes and threads.

    It is a ceiling for a burst alone: the watch ends a run at the limit.
    """
    return str(RESERVED + OUTER + HELD * most).encode()


def settings() -> int:
    """The folder of the machine's settings, open: within a run they are behind a lock.

    Raises:
        OSError: no descriptors, no such folder.
    """
    fd = os.open("/proc/sys/kernel", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, LOWEST)
    finally:
        os.close(fd)
