"""Extended attributes that a program set on the files themselves: they are told.

The marks of an overlay among them are removed: in the runs to come, which see the files through
one, they would hide a file or show another in its place.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from toolcrib.files.changes.snapshots import Snapshot
from toolcrib.files.extended_attributes import OVERLAY_MARK
from toolcrib.files.handles import DESCRIPTORS
from toolcrib.files.trees import open_file, parent_of
from toolcrib.system import openat
from toolcrib.system.removal import FOLDER

if TYPE_CHECKING and sys.platform != "linux":  # nothing here is called elsewhere
    raise ImportError


def attributes_since(
    top: int, before: Snapshot, after: Snapshot
) -> tuple[list[str], list[str], list[str]]:
    """What has attributes of users, of all whose entry is new or changed since a snapshot.

    Args:
        top: a descriptor of the root, which is looked at itself too, as "".
        before: its snapshot.
        after: the one of now.

    Returns:
        The paths of files and folders that were there before, and may have been given some; of
        those with marks of an overlay, which are gone; and of those where they could not be
        removed.
    """
    given: list[str] = []
    removed: list[str] = []
    stuck: list[str] = []
    for relative in ("", *_changed(before, after)):
        names = _names(top, relative)
        marks = [name for name in names if name.startswith(OVERLAY_MARK)]
        if marks:
            (removed if _remove(top, relative, marks) else stuck).append(relative)
        if relative in before.entries and len(names) > len(marks):
            given.append(relative)
    return given, removed, stuck


def _changed(before: Snapshot, after: Snapshot) -> Iterator[str]:
    for relative, now in after.entries.items():
        was = before.entries.get(relative)
        if now.image.kind in ("file", "folder") and (was is None or was.ctime != now.ctime):
            yield relative


def _names(top: int, relative: str) -> list[str]:
    # By path, since there are many: only names are read, and what is removed is opened first.
    with suppress(OSError):
        found = os.listxattr(f"{DESCRIPTORS}/{top}/{relative}", follow_symlinks=not relative)
        return [name for name in found if name.startswith("user.")]
    return []


def _remove(top: int, relative: str, marks: list[str]) -> bool:
    try:
        with _opened(top, relative) as fd:
            mode = stat.S_IMODE(os.fstat(fd).st_mode)
            if not mode & stat.S_IWUSR:  # what may not be written keeps its attributes
                os.fchmod(fd, mode | stat.S_IWUSR)
            try:
                for mark in marks:
                    os.removexattr(fd, mark)
            finally:
                if not mode & stat.S_IWUSR:
                    os.fchmod(fd, mode)
    except OSError:
        return False
    return True


@contextmanager
def _opened(top: int, relative: str) -> Iterator[int]:
    """A file or folder beneath the root, or that itself; no link is followed."""
    with parent_of(top, relative or ".") as (folder, name):
        try:
            fd = openat.open(name, FOLDER, dir_fd=folder)
        except NotADirectoryError:
            fd = open_file(folder, name, opens_closed=True)
        with openat.closing(fd):
            yield fd
