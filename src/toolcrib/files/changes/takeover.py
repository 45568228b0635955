"""Takeover: new folders of a run become the workspace's by one rename, without a copy.

Only a folder of which every name was judged and may be made, that is just as it was then, and
that nobody can write to any more. What is in it is read once more for that, and for undo. Many
new files in a folder that was there are renamed too, each by itself. All else is copied.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.step import Change
from toolcrib.files.changes.tree_store import on_one_mount
from toolcrib.files.extended_attributes import OVERLAY_MARK
from toolcrib.files.paths import SafePath
from toolcrib.files.trees import CHUNK_BYTES, EntryState, folder_beneath, opened_beneath
from toolcrib.state.blobs import digest_of
from toolcrib.system.removal import opened

if TYPE_CHECKING or sys.platform == "linux":
    import fcntl

if TYPE_CHECKING and sys.platform != "linux":  # nothing here is called elsewhere
    raise ImportError

Parts = tuple[str, ...]
SET_SIGNAL = 10
"""F_SETSIG: which signal tells of a broken lease. One that a process ignores by itself."""
REPOSITORIES = frozenset({".git", ".hg"})
"""Of what is in them, some is written otherwise than the run wrote it."""
MIN_FILES = 32
"""Fewer new files in a folder that was there are copied, each a change of its own."""


@dataclass(slots=True)
class Takeover:
    """Finds what can be taken over whole of one root.

    Args:
        upper: its upper directory.
        top: the root as a path.
        check: called between two steps.
        trees: takes a change for each folder, by its path from the root.
        fills: takes one for each folder that was there and has many new files.
    """

    upper: Path
    top: SafePath
    check: Callable[[], None]
    trees: dict[Parts, Change] = field(default_factory=dict)
    fills: list[Change] = field(default_factory=list)
    _known: Mapping[Parts, Delta] = field(default_factory=dict)
    _owner: tuple[int, int] = (-1, -1)
    _places: dict[Parts, bool] = field(default_factory=dict)

    def split(self, deltas: Iterable[Delta]) -> tuple[list[Change], list[Delta]]:
        """The changes that take folders over, and what is left to be made name by name."""
        found = [delta for delta in deltas if delta.path.root == self.top.root]
        self._known = {delta.path.parts: delta for delta in found if _is_new(delta)}
        self._owner = os.geteuid(), os.getegid()
        single: dict[Parts, list[Delta]] = defaultdict(list)
        for parts, delta in self._known.items():
            if parts[:-1] in self._known:
                continue
            if delta.kind == "folder" and self._can_rename_to(delta.path.parent):
                with suppress(OSError):
                    self._take(delta)
            elif delta.new is not None and REPOSITORIES.isdisjoint(parts):
                single[parts[:-1]].append(delta)
        for files in single.values():
            if len(files) >= MIN_FILES and self._can_rename_to(files[0].path.parent):
                with suppress(OSError):
                    self._take_files(files)
        gone = {f"{c.path.absolute}/{state.path}" for c in self.fills for state in c.tree}
        depths = {len(parts) for parts in self.trees}
        rest = [
            d
            for d in found
            if not any(d.path.parts[:n] in self.trees for n in depths)
            and not (gone and d.path.absolute in gone)
        ]
        return [*self.trees.values(), *self.fills], rest

    def _can_rename_to(self, folder: SafePath) -> bool:
        """Whether a rename leads there, and what is new there gets nothing from the folder."""
        if folder.parts not in self._places:
            self._places[folder.parts] = False
            with suppress(OSError, ToolError), folder.open() as handle:
                mode, names = handle.status.st_mode, os.listxattr(handle.fd)
                inherits = mode & stat.S_ISGID or not all(n.startswith("user.") for n in names)
                if not inherits and mode & 0o700 == 0o700:
                    with opened(self.upper) as fd:
                        self._places[folder.parts] = on_one_mount(fd, handle.fd)
        return self._places[folder.parts]

    def _take(self, delta: Delta) -> None:
        with self._opened(delta.path.parts) as fd:
            states = self._folder(fd, delta, "")
            if states is not None:
                self._add(delta.path.parts, states)

    def _take_files(self, deltas: Iterable[Delta]) -> None:
        """New files of one folder that was there."""
        states: list[EntryState] = []
        folder = next(iter(deltas)).path.parent
        with self._opened(folder.parts) as fd:
            for delta in deltas:
                self.check()
                with suppress(OSError):
                    states += self._entry(fd, delta.path.name, delta.path.name, delta) or ()
        if states:
            stored = str(self.upper.joinpath(*folder.parts))
            self.fills.append(Change("move_in", folder, tree=tuple(states), stored=stored))

    @contextmanager
    def _opened(self, parts: Parts) -> Iterator[int]:
        with opened(self.upper) as top, folder_beneath(top, parts) as fd:
            yield fd

    def _add(self, parts: Parts, states: list[EntryState]) -> None:
        path = self._known[parts].path
        stored = str(self.upper.joinpath(*parts))
        self.trees[parts] = Change("create_tree", path, tree=tuple(states), stored=stored)

    def _folder(self, fd: int, delta: Delta, inner: str) -> list[EntryState] | None:
        """What an open folder holds, itself first; None where some of it has to be copied."""
        status, parts = os.fstat(fd), delta.path.parts
        states: list[EntryState] | None = [EntryState.of(status, inner)]
        if not self._is_plain(status) or status.st_mode & 0o700 != 0o700 or not _cleaned(fd):
            states = None
        whole: list[tuple[Parts, list[EntryState]]] = []
        with os.scandir(fd) as scan:
            names = sorted(entry.name for entry in scan)
        for name in names:
            self.check()
            below = (*parts, name)
            known, path = self._known.get(below), f"{inner}/{name}" if inner else name
            found: list[EntryState] | None = None
            if known is not None and known.after is not None:
                with suppress(OSError):
                    found = self._entry(fd, name, path, known)
            if found is None:
                states = None
            elif found[0].kind == "folder":
                whole.append((below, found))
            if states is not None and found is not None:
                states += found
        if states is None:
            for below, found in whole:
                inside = len(found[0].path) + 1
                self._add(below, [replace(state, path=state.path[inside:]) for state in found])
        return states

    def _entry(self, fd: int, name: str, path: str, known: Delta) -> list[EntryState] | None:
        assert known.after is not None
        if known.after.kind == "folder":
            with folder_beneath(fd, [name]) as inner:
                return self._folder(inner, known, path)
        if known.after.kind == "link":
            status = os.lstat(name, dir_fd=fd)
            target = os.readlink(name, dir_fd=fd)
            same = known.after.is_at(status) and target == known.after.target
            is_plain = same and self._is_plain(status)
            return [EntryState.of(status, path, target=target)] if is_plain else None
        state = self._file(fd, name, path)
        return [state] if state is not None and state.mark == known.after.mark else None

    def _file(self, folder: int, name: str, path: str) -> EntryState | None:
        with opened_beneath(folder, name) as fd:
            # The kernel gives a lease for reading only where nobody has it open for writing.
            fcntl.fcntl(fd, SET_SIGNAL, signal.SIGURG)
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                return None
            if not self._is_plain(status) or not _cleaned(fd):
                return None
            hasher, left = digest_of(), status.st_size
            while left > 0:
                self.check()
                data = os.read(fd, min(left, CHUNK_BYTES))
                if not data:
                    return None
                hasher.update(data)
                left -= len(data)
            return EntryState.of(status, path, hasher.hexdigest())

    def _is_plain(self, status: os.stat_result) -> bool:
        """Whether it belongs to whom a copy would belong, without special bits."""
        special = status.st_mode & (stat.S_ISUID | stat.S_ISGID)
        return not special and (status.st_uid, status.st_gid) == self._owner


def _is_new(delta: Delta) -> bool:
    return not delta.before and delta.after is not None and not delta.path.gate.grants


def _cleaned(fd: int) -> bool:
    """Take the marks of the overlay away; False where there are attributes besides the user's.

    Labels and access lists of the place where it was made are not those of its new place.
    """
    try:
        names = os.listxattr(fd)
    except OSError as error:
        return error.errno == errno.EOPNOTSUPP
    for name in names:
        if name.startswith(OVERLAY_MARK):
            os.removexattr(fd, name)
        elif not name.startswith("user."):
            return False
    return True
