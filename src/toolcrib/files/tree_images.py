"""What stands at a path, written down so that it can be put there again."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

from toolcrib.core.errors import Conflict, PathDenied, TooLarge, ToolError
from toolcrib.files.beneath import READABLE
from toolcrib.files.handles import Place, fingerprint

Kind = Literal["file", "folder", "link", "pipe", "other"]
MAX_DEPTH = 200
PIECE = 1_048_576
ZEROS = bytes(PIECE)
"""A piece of a hole."""


@dataclass(frozen=True, slots=True)
class Image:
    """One file, folder or link as it was.

    Attributes:
        path: the way to it from the top of its tree; "" for the top itself.
        kind: "pipe" can be made again, "other" (a socket, a device) cannot.
        mode: permission bits.
        mtime: when it was changed, in nanoseconds.
        owner: user and group.
        size: bytes.
        mark: its `fingerprint`.
        digest: what it held, as `Blobs` names it; "" where that was not kept.
        target: where a link leads, as written.
    """

    path: str
    kind: Kind
    mode: int
    mtime: int
    owner: tuple[int, int]
    size: int = 0
    mark: str = ""
    digest: str = ""
    target: str = ""

    @classmethod
    def of(cls, status: os.stat_result, path: str = "", digest: str = "", target: str = "") -> Self:
        """What the system says about it."""
        kind = kind_of_image(status.st_mode)
        return cls(
            path,
            kind,
            stat.S_IMODE(status.st_mode),
            status.st_mtime_ns,
            (status.st_uid, status.st_gid),
            status.st_size if kind == "file" else 0,
            fingerprint(status),
            digest,
            target,
        )

    @property
    def inode(self) -> str:
        """The part of the fingerprint that stays while a file is renamed or changed."""
        return self.mark.rpartition("-")[2]

    def is_at(self, status: os.stat_result | None) -> bool:
        """Whether this very thing stands there, unchanged; of a folder, whether it is it."""
        if status is None or kind_of_image(status.st_mode) != self.kind:
            return False
        if self.kind == "file":
            return fingerprint(status) == self.mark
        return fingerprint(status).rpartition("-")[2] == self.inode

    def holds_as(self, other: Image) -> bool:
        """Whether both hold the same, whenever they were written."""
        if self.path != other.path or self.kind != other.kind or self.target != other.target:
            return False
        if self.kind != "file":
            return True
        if self.digest and other.digest:
            return self.digest == other.digest
        return self.mark == other.mark

    def to_json(self) -> list[Any]:
        """All of it in a list."""
        return [
            self.path,
            self.kind,
            self.mode,
            self.mtime,
            *self.owner,
            self.size,
            self.mark,
            self.digest,
            self.target,
        ]

    @classmethod
    def from_json(cls, values: list[Any]) -> Self:
        """The inverse of `to_json`."""
        path, kind, mode, mtime, user, group, size, mark, digest, target = values
        return cls(path, kind, mode, mtime, (user, group), size, mark, digest, target)


class Keep(Protocol):
    """Takes a file's content."""

    def __call__(self, size: int, chunks: Iterator[bytes]) -> str:
        """Keep it and return its digest; "" where it is too large to be kept."""
        ...


Visit = Callable[[str, os.stat_result], None]
"""Called for each entry of a tree with the way to it; raises to refuse the tree."""


