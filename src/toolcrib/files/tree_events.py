"""Events of folders and of all beneath them, and of moves, from Linux (inotify).

No link is followed.

A library that follows links looks into a folder as often as links lead there, and a few dozen of
them, two in each folder, are more ways than can be gone.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from toolcrib.files.trees import entries_beneath, is_folder

if TYPE_CHECKING and sys.platform != "linux":  # nothing here is called elsewhere
    raise ImportError

MODIFY, ATTRIBUTES, MOVED_TO, CREATE, MOVED_ITSELF = 0x2, 0x4, 0x80, 0x100, 0x800
OVERFLOW, IS_FOLDER = 0x4000, 0x40000000
ONLY_FOLDERS, DO_NOT_FOLLOW, NOT_REMOVED = 0x01000000, 0x02000000, 0x04000000
WATCHED = (
    MODIFY
    | ATTRIBUTES
    | MOVED_TO
    | CREATE
    | MOVED_ITSELF
    | ONLY_FOLDERS
    | DO_NOT_FOLLOW
    | NOT_REMOVED
)
EVENT = struct.Struct("iIII")
"""A watch, what happened, a number that joins two halves of a move, and bytes of the name."""
PASSED_OVER = frozenset(
    {errno.ENOTDIR, errno.ENOENT, errno.EACCES, errno.ENAMETOOLONG, errno.ELOOP}
)
READ_BYTES = 1 << 16
MAX_READS = 16
MOVE_SECONDS, FIRST_MOVES = 5.0, 3
"""In which moves are counted, and how many do not count: a folder may get its place by two."""
MAX_FOLDERS = 50_000
MAX_SECONDS = 20.0


class TreeEvents:
    """What is made, changed or moved to beneath some folders; blocking but for `fd`.

    Args:
        tops: the folders, absolute and without links.
        max_depth: names that the path of a folder may have; what is deeper is not watched.

    Raises:
        OSError: the system has no more watches for this user, or there are too many folders.

    Attributes:
        fd: can be read from when there is something for `read`.
    """

    def __init__(self, tops: Iterable[str], max_depth: int) -> None:
        self._folders: dict[int, str] = {}
        self._moved: Counter[int] = Counter()
        self._since = time.monotonic()
        self._max_depth = max_depth
        self.fd: int = _checked(_libc().inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK), "")
        try:
            self._add(list(tops))
        except BaseException:
            self.close()
            raise

    def read(self) -> set[str]:
        """The paths that something happened to; new folders are watched from now on.

        Raises:
            OSError: some events were lost, or new folders cannot be watched.
        """
        found: set[str] = set()
        new: list[str] = []
        for watch, mask, name in self._events():
            if mask & OVERFLOW:
                raise OSError("more changed than could be told")
            folder = self._folders.get(watch)
            if mask & MOVED_ITSELF:
                self._moved[watch] += 1
            if folder is None or mask & MOVED_ITSELF:
                continue
            path = f"{folder.rstrip('/')}/{name}" if name else folder
            found.add(path)
            if mask & IS_FOLDER and mask & (CREATE | MOVED_TO | ATTRIBUTES):  # it may be open now
                new.append(path)
        self._add(list(dict.fromkeys(new)))
        return found

    def moves(self) -> int:
        """How often folders were moved in the last seconds, but for the first times of each."""
        found = sum(max(count - FIRST_MOVES, 0) for count in self._moved.values())
        if time.monotonic() > self._since + MOVE_SECONDS:
            self._moved.clear()
            self._since = time.monotonic()
        return found

    def close(self) -> None:
        """End it."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _events(self) -> Iterable[tuple[int, int, str]]:
        for _ in range(MAX_READS):  # a program may make more all the time: they wait
            try:
                data = os.read(self.fd, READ_BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                watch, mask, _, size = EVENT.unpack_from(data, at)
                at += EVENT.size + size
                yield watch, mask, os.fsdecode(data[at - size : at].rstrip(b"\0"))

    def _add(self, tops: list[str]) -> None:
        end = time.monotonic() + MAX_SECONDS
        for path in tops:
            self._watch(path)
        # Each folder is watched before it is looked into, so nothing in it is missed.
        beneath = entries_beneath(
            tops, max_folders=MAX_FOLDERS, max_seconds=MAX_SECONDS, max_depth=self._max_depth
        )
        for entry in beneath:
            if is_folder(entry) and entry.path.count("/") <= self._max_depth:
                self._watch(entry.path)
            if len(self._folders) >= MAX_FOLDERS:
                raise OSError(f"more than {MAX_FOLDERS:,} folders")
        if time.monotonic() > end:
            raise OSError("to look into all folders takes too long")

    def _watch(self, path: str) -> None:
        watch = _libc().inotify_add_watch(self.fd, os.fsencode(path), WATCHED)
        # Another kind by now, gone again, closed to us, or too deep to be named.
        if watch >= 0 or ctypes.get_errno() not in PASSED_OVER:
            self._folders[_checked(watch, path)] = path


class MoveEvents:
    """Whether some places led elsewhere for a moment, such as by a link; blocking.

    Each folder on the way is held by a descriptor and watched: a move of any is told, even one
    that was taken back. Of a file, other rights or times are taken for one too. Where the user has
    no watches left, times of change tell: a move is one of what is moved and of the folder that it
    lies in, and to make names in a folder is none.

    Args:
        places: absolute, and without links.

    Raises:
        OSError: one is not there, or a link is on the way.
    """

    def __init__(self, places: Iterable[str]) -> None:
        self._held: dict[str, int] = {}
        self._before: dict[str, os.stat_result] = {}
        self._watches: dict[int, str] = {}
        self._events: int = _libc().inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            for place in places:
                path, folder = "", self._hold("/", None)
                for name in filter(None, place.split("/")):
                    path = f"{path}/{name}"
                    folder = self._hold(path, folder)
            # What was put there between the look and the watch is told by no event.
            if changed := self._changed():
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), changed)
        except BaseException:
            self.close()
            raise

    def moved(self) -> str:
        """A place that was moved, or is not there any more; "" if there is none."""
        if self._events >= 0:
            with suppress(BlockingIOError):
                watch, *_ = EVENT.unpack_from(os.read(self._events, READ_BYTES))
                return self._watches.get(watch, "a folder")  # too many events name none
        return self._changed()

    def close(self) -> None:
        """End it; a second time does nothing."""
        while self._held:
            os.close(self._held.popitem()[1])
        self._stop_watching()

    def _hold(self, path: str, folder: int | None) -> int:
        if path in self._held:
            return self._held[path]
        name = path.rsplit("/", 1)[1] or "/"
        held = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        self._held[path] = held
        self._before[path] = status = os.fstat(held)
        if stat.S_ISLNK(status.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        if self._events >= 0:
            link = f"/proc/self/fd/{held}".encode()
            # A file is also swapped by unlink and link, which is a change of its attributes.
            events = MOVED_ITSELF if stat.S_ISDIR(status.st_mode) else MOVED_ITSELF | ATTRIBUTES
            watch = _libc().inotify_add_watch(self._events, link, events)
            if watch >= 0:
                self._watches[watch] = path
            else:
                # What nobody but its owner may look into is not for programs of the user to move.
                theirs = ctypes.get_errno() == errno.EACCES and status.st_uid != os.getuid()
                if not theirs:
                    self._stop_watching()
        return held

    def _stop_watching(self) -> None:
        if self._events >= 0:
            os.close(self._events)
            self._events = -1

    def _changed(self) -> str:
        """A name that does not stand for what is held any more; "" if there is none."""
        touched: dict[str, bool] = {}
        for path in self._held:
            before, (folder, _, name) = self._before[path], path.rpartition("/")
            try:
                place = self._held[folder or "/"]
                now = os.stat(name or "/", dir_fd=place, follow_symlinks=False)
            except OSError:
                return path
            is_in_touched = touched.get(folder or "/", False)
            touched[path] = before.st_ctime_ns != now.st_ctime_ns
            may_be_moved = touched[path] and is_in_touched and now.st_uid == os.getuid()
            if not os.path.samestat(before, now) or (self._events < 0 and may_be_moved):
                return path
        return ""


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _checked(code: int, path: str) -> int:
    if code < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    return code
