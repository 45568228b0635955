"""How a tree looks, name by name, and its contents kept: taken before a run, compared after.

A second time costs the walk alone: what a file held is known by its size, times and inode,
of which no program can set the time of the last change of the inode back.
"""

from __future__ import annotations

import json
import os
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolcrib.core.errors import StorageFailure
from toolcrib.execution.runs.disk.opener import holder_of
from toolcrib.execution.runs.disk.removal import FOLDER
from toolcrib.files.beneath import READABLE, Openat2, has_openat2
from toolcrib.files.changes.inspection import hash_only
from toolcrib.files.generated_folders import BULK
from toolcrib.files.tree_images import Image, pieces
from toolcrib.state.blobs import Blobs
from toolcrib.state.store_files import make_private
from toolcrib.system.ids import content_id

MOST_ENTRIES = 200_000
MAX_DEPTH = 100
FILE_BYTES = 50_000_000
NEW_BYTES = 500_000_000
"""Of contents that one index reads; what is known from before does not count."""
NEW_SECONDS = 20.0
KEPT_BYTES = 2_000_000_000
"""Of all kept contents on disk; beyond that those that no index needs are removed."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One name: how it looks, and when its inode last changed, in nanoseconds."""

    image: Image
    ctime: int

    @property
    def key(self) -> str:
        """What a file is known by."""
        return f"{self.image.mark}-{self.ctime:x}"


@dataclass(slots=True)
class Index:
    """A tree.

    Attributes:
        entries: by the way from the top, names joined by "/"; a folder before its content.
        cut: whether there was more than an index takes.
        unread: folders of which nothing is known: they could not be opened or listed, or
            lie too deep. "" is the top.
        unkept: files whose contents are not kept.
    """

    entries: dict[str, Seen] = field(default_factory=dict)
    cut: bool = False
    unread: list[str] = field(default_factory=list)
    unkept: list[str] = field(default_factory=list)
    _order: list[str] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def knows(self, way: str) -> bool:
        """Whether what stood at a way would be in here, had there been something."""
        if self.cut and way.split("/") > next(reversed(self.entries), "").split("/"):
            return False
        return not any(not top or way.startswith(f"{top}/") for top in self.unread)

    def tree(self, top: str) -> tuple[Image, ...]:
        """What stood at a way, and all beneath it."""
        if top not in self.entries:
            return ()
        inside = f"{top}/"
        found = [replace(self.entries[top].image, path="")]
        if found[0].kind == "folder":
            for way in self._from(top):
                if not way.startswith(inside):
                    break
                found.append(replace(self.entries[way].image, path=way[len(inside) :]))
        return tuple(found)

    def _from(self, top: str) -> Iterator[str]:
        """The ways behind one: those beneath it come first."""
        if len(self._order) != len(self.entries):
            self._order = list(self.entries)
            self._places = {way: place for place, way in enumerate(self._order)}
        for place in range(self._places[top] + 1, len(self._order)):
            yield self._order[place]


def walk(top: int, skip: frozenset[tuple[int, int]], check: Callable[[], None]) -> Index:
    """How a tree looks, without its contents; links are not followed, mounts not entered.

    Args:
        top: a descriptor of its top.
        skip: device and inode of folders that are left out.
        check: called between two steps.
    """
    index = Index()
    device = os.fstat(top).st_dev
    for way, status, target in _entries(top, device, skip, check, index.unread):
        if len(index.entries) >= MOST_ENTRIES:
            index.cut = True
            break
        index.entries[way] = Seen(Image.of(status, way, target=target), status.st_ctime_ns)
    return index


def _entries(
    top: int,
    device: int,
    skip: frozenset[tuple[int, int]],
    check: Callable[[], None],
    unread: list[str],
) -> Iterator[tuple[str, os.stat_result, str]]:
    trail: list[tuple[int, str, list[tuple[str, os.stat_result]]]] = []
    try:
        trail.append((os.dup(top), "", _list(top, "", unread)))
        while trail:
            fd, prefix, names = trail[-1]
            if not names:
                os.close(fd)
                trail.pop()
                continue
            check()
            name, status = names.pop()
            way = prefix + name
            target = ""
            if stat.S_ISLNK(status.st_mode):
                with suppress(OSError):
                    target = os.readlink(name, dir_fd=fd)
            yield way, status, target
            if not stat.S_ISDIR(status.st_mode):
                continue
            if status.st_dev != device or (status.st_dev, status.st_ino) in skip:
                continue
            try:
                if len(trail) > MAX_DEPTH:
                    raise OSError
                inner = os.open(name, FOLDER, dir_fd=fd)
            except OSError:
                unread.append(way)
            else:
                trail.append((inner, f"{way}/", _list(inner, way, unread)))
    finally:
        for fd, _, _ in trail:
            os.close(fd)


def _list(fd: int, way: str, unread: list[str]) -> list[tuple[str, os.stat_result]]:
    """What a folder holds, the last name first."""
    found = []
    try:
        with os.scandir(fd) as scan:
            for entry in scan:
                with suppress(FileNotFoundError):
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
    except OSError:
        unread.append(way)
        return []
    found.sort(key=lambda item: item[0], reverse=True)
    return found