def kind_of_image(mode: int) -> Kind:
    """What kind of image a file of that mode has."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return "link"
    return "pipe" if stat.S_ISFIFO(mode) else "other"


def ignore(size: int, chunks: Iterator[bytes]) -> str:
    """Keep nothing."""
    del size, chunks
    return ""


@dataclass(slots=True)
class Camera:
    """Takes images of trees.

    Args:
        keep: what is done with the content of files.
        check: called between two steps.
        most: how many entries a tree may have.
        visit: see `Visit`.
        skip: names that start like this are not looked at: they stand there for a moment.
    """

    keep: Keep
    check: Callable[[], None]
    most: int = 100_000
    visit: Visit = lambda _path, _status: None
    skip: str = "\0"
    seen: int = 0

    def take(self, place: Place, shown: str) -> tuple[Image, ...]:
        """All that stands at a place, each folder before what it holds.

        Raises:
            Conflict: it changes at this moment, or is gone.
            PathDenied: some of it cannot be read, or could not be removed.
            TooLarge: too many entries, or too deep.
        """
        if place.status is None:
            raise Conflict(f"{shown} does not exist any more.", hint="List the folder again.")
        try:
            return tuple(self._take(place.folder, place.name, "", place.status.st_dev, 0))
        except FileNotFoundError:
            raise _changing(shown) from None
        except OSError as error:
            raise _unreadable(error, shown) from None

    def _take(self, folder: int, name: str, path: str, device: int, depth: int) -> Iterator[Image]:
        self.check()
        self.seen += 1
        if self.seen > self.most or depth > MAX_DEPTH:
            raise TooLarge(
                f"The tree has more than {self.most:,} entries or {MAX_DEPTH} levels.",
                hint="Name smaller parts of it.",
            )
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        self.visit(path, status)
        if stat.S_ISREG(status.st_mode):
            yield self._file(folder, name, path)
        elif stat.S_ISDIR(status.st_mode):
            yield from self._folder(folder, name, path, device, depth)
        else:
            link = stat.S_ISLNK(status.st_mode)
            target = os.readlink(name, dir_fd=folder) if link else ""
            yield Image.of(status, path, target=target)

    def _file(self, folder: int, name: str, path: str) -> Image:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if self.keep is ignore:
            return Image.of(status, path)
        fd = os.open(name, READABLE | os.O_NOFOLLOW, dir_fd=folder)
        try:
            status = os.fstat(fd)
            digest = self.keep(status.st_size, pieces(fd, self.check))
            if fingerprint(os.fstat(fd)) != fingerprint(status):
                raise FileNotFoundError(path)
        finally:
            os.close(fd)
        return Image.of(status, path, digest)

    def _folder(
        self, folder: int, name: str, path: str, device: int, depth: int
    ) -> Iterator[Image]:
        fd = os.open(name, READABLE | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        try:
            status = os.fstat(fd)
            if status.st_dev != device:
                raise PathDenied(
                    f"Access denied: another file system is mounted at {path or name}.",
                    hint="Name what is beside it.",
                )
            with os.scandir(fd) as scan:
                names = sorted(e.name for e in scan if not e.name.startswith(self.skip))
            if names and not may_change(fd, "."):
                raise PermissionError(13, "its content must not be changed", path)
            yield Image.of(status, path)
            for inner in names:
                below = f"{path}/{inner}" if path else inner
                yield from self._take(fd, inner, below, device, depth + 1)
        finally:
            os.close(fd)


def may_change(folder: int, name: str) -> bool:
    """Whether the system lets this process write there."""
    use = os.W_OK | (os.X_OK if name == "." else 0)
    effective = os.access in os.supports_effective_ids
    return os.access(name, use, dir_fd=folder, effective_ids=effective)


def pieces(fd: int, check: Callable[[], None]) -> Iterator[bytes]:
    """The rest of a file."""
    while piece := os.read(fd, PIECE):
        check()
        yield piece


def _changing(shown: str) -> ToolError:
    return Conflict(
        f"{shown} is being changed by another program at this moment.",
        hint="Look at it again, then send the call again.",
    )


def _unreadable(error: OSError, shown: str) -> ToolError:
    inner = f" ({error.filename})" if error.filename else ""
    return PathDenied(
        f"Access denied: the operating system does not let toolcrib use all of {shown}{inner}: "
        f"{error.strerror or error}.",
        hint="Nothing was changed. Use another path, or ask the user for the permission.",
        rule="permissions",
    )
