"""Snapshots of a tree, with its contents: taken before a run, compared and restored after it.

A second time costs the walk alone: what a file held is known by its size, times and inode,
of which no program can set the time of the last change of the inode back.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toolcrib.core.errors import StorageFailure
from toolcrib.files.changes.preparation import hash_only
from toolcrib.files.extended_attributes import (
    Attributes,
    attributes_from_json,
    attributes_of,
    attributes_to_json,
)
from toolcrib.files.path_rules import GENERATED_FOLDERS
from toolcrib.files.repositories.places import without_hooks
from toolcrib.files.trees import EntryState, chunks_of, opened_beneath, parent_of
from toolcrib.files.writer import (
    PREFIX,
    ContentSource,
    build_tree,
    is_closed,
    open_up,
    remove_tree,
    rename,
    set_mode,
    status_of,
)
from toolcrib.state.blobs import Blobs
from toolcrib.state.store import make_private
from toolcrib.system import openat
from toolcrib.system.removal import FOLDER
from toolcrib.system.threads import content_id, random_id

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError


def restore_tree(
    top: int,
    relative: str,
    tree: Sequence[EntryState],
    fetch: ContentSource,
    check: Callable[[], None],
) -> bool:
    """Make a place look as it did; whether that worked.

    Args:
        top: a descriptor of the root.
        relative: the names from there, joined by "/".
        tree: what stood there, the place itself first; empty for nothing.
        fetch: gives back contents.
        check: called between two steps.
    """
    if any(i.kind == "other" or (i.kind == "file" and not i.digest) for i in tree):
        return False
    *folders, name = relative.split("/")
    folder_fd = os.dup(top)
    try:
        for folder in folders:
            if status_of(folder_fd, folder) is None:
                if not tree:
                    return True
                os.mkdir(folder, dir_fd=folder_fd)
            inner = os.open(folder, FOLDER, dir_fd=folder_fd)
            os.close(folder_fd)
            folder_fd = inner
        _swap(folder_fd, name, tree, fetch, check)
    except OSError:
        return False
    finally:
        os.close(folder_fd)
    return True


def _swap(
    folder: int,
    name: str,
    tree: Sequence[EntryState],
    fetch: ContentSource,
    check: Callable[[], None],
) -> None:
    """Put a tree, or nothing, where something else may stand."""
    new, old = (f"{PREFIX}{random_id(8)}.{end}" for end in ("new", "old"))
    try:
        if tree:
            build_tree(folder, new, tree, fetch, check)
        if status_of(folder, name) is not None:
            rename(folder, name, folder, old)
        if tree:
            rename(folder, new, folder, name)
    finally:
        for left in (new, old):
            with suppress(OSError):
                remove_tree(folder, left)


def clear_set_id_bits(top: int, relative: str) -> bool:
    """Take the setuid and setgid bits from a file; whether that worked."""
    with suppress(OSError), parent_of(top, relative) as (folder, name):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        set_mode(folder, name, stat.S_IMODE(status.st_mode) & 0o1777)
        return True
    return False


MAX_ENTRIES = 200_000
MAX_DEPTH = 100
MAX_FILE_BYTES = 50_000_000
MAX_NEW_BYTES = 500_000_000
"""Of contents that one snapshot reads; what is known from before does not count."""
MAX_NEW_SECONDS = 20.0
MAX_STORED_BYTES = 2_000_000_000
"""Of all kept contents on disk; beyond that those that no snapshot needs are removed."""
LOOK_BYTES = 200_000_000
"""Of contents that a process keeps anew beneath a root; behind them it looks again whether there
are too many. By so much, and what one snapshot reads, may it go beyond `MAX_STORED_BYTES`."""
CONTENTS = "contents"
"""The folder of the contents, among those of the runs."""


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    """One name: its state, and when its inode last changed, in nanoseconds."""

    image: EntryState
    ctime: int

    @property
    def key(self) -> str:
        """What a file is known by."""
        return f"{self.image.mark}-{self.ctime:x}"


@dataclass(slots=True)
class Snapshot:
    """The names of a tree and their states.

    Attributes:
        entries: by the path from the top, names joined by "/"; a folder before its content.
        cut: whether there was more than a snapshot takes.
        unread: folders of which nothing is known: they could not be opened or listed, or
            lie too deep. "" is the top.
        unkept: files whose contents are not kept.
    """

    entries: dict[str, SnapshotEntry] = field(default_factory=dict)
    cut: bool = False
    unread: list[str] = field(default_factory=list)
    unkept: list[str] = field(default_factory=list)
    _order: list[str] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def knows(self, relative: str) -> bool:
        """Whether what stood at a way would be in here, had there been something."""
        if self.cut and relative.split("/") > next(reversed(self.entries), "").split("/"):
            return False
        return not any(not top or relative.startswith(f"{top}/") for top in self.unread)

    def tree(self, top: str) -> tuple[EntryState, ...]:
        """What stood at a way, and all beneath it."""
        if top not in self.entries:
            return ()
        inside = f"{top}/"
        found = [replace(self.entries[top].image, path="")]
        if found[0].kind == "folder":
            for relative in self._from(top):
                if not relative.startswith(inside):
                    break
                found.append(replace(self.entries[relative].image, path=relative[len(inside) :]))
        return tuple(found)

    def _from(self, top: str) -> Iterator[str]:
        """The ways behind one: those beneath it come first."""
        if len(self._order) != len(self.entries):
            self._order = list(self.entries)
            self._places = {relative: place for place, relative in enumerate(self._order)}
        for place in range(self._places[top] + 1, len(self._order)):
            yield self._order[place]


def take_snapshot(
    top: int,
    skip: frozenset[tuple[int, int]],
    check: Callable[[], None],
    before: Snapshot | None = None,
) -> Snapshot:
    """The snapshot of a tree, without its contents; links are not followed, mounts not entered.

    Args:
        top: a descriptor of its top.
        skip: device and inode of folders that are left out.
        check: called between two steps.
        before: an earlier one. Folders that were closed to us since then are opened: programs
            find what lies in them without a list.
    """
    index = Snapshot()
    walk = _Walk(os.fstat(top).st_dev, skip, check, index.unread, before)
    for relative, status, target in walk.entries(top, ""):
        if len(index.entries) >= MAX_ENTRIES:
            index.cut = True
            break
        index.entries[relative] = SnapshotEntry(
            EntryState.of(status, relative, target=target), status.st_ctime_ns
        )
    return index


@dataclass(slots=True)
class _Walk:
    """Goes through a tree: see `take_snapshot`, whose arguments these are, and `Snapshot`."""

    device: int
    skip: frozenset[tuple[int, int]]
    check: Callable[[], None]
    unread: list[str]
    before: Snapshot | None

    def entries(
        self, folder: int, prefix: str, depth: int = 1
    ) -> Iterator[tuple[str, os.stat_result, str]]:
        """All names beneath an open folder, whose own path from the top is `prefix`."""
        for name, status in self._list(folder, prefix):
            self.check()
            relative, target = prefix + name, ""
            if stat.S_ISLNK(status.st_mode):
                with suppress(OSError):
                    target = os.readlink(name, dir_fd=folder)
            yield relative, status, target
            identity = (status.st_dev, status.st_ino)
            if not stat.S_ISDIR(status.st_mode) or identity[0] != self.device:
                continue
            if identity in self.skip:
                continue
            try:
                if depth > MAX_DEPTH:
                    raise OSError
                inner = os.open(name, FOLDER, dir_fd=folder)
            except OSError:
                self.unread.append(relative)
                continue
            with openat.closing(inner):
                yield from self.entries(inner, f"{relative}/", depth + 1)

    def _list(self, folder: int, prefix: str) -> list[tuple[str, os.stat_result]]:
        """What a folder holds, by name."""
        found = []
        try:
            with os.scandir(folder) as scan:
                for entry in scan:
                    with suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        if self.before is not None and is_closed(status):
                            self._open_up(folder, prefix, entry.name)
                            status = os.stat(entry.name, dir_fd=folder, follow_symlinks=False)
                        found.append((entry.name, status))
        except OSError:
            self.unread.append(prefix.rstrip("/"))
            return []
        return sorted(found, key=lambda item: item[0])

    def _open_up(self, folder: int, prefix: str, name: str) -> None:
        assert self.before is not None
        if f"{prefix}{name}" in self.before.unread:
            return  # the user's own
        with suppress(OSError):
            open_up(folder, name)


class _Content(NamedTuple):
    """What a file held when it looked so: see `SnapshotEntry.key`."""

    key: str
    digest: str
    attributes: Attributes = ()

    def to_json(self) -> list[Any]:
        pairs = attributes_to_json(self.attributes)
        return [self.key, self.digest, *([pairs] if pairs else [])]

    @classmethod
    def from_json(cls, values: list[Any]) -> _Content:
        key, digest, *pairs = values
        return cls(key, digest, *map(attributes_from_json, pairs))


class SnapshotCache:
    """Which content each file of a tree had, from one snapshot to the next, on disk too.

    Args:
        folder: where that is kept.
        real: the top of the tree.
    """

    def __init__(self, folder: Path, real: str) -> None:
        self._file = folder / f"known-{content_id(real)}"
        self._known: dict[str, _Content] | None = None
        self._unchecked_bytes = LOOK_BYTES  # of those that are there nothing is known yet
        self.blobs: Blobs = Blobs(folder / CONTENTS)

    def keep(self, top: int, index: Snapshot, check: Callable[[], None], run: Path) -> None:
        """Keep the contents of all files of a snapshot, as far as there is room and time.

        Args:
            top: a descriptor of the tree.
            index: the snapshot, which learns of them.
            check: called between two files.
            run: the folder of the run that needs them, in that of the cache: none of them is
                forgotten as long as it is there.
        """
        known = self._load()
        fresh: dict[str, _Content] = {}
        left, until = MAX_NEW_BYTES, time.monotonic() + MAX_NEW_SECONDS
        files = [
            (relative, seen)
            for relative, seen in index.entries.items()
            if seen.image.kind == "file"
        ]
        for relative, seen in sorted(files, key=lambda item: _rank(item[0])):
            check()
            content = known.get(relative)
            if content is None or content.key != seen.key or not self.blobs.renew(content.digest):
                content = None
                size = seen.image.size
                if size <= min(left, MAX_FILE_BYTES) and time.monotonic() < until:
                    content = self._add(top, relative, seen)
                    left -= size if content else 0
            if content:
                fresh[relative] = content
                image = replace(seen.image, digest=content.digest, attributes=content.attributes)
                index.entries[relative] = SnapshotEntry(image, seen.ctime)
            else:
                index.unkept.append(relative)
        self._save(fresh, run / self._file.name)
        if fresh != known:
            self._known = fresh
            self._save(fresh, self._file)

    def _add(self, top: int, relative: str, seen: SnapshotEntry) -> _Content | None:
        with suppress(OSError, StorageFailure), opened_beneath(top, relative) as fd:
            status = os.fstat(fd)
            if SnapshotEntry(EntryState.of(status), status.st_ctime_ns).key == seen.key:
                attributes = attributes_of(fd, access_lists=True)
                digest, size = self.blobs.add(chunks_of(fd, lambda: None))
                self._unchecked_bytes += size
                if os.fstat(fd).st_ctime_ns == seen.ctime:
                    return _Content(seen.key, digest, attributes)
        return None

    def _load(self) -> dict[str, _Content]:
        if self._known is None:
            self._known = {}
            with suppress(OSError, ValueError, zlib.error):
                found = json.loads(zlib.decompress(self._file.read_bytes()))
                self._known = {relative: _Content.from_json(rest) for relative, *rest in found}
        return self._known

    def _save(self, fresh: dict[str, _Content], target: Path) -> None:
        rows = [(relative, *content.to_json()) for relative, content in fresh.items()]
        packed = zlib.compress(json.dumps(rows, separators=(",", ":")).encode("ascii"), 1)
        part = target.with_name(f"{target.name}.{random_id(8)}")
        with suppress(OSError):
            make_private(target.parent)
            part.write_bytes(packed)
            part.replace(target)

    def forget_old(self) -> None:
        """Remove contents that no index, and no run, needs, where there are too many of them.

        To look at all of them takes long, and is done again behind `LOOK_BYTES`; where there are
        too many and none can be removed, after each run.
        """
        if self._unchecked_bytes < LOOK_BYTES:
            return
        total = self.blobs.stored_bytes()
        if total > MAX_STORED_BYTES:
            total -= self._sweep()
        self._unchecked_bytes = 0 if total <= MAX_STORED_BYTES else LOOK_BYTES

    def _sweep(self) -> int:
        wanted: set[str] = set()
        folder = self._file.parent
        for file in (*folder.glob("known-*"), *folder.glob("*/known-*")):
            with suppress(OSError, ValueError, zlib.error):
                found = json.loads(zlib.decompress(file.read_bytes()))
                wanted.update(digest for _, _, digest, *_ in found)
        return self.blobs.sweep(wanted.__contains__)


def make_hooks_folders(top: int, index: Snapshot) -> bool:
    """Give each repository the empty folder for hooks that masks need; whether one had none.

    They stay: another server may have masked the same one, and would lose its mask with it.

    Args:
        top: a descriptor of the tree.
        index: its snapshot.
    """
    made = False
    for relative in without_hooks(index.entries):
        with suppress(OSError), parent_of(top, relative) as (folder, name):
            os.mkdir(name, dir_fd=folder)
            made = True
    return made


def digest_now(top: int, relative: str, image: EntryState) -> str:
    """The digest of what a file holds now; "" where it changed since the snapshot."""
    with suppress(OSError), opened_beneath(top, relative) as fd:
        if EntryState.of(os.fstat(fd)).mark == image.mark:
            return hash_only(image.size, chunks_of(fd, lambda: None))
    return ""


def compare(before: Snapshot, after: Snapshot) -> tuple[list[str], list[str]]:
    """What differs: the tops of what is gone or is of another kind, and what is new or changed.

    Both in an order in which it could have been done. What only one of the snapshots could see is
    in neither: it may have been there all the time.
    """
    gone: list[str] = []
    for relative, seen in before.entries.items():
        now = after.entries.get(relative)
        if now is not None and now.image.kind == seen.image.kind:
            continue
        if now is None and not after.knows(relative):
            continue
        if not (gone and relative.startswith(f"{gone[-1]}/")):
            gone.append(relative)
    fresh = [
        relative
        for relative, seen in after.entries.items()
        if _differs(before.entries.get(relative), seen)
        and (relative in before.entries or before.knows(relative))
    ]
    return gone, fresh


def _differs(before: SnapshotEntry | None, now: SnapshotEntry) -> bool:
    if before is None or before.image.kind != now.image.kind:
        return True
    if now.image.kind == "folder":
        return before.image.mode != now.image.mode
    if now.image.kind == "link":
        return before.image.target != now.image.target
    return before.key != now.key


def _rank(relative: str) -> tuple[int, str]:
    """What a person wrote first, then what git keeps, then what programs made."""
    names = relative.split("/")
    bulk = next((name for name in names[:-1] if name in GENERATED_FOLDERS), "")
    return (0 if not bulk else 1 if bulk == ".git" else 2), relative


def identities(paths: Iterable[str]) -> frozenset[tuple[int, int]]:
    """Device and inode of some folders, as far as they exist."""
    found = set()
    for path in paths:
        with suppress(OSError):
            status = Path(path).stat()
            found.add((status.st_dev, status.st_ino))
    return frozenset(found)
