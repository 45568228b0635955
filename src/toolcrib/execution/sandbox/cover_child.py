"""Run by another interpreter: covers places in the file system of a run that goes on.

A program of the user may put another file in the place of a protected one, and the system then
takes the cover away with the old file. Only a process with one thread may enter the namespaces
of a run, which is why this is one of its own. Its arguments are a pidfd of the run's first
process, and for each place `hide` or `fix` and its path.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import stat
import sys

NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000
GET_USER_NAMESPACE = 0xB701
"""Of a namespace, the user namespace that it belongs to: not the inner one of the program."""
OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, MOUNT_SETATTR = 428, 429, 430, 431, 432, 442
CLONE, EMPTY_PATH = 1, 0x1000
FROM_EMPTY, TO_EMPTY = 4, 0x40
SET_STRING, CREATE = 1, 6
READ_ONLY = 1

_libc = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: object) -> int:
    """A system call.

    Raises:
        OSError: it failed.
    """
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    done = int(_libc.syscall(ctypes.c_long(number), *words))
    if done < 0:
        raise OSError(ctypes.get_errno(), f"call {number}")
    return done


def enter(pidfd: int) -> None:
    """Go into the file system of a process, with the rights of who made it."""
    with open(f"/proc/self/fdinfo/{pidfd}", "rb") as file:  # noqa: PTH123
        pid = next(int(line[4:]) for line in file if line.startswith(b"Pid:"))
    mounts = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    owner = fcntl.ioctl(mounts, GET_USER_NAMESPACE)
    for namespace, kind in ((owner, NEW_USER), (mounts, NEW_MOUNTS)):
        if _libc.setns(namespace, kind):
            raise OSError(ctypes.get_errno(), "setns")


def empty_folder() -> int:
    """A file system with nothing in it, that nobody may enter."""
    made = call(FSOPEN, b"tmpfs", 0)
    call(FSCONFIG, made, SET_STRING, b"mode", b"0000", 0)
    call(FSCONFIG, made, CREATE, None, None, 0)
    return call(FSMOUNT, made, 0, READ_ONLY)


def cover(kind: str, path: str) -> None:
    """Mount over a place; it is not a link that leads on."""
    place = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    mode = os.fstat(place).st_mode
    if stat.S_ISLNK(mode):
        return
    if kind == "fix":
        tree = call(OPEN_TREE, place, b"", CLONE | EMPTY_PATH)
        attributes = (READ_ONLY).to_bytes(8, "little") + bytes(24)
        call(MOUNT_SETATTR, tree, b"", EMPTY_PATH, attributes, len(attributes))
    elif stat.S_ISDIR(mode):
        tree = empty_folder()
    else:
        nothing = os.open("/dev/null", os.O_PATH)
        tree = call(OPEN_TREE, nothing, b"", CLONE | EMPTY_PATH)
    call(MOVE_MOUNT, tree, b"", place, b"", FROM_EMPTY | TO_EMPTY)


def main() -> int:
    """Cover all places that are there; 1 where something went wrong."""
    code = 0
    enter(int(sys.argv[1]))
    for kind, path in zip(sys.argv[2::2], sys.argv[3::2], strict=True):
        try:
            cover(kind, path)
        except FileNotFoundError:
            continue  # gone again
        except OSError:
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
