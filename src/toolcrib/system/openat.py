"""Files and folders by descriptor: the calls of the openat family, on every system.

Where the system has them, they are those of `os` and nothing else. Windows has none: there
`held_folders` does the same by folders that it holds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from os import stat_result
from typing import Protocol

if sys.platform == "win32":
    from toolcrib.system import held_folders as _calls
else:
    import os as _calls

O_CLOEXEC = _calls.O_CLOEXEC
O_DIRECTORY = _calls.O_DIRECTORY
O_NOCTTY = _calls.O_NOCTTY
O_NOFOLLOW = _calls.O_NOFOLLOW
O_NONBLOCK = _calls.O_NONBLOCK
access = _calls.access
chmod = _calls.chmod
chown = _calls.chown
close = _calls.close
dup = _calls.dup
fchmod = _calls.fchmod
fchown = _calls.fchown
fstat = _calls.fstat
link = _calls.link
mkdir = _calls.mkdir
mkfifo = _calls.mkfifo
open = _calls.open  # noqa: A001 - as in os
pread = _calls.pread
readlink = _calls.readlink
rename = _calls.rename
rmdir = _calls.rmdir
scandir = _calls.scandir
stat = _calls.stat
symlink = _calls.symlink
unlink = _calls.unlink
utime = _calls.utime


class FolderEntry(Protocol):
    """What `scandir` gives for each name: an `os.DirEntry`, or as good as one."""

    @property
    def name(self) -> str:
        """Its name in the folder."""

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a folder; what leads elsewhere is none, unless it is followed."""

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a plain file."""

    def is_symlink(self) -> bool:
        """Whether it leads elsewhere."""

    def stat(self, *, follow_symlinks: bool = True) -> stat_result:
        """What the system says about it."""


def open_entries(fd: int) -> AbstractContextManager[Iterator[FolderEntry]]:
    """The names in an open folder, as `os.scandir` gives them."""
    return scandir(fd)


@contextmanager
def closing(fd: int) -> Iterator[int]:
    """A descriptor that is closed in the end, as `contextlib.closing` does with other things."""
    try:
        yield fd
    finally:
        close(fd)
