"""Opening what a run left, whatever modes it gave to it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from toolcrib.execution.runs.disk.removal import FOLDER
from toolcrib.files.beneath import READABLE


class usable:  # noqa: N801 - used like a function
    """Makes a file or folder on the upper side readable for us, for as long as this is open."""

    def __init__(self, folder: int, name: str, status: os.stat_result) -> None:
        needed = 0o700 if stat.S_ISDIR(status.st_mode) else 0o400
        self._closed = os.geteuid() != 0 and status.st_mode & needed != needed
        self._held = folder, name, stat.S_IMODE(status.st_mode), needed

    def __enter__(self) -> None:
        if self._closed:
            folder, name, mode, needed = self._held
            os.chmod(name, mode | needed, dir_fd=folder)

    def __exit__(self, *_: object) -> None:
        if self._closed:
            folder, name, mode, _needed = self._held
            with suppress(OSError):
                os.chmod(name, mode, dir_fd=folder)


@contextmanager
def holder_of(top: int, way: str) -> Iterator[tuple[int, str]]:
    """The folder that holds what is at a way, open, and its name; no link is followed."""
    *folders, name = way.split("/")
    held = os.dup(top)
    try:
        for folder in folders:
            inner = os.open(folder, FOLDER, dir_fd=held)
            os.close(held)
            held = inner
        yield held, name
    finally:
        os.close(held)


def open_file(top: int, parts: tuple[str, ...]) -> int:
    """Open a file beneath a folder of our own, name by name, no link followed."""
    held = os.dup(top)
    try:
        for name in parts[:-1]:
            status = os.stat(name, dir_fd=held, follow_symlinks=False)
            with usable(held, name, status):
                inner = os.open(name, FOLDER, dir_fd=held)
                os.close(held)
                held = inner
        status = os.stat(parts[-1], dir_fd=held, follow_symlinks=False)
        with usable(held, parts[-1], status):
            return os.open(parts[-1], READABLE | os.O_NOFOLLOW, dir_fd=held)
    finally:
        os.close(held)
