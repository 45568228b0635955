"""Locks on files that other processes take too, and that end with the process."""

from __future__ import annotations

import os
import sys

NOT_INHERITED: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
"""The flag of `os.open` by which children do not get what is opened."""
LOCKED_BYTE = 0x7FFF_0000
"""On Windows a lock keeps others from reading what it covers, so it lies behind all content."""


def take_lock(fd: int) -> bool:
    """`try_lock`, where a file system without locks counts as one that is taken."""
    try:
        return try_lock(fd)
    except OSError:
        return False


def try_lock(fd: int) -> bool:
    """Take an open file if no other process or descriptor has taken it; closing lets it go."""
    if sys.platform == "win32":
        import msvcrt

        place = os.lseek(fd, 0, os.SEEK_CUR)
        try:
            os.lseek(fd, LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(fd, place, os.SEEK_SET)
        return True
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
