"""Trees of files read by descriptors: their state for undo, their names for search.

No name is looked up twice. A symbolic link is never followed, and a folder that is swapped
for one meanwhile is left out, so what is read lies in the tree that was opened.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, Self

from toolcrib.core.errors import Conflict, PathDenied, TooLarge, ToolError
from toolcrib.files.extended_attributes import (
    Attributes,
    attributes_from_json,
    attributes_of,
    attributes_to_json,
)
from toolcrib.files.handles import (
    DESCRIPTORS,
    O_PATH,
    READABLE,
    Handle,
    KernelOpener,
    WritePlace,
    fingerprint,
    has_openat2,
    kind_of,
)
from toolcrib.system import openat
from toolcrib.system.removal import FOLDER

EntryKind = Literal["file", "folder", "link", "pipe", "other"]
MAX_DEPTH = 200
CHUNK_BYTES = 1_048_576
ZERO_CHUNK = bytes(CHUNK_BYTES)
"""A chunk of a hole."""
UNLINKED = READABLE | openat.O_NOFOLLOW
"""To open a plain file that is no link."""


@dataclass(frozen=True, slots=True)
class EntryState:
    """One file, folder or link as it was.

    Attributes:
        path: its path from the top of its tree; "" for the top itself.
        kind: "pipe" can be made again, "other" (a socket, a device) cannot.
        mode: permission bits.
        mtime: when it was changed, in nanoseconds.
        owner: user and group.
        size: bytes.
        mark: its `fingerprint`.
        digest: what it held, as `Blobs` names it; "" where that was not stored.
        target: where a link leads, as written.
        attributes: extended ones and access lists, where content was stored too.
    """

    path: str
    kind: EntryKind
    mode: int
    mtime: int
    owner: tuple[int, int]
    size: int = 0
    mark: str = ""
    digest: str = ""
    target: str = ""
    attributes: Attributes = field(default=(), compare=False)

    @classmethod
    def of(
        cls,
        status: os.stat_result,
        path: str = "",
        digest: str = "",
        target: str = "",
        attributes: Attributes = (),
    ) -> Self:
        """What the system says about it."""
        kind = entry_kind(status.st_mode)
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
            attributes,
        )

    @property
    def inode(self) -> str:
        """The part of the fingerprint that stays while a file is renamed or changed."""
        return self.mark.rpartition("-")[2]

    def is_at(self, status: os.stat_result | None) -> bool:
        """Whether this very thing stands there, unchanged; of a folder, whether it is it."""
        if status is None or entry_kind(status.st_mode) != self.kind:
            return False
        if self.kind == "file":
            return fingerprint(status) == self.mark
        return fingerprint(status).rpartition("-")[2] == self.inode

    def holds_as(self, other: EntryState) -> bool:
        """Whether both hold the same, whenever they were written."""
        if self.path != other.path or self.kind != other.kind or self.target != other.target:
            return False
        if self.kind != "file":
            return True
        if self.digest and other.digest:
            return self.digest == other.digest
        return self.mark == other.mark

    def to_json(self) -> list[Any]:
        """All of it in a list; attributes only where there are any."""
        pairs = attributes_to_json(self.attributes)
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
            *([pairs] if pairs else []),
        ]

    @classmethod
    def from_json(cls, values: list[Any]) -> Self:
        """The inverse of `to_json`."""
        path, kind, mode, mtime, user, group, size, mark, digest, target, *pairs = values
        attributes = map(attributes_from_json, pairs)
        owner = (user, group)
        return cls(path, kind, mode, mtime, owner, size, mark, digest, target, *attributes)


ContentSink = Callable[[int, Iterator[bytes]], str]
"""Takes size and content of a file; gives its digest, "" where it is too large to be stored."""
Visit = Callable[[str, os.stat_result], None]
"""Called for each entry of a tree with its path from the top; raises to refuse the tree."""
BeforeFolder = Callable[[int, str, str], None]
"""Called before a folder is opened: the folder that holds it, its name, its path from the top."""


def entry_kind(mode: int) -> EntryKind:
    """The kind of a file of that mode."""
    return "pipe" if stat.S_ISFIFO(mode) else kind_of(mode)


def skip_content(size: int, chunks: Iterator[bytes]) -> str:
    """Store nothing."""
    del size, chunks
    return ""


@dataclass(slots=True)
class TreeReader:
    """Reads the state of trees.

    Args:
        sink: what is done with the content of files.
        check: called between two steps.
        max_entries: how many entries a tree may have.
        visit: see `Visit`.
        skip: names that start like this are not looked at: they stand there for a moment.
        before_folder: see `BeforeFolder`.
        opens_closed: whether files are read too whose owner, who we are, let nobody read them.
    """

    sink: ContentSink
    check: Callable[[], None]
    max_entries: int = 100_000
    visit: Visit = lambda _path, _status: None
    skip: str = "\0"
    before_folder: BeforeFolder = lambda _folder, _name, _path: None
    opens_closed: bool = False
    _count: int = 0

    def take(self, place: WritePlace, display: str) -> tuple[EntryState, ...]:
        """All that stands at a place, each folder before what it holds.

        Raises:
            Conflict: it changes at this moment, or is gone.
            PathDenied: some of it cannot be read, or could not be removed.
            TooLarge: too many entries, or too deep.
        """
        if place.status is None:
            raise Conflict(f"{display} does not exist any more.", hint="List the folder again.")
        try:
            return tuple(self._take(place.folder, place.name, "", place.status.st_dev, 0))
        except FileNotFoundError:
            raise _changing(display) from None
        except OSError as error:
            raise _unreadable(error, display) from None

    def _take(
        self, folder: int, name: str, path: str, device: int, depth: int
    ) -> Iterator[EntryState]:
        self.check()
        self._count += 1
        if self._count > self.max_entries or depth > MAX_DEPTH:
            raise TooLarge(
                f"The tree has more than {self.max_entries:,} entries or {MAX_DEPTH} levels.",
                hint="Name smaller parts of it.",
            )
        status = openat.stat(name, dir_fd=folder, follow_symlinks=False)
        self.visit(path, status)
        if stat.S_ISREG(status.st_mode):
            unread = self.sink is skip_content
            yield EntryState.of(status, path) if unread else self._file(folder, name, path)
        elif stat.S_ISDIR(status.st_mode):
            yield from self._folder(folder, name, path, device, depth)
        else:
            link = stat.S_ISLNK(status.st_mode)
            target = openat.readlink(name, dir_fd=folder) if link else ""
            yield EntryState.of(status, path, target=target)

    def _file(self, folder: int, name: str, path: str) -> EntryState:
        with openat.closing(open_file(folder, name, opens_closed=self.opens_closed)) as fd:
            status = openat.fstat(fd)
            attributes = attributes_of(fd, access_lists=True)
            digest = self.sink(status.st_size, chunks_of(fd, self.check))
            if fingerprint(openat.fstat(fd)) != fingerprint(status):
                raise FileNotFoundError(path)
        return EntryState.of(status, path, digest, attributes=attributes)

    def _folder(
        self, folder: int, name: str, path: str, device: int, depth: int
    ) -> Iterator[EntryState]:
        self.before_folder(folder, name, path)
        with openat.closing(openat.open(name, FOLDER, dir_fd=folder)) as fd:
            status = openat.fstat(fd)
            if status.st_dev != device:
                raise PathDenied(
                    f"Access denied: another file system is mounted at {path or name}.",
                    hint="Name what is beside it.",
                )
            with openat.open_entries(fd) as scan:
                names = sorted(e.name for e in scan if not e.name.startswith(self.skip))
            if names and not may_change(fd, "."):
                raise PermissionError(13, "its content must not be changed", path)
            unread = self.sink is skip_content
            attributes = () if unread else attributes_of(fd, access_lists=True)
            yield EntryState.of(status, path, attributes=attributes)
            for inner in names:
                below = f"{path}/{inner}" if path else inner
                yield from self._take(fd, inner, below, device, depth + 1)


@contextmanager
def parent_of(top: int, relative: str) -> Iterator[tuple[int, str]]:
    """The folder that holds what is at a way, open, and its name; no link is followed."""
    *folders, name = relative.split("/")
    with folder_beneath(top, folders) as folder:
        yield folder, name


@contextmanager
def folder_beneath(top: int, names: Iterable[str]) -> Iterator[int]:
    """The folder to which names lead, open; no link is followed."""
    folder = openat.dup(top)
    try:
        for name in names:
            inner = openat.open(name, FOLDER, dir_fd=folder)
            openat.close(folder)
            folder = inner
        yield folder
    finally:
        openat.close(folder)


@contextmanager
def opened_beneath(top: int, relative: str) -> Iterator[int]:
    """A file for reading, by its way from a folder; no link is followed, and no pipe waits."""
    if has_openat2():
        fd = KernelOpener().unlinked(top, relative, READABLE)
    else:
        with parent_of(top, relative) as (folder, name):
            fd = openat.open(name, UNLINKED, dir_fd=folder)
    with openat.closing(fd):
        yield fd


def open_file(folder: int, name: str, *, opens_closed: bool) -> int:
    """A plain file, open for reading; no link is followed, and no pipe waits.

    Args:
        folder: a descriptor of the folder that holds it.
        name: its name there.
        opens_closed: let us read it where its owner, who we are, may not. It has its bits again
            before anything is read.

    Raises:
        OSError: the system does not give it.
    """
    try:
        return openat.open(name, UNLINKED, dir_fd=folder)
    except PermissionError:
        if not (opens_closed and O_PATH):
            raise
    reference = openat.open(name, O_PATH | openat.O_NOFOLLOW | openat.O_CLOEXEC, dir_fd=folder)
    with openat.closing(reference) as held:
        status, place = openat.fstat(held), f"{DESCRIPTORS}/{held}"
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
        mode = stat.S_IMODE(status.st_mode)
        openat.chmod(place, mode | stat.S_IRUSR)
        try:
            return openat.open(place, READABLE)
        finally:
            openat.chmod(place, mode)


def may_change(folder: int, name: str) -> bool:
    """Whether the system lets this process write there."""
    use = os.W_OK | (os.X_OK if name == "." else 0)
    effective = os.access in os.supports_effective_ids
    return openat.access(name, use, dir_fd=folder, effective_ids=effective)


def chunks_of(fd: int, check: Callable[[], None]) -> Iterator[bytes]:
    """The rest of a file."""
    while chunk := os.read(fd, CHUNK_BYTES):
        check()
        yield chunk


def _changing(display: str) -> ToolError:
    return Conflict(
        f"{display} is being changed by another program at this moment.",
        hint="Look at it again, then send the call again.",
    )


def _unreadable(error: OSError, display: str) -> ToolError:
    inner = f" ({error.filename})" if error.filename else ""
    return PathDenied(
        f"Access denied: the operating system does not let toolcrib use all of {display}{inner}: "
        f"{error.strerror or error}.",
        hint="Nothing was changed. Use another path, or ask the user for the permission.",
        rule="permissions",
    )


MAX_OPEN_FOLDERS = 100
"""Folders in folders: one descriptor each is open while they are gone through."""
FIRST_READ_BYTES = 1 << 16


@dataclass(slots=True)
class TreeFolder:
    """One folder of a tree.

    Attributes:
        fd: the folder, open until the next one is asked for.
        prefix: its path from the top, ending in "/"; "" for the top.
        files: the names of its plain files, in order.
        folders: the names of its folders, in order. What is taken out is not gone into.
        links: the names of its symbolic links, in order; none is followed.
        barred: the names of files and folders that were taken out because they are protected.
        modified: when a name in it last changed, in nanoseconds.
    """

    fd: int
    prefix: str
    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    barred: list[str] = field(default_factory=list)
    modified: int = 0

    def open(self, name: str) -> BinaryIO:
        """A plain file of this folder.

        Raises:
            OSError: the system does not give it, or it is no plain file.
        """
        fd = openat.open(name, UNLINKED, dir_fd=self.fd)
        if not stat.S_ISREG(openat.fstat(fd).st_mode):
            openat.close(fd)
            raise FileNotFoundError(errno.ENOENT, "no plain file", name)
        return os.fdopen(fd, "rb")

    def read(self, name: str, max_bytes: int) -> bytes | None:
        """A file of this folder; None if it is too large, gone, forbidden or no plain file."""
        with suppress(OSError), openat.closing(openat.open(name, UNLINKED, dir_fd=self.fd)) as fd:
            data = os.read(fd, FIRST_READ_BYTES)
            if len(data) < FIRST_READ_BYTES:
                return data if len(data) <= max_bytes else None
            return _rest(fd, data, max_bytes)
        return None


def _rest(fd: int, data: bytes, max_bytes: int) -> bytes | None:
    status = openat.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
        return None
    parts, size = [data], len(data)
    while size <= max_bytes and (part := os.read(fd, max_bytes + 1 - size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts) if size <= max_bytes else None


def walk_folders(top: Handle, unread: list[str] | None = None) -> Iterator[TreeFolder]:
    """The folders of a tree, each before what it holds; those that cannot be read are empty.

    Args:
        top: an open folder; it stays the caller's.
        unread: gets the paths of the folders that could not be read, or lie too deep, each
            with a `/` at its end.
    """
    descriptors: list[int] = []
    lost = [] if unread is None else unread
    try:
        first = _level(openat.dup(top.fd), "", descriptors, lost)
        yield first
        trail = [(first, 0)]
        while trail:
            level, place = trail.pop()
            if place >= len(level.folders) or len(descriptors) > MAX_OPEN_FOLDERS:
                lost += [f"{level.prefix}{name}/" for name in level.folders[place:]]
                openat.close(descriptors.pop())
                continue
            trail.append((level, place + 1))
            name = level.folders[place]
            try:
                fd = openat.open(name, FOLDER, dir_fd=level.fd)
            except PermissionError:
                lost.append(f"{level.prefix}{name}/")
                continue
            except OSError:  # gone, or a link by now
                continue
            below = _level(fd, f"{level.prefix}{name}/", descriptors, lost)
            yield below
            trail.append((below, 0))
    finally:
        for fd in descriptors:
            openat.close(fd)


def _level(fd: int, prefix: str, descriptors: list[int], lost: list[str]) -> TreeFolder:
    descriptors.append(fd)
    level = TreeFolder(fd, prefix, modified=openat.fstat(fd).st_mtime_ns)
    try:
        with openat.open_entries(fd) as scan:
            entries = list(scan)
        level.files = [e.name for e in entries if e.is_file(follow_symlinks=False)]
        if len(level.files) < len(entries):
            level.folders = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
            level.links = [e.name for e in entries if e.is_symlink()]
    except OSError:
        lost.append(prefix)
        return level
    level.files.sort()
    level.folders.sort()
    level.links.sort()
    return level


def modified_at(top: Handle, path: str) -> int | None:
    """When something beneath an open folder last changed, in nanoseconds; None if it is gone."""
    try:
        return openat.stat(path or ".", dir_fd=top.fd, follow_symlinks=False).st_mtime_ns
    except OSError:
        return None


def readable_size(top: Handle, path: str) -> int:
    """The bytes of a file beneath an open folder that may be read.

    Raises:
        OSError: it may not be read, is gone, or is a link.
    """
    with openat.closing(openat.open(path, UNLINKED, dir_fd=top.fd)) as fd:
        return openat.fstat(fd).st_size


def is_open_to_us(top: Handle, path: str) -> bool:
    """Whether the system lets a folder beneath an open one be listed; True where it is gone."""
    try:
        openat.close(openat.open(path or ".", READABLE | openat.O_DIRECTORY, dir_fd=top.fd))
    except OSError as error:
        return not isinstance(error, PermissionError)
    return True


def linked(top: Handle, paths: Iterable[str]) -> set[str]:
    """Those of some files beneath an open folder that have other names too (hard links)."""
    several = set()
    folder = top.fd
    for path in paths:
        # What is gone by now is none of them.
        with suppress(OSError):
            if openat.stat(path, dir_fd=folder, follow_symlinks=False).st_nlink > 1:
                several.add(path)
    return several


def newest_first(top: Handle, paths: Iterable[str]) -> list[str]:
    """Some paths beneath an open folder that exist, the last changed first."""
    dated = [(when, path) for path in paths if (when := modified_at(top, path)) is not None]
    return [path for _, path in sorted(dated, key=lambda item: (-item[0], item[1]))]


def topmost(paths: Iterable[str]) -> list[str]:
    """Those of some paths that lie in none of the others."""
    found: list[str] = []
    for path in sorted(paths, key=lambda path: path.split("/")):
        if not found or not path.startswith(f"{found[-1].rstrip('/')}/"):
            found.append(path)
    return found


def names_beneath(
    tops: Iterable[str], *, max_folders: int, max_seconds: float, max_depth: int
) -> Iterator[str]:
    """The paths in folders: see `entries_beneath`."""
    entries = entries_beneath(
        tops, max_folders=max_folders, max_seconds=max_seconds, max_depth=max_depth
    )
    return (entry.path for entry in entries)


def entries_beneath(
    tops: Iterable[str],
    *,
    max_folders: int,
    max_seconds: float,
    max_depth: int,
    left_out: Container[str] = (),
) -> Iterator[os.DirEntry[str]]:
    """What folders hold, level by level; what cannot be read is passed over. Blocking.

    A folder is given before it is looked into.

    Args:
        tops: the folders, absolute.
        max_folders: how many are looked into, these included.
        max_seconds: for how long.
        max_depth: names that the path of a folder may have.
        left_out: names of folders that are given and not looked into.
    """
    folders = deque(tops)
    end = time.monotonic() + max_seconds
    for _ in range(max_folders):
        if not folders or time.monotonic() > end:
            return
        with suppress(OSError), os.scandir(folders.popleft()) as entries:
            for entry in entries:
                yield entry
                is_near = entry.path.count("/") < max_depth and entry.name not in left_out
                if is_near and is_folder(entry):
                    folders.append(entry.path)


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it was a folder, and no link, when the folder that holds it was listed."""
    with suppress(OSError):
        return entry.is_dir(follow_symlinks=False)
    return False


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it was a plain file when the folder that holds it was listed."""
    with suppress(OSError):
        return entry.is_file(follow_symlinks=False)
    return False


def count_ways(top: str, max_ways: int) -> int:
    """By how many ways folders are reached from one, links followed; up to one more than asked.

    A link to a folder above it is no way. Blocking.
    """
    waiting: list[tuple[str, tuple[tuple[int, int], ...]]] = [(top, ())]
    ways = 0
    while waiting and ways <= max_ways:
        folder, above = waiting.pop()
        with suppress(OSError):
            status = os.stat(folder)  # noqa: PTH116 - each of very many
            identity = (status.st_dev, status.st_ino)
            if identity not in above:
                ways += 1
                with os.scandir(folder) as entries:
                    inner = [entry.path for entry in entries if entry.is_dir()]
                waiting += [(path, (*above, identity)) for path in inner]
    return ways
