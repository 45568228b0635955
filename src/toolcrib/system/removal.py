"""Removing folders of our own, however deep a run nested them and whatever modes they have."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from toolcrib.system import openat
from toolcrib.system.threads import random_id

FOLDER = os.O_RDONLY | openat.O_DIRECTORY | openat.O_NOFOLLOW | openat.O_CLOEXEC


def remove(folder: Path) -> None:
    """Remove a folder of our own with all that it holds; links are not followed.

    Folders in folders are first moved up beside each other, so that no depth matters.
    What the system does not let us remove is left.
    """
    with suppress(OSError), opened(folder) as top:
        _empty(top)
    with suppress(OSError):
        folder.rmdir()


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A descriptor of a folder of our own, made usable for us."""
    _allow(folder)
    with openat.closing(openat.open(str(folder), FOLDER)) as fd:
        yield fd


def _empty(top: int) -> None:
    """Remove all in a folder. Its folders get names of their own, one level at a time."""
    prefix, numbers = f".gone-{random_id(8)}-", count()
    waiting: list[str] = []

    def empty_one(folder: int) -> None:
        for name in _drop_files(folder):
            with suppress(OSError):
                _allow(name, folder)
                moved = f"{prefix}{next(numbers)}"
                openat.rename(name, moved, src_dir_fd=folder, dst_dir_fd=top)
                waiting.append(moved)

    empty_one(top)
    while waiting:
        name = waiting.pop()
        with suppress(OSError):
            with openat.closing(openat.open(name, FOLDER, dir_fd=top)) as inner:
                empty_one(inner)
            openat.rmdir(name, dir_fd=top)


def _allow(name: str | Path, folder: int | None = None) -> None:
    """Make a folder readable and writable for us where it is not."""
    name = str(name)
    status = openat.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode) and status.st_mode & 0o700 != 0o700:
        with suppress(OSError):
            openat.chmod(name, 0o700, dir_fd=folder)


def _drop_files(folder: int) -> list[str]:
    """Remove what is no folder; the names of the folders."""
    folders = []
    with openat.open_entries(folder) as scan:
        entries = list(scan)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
        else:
            with suppress(OSError):
                openat.unlink(entry.name, dir_fd=folder)
    return folders
