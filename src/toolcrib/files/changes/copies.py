"""Copies of files and folders: what is read, and how it becomes part of a step."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from toolcrib.core.errors import Conflict, PathDenied, TooLarge
from toolcrib.files.changes.cached_code import is_cached_code
from toolcrib.files.changes.links import MovedLink, misled
from toolcrib.files.changes.step import ANYTHING, Step
from toolcrib.files.handles import Entry, Root
from toolcrib.files.paths import SafePath
from toolcrib.files.trees import CHUNK_BYTES, MAX_DEPTH, EntryState

MAX_TREE_ENTRIES = 20_000


def being_changed(display: str) -> Conflict:
    """A file is not any more as it was when it was looked at."""
    return Conflict(
        f"{display} is being changed by another program.",
        hint="Send the call again when that has ended.",
    )


@dataclass(frozen=True, slots=True)
class FileSource:
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
                raise being_changed(self.path.display)
            while chunk := handle.file.read(CHUNK_BYTES):
                yield chunk


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """Something in a tree: the names that lead to it from the top, and its entry."""

    names: tuple[str, ...]
    path: SafePath
    entry: Entry


def walk(
    folder: SafePath,
    check: Callable[[], None],
    limit: int = MAX_TREE_ENTRIES,
    left_out: list[str] | None = None,
) -> Iterator[TreeEntry]:
    """What a folder holds at every depth, each folder before its content; links not followed.

    What is protected from reading is named and not entered.

    Args:
        folder: the top.
        check: called between two steps.
        limit: how many entries there may be.
        left_out: takes the paths of folders below the top that the system does not let us
            read; without it they are an error.

    Raises:
        TooLarge: more than `limit` entries, or too deep.
        PathDenied: a folder cannot be read.
    """
    count = 0
    todo: list[tuple[tuple[str, ...], SafePath]] = [((), folder)]
    while todo:
        names, current = todo.pop()
        try:
            entries = sorted(current.list(), key=lambda entry: entry.name)
        except PathDenied:
            if left_out is None or not names:
                raise
            left_out.append("/".join(names))
            continue
        for entry in entries:
            check()
            count += 1
            if count > limit or len(names) > MAX_DEPTH:
                raise TooLarge(
                    f"{folder.display} holds more than {limit:,} files and folders.",
                    hint="Name smaller parts of it.",
                )
            found = TreeEntry((*names, entry.name), current.child(entry.name), entry)
            yield found
            if entry.kind == "folder" and not entry.protected:
                todo.append((found.names, found.path))


@dataclass(slots=True)
class TreeCopy:
    """Adds the copy of a file or a tree to a step.

    Attributes:
        roots: those of the workspace.
        left_out: what is not copied, since it is protected here or there, special, or a link that
            would lead out of the workspace, or to what is protected, from there.
        files: how many are.
        has_cached_code: whether compiled code was left out, that Python makes by itself.
    """

    step: Step
    check: Callable[[], None]
    roots: Sequence[Root]
    left_out: list[str] = field(default_factory=list)
    files: int = 0
    has_cached_code: bool = False

    def file(self, source: SafePath, target: SafePath, *, replace: bool) -> None:
        """Copy one file with its mode."""
        with source.open_read() as handle:
            mode = stat.S_IMODE(handle.status.st_mode) & 0o777
            data = FileSource(source, handle.fingerprint)
        expected = ANYTHING if replace else ""
        self.step.write(target, data, expected=expected, mode=mode)
        self.files += 1

    def tree(self, source: SafePath, target: SafePath) -> None:
        """Copy a folder to where nothing stands."""
        self.step.make_folder(target, mode=writable(source.stat().st_mode))
        skipped: set[tuple[str, ...]] = set()
        for found in walk(source, self.check, left_out=self.left_out):
            if found.names[:-1] in skipped:
                skipped.add(found.names)
                continue
            destination = target.at((*target.parts, *found.names))
            kind = found.entry.kind
            is_link = kind == "link"
            if is_cached_code(found.names[-1:]):
                self.has_cached_code = True
                skipped.add(found.names)
            elif (
                self._protected(found, destination)
                or kind == "other"
                or (is_link and self._trouble(found, destination))
            ):
                self.left_out.append("/".join(found.names))
                skipped.add(found.names)
            elif kind == "folder":
                self.step.make_folder(destination, mode=writable(found.path.stat().st_mode))
            elif is_link:
                self.step.create_tree(destination, _link(found.entry))
                self.files += 1
            else:
                try:
                    self.file(found.path, destination, replace=False)
                except PathDenied:  # another name of a protected file, or the system says no
                    self.left_out.append("/".join(found.names))

    def _trouble(self, found: TreeEntry, destination: SafePath) -> str:
        """What speaks against a link in its new place."""
        moved = MovedLink(found.path, destination, _link(found.entry))
        return next((trouble for _, trouble in misled([moved], self.roots)), "")

    def _protected(self, found: TreeEntry, destination: SafePath) -> bool:
        return bool(found.entry.protected or destination.gate.pattern(destination, "write"))


def writable(mode: int) -> int:
    """The permission bits of a folder in a copy: its owner may fill it, and undo empty it."""
    return stat.S_IMODE(mode) & 0o777 | 0o700


def _link(entry: Entry) -> EntryState:
    return EntryState("", "link", 0o777, int(entry.modified * 1e9), (-1, -1), target=entry.target)
