"""Files and folders by descriptor where the system knows no such calls: Windows.

A folder that is opened here is held: as long as it is open, the system lets nobody rename
or remove it, so its path leads to it. Every name is looked at before it is used and again
after it was opened; a link or another reparse point that leads elsewhere is never followed,
and what was swapped in between is refused. Signatures are those of `os`, as far as they
are used; the descriptors are real ones.
"""

from __future__ import annotations

import errno
import os
import stat as modes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

O_CLOEXEC, O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK = (1 << bit for bit in range(40, 45))
"""Flags of our own: not one of them is passed on."""
_OWN = O_CLOEXEC | O_DIRECTORY | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK
_ALWAYS = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
_REPARSE_POINT = 0x400
_NAME_SURROGATE = 0x20000000
"""The bit of a reparse tag by which a name stands for something elsewhere."""
SHARING_TRIES = 8
SHARING_PAUSE_SECONDS = 0.02
"""A scanner that has just opened a new file lets go of it within a moment."""


@dataclass(frozen=True, slots=True)
class _Open:
    """What a descriptor leads to."""

    path: str
    inode: int
    folder: bool


_open: dict[int, _Open] = {}
_lock = threading.Lock()


def leads_elsewhere(status: Any) -> bool:
    """Whether a name is a link: a symbolic one, a junction, or another that stands for a place.

    Reparse points of other kinds (files that lie in a cloud, or compressed ones) are what
    they seem.
    """
    if modes.S_ISLNK(status.st_mode):
        return True
    tag = getattr(status, "st_reparse_tag", 0)
    attributes = getattr(status, "st_file_attributes", 0)
    return bool(attributes & _REPARSE_POINT and tag & _NAME_SURROGATE)


def lstat(path: str) -> os.stat_result:
    """What stands at a path, itself not followed; of a junction too it is a link."""
    status = os.lstat(path)
    if leads_elsewhere(status) and not modes.S_ISLNK(status.st_mode):
        mode = modes.S_IFLNK | modes.S_IMODE(status.st_mode)
        more = {
            name: getattr(status, name)
            for name in ("st_atime_ns", "st_mtime_ns", "st_ctime_ns", "st_file_attributes")
            if hasattr(status, name)
        }
        return os.stat_result((mode, *tuple(status)[1:]), more)
    return status


def open(  # noqa: A001 - as in os
    path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
) -> int:
    """Open a plain file, or hold a folder; never what a link leads to.

    Raises:
        OSError: ELOOP for a link or what was swapped for one, EACCES for a device.
    """
    full = _full(path, dir_fd)
    try:
        before = lstat(full)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
        before = None
    if before is not None and modes.S_ISLNK(before.st_mode):
        raise _failure(errno.ELOOP, path)
    if before is not None and modes.S_ISDIR(before.st_mode):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise _failure(errno.EEXIST if flags & os.O_EXCL else errno.EISDIR, path)
        return _registered(_hold(full), full, before, path, dir_fd)
    if flags & O_DIRECTORY:
        raise _failure(errno.ENOTDIR, path)
    if before is not None and not modes.S_ISREG(before.st_mode):
        raise _failure(errno.EACCES, path)
    fd = os.open(full, (flags & ~_OWN) | _ALWAYS, mode)
    return _registered(fd, full, before, path, dir_fd)


def _registered(
    fd: int, full: str, before: os.stat_result | None, path: str, dir_fd: int | None
) -> int:
    """Take down what was opened, if it is what stands there and stood there."""
    try:
        after = lstat(full)
        folder = modes.S_ISDIR(after.st_mode)
        inode = after.st_ino if folder else os.fstat(fd).st_ino
        known = {after.st_ino, inode} | ({before.st_ino} if before is not None else set())
        if len(known) > 1 or modes.S_ISLNK(after.st_mode):
            raise _failure(errno.ELOOP, path)
        if dir_fd is not None:
            _folder(dir_fd)
    except BaseException:
        os.close(fd)
        raise
    with _lock:
        _open[fd] = _Open(full, inode, folder)
    return fd


