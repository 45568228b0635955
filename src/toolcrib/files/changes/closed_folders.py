"""Closed folders in the way of an undo: opened up while it goes on, since the user owns them.

A run may take every right from what it made or changed, and nothing of its step could be taken
back then, nor anything before it.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace

from toolcrib.core.errors import ToolError
from toolcrib.files.handles import DESCRIPTORS, O_PATH
from toolcrib.files.paths import SafePath
from toolcrib.files.trees import EntryState
from toolcrib.files.writer import folder_of, open_up, set_mode, status_of
from toolcrib.system import openat

Identity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Opened:
    """A folder that was opened up: where, and the bits that it had and has."""

    path: SafePath
    before: int
    now: int


@dataclass(slots=True)
class ClosedFolders:
    """Opens folders up, and gives those that stay the bits back that they had.

    What the step itself gives other bits keeps those. What it takes away is in the log as it was
    while it was open, so that the content can be put in when the undo is taken back.
    """

    _opened: dict[Identity, _Opened] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """Look at all folders anew: changes were made since."""
        self._seen.clear()

    def open_parents(self, path: SafePath) -> None:
        """Open up each folder that leads to a place, from the top down."""
        for depth in range(len(path.parts)):
            self.open(path.ancestor(depth))

    def open(self, path: SafePath) -> None:
        """Open up one folder whose own way is open; no link in its path is followed."""
        if path.absolute in self._seen:
            return
        self._seen.add(path.absolute)
        with suppress(OSError, ToolError):
            if not path.parts:
                self._open_root(path)
                return
            with folder_of(path) as (folder, name):
                self.open_in(folder, name, path)

    def open_in(self, folder: int, name: str, path: SafePath) -> None:
        """The same by an open folder that holds it, and its name there."""
        status = status_of(folder, name)
        if status is not None and is_shut(status):
            with suppress(OSError):  # it is not ours: what is to be done there says so
                open_up(folder, name)
                self._note(status, path)

    def _open_root(self, path: SafePath) -> None:
        if not O_PATH:
            return
        flags = O_PATH | openat.O_DIRECTORY | openat.O_NOFOLLOW | openat.O_CLOEXEC
        with openat.closing(openat.open(path.root.real, flags)) as root:
            status = openat.fstat(root)
            if is_shut(status):
                openat.chmod(f"{DESCRIPTORS}/{root}", stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
                self._note(status, path)

    def _note(self, status: os.stat_result, path: SafePath) -> None:
        mode = stat.S_IMODE(status.st_mode)
        self._opened[status.st_dev, status.st_ino] = _Opened(path, mode, mode | stat.S_IRWXU)

    def as_it_was(self, status: os.stat_result) -> EntryState:
        """The state of a folder or file, with the bits that it had before."""
        state, opened = EntryState.of(status), self._opened.get((status.st_dev, status.st_ino))
        return replace(state, mode=opened.before) if opened else state

    def forget(self, path: SafePath) -> None:
        """It was given other bits by the step."""
        self._opened = {
            key: opened for key, opened in self._opened.items() if opened.path.parts != path.parts
        }

    def close(self) -> None:
        """Give back the bits of what still stands there, what lies deepest first."""
        for identity, opened in reversed(self._opened.items()):
            with suppress(OSError, ToolError):
                self._close(identity, opened)

    def _close(self, identity: Identity, opened: _Opened) -> None:
        path = opened.path
        if not path.parts:
            with path.open() as top:
                self._set_back(top.fd, ".", identity, opened)
            return
        with folder_of(path) as (folder, name):
            self._set_back(folder, name, identity, opened)

    def _set_back(self, folder: int, name: str, identity: Identity, opened: _Opened) -> None:
        status = status_of(folder, name)
        if status is None or (status.st_dev, status.st_ino) != identity:
            return
        if stat.S_IMODE(status.st_mode) == opened.now:
            set_mode(folder, name, opened.before)


def is_shut(status: os.stat_result) -> bool:
    """Whether it is a folder in which its owner can change nothing."""
    is_folder = stat.S_ISDIR(status.st_mode)
    return sys.platform != "win32" and is_folder and status.st_mode & 0o700 != 0o700


def is_ours(status: os.stat_result) -> bool:
    """Whether it belongs to the user of this process."""
    return sys.platform != "win32" and status.st_uid == os.geteuid()
