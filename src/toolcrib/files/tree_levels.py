"""A tree, folder by folder, held by descriptors: no name is ever looked up twice.

A symbolic link is never followed, and a folder that is swapped for one meanwhile is left
out, so what is read on the way lies in the tree that was opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from toolcrib.files.beneath import READABLE
from toolcrib.files.handles import Handle

MAX_DEPTH = 100
"""Folders in folders: one descriptor each is open while they are gone through."""
BLOCK = 1 << 16


@dataclass(slots=True)
class Level:
    """One folder of a tree.

    Attributes:
        fd: the folder, open until the next one is asked for.
        prefix: the way to it from the top, ending in "/"; "" for the top.
        files: the names of its plain files, in order.
        folders: the names of its folders, in order. What is taken out is not gone into.
        modified: when a name in it last changed, in nanoseconds.
    """

    fd: int
    prefix: str
    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    modified: int = 0

    def read(self, name: str, max_bytes: int) -> bytes | None:
        """A file of this folder; None if it is too large, gone, forbidden or no plain file."""
        try:
            fd = os.open(name, READABLE | os.O_NOFOLLOW, dir_fd=self.fd)
        except OSError:
            return None
        try:
            data = os.read(fd, BLOCK)
            if len(data) < BLOCK:
                return data if len(data) <= max_bytes else None
            return _rest(fd, data, max_bytes)
        except OSError:
            return None
        finally:
            os.close(fd)


def _rest(fd: int, data: bytes, max_bytes: int) -> bytes | None:
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
        return None
    parts, size = [data], len(data)
    while size <= max_bytes and (part := os.read(fd, max_bytes + 1 - size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts) if size <= max_bytes else None


def levels(top: Handle) -> Iterator[Level]:
    """The folders of a tree, each before what it holds; those that cannot be read are empty.

    Args:
        top: an open folder; it stays the caller's.
    """
    held: list[int] = []
    try:
        first = _level(os.dup(top.fd), "", held)
        yield first
        trail = [(first, 0)]
        while trail:
            level, place = trail.pop()
            if place >= len(level.folders) or len(held) > MAX_DEPTH:
                os.close(held.pop())
                continue
            trail.append((level, place + 1))
            name = level.folders[place]
            with suppress(OSError):
                fd = os.open(name, READABLE | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=level.fd)
                below = _level(fd, f"{level.prefix}{name}/", held)
                yield below
                trail.append((below, 0))
    finally:
        for fd in held:
            os.close(fd)


def _level(fd: int, prefix: str, held: list[int]) -> Level:
    held.append(fd)
    level = Level(fd, prefix, modified=os.fstat(fd).st_mtime_ns)
    try:
        with os.scandir(fd) as scan:
            entries = list(scan)
        level.files = [e.name for e in entries if e.is_file(follow_symlinks=False)]
        if len(level.files) < len(entries):
            level.folders = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return level
    level.files.sort()
    level.folders.sort()
    return level


def modified_at(top: Handle, path: str) -> int | None:
    """When something beneath an open folder last changed, in nanoseconds; None if it is gone."""
    try:
        return os.stat(path or ".", dir_fd=top.fd, follow_symlinks=False).st_mtime_ns
    except OSError:
        return None


def set_apart(top: Handle, paths: Iterable[str], max_bytes: int) -> tuple[set[str], set[str]]:
    """Those of some files beneath an open folder with other names too (hard links), and large ones.

    Args:
        top: the folder.
        paths: from it.
        max_bytes: larger files are large.
    """
    several, large = set(), set()
    folder = top.fd
    for path in paths:
        try:
            status = os.stat(path, dir_fd=folder, follow_symlinks=False)
        except OSError:  # what is gone by now is none of them
            continue
        if status.st_nlink > 1:
            several.add(path)
        if status.st_size > max_bytes:
            large.add(path)
    return several, large


def newest_first(top: Handle, paths: Iterable[str]) -> list[str]:
    """Some paths beneath an open folder that exist, the last changed first."""
    dated = [(when, path) for path in paths if (when := modified_at(top, path)) is not None]
    return [path for _, path in sorted(dated, key=lambda item: (-item[0], item[1]))]
