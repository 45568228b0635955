"""Copying files and folders: what is read, and how it becomes part of a plan."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from toolcrib.core.errors import Conflict, PathDenied, TooLarge
from toolcrib.files.changes.plan import ANYTHING, Plan
from toolcrib.files.handles import Entry
from toolcrib.files.paths import SafePath
from toolcrib.files.tree_images import MAX_DEPTH, PIECE, Image

MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class Copied:
    """The content of a file as a source.

    Args:
        path: the file.
        mark: the fingerprint that it must have.
    """

    path: SafePath
    mark: str

    def chunks(self) -> Iterator[bytes]:
        """See `Source`."""
        with self.path.open_read() as handle:
            if handle.fingerprint != self.mark:
                raise Conflict(
                    f"{self.path.display} is being changed by another program.",
                    hint="Send the call again when that has ended.",
                )
            while piece := handle.file.read(PIECE):
                yield piece


@dataclass(frozen=True, slots=True)
class Found:
    """Something in a tree: the names that lead to it from the top, and its entry."""

    way: tuple[str, ...]
    path: SafePath
    entry: Entry


def walk(
    folder: SafePath,
    check: Callable[[], None],
    most: int = MOST_ENTRIES,
    left_out: list[str] | None = None,
) -> Iterator[Found]:
    """What a folder holds at every depth, each folder before its content; links not followed.

    What is protected from reading is named and not entered.

    Args:
        folder: the top.
        check: called between two steps.
        most: how many entries there may be.
        left_out: takes the ways to folders below the top that the system does not let us
            read; without it they are an error.

    Raises:
        TooLarge: more than `most` entries, or too deep.
        PathDenied: a folder cannot be read.
    """
    seen = 0
    todo: list[tuple[tuple[str, ...], SafePath]] = [((), folder)]
    while todo:
        way, here = todo.pop()
        try:
            entries = sorted(here.list(), key=lambda entry: entry.name)
        except PathDenied:
            if left_out is None or not way:
                raise
            left_out.append("/".join(way))
            continue
        for entry in entries:
            check()
            seen += 1
            if seen > most or len(way) > MAX_DEPTH:
                raise TooLarge(
                    f"{folder.display} holds more than {most:,} files and folders.",
                    hint="Name smaller parts of it.",
                )
            found = Found((*way, entry.name), here.child(entry.name), entry)
            yield found
            if entry.kind == "folder" and not entry.protected:
                todo.append((found.way, found.path))


@dataclass(slots=True)
class Copying:
    """Plans the copy of a file or a tree.

    Attributes:
        left_out: what is not copied, since it is protected here or there, or special.
        files: how many are.
    """

    plan: Plan
    check: Callable[[], None]
    left_out: list[str] = field(default_factory=list)
    files: int = 0

    def file(self, source: SafePath, target: SafePath, *, replace: bool) -> None:
        """Copy one file with its mode."""
        with source.open_read() as handle:
            mode = stat.S_IMODE(handle.status.st_mode) & 0o777
            data = Copied(source, handle.fingerprint)
        expected = ANYTHING if replace else ""
        self.plan.write(target, data, expected=expected, mode=mode)
        self.files += 1

    def tree(self, source: SafePath, target: SafePath) -> None:
        """Copy a folder to where nothing stands."""
        self.plan.make_folder(target, mode=writable(source.stat().st_mode))
        skipped: set[tuple[str, ...]] = set()
        for found in walk(source, self.check, left_out=self.left_out):
            if found.way[:-1] in skipped:
                skipped.add(found.way)
                continue
            there = SafePath(target.root, (*target.parts, *found.way), target.gate, target.base)
            kind = found.entry.kind
            if self._protected(found, there) or kind == "other":
                self.left_out.append("/".join(found.way))
                skipped.add(found.way)
            elif kind == "folder":
                self.plan.make_folder(there, mode=writable(found.path.stat().st_mode))
            elif kind == "link":
                self.plan.plant(there, _link(found.entry))
                self.files += 1
            else:
                try:
                    self.file(found.path, there, replace=False)
                except PathDenied:  # another name of a protected file, or the system says no
                    self.left_out.append("/".join(found.way))

    def _protected(self, found: Found, there: SafePath) -> bool:
        return bool(found.entry.protected or there.gate.pattern(there, "write"))


def writable(mode: int) -> int:
    """The permission bits of a folder in a copy: its owner may fill it, and undo empty it."""
    return stat.S_IMODE(mode) & 0o777 | 0o700


def _link(entry: Entry) -> Image:
    return Image("", "link", 0o777, int(entry.modified * 1e9), (-1, -1), target=entry.target)
