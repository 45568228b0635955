"""Open files and folders of the workspace, by descriptor and never by name."""

from __future__ import annotations

import io
import os
import stat
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Literal, Self

from toolcrib.core.errors import UnsupportedContent

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


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder, itself not followed.

    `size` is in bytes, `modified` in seconds since 1970. A link has its `target` as
    written and `leads` says what is there. `protected` names the pattern that keeps
    the entry from being read, if one does.
    """

    name: str
    kind: Kind
    size: int
    modified: float
    target: str = ""
    leads: Leads = ""
    protected: str = ""


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
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
