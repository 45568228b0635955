"""Open files and folders, found beneath a root without ever leaving it, by descriptor.

Two openers with one contract. `KernelOpener` lets the kernel refuse (RESOLVE_BENEATH).
`WalkingOpener` goes name by name with O_NOFOLLOW and follows symbolic links itself, so that
no link is followed by the kernel; it runs where openat2 is missing or forbidden, and it also
takes the links that openat2 refuses although they stay inside (absolute targets).

Neither checks a name and opens it later, whatever others do meanwhile: what is found is
held by a descriptor.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol, Self

from toolcrib.core.errors import NotConfigured, UnsupportedContent
from toolcrib.files.path_rules import anchor, is_absolute, parts_beneath
from toolcrib.system import openat

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


Kind = Literal["file", "folder", "link", "other"]
Leads = Literal["", "file", "folder", "other", "outside", "missing", "loop"]


def kind_of(mode: int) -> Kind:
    """The kind of a file from its mode."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def special_kind_name(mode: int) -> str:
    """What a file that is neither plain nor a folder is called."""
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    return "a device"


def fingerprint(status: os.stat_result) -> str:
    """How a file looks, for the stale-edit check: another one means that it changed.

    Size, time of change and inode: an edit in place changes the first two, a file
    put in its place the last, even within one tick of the clock.
    """
    return f"{status.st_size:x}-{status.st_mtime_ns:x}-{status.st_ino:x}"


def last_change(status: os.stat_result) -> float:
    """When a file was last written, renamed or linked, in seconds since 1970.

    Programs can set the time of modification, but not that of the change of the entry.
    """
    return max(status.st_mtime, status.st_ctime)


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder, itself not followed.

    `size` is in bytes, `modified` in seconds since 1970. A link has its `target` as
    written and `leads` says what is there. `protected` names the pattern that keeps
    the entry from being read, if one does. `identity` is another for each thing that takes
    its place and for each change of it, which no program can hide.
    """

    name: str
    kind: Kind
    size: int
    modified: float
    target: str = ""
    leads: Leads = ""
    protected: str = ""
    identity: str = ""


class _Bytes(io.FileIO):
    """A file whose reads give bytes or the end, never the `None` of one that would block."""

    def __init__(self, fd: int, display: str) -> None:
        super().__init__(fd, "rb", closefd=False)
        self._display = display

    def readinto(self, buffer: WriteableBuffer) -> int:
        count: int | None = super().readinto(buffer)
        if count is None:
            raise UnsupportedContent(
                f"{self._display} has nothing to read now: it is a stream of the system.",
                hint="Read a plain file instead.",
            )
        return count


class Handle:
    """An open file or folder. Close it, or use it in a `with`.

    Attributes:
        kind: "file" or "folder".
        status: what the system says about it, taken from the descriptor.
        absolute: where it really is, every link followed.
        display: the path as it was asked for.
    """

    def __init__(self, fd: int, status: os.stat_result, absolute: str, display: str) -> None:
        self._fd = fd
        self._file: BinaryIO | None = None
        self.kind = kind_of(status.st_mode)
        self.status = status
        self.absolute = absolute
        self.display = display

    @property
    def fd(self) -> int:
        """The descriptor; it stays the handle's own."""
        return self._fd

    @property
    def size(self) -> int:
        """Bytes, as the system says; pseudo files say 0 and hold something."""
        return self.status.st_size

    @property
    def fingerprint(self) -> str:
        """See `fingerprint`; taken when the file was opened, before anything was read."""
        return fingerprint(self.status)

    def last_change(self) -> float:
        """See `last_change`; taken now, of what is open, wherever its name leads by now."""
        return last_change(os.fstat(self._fd))

    @property
    def file(self) -> BinaryIO:
        """The file as a binary stream."""
        if self._file is None:
            self._file = io.BufferedReader(_Bytes(self._fd, self.display))
        return self._file

    def close(self) -> None:
        """Close it; more than once does no harm."""
        if self._file is not None:
            self._file.close()
        if self._fd >= 0:
            openat.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class WritePlace:
    """Where something is written: a name in a folder that is held open.

    `status` is that of what is there now, None for nothing. It is a plain file with
    one name, or a folder: never a link, a device, or a file with a second name.
    """

    folder: int
    name: str
    absolute: str
    status: os.stat_result | None


