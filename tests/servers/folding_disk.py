"""Run as a process: shows a folder as a disk that does not tell capitals apart.

    python -m tests.servers.folding_disk FOLDER PLACE

Each spelling of a name is found, and the kernel takes it for a name of its own: so it is with
folders of Windows in WSL, and with those that virtual machines share. It speaks the protocol of
/dev/fuse itself, for reading alone; only root can mount it. It prints `ready`, and ends with its
stdin.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FORGET, BATCH_FORGET = 2, 42
"""To these there is no answer."""
VALID = 9
"""Seconds for which the kernel asks no more."""
HEADER = struct.Struct("<IIQQIIIHH")
ANSWER = struct.Struct("<IiQ")
ATTRIBUTES = struct.Struct("<6Q10I")
MAX_REQUEST_BYTES = 1 << 18
DETACH = 2


@contextmanager
def folding_disk(folder: Path, place: Path) -> Iterator[None]:
    """Mount it for as long as this is open.

    Raises:
        OSError: the system does not let us.
    """
    argv = [sys.executable, "-m", "tests.servers.folding_disk", str(folder), str(place)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(argv, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            if server.stdout.readline() != b"ready\n":
                raise OSError("the disk cannot be mounted")
            yield
        finally:
            ctypes.CDLL(None).umount2(os.fsencode(place), DETACH)
            server.stdin.close()


class Disk:
    """Answers the requests of the kernel. A node is a path, known by its number.

    Args:
        top: the folder.
        device: /dev/fuse, open.
    """

    def __init__(self, top: str, device: int) -> None:
        self._device = device
        self._paths = [top]

    def serve(self) -> None:
        """Until it is unmounted."""
        while True:
            try:
                request = os.read(self._device, MAX_REQUEST_BYTES)
            except OSError:
                return
            _, kind, unique, node, *_ = HEADER.unpack_from(request)
            if kind in (FORGET, BATCH_FORGET):
                continue
            number, body = 0, b""
            try:
                body = self._answer(kind, node, request[HEADER.size :])
            except OSError as error:
                number = -(error.errno or errno.EIO)
            os.write(self._device, ANSWER.pack(ANSWER.size + len(body), number, unique) + body)

    def _answer(self, kind: int, node: int, body: bytes) -> bytes:
        path = self._paths[node - 1] if node else ""
        match kind:
            case 26:  # INIT
                return struct.pack("<IIIIHHI", 7, 31, 0, 0, 8, 8, 1 << 16) + bytes(40)
            case 1:  # LOOKUP
                found = self._found(path, os.fsdecode(body[: body.index(b"\0")]))
                number = self._paths.index(found) + 1
                return struct.pack("<QQQQII", number, 0, VALID, VALID, 0, 0) + attributes(found)
            case 3:  # GETATTR
                return struct.pack("<QII", VALID, 0, 0) + attributes(path)
            case 14 | 27:  # OPEN, OPENDIR
                return bytes(16)
            case 15:  # READ
                _, offset, size = struct.unpack_from("<QQI", body)
                return Path(path).read_bytes()[offset : offset + size]
            case 28:  # READDIR
                _, offset, size = struct.unpack_from("<QQI", body)
                return listed(path, offset, size)
            case 18 | 29:  # RELEASE, RELEASEDIR
                return b""
        raise OSError(errno.ENOSYS, "not needed")

    def _found(self, folder: str, name: str) -> str:
        for entry in os.listdir(folder):
            if entry.casefold() == name.casefold():
                path = f"{folder}/{entry}"
                if path not in self._paths:
                    self._paths.append(path)
                return path
        raise FileNotFoundError(errno.ENOENT, name)


def attributes(path: str) -> bytes:
    """Those of a file, as the kernel takes them."""
    s = os.lstat(path)
    numbers = (s.st_ino, s.st_size, s.st_blocks, int(s.st_atime), int(s.st_mtime), int(s.st_ctime))
    return ATTRIBUTES.pack(*numbers, 0, 0, 0, s.st_mode, s.st_nlink, s.st_uid, s.st_gid, 0, 4096, 0)


def listed(path: str, offset: int, size: int) -> bytes:
    """The names of a folder from the one of a number on, as far as there is room."""
    found = b""
    for number, name in enumerate(sorted(os.listdir(path))):
        status, text = os.lstat(f"{path}/{name}"), os.fsencode(name)
        kind = stat.S_IFMT(status.st_mode) >> 12
        entry = struct.pack("<QQII", status.st_ino, number + 1, len(text), kind) + text
        entry += bytes(-len(entry) % 8)
        if number >= offset and len(found) + len(entry) <= size:
            found += entry
    return found


def main() -> None:
    """Mount it, and serve it until nobody needs it."""
    folder, place = sys.argv[1:]
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"folding", os.fsencode(place), b"fuse", 0, options.encode()):
        raise OSError(ctypes.get_errno(), "mount")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    threading.Thread(target=Disk(folder, device).serve, daemon=True).start()
    sys.stdin.read()
    libc.umount2(os.fsencode(place), DETACH)


if __name__ == "__main__":
    main()
