"""Writing a new file: whole or not at all, and never over another."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import Protocol

from toolcrib.core.errors import Conflict, NotFound, PathDenied, StorageFailure, ToolError
from toolcrib.files.handles import Place, kind_of
from toolcrib.files.paths import SafePath

NAMELESS: int = getattr(os, "O_TMPFILE", 0)
DESCRIPTORS = "/proc/self/fd"
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
# What a file system says that knows no nameless files, or no second names.
UNABLE = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL, errno.EPERM})


class Check(Protocol):
    """Called between two steps; raises when the work should stop."""

    def __call__(self) -> None:
        """Pass, or raise."""


def make_folder(folder: SafePath) -> None:
    """A folder and those above it, where they are missing.

    Raises:
        PathDenied: it is protected, or something else has its name.
        StorageFailure: the system refuses.
    """
    for depth in range(1, len(folder.parts) + 1):
        step = folder.ancestor(depth)
        with suppress(NotFound):
            if kind_of(step.stat().st_mode) != "folder":
                raise PathDenied(
                    f"Access denied: {step.display} is not a folder.", hint="Use another folder."
                )
            continue
        with step.place() as place:
            try:
                os.mkdir(place.name, dir_fd=place.folder)
            except FileExistsError:
                continue  # another process was quicker
            except OSError as error:
                raise explained(error, step.display) from None


def write_new(path: SafePath, data: bytes, check: Check | None = None) -> None:
    """Write a file that does not exist yet.

    Where the system has nameless files, the name appears when all is written, so not
    even a kill leaves half a file. Elsewhere what a failure leaves is removed.

    Args:
        path: where; its folder exists.
        data: all of it.
        check: see `Check`.

    Raises:
        Conflict: the name is taken.
        PathDenied: it is protected.
        StorageFailure: the disk is full, or the system refuses.
    """
    with path.place() as place:
        if place.status is not None:
            raise _taken(path)
        try:
            if not _written_nameless(place, data, check):
                _written_in_place(place, data, check)
        except FileExistsError:
            raise _taken(path) from None
        except OSError as error:
            raise explained(error, path.display) from None


def _written_nameless(place: Place, data: bytes, check: Check | None) -> bool:
    """Write and then name it; False where the file system cannot do so."""
    if not NAMELESS:
        return False
    try:
        fd = os.open(".", NAMELESS | os.O_WRONLY | os.O_CLOEXEC, 0o666, dir_fd=place.folder)
    except OSError as error:
        if error.errno in UNABLE:
            return False
        raise
    try:
        _write(fd, data, check)
        os.link(f"{DESCRIPTORS}/{fd}", place.name, dst_dir_fd=place.folder)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno in UNABLE:
            return False
        raise
    finally:
        os.close(fd)
    return True


def _written_in_place(place: Place, data: bytes, check: Check | None) -> None:
    fd = os.open(place.name, NEW, 0o666, dir_fd=place.folder)
    try:
        _write(fd, data, check)
    except BaseException:
        with suppress(OSError):
            os.unlink(place.name, dir_fd=place.folder)
        raise
    finally:
        os.close(fd)


def _write(fd: int, data: bytes, check: Check | None) -> None:
    rest = memoryview(data)
    while rest:
        if check is not None:
            check()
        rest = rest[os.write(fd, rest[:1_048_576]) :]


def _taken(path: SafePath) -> Conflict:
    return Conflict(f"{path.display} exists already.", hint="Use another name.")


def explained(error: OSError, shown: str) -> ToolError:
    """The failure of a write in words."""
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return PathDenied(
            f"Access denied: the operating system does not let toolcrib write {shown}.",
            hint="Use another folder, or ask the user for the permission.",
            rule="permissions",
        )
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    why = "the disk is full" if full else error.strerror or str(error)
    return StorageFailure(
        f"{shown} cannot be written: {why}.",
        hint="Free some space, or use another folder." if full else "",
    )