MAX_LINKS = 40
MAX_RETRIES = 64
"""How often a step is tried again when the tree changes under it."""

O_PATH: int = getattr(os, "O_PATH", 0)
DESCRIPTORS = "/proc/self/fd"
READABLE = os.O_RDONLY | openat.O_NONBLOCK | openat.O_NOCTTY | openat.O_CLOEXEC
"""A pipe or a device opened like this answers at once."""


def read_plain(path: str | Path, max_bytes: int, *, follow: bool = True) -> bytes:
    """The start of a plain file; nothing of a pipe or a device, which would not end.

    Args:
        path: whatever stands there, a run may have made it.
        max_bytes: so much is read.
        follow: whether links are followed; else none is, on the way neither where the kernel
            can say so.

    Raises:
        OSError: it is not there, or may not be read.
    """
    if not follow and has_openat2():
        how = KernelOpener.RESOLVE_NO_SYMLINKS | KernelOpener.RESOLVE_NO_MAGICLINKS
        fd = openat2(-100, str(path), READABLE | openat.O_CLOEXEC, how)
    else:
        fd = openat.open(str(path), READABLE if follow else READABLE | openat.O_NOFOLLOW)
    with open(fd, "rb") as file:  # noqa: PTH123
        return file.read(max_bytes) if stat.S_ISREG(openat.fstat(fd).st_mode) else b""


@dataclass(frozen=True, slots=True)
class OpenEntry:
    """Something beneath a root.

    `fd` holds it; with `pinned` it is a mere reference that cannot be read from.
    `parts` are the names that really lead to it, every link followed. `fd` is -1 for
    a special file that could only be looked at.
    """

    fd: int
    status: os.stat_result
    parts: tuple[str, ...]
    pinned: bool

    def close(self) -> None:
        """Let go of it."""
        if self.fd >= 0:
            openat.close(self.fd)

    def readable(self) -> int:
        """A new descriptor to read the same thing from; never waits on a pipe or device."""
        if stat.S_ISDIR(self.status.st_mode):
            return openat.open(".", READABLE | openat.O_DIRECTORY, dir_fd=self.fd)
        if not self.pinned:
            return openat.dup(self.fd)
        return openat.open(f"{DESCRIPTORS}/{self.fd}", READABLE)


class Opener(Protocol):
    """Finds things beneath a folder."""

    def find(self, root: int, real: str, parts: Sequence[str]) -> OpenEntry:
        """Find what the names lead to.

        Args:
            root: a descriptor of the folder.
            real: the folder's absolute path, without links.
            parts: names, without `..`; none means the folder itself.

        Raises:
            OSError: EXDEV where a link leads out, ELOOP for a loop or a magic link,
                otherwise what the system says.
        """
        ...


class WalkingOpener:
    """Name by name.

    Args:
        pinned: hold each step by O_PATH, which needs Linux and /proc to read from it
            later. Without, each step is opened for reading, as on other systems.
    """

    def __init__(self, *, pinned: bool | None = None) -> None:
        self._pinned = can_pin() if pinned is None else pinned

    def find(self, root: int, real: str, parts: Sequence[str]) -> OpenEntry:
        """See `Opener.find`."""
        descriptors = [openat.dup(root)]
        names: list[str] = []
        todo = list(reversed(parts))
        links = 0
        status: os.stat_result | None = None
        try:
            while todo:
                name = todo.pop()
                if name in ("", "."):
                    continue
                if name == "..":
                    _climb(descriptors, names)
                    continue
                if descriptors[-1] < 0:
                    raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
                fd, status, target = self._step(descriptors[-1], name)
                if target is None:
                    descriptors.append(fd)
                    names.append(name)
                    continue
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
                todo += reversed(_target_parts(target, real, descriptors, names))
            fd = descriptors.pop()
            status = openat.fstat(fd) if fd >= 0 or status is None else status
            return OpenEntry(fd, status, tuple(names), self._pinned)
        finally:
            _close_all(descriptors)

    def _step(self, folder: int, name: str) -> tuple[int, os.stat_result, str | None]:
        for _ in range(MAX_RETRIES):
            step = self._pin(folder, name) if self._pinned else _open_or_stat(folder, name)
            if step is not None:
                return step
        raise OSError(errno.EAGAIN, "the folder keeps changing", name)

    def _pin(self, folder: int, name: str) -> tuple[int, os.stat_result, str | None]:
        fd = openat.open(name, O_PATH | openat.O_NOFOLLOW | openat.O_CLOEXEC, dir_fd=folder)
        try:
            status = openat.fstat(fd)
            if not stat.S_ISLNK(status.st_mode):
                pinned_fd, fd = fd, -1
                return pinned_fd, status, None
            return -1, status, openat.readlink("", dir_fd=fd)
        finally:
            if fd >= 0:
                openat.close(fd)


