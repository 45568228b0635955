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
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolcrib.core.errors import Conflict, TooLarge, ToolError, Unavailable
from toolcrib.kit.changes.copies import Copied
from toolcrib.kit.content.sizes import printable
from toolcrib.kit.paths import Image, SafePath, fingerprint
from toolcrib.kit.paths.beneath import READABLE
from toolcrib.kit.paths.handle import Place, special_name
from toolcrib.kit.paths.images import Camera, ignore, may_change, pieces
from toolcrib.kit.runs.deltas import Delta, Reading
from toolcrib.kit.runs.disk.opening import open_file, usable
from toolcrib.kit.runs.disk.removal import FOLDER, opened

MARK = "user.overlay."
WHITEOUT, OPAQUE, ORIGIN = f"{MARK}whiteout", f"{MARK}opaque", f"{MARK}origin"
UNREADABLE = (f"{MARK}redirect", f"{MARK}metacopy")
"""Marks of features that an overlay of an ordinary user never has: part of what it means
stands elsewhere."""
MAX_DEPTH = 200
SPECIAL_BITS = stat.S_ISUID | stat.S_ISGID
BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class FromUpper:
    """A file on the upper side as a source."""

    upper: Path
    parts: tuple[str, ...]
    mark: str

    def chunks(self) -> Iterator[bytes]:
        """See `Source`."""
        with opened(self.upper) as top:
            fd = open_file(top, self.parts)
        try:
            if fingerprint(os.fstat(fd)) != self.mark:
                raise Conflict(
                    f"{'/'.join(self.parts)} of the held run has changed.", hint="Run it again."
                )
            yield from pieces(fd, lambda: None)
        finally:
            os.close(fd)


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
    """

    top: SafePath
    folder: Path
    since: int
    check: Callable[[], None]
    most: int
    start: tuple[str, ...] = ()
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
                self._gone(lower, name, (*parts, name))
        for entry in entries:
            self._count()
            below = None if lower is None else _status(lower, entry.name)
            way = (*parts, entry.name)
            status = entry.stat(follow_symlinks=False)
            if _is_whiteout(upper, entry.name, status):
                if lower is not None and below is not None:
                    self._gone(lower, entry.name, way)
            elif stat.S_ISDIR(status.st_mode):
                self._inner(upper, lower, way, status, below, hidden=hidden)
            elif stat.S_ISREG(status.st_mode):
                self._file(upper, lower, way, status, below)
            elif stat.S_ISLNK(status.st_mode):
                self._link(upper, lower, way, status, below)
            else:
                self._leave(way, f"is {special_name(status.st_mode)}")

    def _inner(
        self,
        upper: int,
        lower: int | None,
        way: tuple[str, ...],
        status: os.stat_result,
        below: os.stat_result | None,
        *,
        hidden: bool,
    ) -> None:
        name = way[-1]
        with usable(upper, name, status):
            fd = os.open(name, FOLDER, dir_fd=upper)
            try:
                marks = _marks(fd)
                if any(mark in marks for mark in UNREADABLE):
                    raise Unavailable(
                        f"The changes of {self._shown(way)} cannot be read: the overlay of this "
                        "system keeps them elsewhere.",
                        hint="Nothing was changed.",
                    )
                hidden = hidden or OPAQUE in marks
                if below is not None and stat.S_ISDIR(below.st_mode) and lower is not None:
                    self._merged(fd, lower, way, status, below, hidden=hidden)
                    return
                if below is None and ORIGIN in marks:
                    self.into.conflicts.append(self._shown(way))
                    return
                before, clean = self._before(lower, way, below)
                if clean:
                    # Bits that other people's programs would inherit are not taken over.
                    found = Image.of(status)
                    image = replace(found, mode=found.mode & ~SPECIAL_BITS)
                    self.into.deltas.append(Delta(self._path(way), before, image))
                    self._folder(fd, None, way, hidden=True)
            finally:
                os.close(fd)

    def _merged(
        self,
        fd: int,
        lower: int,
        way: tuple[str, ...],
        status: os.stat_result,
        below: os.stat_result,
        *,
        hidden: bool,
    ) -> None:
        if stat.S_IMODE(status.st_mode) != stat.S_IMODE(below.st_mode):
            before, after = Image.of(below), Image.of(status)
            self.into.deltas.append(Delta(self._path(way), (before,), after, same=True))
        inner = os.open(way[-1], FOLDER, dir_fd=lower)
        try:
            self._folder(fd, inner, way, hidden=hidden)
        finally:
            os.close(inner)

    def _file(
        self,
        upper: int,
        lower: int | None,
        way: tuple[str, ...],
        status: os.stat_result,
        below: os.stat_result | None,
    ) -> None:
        name, same, whole = way[-1], False, False
        was_file = below is not None and stat.S_ISREG(below.st_mode)
        if was_file and lower is not None and below is not None:
            same = _holds_the_same(upper, lower, name, status, below, self.check)
            if same and _looks(status) == _looks(below):
                return
            whole = below.st_nlink > 1 or not may_change(lower, name)
        if status.st_mode & SPECIAL_BITS:
            self._leave(way, "is a setuid or setgid program")
            return
        if below is None and lower is not None and self._vanished(upper, lower, name):
            self.into.conflicts.append(self._shown(way))
            return
        before, clean = self._before(lower, way, below)
        if not clean:
            return
        path = self._path(way)
        old = Copied(path, before[0].mark) if was_file and before else None
        new = FromUpper(self.folder, way, fingerprint(status))
        self.into.size += 0 if same else status.st_size
        self.into.deltas.append(Delta(path, before, Image.of(status), old, new, same, whole))

    def _vanished(self, upper: int, lower: int, name: str) -> bool:
        """Whether a changed file was perhaps removed below while the run had it open."""
        if os.fstat(lower).st_mtime_ns <= self.since:
            return False
        with suppress(OSError):
            fd = os.open(name, READABLE | os.O_NOFOLLOW, dir_fd=upper)
            try:
                return ORIGIN in _marks(fd)
            finally:
                os.close(fd)
        return False

    def _link(
        self,
        upper: int,
        lower: int | None,
        way: tuple[str, ...],
        status: os.stat_result,
        below: os.stat_result | None,
    ) -> None:
        name = way[-1]
        target = os.readlink(name, dir_fd=upper)
        if lower is not None and below is not None and stat.S_ISLNK(below.st_mode):
            with suppress(OSError):
                if os.readlink(name, dir_fd=lower) == target:
                    return
        before, clean = self._before(lower, way, below)
        if clean:
            image = Image.of(status, target=target)
            self.into.deltas.append(Delta(self._path(way), before, image))

    def _gone(self, lower: int, name: str, way: tuple[str, ...]) -> None:
        before, clean = self._before(lower, way, _status(lower, name))
        if clean and before:
            path = self._path(way)
            old = Copied(path, before[0].mark) if before[0].kind == "file" else None
            self.into.deltas.append(Delta(path, before, old=old))

    def _before(
        self, lower: int | None, way: tuple[str, ...], below: os.stat_result | None
    ) -> tuple[tuple[Image, ...], bool]:
        """What stands below, and whether that can be replaced; if not, the reason is noted."""
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


def _is_whiteout(folder: int, name: str, status: os.stat_result) -> bool:
    if stat.S_ISCHR(status.st_mode):
        return status.st_rdev == 0
    if not stat.S_ISREG(status.st_mode) or status.st_size:
        return False
    with suppress(OSError), usable(folder, name, status):
        fd = os.open(name, READABLE | os.O_NOFOLLOW, dir_fd=folder)
        try:
            return WHITEOUT in _marks(fd)
        finally:
            os.close(fd)
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


def _holds_the_same(
    upper: int,
    lower: int,
    name: str,
    status: os.stat_result,
    below: os.stat_result,
    check: Callable[[], None],
) -> bool:
    if status.st_size != below.st_size:
        return False
    with suppress(OSError), usable(upper, name, status):
        one = os.open(name, READABLE | os.O_NOFOLLOW, dir_fd=upper)
        try:
            other = os.open(name, READABLE | os.O_NOFOLLOW, dir_fd=lower)
            try:
                return _equal(one, other, check)
            finally:
                os.close(other)
        finally:
            os.close(one)
    return False


def _equal(one: int, other: int, check: Callable[[], None]) -> bool:
    while True:
        check()
        data = os.read(one, BLOCK)
        if data != os.read(other, BLOCK):
            return False
        if not data:
            return True
