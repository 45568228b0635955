"""The overlay upper directory: what a run changed of a tree that it saw through an overlay.

The kernel writes there what is new or changed as plain files, a character device 0/0 or an
empty file with a mark for what was removed, and marks folders whose former content is gone.
Those marks are the kernel's alone: through an overlay a program can neither see nor set them.

A name that others changed since the run began is a conflict. That is told by the time of the
last change of its inode, which no program can set back.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.core.errors import Conflict, TooLarge, ToolError, Unavailable
from toolcrib.files.changes.copies import FileSource
from toolcrib.files.changes.deltas import Delta, RunDeltas
from toolcrib.files.extended_attributes import OVERLAY_MARK, Attributes, attributes_of
from toolcrib.files.handles import (
    READABLE,
    KernelOpener,
    WritePlace,
    fingerprint,
    has_openat2,
    special_kind_name,
)
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.places import is_bare_repository
from toolcrib.files.trees import (
    CHUNK_BYTES,
    ZERO_CHUNK,
    EntryState,
    TreeReader,
    chunks_of,
    folder_beneath,
    may_change,
    opened_beneath,
    skip_content,
)
from toolcrib.files.writer import status_of
from toolcrib.system import openat
from toolcrib.system.removal import FOLDER, opened
from toolcrib.text.display import printable

if TYPE_CHECKING and sys.platform != "linux":  # nothing here is called elsewhere
    raise ImportError

# Where making the changes of a run failed, taking back what was done of them brings back the
# very same files, but the system notes a change of each. By the signatures noted before the
# try they are known again, and not taken for changed by others.

TRIED_FILE = "tried"
Signature = list[list[str]]


def signature(images: Sequence[EntryState]) -> Signature:
    """A tree as it is after its names were changed and changed back."""
    return [
        [image.path, image.kind, image.mark if image.kind == "file" else image.inode]
        for image in images
    ]


def remember(folder: Path, deltas: Iterable[Delta]) -> None:
    """Note what stands where changes are about to be made."""
    found = {str(delta.path): signature(delta.before) for delta in deltas if delta.before}
    with suppress(OSError):
        (folder / TRIED_FILE).write_text(json.dumps(found), "ascii")


def recall(folder: Path) -> dict[str, Signature]:
    """What was noted; nothing where no try was made."""
    with suppress(OSError, ValueError):
        found = json.loads((folder / TRIED_FILE).read_text("ascii"))
        if isinstance(found, dict):
            return found
    return {}


@contextmanager
def usable(folder: int, name: str, status: os.stat_result) -> Iterator[None]:
    """Make a file or folder of an upper directory readable for us, for as long as this is open."""
    mode, needed = stat.S_IMODE(status.st_mode), 0o700 if stat.S_ISDIR(status.st_mode) else 0o400
    is_closed = os.geteuid() != 0 and mode & needed != needed
    if is_closed:
        os.chmod(name, mode | needed, dir_fd=folder)
    try:
        yield
    finally:
        if is_closed:
            with suppress(OSError):
                os.chmod(name, mode, dir_fd=folder)


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


@dataclass(frozen=True, slots=True)
class UpperSource:
    """A file of the upper directory as a source."""

    upper: Path
    parts: tuple[str, ...]
    mark: str

    def chunks(self) -> Iterator[bytes]:
        """See `Source`. Holes come as `ZERO_CHUNK`, and are not read."""
        with openat.closing(self._open()) as fd:
            status = os.fstat(fd)
            if fingerprint(status) != self.mark:
                raise Conflict(
                    f"{'/'.join(self.parts)} of the held run has changed.", hint="Run it again."
                )
            if status.st_blocks * 512 < status.st_size - CHUNK_BYTES:
                yield from _sparse(fd, status.st_size)
            else:
                yield from chunks_of(fd, lambda: None)

    def attributes(self) -> Attributes:
        """The extended attributes that a program gave to it."""
        return _attributes(self._open)

    def _open(self) -> int:
        with opened(self.upper) as top:
            if has_openat2():
                with suppress(OSError):  # else its folders have to be made readable for us
                    return KernelOpener().unlinked(top, "/".join(self.parts), READABLE)
            return open_file(top, self.parts)


def _sparse(fd: int, size: int) -> Iterator[bytes]:
    """A file with holes; each hole begins and ends at a multiple of `CHUNK_BYTES`."""
    at = 0
    while at < size:
        try:
            data = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            data = size
        while data - at >= CHUNK_BYTES:
            yield ZERO_CHUNK
            at += CHUNK_BYTES
        if at < size:
            piece = os.pread(fd, CHUNK_BYTES, at)
            if not piece:
                return
            at += len(piece)
            yield piece


def _attributes(open_it: Callable[[], int]) -> Attributes:
    """The extended attributes that a program gave to a file."""
    with suppress(OSError), openat.closing(open_it()) as fd:
        return attributes_of(fd)
    return ()


WHITEOUT, OPAQUE, ORIGIN = (
    f"{OVERLAY_MARK}whiteout",
    f"{OVERLAY_MARK}opaque",
    f"{OVERLAY_MARK}origin",
)
UNREADABLE = (f"{OVERLAY_MARK}redirect", f"{OVERLAY_MARK}metacopy")
"""Marks of features that an overlay of an ordinary user never has: part of what it means
stands elsewhere."""
MAX_DEPTH = 200
SPECIAL_BITS = stat.S_ISUID | stat.S_ISGID
BLOCK = 1 << 18


@dataclass(slots=True)
class _UpperEntry:
    """One name of the upper directory, and what stands below under the same name.

    Attributes:
        upper, lower: the folders, open; there may be none below.
        parts: the names from the top.
        status: that of the upper directory.
    """

    upper: int
    lower: int | None
    parts: tuple[str, ...]
    status: os.stat_result
    below: os.stat_result | None = None

    def __post_init__(self) -> None:
        self.below = None if self.lower is None else status_of(self.lower, self.name)

    @property
    def name(self) -> str:
        return self.parts[-1]

    @contextmanager
    def opened(self, flags: int = READABLE) -> Iterator[int]:
        """The name in the upper directory, open, whatever its mode is."""
        with usable(self.upper, self.name, self.status):
            fd = os.open(self.name, flags | os.O_NOFOLLOW, dir_fd=self.upper)
            with openat.closing(fd):
                yield fd

    def attributes(self) -> Attributes:
        with usable(self.upper, self.name, self.status):
            return _attributes(partial(_open, self.upper, self.name))


@dataclass(slots=True)
class OverlayUpper:
    """The upper directory of one root.

    Args:
        top: the root as a path.
        folder: its upper directory.
        since: the time of the clock, in nanoseconds, when the run was started.
        check: called between two steps.
        max_entries: how many names may have changed.
        start: the current directory of the conversation, from where paths are shown.
        tried: see `recall`.
    """

    top: SafePath
    folder: Path
    since: int
    check: Callable[[], None]
    max_entries: int
    start: SafePath
    tried: Mapping[str, Signature] = field(default_factory=dict)
    into: RunDeltas = field(default_factory=RunDeltas)
    _seen: int = 0

    def read(self) -> RunDeltas:
        """What was changed.

        Raises:
            TooLarge: more than `max_entries` names.
            Unavailable: the upper directory cannot be understood.
            NotConfigured: the root is gone.
        """
        with opened(self.folder) as upper:
            with os.scandir(upper) as scan:
                if next(scan, None) is None:
                    return self.into
            with self.top.open() as lower:
                self._folder(upper, lower.fd, (), hidden=OPAQUE in _marks(upper))
        return self.into

    def _folder(
        self, upper: int, lower: int | None, parts: tuple[str, ...], *, hidden: bool
    ) -> None:
        """Compare a folder; where it is `hidden`, nothing shines through from below."""
        if len(parts) > MAX_DEPTH:
            self._skip(parts, f"lies more than {MAX_DEPTH} folders deep")
            return
        with os.scandir(upper) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        if hidden and lower is not None:
            known = {entry.name for entry in entries}
            for name in sorted(set(os.listdir(lower)) - known):  # noqa: PTH208 - a descriptor
                self._gone(lower, (*parts, name))
        for entry in entries:
            self._count()
            spot = _UpperEntry(
                upper, lower, (*parts, entry.name), entry.stat(follow_symlinks=False)
            )
            if _is_whiteout(spot):
                if lower is not None and spot.below is not None:
                    self._gone(lower, spot.parts)
            elif stat.S_ISDIR(spot.status.st_mode):
                self._inner(spot, hidden=hidden)
            elif stat.S_ISREG(spot.status.st_mode):
                self._file(spot)
            elif stat.S_ISLNK(spot.status.st_mode):
                self._link(spot)
            else:
                self._skip(spot.parts, f"is {special_kind_name(spot.status.st_mode)}")

    def _inner(self, spot: _UpperEntry, *, hidden: bool) -> None:
        parts, below = spot.parts, spot.below
        with spot.opened(FOLDER) as fd:
            marks = _marks(fd)
            if any(mark in marks for mark in UNREADABLE):
                raise Unavailable(
                    f"The changes of {self._display(parts)} cannot be read: the overlay of this "
                    "system keeps them elsewhere.",
                    hint="Nothing was changed.",
                )
            hidden = hidden or OPAQUE in marks
            if below is not None and stat.S_ISDIR(below.st_mode):
                self._merged(fd, spot, hidden=hidden)
                return
            if below is None and ORIGIN in marks:
                self.into.conflicts.append(self._display(parts))
                return
            before, clean = self._before(spot)
            if clean:
                # Bits that other people's programs would inherit are not taken over.
                found = EntryState.of(spot.status)
                image = replace(found, mode=found.mode & ~SPECIAL_BITS)
                self.into.deltas.append(Delta(self._path(parts), before, image))
                self._folder(fd, None, parts, hidden=True)

    def _merged(self, fd: int, spot: _UpperEntry, *, hidden: bool) -> None:
        """A folder that was there."""
        assert spot.lower is not None
        assert spot.below is not None
        before, after = EntryState.of(spot.below), EntryState.of(spot.status)
        if before.mode != after.mode:
            self.into.deltas.append(Delta(self._path(spot.parts), (before,), after, same=True))
        with folder_beneath(spot.lower, [spot.name]) as inner:
            self._folder(fd, inner, spot.parts, hidden=hidden)

    def _file(self, spot: _UpperEntry) -> None:
        parts, status, below, same, whole = spot.parts, spot.status, spot.below, False, False
        was_file = below is not None and stat.S_ISREG(below.st_mode)
        if was_file and spot.lower is not None and below is not None:
            if spot.attributes() != _attributes(partial(_open, spot.lower, spot.name)):
                self._skip(parts, "has extended attributes that the run gave to it")
            same = _holds_the_same(spot, below, self.check)
            if same and _mode_and_mtime(status) == _mode_and_mtime(below):
                return
            if same and status.st_mode == below.st_mode and self._is_object(parts):
                return
            whole = below.st_nlink > 1 or not may_change(spot.lower, spot.name)
        if status.st_mode & SPECIAL_BITS:
            self._skip(parts, "is a setuid or setgid program")
            return
        if below is None and spot.lower is not None and self._vanished(spot, spot.lower):
            self.into.conflicts.append(self._display(parts))
            return
        before, clean = self._before(spot)
        if not clean:
            return
        path = self._path(parts)
        old = FileSource(path, before[0].mark) if was_file and before else None
        after = EntryState.of(status)
        new = UpperSource(self.folder, parts, after.mark)
        self.into.size += 0 if same else status.st_size
        attributes: Callable[[], Attributes] = tuple if was_file else new.attributes
        self.into.deltas.append(Delta(path, before, after, old, new, same, whole, attributes))

    def _is_object(self, parts: tuple[str, ...]) -> bool:
        """Whether a file is among the objects of a repository that was there.

        Git sets the time of one that it would write and has, to have it not cleared away before
        something refers to it; what a run made refers to it once it is taken over.
        """
        return any(
            name == "objects" and is_bare_repository(self.top.at(parts[:depth]))
            for depth, name in enumerate(parts[:-1])
        )

    def _vanished(self, spot: _UpperEntry, lower: int) -> bool:
        """Whether a changed file was perhaps removed below while the run had it open."""
        if os.fstat(lower).st_mtime_ns <= self.since:
            return False
        with suppress(OSError), spot.opened() as fd:
            return ORIGIN in _marks(fd)
        return False

    def _link(self, spot: _UpperEntry) -> None:
        target = os.readlink(spot.name, dir_fd=spot.upper)
        if spot.lower is not None and spot.below is not None:
            with suppress(OSError):
                if os.readlink(spot.name, dir_fd=spot.lower) == target:
                    return
        before, clean = self._before(spot)
        if clean:
            image = EntryState.of(spot.status, target=target)
            self.into.deltas.append(Delta(self._path(spot.parts), before, image))

    def _gone(self, lower: int, parts: tuple[str, ...]) -> None:
        before, clean = self._lower_tree(lower, parts, status_of(lower, parts[-1]))
        if clean and before:
            path = self._path(parts)
            old = FileSource(path, before[0].mark) if before[0].kind == "file" else None
            self.into.deltas.append(Delta(path, before, old=old))

    def _before(self, spot: _UpperEntry) -> tuple[tuple[EntryState, ...], bool]:
        """What stands below, and whether it can be replaced; if not, the reason is noted."""
        return self._lower_tree(spot.lower, spot.parts, spot.below)

    def _lower_tree(
        self, lower: int | None, parts: tuple[str, ...], below: os.stat_result | None
    ) -> tuple[tuple[EntryState, ...], bool]:
        if lower is None or below is None:
            return (), True
        display, late = self._display(parts), False

        def visit(_: str, status: os.stat_result) -> None:
            nonlocal late
            self._count()
            late = late or status.st_ctime_ns > self.since

        place = WritePlace(lower, parts[-1], "", below)
        try:
            images = TreeReader(skip_content, self.check, self.max_entries, visit).take(
                place, display
            )
        except Conflict:
            late, images = True, ()
        except TooLarge:
            raise
        except ToolError as error:
            self._skip(parts, error.message)
            return (), False
        if late and images and self.tried.get(str(self._path(parts))) == signature(images):
            late = False  # an earlier try of our own moved it away and back
        if late:
            self.into.conflicts.append(display)
        return images, not late

    def _count(self) -> None:
        self.check()
        self._seen += 1
        if self._seen > self.max_entries:
            raise TooLarge(
                f"The run changed more than {self.max_entries:,} files, "
                "more than one step can hold.",
                hint="Nothing was changed. Run it in smaller parts.",
            )

    def _skip(self, parts: tuple[str, ...], why: str) -> None:
        self.into.refused.append((self._display(parts), why))

    def _path(self, parts: tuple[str, ...]) -> SafePath:
        return self.top.at(parts).named_from(self.start)

    def _display(self, parts: tuple[str, ...]) -> str:
        return printable(self._path(parts).display)


def _open(folder: int, name: str) -> int:
    return os.open(name, READABLE | os.O_NOFOLLOW, dir_fd=folder)


def _is_whiteout(spot: _UpperEntry) -> bool:
    status = spot.status
    if stat.S_ISCHR(status.st_mode):
        return status.st_rdev == 0
    if not stat.S_ISREG(status.st_mode) or status.st_size:
        return False
    with suppress(OSError), spot.opened() as fd:
        return WHITEOUT in _marks(fd)
    return False


def _marks(fd: int) -> list[str]:
    """The marks that the overlay set on a file or folder."""
    try:
        names = os.listxattr(fd)
    except OSError:
        return []
    found = [name for name in names if name.startswith(OVERLAY_MARK)]
    if OPAQUE in found and os.getxattr(fd, OPAQUE) != b"y":
        found.remove(OPAQUE)  # "x": there are whiteouts in it that are plain files
    return found


def _mode_and_mtime(status: os.stat_result) -> tuple[int, int]:
    return stat.S_IMODE(status.st_mode), status.st_mtime_ns


def _holds_the_same(spot: _UpperEntry, below: os.stat_result, check: Callable[[], None]) -> bool:
    assert spot.lower is not None
    if spot.status.st_size != below.st_size:
        return False
    lower = opened_beneath(spot.lower, spot.name)
    with suppress(OSError), spot.opened() as one, lower as other:
        return _equal(one, other, check)
    return False


def _equal(one: int, other: int, check: Callable[[], None]) -> bool:
    while True:
        check()
        data = os.read(one, BLOCK)
        if data != os.read(other, BLOCK):
            return False
        if not data:
            return True