def _open_or_stat(folder: int, name: str) -> tuple[int, os.stat_result, str | None] | None:
    """One step without O_PATH; None where the name changed between two looks."""
    status = openat.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        try:
            return -1, status, openat.readlink(name, dir_fd=folder)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return None
            raise
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return -1, status, None
    try:
        fd = openat.open(name, READABLE | openat.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            return None
        raise
    return fd, openat.fstat(fd), None


def _climb(descriptors: list[int], names: list[str]) -> None:
    if not names:
        raise OSError(errno.EXDEV, "a link leads out of the folder")
    names.pop()
    _close_all([descriptors.pop()])


def _target_parts(target: str, real: str, descriptors: list[int], names: list[str]) -> list[str]:
    """The names of a link's target; an absolute one inside starts again at the root."""
    if not is_absolute(target):
        return target.split("/")
    inside = parts_beneath(target, real)
    if inside is None:
        raise OSError(errno.EXDEV, "a link leads out of the folder", target)
    _close_all(descriptors[1:])
    del descriptors[1:], names[:]
    return inside


def _close_all(descriptors: list[int]) -> None:
    for fd in descriptors:
        if fd >= 0:
            openat.close(fd)


class KernelOpener:
    """The kernel resolves, and refuses what leaves the folder. Linux 5.6 and later."""

    RESOLVE_NO_MAGICLINKS = 0x02
    RESOLVE_NO_SYMLINKS = 0x04
    RESOLVE_BENEATH = 0x08

    def __init__(self) -> None:
        self._walk = WalkingOpener(pinned=True)

    def find(self, root: int, real: str, parts: Sequence[str]) -> OpenEntry:
        """See `Opener.find`."""
        if not parts:
            return self._walk.find(root, real, parts)
        how = self.RESOLVE_BENEATH | self.RESOLVE_NO_MAGICLINKS
        try:
            fd = openat2(root, "/".join(parts), O_PATH | openat.O_CLOEXEC, how)
        except OSError as error:
            # EXDEV also for absolute links that stay inside; EAGAIN when renames race;
            # ENAMETOOLONG for all of a path of more than 4,095 bytes.
            if error.errno in (errno.EXDEV, errno.EAGAIN, errno.ENAMETOOLONG):
                return self._walk.find(root, real, parts)
            raise
        try:
            status = openat.fstat(fd)
            names = _real_parts(fd, root)
        except BaseException:
            openat.close(fd)
            raise
        return OpenEntry(fd, status, names, pinned=True)

    def unlinked(self, folder: int, path: str, flags: int) -> int:
        """Open what a path beneath a folder names, where no link of any kind is in it.

        So what it names and where it is are the same. It never waits on a pipe or device.

        Raises:
            OSError: ELOOP for a link, otherwise what the system says.
        """
        how = self.RESOLVE_BENEATH | self.RESOLVE_NO_SYMLINKS | self.RESOLVE_NO_MAGICLINKS
        return openat2(folder, path, flags | openat.O_CLOEXEC, how)

    def folder(self, real: str) -> int:
        """Hold a folder by its absolute path, on which no link may be. Raises as `unlinked`."""
        how = self.RESOLVE_NO_SYMLINKS | self.RESOLVE_NO_MAGICLINKS
        return openat2(-100, real, O_PATH | openat.O_DIRECTORY | openat.O_CLOEXEC, how)


def _real_parts(fd: int, root: int) -> tuple[str, ...]:
    path, top = _name_of(fd), _name_of(root)
    if path.endswith(" (deleted)") and openat.fstat(fd).st_nlink == 0:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    parts = parts_beneath(path, top)
    if parts is None:
        raise OSError(errno.EXDEV, "moved out of the folder meanwhile", path)
    return tuple(parts)


def _name_of(fd: int) -> str:
    """Where a descriptor leads, as the kernel sees it now."""
    return openat.readlink(f"{DESCRIPTORS}/{fd}")


def openat2(folder: int, path: str, flags: int, resolve: int) -> int:
    """The system call of that name.

    Raises:
        OSError: what the kernel says; ENOSYS or EPERM where the call is not to be had.
    """
    import ctypes

    how = (ctypes.c_uint64 * 3)(flags, 0, resolve)
    raw = os.fsencode(path)
    if b"\0" in raw:  # C would stop reading the path there
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    code = 0
    for _ in range(MAX_RETRIES):
        fd = int(_syscall()(437, folder, raw, ctypes.byref(how), ctypes.sizeof(how)))
        if fd >= 0:
            return fd
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code), path)


