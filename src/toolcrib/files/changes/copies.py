"""Copies of files and folders: what is read, and how it becomes part of a step."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from toolcrib.core.errors import Conflict, PathDenied, TooLarge
from toolcrib.files.changes.step import ANYTHING, Step
from toolcrib.files.handles import Entry
from toolcrib.files.paths import SafePath
from toolcrib.files.trees import CHUNK_BYTES, MAX_DEPTH, EntryState

MAX_TREE_ENTRIES = 20_000


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
                raise Conflict(
                    f"{self.path.display} is being changed by another program.",
                    hint="Send the call again when that has ended.",
                )
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
        left_out: what is not copied, since it is protected here or there, special, or a link that
            would lead out of the workspace from there.
        files: how many are.
    """

    step: Step
    check: Callable[[], None]
    left_out: list[str] = field(default_factory=list)
    files: int = 0

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
            destination = SafePath(
                target.root, (*target.parts, *found.names), target.gate, target.base
            )
            kind = found.entry.kind
            is_link = kind == "link"
            misled = is_link and comes_to_lead_above(found.path, destination, found.entry.target)
            if self._protected(found, destination) or kind == "other" or misled:
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

    def _protected(self, found: TreeEntry, destination: SafePath) -> bool:
        return bool(found.entry.protected or destination.gate.pattern(destination, "write"))


def leads_above(path: SafePath, target: str) -> bool:
    """Whether a relative link leads above its root.

    Only what the names say counts, so `..` after another name, which may be a link itself, is
    taken as leading there.
    """
    names = [name for name in target.split("/") if name not in ("", ".")]
    ups = 0
    while ups < len(names) and names[ups] == "..":
        ups += 1
    return not target.startswith("/") and (".." in names[ups:] or ups > len(path.parts) - 1)


def comes_to_lead_above(path: SafePath, new: SafePath, target: str) -> bool:
    """Whether a link leads above its root from a new place alone."""
    return leads_above(new, target) and not leads_above(path, target)


def refuse_links_above(source: SafePath, target: SafePath, tree: Iterable[EntryState]) -> None:
    """Refuse to move links to where they would lead out of the workspace.

    Raises:
        PathDenied: naming the first.
    """
    for state in tree:
        inner = tuple(filter(None, state.path.split("/")))
        old, new = source.at((*source.parts, *inner)), target.at((*target.parts, *inner))
        if state.kind == "link" and comes_to_lead_above(old, new, state.target):
            raise PathDenied(
                f"Access denied: from there the link {old.display} would lead out of the "
                "workspace.",
                hint="Remove it, or move what it leads to with it.",
                rule="link",
            )


def writable(mode: int) -> int:
    """The permission bits of a folder in a copy: its owner may fill it, and undo empty it."""
    return stat.S_IMODE(mode) & 0o777 | 0o700


def _link(entry: Entry) -> EntryState:
    return EntryState("", "link", 0o777, int(entry.modified * 1e9), (-1, -1), target=entry.target)