class Memory:
    """Which content each file of a tree had, from one index to the next, on disk too.

    Args:
        folder: where that is kept.
        real: the top of the tree.
    """

    def __init__(self, folder: Path, real: str) -> None:
        self._file = folder / f"known-{content_id(real)}"
        self._known: dict[str, tuple[str, str]] | None = None
        self.blobs = Blobs(folder / "contents")

    def keep(self, top: int, index: Index, check: Callable[[], None]) -> None:
        """Keep the contents of all files of an index, as far as there is room and time."""
        known = self._load()
        fresh: dict[str, tuple[str, str]] = {}
        left, until = NEW_BYTES, time.monotonic() + NEW_SECONDS
        files = [(way, seen) for way, seen in index.entries.items() if seen.image.kind == "file"]
        for way, seen in sorted(files, key=lambda item: _rank(item[0])):
            check()
            key, digest = known.get(way, ("", ""))
            if key != seen.key or not digest:
                digest = ""
                size = seen.image.size
                if size <= min(left, FILE_BYTES) and time.monotonic() < until:
                    digest = self._add(top, way, seen)
                    left -= size if digest else 0
            if digest:
                fresh[way] = (seen.key, digest)
                index.entries[way] = Seen(replace(seen.image, digest=digest), seen.ctime)
            else:
                index.unkept.append(way)
        if fresh != known:
            self._save(fresh)

    def _add(self, top: int, way: str, seen: Seen) -> str:
        try:
            fd = open_beneath(top, way)
        except OSError:
            return ""
        try:
            status = os.fstat(fd)
            if Seen(Image.of(status), status.st_ctime_ns).key != seen.key:
                return ""
            digest, _ = self.blobs.add(pieces(fd, lambda: None))
            unchanged = os.fstat(fd).st_ctime_ns == seen.ctime
        except (OSError, StorageFailure):
            return ""
        else:
            return digest if unchanged else ""
        finally:
            os.close(fd)

    def _load(self) -> dict[str, tuple[str, str]]:
        if self._known is None:
            self._known = {}
            with suppress(OSError, ValueError, zlib.error):
                found = json.loads(zlib.decompress(self._file.read_bytes()))
                self._known = {
                    way: (key, digest) for way, key, digest in found if self.blobs.has(digest)
                }
        return self._known

    def _save(self, fresh: dict[str, tuple[str, str]]) -> None:
        self._known = fresh
        rows = [(way, key, digest) for way, (key, digest) in fresh.items()]
        packed = zlib.compress(json.dumps(rows, separators=(",", ":")).encode("ascii"), 1)
        part = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        with suppress(OSError):
            make_private(self._file.parent)
            part.write_bytes(packed)
            part.replace(self._file)

    def forget_old(self) -> None:
        """Remove contents that no index needs, where there are too many of them."""
        total = 0
        for path in self.blobs.folder.glob("*/*"):
            with suppress(OSError):
                total += path.stat().st_size
        if total <= KEPT_BYTES:
            return
        wanted: set[str] = set()
        for file in self._file.parent.glob("known-*"):
            with suppress(OSError, ValueError, zlib.error):
                found = json.loads(zlib.decompress(file.read_bytes()))
                wanted.update(digest for _, _, digest in found)
        self.blobs.sweep(wanted.__contains__)


def digest_now(top: int, way: str, image: Image) -> str:
    """The digest of what a file holds now; "" where it is not the one that was looked at."""
    try:
        fd = open_beneath(top, way)
    except OSError:
        return ""
    try:
        if Image.of(os.fstat(fd)).mark != image.mark:
            return ""
        return hash_only(image.size, pieces(fd, lambda: None))
    except OSError:
        return ""
    finally:
        os.close(fd)


def open_beneath(top: int, way: str) -> int:
    """Open a plain file for reading, no link followed on the way."""
    if has_openat2():
        return Openat2().unlinked(top, way, READABLE)
    with holder_of(top, way) as (held, name):
        return os.open(name, READABLE | os.O_NOFOLLOW, dir_fd=held)


def compare(before: Index, after: Index) -> tuple[list[str], list[str]]:
    """What differs: the tops of what is gone or is of another kind, and what is new or changed.

    Both in an order in which it could have been done. What only one of the looks could see is
    in neither: it may have been there all the time.
    """
    gone: list[str] = []
    for way, seen in before.entries.items():
        now = after.entries.get(way)
        if now is not None and now.image.kind == seen.image.kind:
            continue
        if now is None and not after.knows(way):
            continue
        if not (gone and way.startswith(f"{gone[-1]}/")):
            gone.append(way)
    fresh = [
        way
        for way, seen in after.entries.items()
        if _differs(before.entries.get(way), seen) and (way in before.entries or before.knows(way))
    ]
    return gone, fresh


def _differs(before: Seen | None, now: Seen) -> bool:
    if before is None or before.image.kind != now.image.kind:
        return True
    if now.image.kind == "folder":
        return before.image.mode != now.image.mode
    if now.image.kind == "link":
        return before.image.target != now.image.target
    return before.key != now.key


def _rank(way: str) -> tuple[int, str]:
    """What a person wrote first, then what git keeps, then what programs made."""
    names = way.split("/")
    bulk = next((name for name in names[:-1] if name in BULK), "")
    return (0 if not bulk else 1 if bulk == ".git" else 2), way


def identities(paths: Iterable[str]) -> frozenset[tuple[int, int]]:
    """Device and inode of some folders, as far as they exist."""
    found = set()
    for path in paths:
        with suppress(OSError):
            status = Path(path).stat()
            found.add((status.st_dev, status.st_ino))
    return frozenset(found)
