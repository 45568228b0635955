"""Removing what a run left, whatever it did to its modes and however deep it nested folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from toolcrib.files.beneath import READABLE


class usable:  # noqa: N801 - used like a function
    """Makes a file or folder of an upper directory readable for us, for as long as this is open."""

    def __init__(self, folder: int, name: str, status: os.stat_result) -> None:
        needed = 0o700 if stat.S_ISDIR(status.st_mode) else 0o400
        self._closed = os.geteuid() != 0 and status.st_mode & needed != needed
        self._target = folder, name, stat.S_IMODE(status.st_mode), needed

    def __enter__(self) -> None:
        if self._closed:
            folder, name, mode, needed = self._target
            os.chmod(name, mode | needed, dir_fd=folder)

    def __exit__(self, *_: object) -> None:
        if self._closed:
            folder, name, mode, _needed = self._target
            with suppress(OSError):
                os.chmod(name, mode, dir_fd=folder)


@contextmanager
def parent_of(top: int, relative: str) -> Iterator[tuple[int, str]]:
    """The folder that holds what is at a way, open, and its name; no link is followed."""
    *folders, name = relative.split("/")
    folder_fd = os.dup(top)
    try:
        for folder in folders:
            inner = os.open(folder, FOLDER, dir_fd=folder_fd)
            os.close(folder_fd)
            folder_fd = inner
        yield folder_fd, name
    finally:
        os.close(folder_fd)


def open_file(top: int, parts: tuple[str, ...]) -> int:
    """Open a file beneath a folder of our own, name by name, no link followed."""
    folder_fd = os.dup(top)
    try:
        for name in parts[:-1]:
            status = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
            with usable(folder_fd, name, status):
                inner = os.open(name, FOLDER, dir_fd=folder_fd)
                os.close(folder_fd)
                folder_fd = inner
        status = os.stat(parts[-1], dir_fd=folder_fd, follow_symlinks=False)
        with usable(folder_fd, parts[-1], status):
            return os.open(parts[-1], READABLE | os.O_NOFOLLOW, dir_fd=folder_fd)
    finally:
        os.close(folder_fd)


FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


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
    fd = os.open(folder, FOLDER)
    try:
        yield fd
    finally:
        os.close(fd)


def _empty(top: int) -> None:
    """Remove all in a folder. Its folders get numbers as names, one level at a time."""
    number = 0
    todo = _drop_files(top)
    for name in todo:
        number += 1
        with suppress(OSError):
            os.rename(name, f".gone-{os.getpid()}-{number}", src_dir_fd=top, dst_dir_fd=top)
    waiting = [f".gone-{os.getpid()}-{n}" for n in range(1, number + 1)]
    while waiting:
        name = waiting.pop()
        with suppress(OSError):
            inner = _enter(top, name)
            try:
                for below in _drop_files(inner):
                    number += 1
                    moved = f".gone-{os.getpid()}-{number}"
                    _allow(below, inner)
                    os.rename(below, moved, src_dir_fd=inner, dst_dir_fd=top)
                    waiting.append(moved)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)


def _enter(folder: int, name: str) -> int:
    _allow(name, folder)
    return os.open(name, FOLDER, dir_fd=folder)


def _allow(name: str | Path, folder: int | None = None) -> None:
    """Make a folder readable and writable for us where it is not."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode) and status.st_mode & 0o700 != 0o700:
        with suppress(OSError):
            os.chmod(name, 0o700, dir_fd=folder)


def _drop_files(folder: int) -> list[str]:
    """Remove what is no folder; the names of the folders."""
    folders = []
    with os.scandir(folder) as scan:
        entries = list(scan)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
        else:
            with suppress(OSError):
                os.unlink(entry.name, dir_fd=folder)
    return folders


def blocks_of(folder: Path, max_entries: int = 200_000) -> int:
    """Bytes that a folder takes on disk, as far as it can be read within `max_entries` entries."""
    total, seen = 0, 0
    todo = [str(folder)]
    while todo and seen < max_entries:
        with suppress(OSError), os.scandir(todo.pop()) as scan:
            for entry in scan:
                seen += 1
                with suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
    return total