@lru_cache(maxsize=1)
def _syscall() -> Any:
    import ctypes

    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
    return call


@lru_cache(maxsize=1)
def can_pin() -> bool:
    """Whether a mere reference can be held and read from later."""
    if not O_PATH:
        return False
    try:
        fd = openat.open("/", O_PATH | openat.O_CLOEXEC)
    except OSError:
        return False
    with openat.closing(fd), suppress(OSError):
        openat.close(openat.open(f"{DESCRIPTORS}/{fd}", READABLE))
        return _name_of(fd) == "/"
    return False


@lru_cache(maxsize=1)
def has_openat2() -> bool:
    """Whether the kernel has the call, nothing forbids it, and what it finds can be read."""
    if not can_pin():
        return False
    try:
        openat.close(openat2(-100, ".", O_PATH | openat.O_CLOEXEC, KernelOpener.RESOLVE_BENEATH))
    except (OSError, AttributeError, ImportError):
        return False
    return True


def best_opener() -> Opener:
    """The kernel's where it works, else our own."""
    return KernelOpener() if has_openat2() else WalkingOpener()


ROOTS_HINT = "The user chooses the folders with workspace.roots or --workspace."
NO_ROOTS = (
    "The home folder and / are not taken by themselves, and there is no place for a scratch "
    "folder: the user gives a folder with --workspace DIR or workspace.roots."
)
_REASONS = {errno.ELOOP: "it has become a symbolic link", errno.ENOTDIR: "it is not a folder"}


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that tools may use: its absolute name, and the same without links."""

    name: str
    real: str

    @property
    def real_parts(self) -> tuple[str, ...]:
        """The names that lead to it from the top."""
        return tuple(part for part in self.real.split("/") if part)

    def absolute(self, parts: Sequence[str]) -> str:
        """A path beneath it, in the user's spelling."""
        return "/".join((self.name.rstrip("/"), *parts)) or "/"

    def real_path(self, parts: Sequence[str]) -> str:
        """A path beneath it, for names without links."""
        return "/".join((self.real.rstrip("/"), *parts)) or "/"


@contextmanager
def open_root(opener: Opener, root: Root) -> Iterator[int]:
    """The root by its real path, opened anew, so that it may be replaced meanwhile.

    It was free of links when the workspace was opened. One that turns up since
    may have been put there by a tool with a wider root, and is not followed.

    Raises:
        NotConfigured: it is not there, no folder, or a link.
    """
    fd = _by_kernel(opener, root) if isinstance(opener, KernelOpener) else _by_name(opener, root)
    with openat.closing(fd):
        yield fd


def _by_kernel(opener: KernelOpener, root: Root) -> int:
    try:
        return opener.folder(root.real)
    except OSError as error:
        reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
        raise _unusable(root, reason) from None


def _by_name(opener: Opener, root: Root) -> int:
    start, names = anchor(root.real)
    flags = (O_PATH or os.O_RDONLY) | openat.O_CLOEXEC | openat.O_DIRECTORY
    wanted = tuple(name for name in names.split("/") if name)
    try:
        with openat.closing(openat.open(start, flags)) as top:
            found = opener.find(top, start, wanted)
    except OSError as error:
        raise _unusable(root, error.strerror or str(error)) from None
    reason = ""
    if found.parts != wanted:
        reason = _REASONS[errno.ELOOP]
    elif kind_of(found.status.st_mode) != "folder":
        reason = _REASONS[errno.ENOTDIR]
    if reason:
        found.close()
        raise _unusable(root, reason)
    return found.fd


def _unusable(root: Root, reason: str) -> NotConfigured:
    return NotConfigured(
        f"The workspace folder {root.name} cannot be used: {reason}.", hint=ROOTS_HINT
    )