def _hold(path: str) -> int:
    """A descriptor of a folder, which cannot be renamed or removed while it is open."""
    if sys.platform == "win32" and hasattr(sys, "getwindowsversion"):
        import ctypes
        import msvcrt

        create = ctypes.WinDLL("kernel32", use_last_error=True).CreateFileW
        create.restype = ctypes.c_void_p
        create.argtypes = [
            *(ctypes.c_wchar_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p),
            *(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p),
        ]
        read, share_read_write, existing = 0x80000000, 0x3, 3
        folder_itself = 0x02000000 | 0x00200000  # backup semantics; a reparse point, not its end
        handle = create(path, read, share_read_write, None, existing, folder_itself, None)
        if handle in (None, ctypes.c_void_p(-1).value):
            raise ctypes.WinError(ctypes.get_last_error())
        return msvcrt.open_osfhandle(handle, os.O_RDONLY | _ALWAYS)
    return os.open(os.devnull, os.O_RDONLY | _ALWAYS)


def _failure(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)


def _folder(fd: int) -> str:
    """The path of an open folder, which still leads to it.

    Raises:
        OSError: EBADF for a descriptor that is none of ours, ENOTDIR for a file, ESTALE where
            another thing stands there now.
    """
    known = _open.get(fd)
    if known is None:
        raise _failure(errno.EBADF, str(fd))
    if not known.folder:
        raise _failure(errno.ENOTDIR, known.path)
    now = lstat(known.path)
    if now.st_ino != known.inode or not modes.S_ISDIR(now.st_mode):
        raise _failure(errno.ESTALE, known.path)
    return known.path


def _full(path: str, dir_fd: int | None) -> str:
    if dir_fd is None:
        return path
    folder = _folder(dir_fd)
    return folder if path == "." else f"{folder.rstrip('/')}/{path}"


def _opened(place: str | int, dir_fd: int | None = None) -> str:
    """The path of a descriptor, or of a name in a folder."""
    if isinstance(place, str):
        return _full(place, dir_fd)
    known = _open.get(place)
    if known is None:
        raise _failure(errno.EBADF, str(place))
    return _folder(place) if known.folder else known.path


def _patiently(work: Callable[[], T]) -> T:
    """Try again for a moment what another program keeps from happening by holding a file."""
    for _ in range(SHARING_TRIES):
        try:
            return work()
        except PermissionError as error:
            if getattr(error, "winerror", 0) not in (5, 32, 33):
                raise
            time.sleep(SHARING_PAUSE_SECONDS)
    return work()


def close(fd: int) -> None:
    """Let go."""
    with _lock:
        _open.pop(fd, None)
    os.close(fd)


def dup(fd: int) -> int:
    """A second descriptor of the same."""
    known = _open.get(fd)
    if known is None:
        return os.dup(fd)
    if known.folder:
        path = _folder(fd)
        return _registered(_hold(path), path, lstat(path), path, None)
    new = os.dup(fd)
    with _lock:
        _open[new] = known
    return new


def fstat(fd: int) -> os.stat_result:
    """What the system says about what is open."""
    known = _open.get(fd)
    return lstat(_folder(fd)) if known is not None and known.folder else os.fstat(fd)


def stat(path: str, *, dir_fd: int | None = None, follow_symlinks: bool = False) -> os.stat_result:
    """What stands there; a link is not followed, whatever is asked for."""
    del follow_symlinks
    return lstat(_full(path, dir_fd))


def pread(fd: int, size: int, offset: int) -> bytes:
    """Bytes of an open file from an offset; where it is read next stays."""
    with _lock:
        place = os.lseek(fd, 0, os.SEEK_CUR)
        try:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.read(fd, size)
        finally:
            os.lseek(fd, place, os.SEEK_SET)


def access(path: str, mode: int, *, dir_fd: int | None = None, effective_ids: bool = False) -> bool:
    """Whether the system would let us."""
    del effective_ids
    return os.access(_full(path, dir_fd), mode)


def readlink(path: str, *, dir_fd: int | None = None) -> str:
    """Where a link leads, with forward slashes."""
    target = os.readlink(_full(path, dir_fd))
    return target.removeprefix("\\\\?\\").replace("\\", "/")


