"""Run by another interpreter: works in a namespace of a run, for the server outside.

Only a process with one thread may enter the namespaces of a run, which is why this is one of its
own. Its arguments are a pidfd of the run's first process, and which of its namespaces to enter:

- `net`: makes sockets there and passes them on. A socket belongs for good to the namespace that
  it was made in, so it can be used outside, and nothing of ours runs beside the program.
- `mnt`: covers places. A program of the user may put another file in the place of a protected
  one, and the system then takes the cover away with the old file.

It reads what to do from its stdin, a socket, and ends with it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import stat
import struct
import sys
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING and sys.platform != "linux":  # nothing here is called elsewhere
    raise ImportError

GET_USER_NAMESPACE = 0xB701
"""Of a namespace, the user namespace that it belongs to: not the inner one of the program."""
OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, MOUNT_SETATTR = 428, 429, 430, 431, 432, 442
OPENAT2, AT_FDCWD, NO_SYMLINKS = 437, -100, 0x04
CLONE, EMPTY_PATH, RECURSIVE = 1, 0x1000, 0x8000
FROM_EMPTY, TO_EMPTY = 4, 0x40
SET_STRING, CREATE = 1, 6
READ_ONLY, NO_DEVICES, PRIVATE = 1, 4, 1 << 18
SOCK_DIAG = 4
FREEBIND = 15
"""The loopback may not be up yet."""
BACKLOG = 128
MAX_REQUEST_BYTES = 100_000
PINS = "/run/pins/top"
"""See `layout.PINS`: a folder in one that the program may not enter."""
FILE = b"settings"

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


def enter(pidfd: int, kind: str) -> None:
    """Go into a namespace of a process, with the rights of who made it."""
    with open(f"/proc/self/fdinfo/{pidfd}", "rb") as file:  # noqa: PTH123
        pid = next(int(line[4:]) for line in file if line.startswith(b"Pid:"))
    namespace = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
    os.close(pidfd)
    for each in (fcntl.ioctl(namespace, GET_USER_NAMESPACE), namespace):
        if _libc.setns(each, 0):
            raise OSError(ctypes.get_errno(), "setns")
        os.close(each)


def cover(kind: str, path: str, content: str) -> None:
    """Mount over a place, to which no link leads.

    Args:
        kind: `hide`: it is empty; `copy`: it has a content; `fixed`: nothing in it can be changed;
            `pinned`: it cannot be moved away, see `pin`.
        path: the place.
        content: of a copy.
    """
    how = struct.pack("3Q", os.O_PATH | os.O_NOFOLLOW, 0, NO_SYMLINKS)
    with ExitStack() as opened:

        def held(descriptor: int) -> int:
            opened.callback(os.close, descriptor)
            return descriptor

        place = held(call(OPENAT2, AT_FDCWD, os.fsencode(path), how, len(how)))
        mode = os.fstat(place).st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, path)
        if kind == "pinned":
            pin(place, path)
            return
        if kind == "fixed":  # with what covers places in it
            tree = held(call(OPEN_TREE, place, b"", CLONE | EMPTY_PATH | RECURSIVE))
            change_mounts(tree, b"", READ_ONLY, 0)
        elif kind == "copy" and not stat.S_ISDIR(mode):
            folder = held(in_memory(b"0755", 0))
            write_file(folder, os.fsencode(content))
            tree = held(call(OPEN_TREE, folder, FILE, CLONE))
            change_mounts(tree, b"", READ_ONLY, 0)
        elif stat.S_ISDIR(mode):
            tree = held(in_memory(b"0000", READ_ONLY))
        else:
            nothing = held(os.open("/dev/null", os.O_PATH))
            tree = held(call(OPEN_TREE, nothing, b"", CLONE | EMPTY_PATH))
            with suppress(OSError):  # nobody opens it then; before Linux 5.12 it is empty
                change_mounts(tree, b"", NO_DEVICES, 0)
        call(MOVE_MOUNT, tree, b"", place, b"", FROM_EMPTY | TO_EMPTY)


def pin(folder: int, path: str) -> None:
    """Mount something over a folder, where nobody comes: nothing else can move it away then.

    Over the folder itself the mount would part the programs that stand in it from what covers
    places in it later. The folder above it is mounted once more instead, and the pin in there.
    """
    above, name = os.path.split(path)
    try:
        copy = call(OPEN_TREE, AT_FDCWD, os.fsencode(above), CLONE)
    except OSError:  # what the user mounted in there has to be in the copy
        copy = call(OPEN_TREE, AT_FDCWD, os.fsencode(above), CLONE | RECURSIVE)
    attach(copy, os.open(PINS, os.O_PATH))  # on top of the one before
    place = os.open(f"{PINS}/{name}", os.O_PATH | os.O_NOFOLLOW)
    attach(call(OPEN_TREE, folder, b"", CLONE | EMPTY_PATH), place)


def attach(tree: int, place: int) -> None:
    """Mount a tree at a place; closes both."""
    try:
        call(MOVE_MOUNT, tree, b"", place, b"", FROM_EMPTY | TO_EMPTY)
    finally:
        os.close(tree)
        os.close(place)


def change_mounts(tree: int, path: bytes, attributes: int, propagation: int) -> None:
    """Change a mount and those in it."""
    packed = struct.pack("4Q", attributes, 0, propagation, 0)
    call(MOUNT_SETATTR, tree, path, EMPTY_PATH | RECURSIVE, packed, len(packed))


def write_file(folder: int, content: bytes) -> None:
    """Write FILE in a folder."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
    with open(os.open(FILE, flags, 0o444, dir_fd=folder), "wb") as file:  # noqa: PTH123
        file.write(content)


def in_memory(mode: bytes, attributes: int) -> int:
    """A new file system, mounted nowhere yet."""
    made = call(FSOPEN, b"tmpfs", 0)
    try:
        call(FSCONFIG, made, SET_STRING, b"mode", mode, 0)
        call(FSCONFIG, made, CREATE, None, None, 0)
        return call(FSMOUNT, made, 0, attributes)
    finally:
        os.close(made)


def made(kind: str, port: str) -> socket.socket:
    """A socket: to connect with by IP `4` or `6`, to `listen` on a port, or to `list` others."""
    if kind == "list":
        return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG)
    if kind != "listen":
        return socket.socket(socket.AF_INET6 if kind == "6" else socket.AF_INET)
    made = socket.socket(socket.AF_INET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.IPPROTO_IP, FREEBIND, 1)
    made.bind(("127.0.0.1", int(port)))
    made.listen(BACKLOG)
    return made


def main() -> None:
    """Answer each request with `+`, and a socket where it is for one, or an error's number."""
    link = socket.socket(fileno=0)
    try:
        enter(int(sys.argv[1]), sys.argv[2])
        if sys.argv[2] == "mnt":  # what the user mounts from here on has no covers, and stays out
            with suppress(OSError):  # before Linux 5.12
                change_mounts(AT_FDCWD, b"/", 0, PRIVATE)
        link.send(b"+")
        while request := os.fsdecode(link.recv(MAX_REQUEST_BYTES)):
            kind, _, rest = request.partition(" ")
            try:
                if kind in ("hide", "copy", "fixed", "pinned"):
                    path, _, content = rest.partition("\0")
                    cover(kind, path, content)
                    link.send(b"+")
                else:
                    with made(kind, rest) as answer:
                        socket.send_fds(link, [b"+"], [answer.fileno()])
            except OSError as error:
                link.send(str(error.errno or 1).encode())
    except OSError as error:
        link.send(str(error.errno or 1).encode())


if __name__ == "__main__":
    main()
