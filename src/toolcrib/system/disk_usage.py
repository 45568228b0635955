"""What folders take on disk, all of it or what was written since a moment."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.system.removal import FOLDER

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there
    raise ImportError

INODE_BYTES = 4_096
"""What a file without content counts."""


def blocks_of(folder: Path, max_entries: int = 200_000) -> int:
    """Bytes that a folder takes on disk, as far as it can be read within `max_entries` entries."""
    total = 0
    names = (Path(at, name) for at, inner, files in os.walk(folder) for name in (*inner, *files))
    for path in islice(names, max_entries):
        with suppress(OSError):
            total += path.lstat().st_blocks * 512
    return total


def written_bytes(folder: str, since: float, enough: int) -> int:
    """Bytes in files beneath a folder that were made or changed since then, up to enough.

    A folder changed since that cannot be looked into, being shut or too deep, holds all of it.
    """
    size, waiting, device = 0, [(folder, 0.0)], 0
    while waiting and size <= enough:
        path, changed = waiting.pop()
        try:
            fd = os.open(path, FOLDER)
        except OSError as error:
            hidden = changed >= since and error.errno in (errno.EACCES, errno.ENAMETOOLONG)
            size += enough if hidden else 0
            continue
        try:
            device = device or os.fstat(fd).st_dev
            for status, name in _states(fd):
                if status.st_ctime >= since:
                    size += status.st_blocks * 512 + INODE_BYTES
                if stat.S_ISDIR(status.st_mode) and status.st_dev == device:
                    waiting.append((f"{path}/{name}", status.st_ctime))
        finally:
            os.close(fd)
    return size


def _states(folder: int | str) -> Iterator[tuple[os.stat_result, str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                yield entry.stat(follow_symlinks=False), entry.name


def shared_memory_bytes(since: float) -> int:
    """Bytes in the machine's own files in memory that we made or wrote to since then.

    Whoever else runs as the same user is counted too: nothing tells who wrote a file.
    """
    return sum(
        status.st_blocks * 512
        for status, _ in _states("/dev/shm")  # noqa: S108
        if status.st_uid == os.getuid() and status.st_ctime >= since
    )