class _Entry:
    """One name in a folder."""

    def __init__(self, entry: os.DirEntry[str]) -> None:
        self.name = entry.name
        self.path = entry.path.replace("\\", "/")
        self._entry = entry

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        # What a listing says on Windows has no inode and no number of names.
        return os.stat(self.path) if follow_symlinks else lstat(self.path)

    def _status(self, *, follow_symlinks: bool) -> os.stat_result | None:
        try:
            if follow_symlinks:
                return os.stat(self.path)
            status = self._entry.stat(follow_symlinks=False)
        except OSError:
            return None
        return None if leads_elsewhere(status) else status

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        status = self._status(follow_symlinks=follow_symlinks)
        return status is not None and modes.S_ISDIR(status.st_mode)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        status = self._status(follow_symlinks=follow_symlinks)
        return status is not None and modes.S_ISREG(status.st_mode)

    def is_symlink(self) -> bool:
        try:
            return leads_elsewhere(self._entry.stat(follow_symlinks=False))
        except OSError:
            return False


@contextmanager
def scandir(fd: int) -> Iterator[Iterator[_Entry]]:
    """The names in an open folder."""
    with os.scandir(_folder(fd)) as scan:
        yield map(_Entry, scan)


def mkdir(path: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
    """Make a folder."""
    os.mkdir(_full(path, dir_fd), mode)


def rmdir(path: str, *, dir_fd: int | None = None) -> None:
    """Remove an empty folder."""
    full = _full(path, dir_fd)
    _patiently(lambda: os.rmdir(full))


def unlink(path: str, *, dir_fd: int | None = None) -> None:
    """Take a name away, that of a write-protected file too; of a link, itself."""
    full = _full(path, dir_fd)
    status = lstat(full)
    if modes.S_ISREG(status.st_mode) and not status.st_mode & modes.S_IWUSR:
        with suppress(OSError):
            os.chmod(full, modes.S_IREAD | modes.S_IWRITE)
    if getattr(status, "st_file_attributes", 0) & modes.FILE_ATTRIBUTE_DIRECTORY:
        _patiently(lambda: os.rmdir(full))  # a link to a folder is one of its kind
    else:
        _patiently(lambda: os.unlink(full))


def rename(
    source: str, target: str, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None
) -> None:
    """Give another name; a file that has it goes, as on other systems."""
    old, new = _full(source, src_dir_fd), _full(target, dst_dir_fd)
    _patiently(lambda: os.replace(old, new))


def link(
    source: str,
    target: str,
    *,
    src_dir_fd: int | None = None,
    dst_dir_fd: int | None = None,
    follow_symlinks: bool = False,
) -> None:
    """Give a file a second name; not what a link leads to."""
    del follow_symlinks
    old, new = _full(source, src_dir_fd), _full(target, dst_dir_fd)
    if modes.S_ISLNK(lstat(old).st_mode):
        raise _failure(errno.EPERM, source)
    os.link(old, new)


def symlink(target: str, name: str, *, dir_fd: int | None = None) -> None:
    """Make a link."""
    full = _full(name, dir_fd)
    above = full.rpartition("/")[0]
    os.symlink(target, full, target_is_directory=os.path.isdir(f"{above}/{target}"))


def mkfifo(name: str, mode: int = 0o666, *, dir_fd: int | None = None) -> None:
    """Refused: there are no such files here."""
    del mode, dir_fd
    raise _failure(errno.ENOSYS, name)


def chmod(
    place: str | int, mode: int, *, dir_fd: int | None = None, follow_symlinks: bool = True
) -> None:
    """Set permission bits; of them the system knows whether a file may be written."""
    del follow_symlinks
    os.chmod(_opened(place, dir_fd), mode)


def fchmod(fd: int, mode: int) -> None:
    """Set permission bits of what is open."""
    os.chmod(_opened(fd), mode)


def utime(
    place: str | int,
    *,
    ns: tuple[int, int],
    dir_fd: int | None = None,
    follow_symlinks: bool = True,
) -> None:
    """Set the times of access and change, in nanoseconds; those of a link stay."""
    full = _opened(place, dir_fd)
    if follow_symlinks or not modes.S_ISLNK(lstat(full).st_mode):
        os.utime(full, ns=ns)


def chown(
    path: str, user: int, group: int, *, dir_fd: int | None = None, follow_symlinks: bool = True
) -> None:
    """Nothing: files here have no such owners."""
    del path, user, group, dir_fd, follow_symlinks


def fchown(fd: int, user: int, group: int) -> None:
    """Nothing: files here have no such owners."""
    del fd, user, group
