"""Reading the upper side of an overlay: what a run changed of a tree that it saw through it.

The kernel writes there what is new or changed as plain files, a character device 0/0 or an
empty file with a mark for what was removed, and marks folders whose former content is gone.
Those marks are the kernel's alone: through an overlay a program can neither see nor set them.

A name that others changed since the run began is a conflict. That is told by the time of the
last change of its inode, which no program can set back.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolcrib.core.errors import Conflict, TooLarge, ToolError, Unavailable
from toolcrib.execution.runs.disk.opener import usable
from toolcrib.execution.runs.disk.removal import FOLDER, opened
from toolcrib.execution.runs.disk.sources import MARK, FromUpper, attributes_of
from toolcrib.execution.runs.disk.tried import Looks, looks
from toolcrib.files.beneath import READABLE
from toolcrib.files.changes.copies import Copied
from toolcrib.files.changes.deltas import Delta, Reading
from toolcrib.files.content.sizes import printable
from toolcrib.files.handles import Place, fingerprint, special_name
from toolcrib.files.paths import SafePath
from toolcrib.files.staged_entries import Attributes
from toolcrib.files.tree_images import Camera, Image, ignore, may_change

WHITEOUT, OPAQUE, ORIGIN = f"{MARK}whiteout", f"{MARK}opaque", f"{MARK}origin"
UNREADABLE = (f"{MARK}redirect", f"{MARK}metacopy")
"""Marks of features that an overlay of an ordinary user never has: part of what it means
stands elsewhere."""
MAX_DEPTH = 200
SPECIAL_BITS = stat.S_ISUID | stat.S_ISGID
BLOCK = 1 << 18


@dataclass(slots=True)
class _Spot:
    """One name on the upper side, and what stands below under the same name.

    Attributes:
        upper, lower: the folders, open; there may be none below.
        way: the names from the top.
        status: that of the upper side.
    """

    upper: int
    lower: int | None
    way: tuple[str, ...]
    status: os.stat_result
    below: os.stat_result | None = None

    def __post_init__(self) -> None:
        self.below = None if self.lower is None else _status(self.lower, self.name)

    @property
    def name(self) -> str:
        return self.way[-1]

    @contextmanager
    def opened(self, flags: int = READABLE) -> Iterator[int]:
        """What the upper side has, open, whatever its mode is."""
        with usable(self.upper, self.name, self.status):
            fd = os.open(self.name, flags | os.O_NOFOLLOW, dir_fd=self.upper)
            try:
                yield fd
            finally:
                os.close(fd)

    def attributes(self) -> Attributes:
        with usable(self.upper, self.name, self.status):
            return attributes_of(self.upper, self.name)


@dataclass(slots=True)
class Upper:
    """The upper side of one root.

    Args:
        top: the root as a path.
        folder: its upper side.
        since: the time of the clock, in nanoseconds, when the run was started.
        check: called between two steps.
        most: how many names may have changed.
        start: the way from the root to the current directory of the conversation, from
            where paths are shown; `("/",)` where that is not beneath the root.
        tried: see `tried.recall`.
    """

    top: SafePath
    folder: Path
    since: int
    check: Callable[[], None]
    most: int
    start: tuple[str, ...] = ()
    tried: Mapping[str, Looks] = field(default_factory=dict)
    into: Reading = field(default_factory=Reading)
    _seen: int = 0

    def read(self) -> Reading:
        """What was changed.

        Raises:
            TooLarge: more than `most` names.
            Unavailable: the upper side cannot be understood.
            NotConfigured: the root is gone.
        """
        with opened(self.folder) as upper:
            with os.scandir(upper) as scan:
                if next(scan, None) is None:
                    return self.into
            with self.top.open() as lower:
                self._folder(upper, lower.fd, (), hidden=_marked(upper, OPAQUE))
        return self.into

    def _folder(
        self, upper: int, lower: int | None, parts: tuple[str, ...], *, hidden: bool
    ) -> None:
        """Compare a folder; where it is `hidden`, nothing shines through from below."""
        if len(parts) > MAX_DEPTH:
            self._leave(parts, f"lies more than {MAX_DEPTH} folders deep")
            return
        with os.scandir(upper) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        if hidden and lower is not None:
            known = {entry.name for entry in entries}
            for name in sorted(set(os.listdir(lower)) - known):  # noqa: PTH208 - a descriptor
                self._gone(lower, (*parts, name))
        for entry in entries:
            self._count()
            spot = _Spot(upper, lower, (*parts, entry.name), entry.stat(follow_symlinks=False))
            if _is_whiteout(spot):
                if lower is not None and spot.below is not None:
                    self._gone(lower, spot.way)
            elif stat.S_ISDIR(spot.status.st_mode):
                self._inner(spot, hidden=hidden)
            elif stat.S_ISREG(spot.status.st_mode):
                self._file(spot)
            elif stat.S_ISLNK(spot.status.st_mode):
                self._link(spot)
            else:
                self._leave(spot.way, f"is {special_name(spot.status.st_mode)}")

    def _inner(self, spot: _Spot, *, hidden: bool) -> None:
        way, below = spot.way, spot.below
        with spot.opened(FOLDER) as fd:
            marks = _marks(fd)
            if any(mark in marks for mark in UNREADABLE):
                raise Unavailable(
                    f"The changes of {self._shown(way)} cannot be read: the overlay of this "
                    "system keeps them elsewhere.",
                    hint="Nothing was changed.",
                )
            hidden = hidden or OPAQUE in marks
            if below is not None and stat.S_ISDIR(below.st_mode):
                self._merged(fd, spot, hidden=hidden)
                return
            if below is None and ORIGIN in marks:
                self.into.conflicts.append(self._shown(way))
                return
            before, clean = self._before(spot)
            if clean:
                # Bits that other people's programs would inherit are not taken over.
                found = Image.of(spot.status)
                image = replace(found, mode=found.mode & ~SPECIAL_BITS)
                self.into.deltas.append(Delta(self._path(way), before, image))
                self._folder(fd, None, way, hidden=True)

    def _merged(self, fd: int, spot: _Spot, *, hidden: bool) -> None:
        """A folder that was there."""
        assert spot.lower is not None
        assert spot.below is not None
        before, after = Image.of(spot.below), Image.of(spot.status)
        if before.mode != after.mode:
            self.into.deltas.append(Delta(self._path(spot.way), (before,), after, same=True))
        inner = os.open(spot.name, FOLDER, dir_fd=spot.lower)
        try:
            self._folder(fd, inner, spot.way, hidden=hidden)
        finally:
            os.close(inner)

    def _file(self, spot: _Spot) -> None:
        way, status, below, same, whole = spot.way, spot.status, spot.below, False, False
        attributes = spot.attributes()
        was_file = below is not None and stat.S_ISREG(below.st_mode)
        if was_file and spot.lower is not None and below is not None:
            if attributes != attributes_of(spot.lower, spot.name):
                self._leave(way, "has extended attributes that the run gave to it")
            same = _holds_the_same(spot, below, self.check)
            if same and _looks(status) == _looks(below):
                return
            whole = below.st_nlink > 1 or not may_change(spot.lower, spot.name)
        if status.st_mode & SPECIAL_BITS:
            self._leave(way, "is a setuid or setgid program")
            return
        if below is None and spot.lower is not None and self._vanished(spot, spot.lower):
            self.into.conflicts.append(self._shown(way))
            return
        before, clean = self._before(spot)
        if not clean:
            return
        path = self._path(way)
        old = Copied(path, before[0].mark) if was_file and before else None
        new = FromUpper(self.folder, way, fingerprint(status))
        self.into.size += 0 if same else status.st_size
        delta = Delta(path, before, Image.of(status), old, new, same, whole)
        self.into.deltas.append(delta if was_file else replace(delta, attributes=attributes))

    def _vanished(self, spot: _Spot, lower: int) -> bool:
        """Whether a changed file was perhaps removed below while the run had it open."""
        if os.fstat(lower).st_mtime_ns <= self.since:
            return False
        with suppress(OSError), spot.opened() as fd:
            return ORIGIN in _marks(fd)
        return False

    def _link(self, spot: _Spot) -> None:
        target = os.readlink(spot.name, dir_fd=spot.upper)
        if spot.lower is not None and spot.below is not None:
            with suppress(OSError):
                if os.readlink(spot.name, dir_fd=spot.lower) == target:
                    return
        before, clean = self._before(spot)
        if clean:
            image = Image.of(spot.status, target=target)
            self.into.deltas.append(Delta(self._path(spot.way), before, image))

    def _gone(self, lower: int, way: tuple[str, ...]) -> None:
        before, clean = self._kept(lower, way, _status(lower, way[-1]))
        if clean and before:
            path = self._path(way)
            old = Copied(path, before[0].mark) if before[0].kind == "file" else None
            self.into.deltas.append(Delta(path, before, old=old))

    def _before(self, spot: _Spot) -> tuple[tuple[Image, ...], bool]:
        """What stands below, and whether that can be replaced; if not, the reason is noted."""
        return self._kept(spot.lower, spot.way, spot.below)

    def _kept(
        self, lower: int | None, way: tuple[str, ...], below: os.stat_result | None
    ) -> tuple[tuple[Image, ...], bool]:
        if lower is None or below is None:
            return (), True
        shown, late = self._shown(way), False

        def visit(_: str, status: os.stat_result) -> None:
            nonlocal late
            self._count()
            late = late or status.st_ctime_ns > self.since

        place = Place(lower, way[-1], "", below)
        try:
            images = Camera(ignore, self.check, self.most, visit).take(place, shown)
        except Conflict:
            late, images = True, ()
        except TooLarge:
            raise
        except ToolError as error:
            self._leave(way, error.message)
            return (), False
        if late and images and self.tried.get(str(self._path(way))) == looks(images):
            late = False  # an earlier try of our own moved it away and back
        if late:
            self.into.conflicts.append(shown)
        return images, not late

    def _count(self) -> None:
        self.check()
        self._seen += 1
        if self._seen > self.most:
            raise TooLarge(
                f"The run changed more than {self.most:,} files, more than one step can hold.",
                hint="Nothing was changed. Run it in smaller parts.",
            )

    def _leave(self, way: tuple[str, ...], why: str) -> None:
        self.into.left.append((self._shown(way), why))

    def _path(self, way: tuple[str, ...]) -> SafePath:
        beneath = way[: len(self.start)] == self.start
        return SafePath(self.top.root, way, self.top.gate, len(self.start) if beneath else -1)

    def _shown(self, way: tuple[str, ...]) -> str:
        return printable(self._path(way).display)


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise


def _is_whiteout(spot: _Spot) -> bool:
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
    found = [name for name in names if name.startswith(MARK)]
    if OPAQUE in found and os.getxattr(fd, OPAQUE) != b"y":
        found.remove(OPAQUE)  # "x": there are whiteouts in it that are plain files
    return found


def _marked(fd: int, mark: str) -> bool:
    return mark in _marks(fd)


def _looks(status: os.stat_result) -> tuple[int, int]:
    return stat.S_IMODE(status.st_mode), status.st_mtime_ns


def _holds_the_same(spot: _Spot, below: os.stat_result, check: Callable[[], None]) -> bool:
    assert spot.lower is not None
    if spot.status.st_size != below.st_size:
        return False
    with suppress(OSError), spot.opened() as one:
        other = os.open(spot.name, READABLE | os.O_NOFOLLOW, dir_fd=spot.lower)
        try:
            return _equal(one, other, check)
        finally:
            os.close(other)
    return False


def _equal(one: int, other: int, check: Callable[[], None]) -> bool:
    while True:
        check()
        data = os.read(one, BLOCK)
        if data != os.read(other, BLOCK):
            return False
        if not data:
            return True
