"""Execution of a step: new things are made beside their place, then put there by renaming.

Nothing is written over. What was there stands under another name until all is done, so
that taking back is renaming too, needs no space, and brings back the very same files.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from toolcrib.core.errors import Conflict, NotFound, ToolError
from toolcrib.files.changes.deltas import index_digest, is_index
from toolcrib.files.changes.preparation import hash_only, same_tree, sorted_tree
from toolcrib.files.changes.step import BULK_KINDS, Change, changed_error
from toolcrib.files.changes.tree_store import (
    drop_names,
    give_back,
    move_names,
    move_names_back,
    put,
    take,
    take_again,
)
from toolcrib.files.handles import WritePlace
from toolcrib.files.paths import SafePath
from toolcrib.files.trees import ContentSink, EntryState, TreeReader, skip_content
from toolcrib.files.writer import (
    ContentSource,
    Trash,
    build_tree,
    drop_name,
    explained,
    flush_folder,
    flush_system,
    holds_only,
    make_one,
    remove_empty_folder,
    remove_tree,
    rename,
    rename_new,
    set_mode,
    staged_prefix,
    status_of,
    write_file,
)
from toolcrib.files.writer import replace as replace_file
from toolcrib.state.blobs import digest_of

MAX_FLUSHES = 32
"""Files or folders that are seen onto the disk one by one; more of them all at once."""


@dataclass(slots=True)
class Executor:
    """Makes the changes of one step.

    Args:
        token: what the names that are used meanwhile have in common.
        fetch: gives back stored contents.
        check: called between two steps.
        trash: where deleted things go if they shall and can.
    """

    token: str
    fetch: ContentSource
    check: Callable[[], None]
    trash: Trash | None = None
    notes: list[str] = field(default_factory=list)

    def stage(self, changes: Sequence[Change]) -> None:
        """Write all that is new under names of our own; nothing else changes."""
        many = _flush_together(changes)
        for change in changes:
            self.check()
            if change.is_staged:
                with _explained_errors(change), change.staging_folder.open() as staging:
                    self._stage(change, staging.fd, flush=not many)
        if many:
            _flush_file_systems(change.staging_folder for change in changes)

    def commit(self, changes: Sequence[Change]) -> None:
        """Put everything in place."""
        for change in changes:
            self.check()
            with _explained_errors(change):
                if change.kind in BULK_KINDS:
                    move_names(change, self.check)
                    continue
                with change.path.place(whole=True) as place:
                    self._commit(change, place)
        self._flush(changes)

    def roll_back(self, changes: Sequence[Change]) -> list[str]:
        """Undo what was done of the changes, as far as nobody has changed it since.

        Works from what is found, so it can be done again, and by another process.

        Returns:
            What could not be put back, in words.
        """
        problems: list[str] = []
        for change in reversed(changes):
            try:
                self._roll_back(change)
            except NotFound:
                continue
            except (OSError, ToolError) as error:
                problems.append(f"{change.display} could not be put back: {error}")
        return problems

    def clean_up(self, changes: Sequence[Change]) -> None:
        """Take away what stood there before; what cannot be removed is noted."""
        moves = [(number, p) for number, p in enumerate(changes) if p.kind == "move"]
        for number, change in enumerate(changes):
            parent, staging = change.path.parent, change.staging_folder
            for later, move in moves:
                if later > number:
                    parent, staging = _moved(parent, move), _moved(staging, move)
            try:
                self._clean_up(change, parent, staging)
            except (NotFound, NotADirectoryError):
                continue  # its folder went, and with it what stood there: a file may be there now
            except (OSError, ToolError) as error:
                self.notes.append(
                    f"{change.staged_names(self.token)[1]} could not be removed: {error}"
                )
        for number, change in enumerate(changes):
            if change.kind == "delete" and change.stored:
                top = f"{change.path.absolute}/"
                if any(other.path.absolute.startswith(top) for other in changes[:number]):
                    drop_names(change.stored, staged_prefix(self.token))

    def _stage(self, change: Change, staging: int, *, flush: bool) -> None:
        new, _ = change.staged_names(self.token)
        if change.has_stored_tree:
            self._take(change, staging, new)
            return
        if change.kind == "create_tree":
            status = build_tree(staging, new, change.tree, self.fetch, self.check, flush=flush)
            change.after = EntryState.of(status, target=change.tree[0].target)
            return
        before, hasher = change.before, digest_of()
        if is_index(change.path):
            change.index_digest = index_digest(change.data)

        def hashed() -> Iterator[bytes]:
            chunks = (change.data,) if isinstance(change.data, bytes) else change.data.chunks()
            for chunk in chunks:
                hasher.update(chunk)
                yield chunk

        status = write_file(
            staging,
            new,
            hashed(),
            self.check,
            mode=before.mode if before and change.mode is None else change.mode,
            mtime=change.mtime,
            owner=before.owner if before else None,
            like=change.path.name if before else "",
            attributes=change.attributes,
            flush=flush,
        )
        change.data = b""
        # What stood there gave it its own; see `like`.
        attributes = before.attributes if before else ()
        change.after = EntryState.of(status, digest=hasher.hexdigest(), attributes=attributes)

    def _take(self, change: Change, staging: int, new: str) -> None:
        """Put a stored tree beside its place, if all of it is as it was when it was judged.

        Of what was written anew meanwhile, and by now taken back, the content says that.
        """
        take(change.stored, staging, new)
        try:
            self._compare(change, staging, new)
        except Conflict:
            now = self._read_tree(staging, new, change, hash_only)
            if not same_tree(now, change.tree) or _rights(now) != _rights(change.tree):
                raise
        change.after = change.tree[0]

    def _commit(self, change: Change, place: WritePlace) -> None:
        match change.kind:
            case "write" | "create_tree":
                self._commit_new(change, place)
            case "delete":
                _need_unchanged(change, place.status)
                _, old = change.staged_names(self.token)
                rename(place.folder, place.name, place.folder, old)
                self._compare(change, place.folder, old)
                if change.stored:
                    put(place.folder, old, change.stored)
            case "move":
                _need_unchanged(change, place.status)
                assert change.target is not None
                with change.target.place(whole=True) as destination:
                    rename_new(place.folder, place.name, destination.folder, destination.name)
                change.after = change.before
            case "folder":
                if place.status is None:
                    made = make_one(place.folder, place.name, change.mode)
                    change.after = EntryState.of(made)
            case "remove_folder":
                self._commit_removal(change, place)
            case "mode":
                _need_unchanged(change, place.status)
                assert change.mode is not None
                change.after = EntryState.of(set_mode(place.folder, place.name, change.mode))

    def _commit_new(self, change: Change, place: WritePlace) -> None:
        new, old = change.staged_names(self.token)
        if change.before is not None:
            _need_unchanged(change, place.status)
            replace_file(place.folder, new, place.name, old)
            return
        with change.staging_folder.open() as staging:
            rename_new(staging.fd, new, place.folder, place.name)

    def _commit_removal(self, change: Change, place: WritePlace) -> None:
        """A folder that holds something else meanwhile stays."""
        _, old = change.staged_names(self.token)
        if change.before is None or not change.before.is_at(place.status):
            return
        if holds_only(place.folder, place.name, staged_prefix(self.token)):
            rename(place.folder, place.name, place.folder, old)
            change.after = change.before

    def _compare(self, change: Change, folder: int, name: str) -> None:
        """Check a tree that was just renamed: is it what is known of it?"""
        now = self._read_tree(folder, name, change)
        known = sorted_tree(change.tree)
        if [_comparable(state) for state in sorted_tree(now)] != [_comparable(s) for s in known]:
            raise changed_error(change.display)

    def _read_tree(
        self, folder: int, name: str, change: Change, sink: ContentSink = skip_content
    ) -> tuple[EntryState, ...]:
        limit = 2 * len(change.tree) + 1000
        reader = TreeReader(sink, self.check, limit, skip=staged_prefix(self.token))
        return reader.take(WritePlace(folder, name, "", status_of(folder, name)), change.display)

    def _roll_back(self, change: Change) -> None:
        if change.kind in BULK_KINDS:
            move_names_back(change)
            return
        new, old = change.staged_names(self.token)
        try:
            with change.path.place(whole=True) as place:
                if change.is_staged and self._is_ours(change, place):
                    self._remove_new(change, place)
                elif change.kind == "move":
                    _undo_move(change, place)
                elif change.kind == "mode":
                    _restore_mode(change, place)
                elif change.kind == "folder" and (
                    change.after is None or change.after.is_at(place.status)
                ):
                    remove_empty_folder(place.folder, place.name)
                else:
                    if change.kind == "delete" and change.stored:
                        take_again(change.stored, change.before, place.folder, old)
                    self._restore_old(change, place)
        finally:
            if change.is_staged:
                with change.staging_folder.open() as staging:
                    self._drop_new(change, staging.fd, new)

    def _drop_new(self, change: Change, folder: int, name: str) -> None:
        if change.has_stored_tree:
            give_back(folder, name, change.stored)
        else:
            remove_tree(folder, name)

    def _is_ours(self, change: Change, place: WritePlace) -> bool:
        """Whether what stands there is what this step made, and nobody changed it since."""
        if change.after is None or not change.after.is_at(place.status):
            return False
        if change.after.kind != "folder":
            return True
        now = self._read_tree(place.folder, place.name, change)
        return [_as_created(state) for state in now] == [
            _as_created(state) for state in change.tree
        ]

    def _remove_new(self, change: Change, place: WritePlace) -> None:
        former = self._former_name(change, place)
        if former:
            rename(place.folder, former, place.folder, place.name)
        else:
            self._drop_new(change, place.folder, place.name)

    def _former_name(self, change: Change, place: WritePlace) -> str:
        """The name under which what was there stands now; "" where it does not."""
        new, old = change.staged_names(self.token)
        if status_of(place.folder, old) is not None:
            return old
        before = change.before if change.kind == "write" else None
        if before is not None and before.is_at(status_of(place.folder, new)):
            return new
        return ""

    def _restore_old(self, change: Change, place: WritePlace) -> None:
        """Give what was set aside its name again, unless another thing has it."""
        old = self._former_name(change, place)
        folder, former = place.folder, status_of(place.folder, old) if old else None
        if former is None:
            return
        if place.status is None:
            rename(folder, old, folder, place.name)
        elif (former.st_dev, former.st_ino) == (place.status.st_dev, place.status.st_ino):
            drop_name(folder, old)
        else:
            other = f"{place.name}.before-{self.token}"
            rename(folder, old, folder, other)
            raise Conflict(
                f"it was changed by another program; what stood there is now {other}.",
                hint="Look at both.",
            )

    def _clean_up(self, change: Change, parent: SafePath, staging: SafePath) -> None:
        new, old = change.staged_names(self.token)
        former = change.before is not None or change.kind == "delete"
        if former and change.kind in ("write", "delete", "remove_folder"):
            with parent.open() as handle:
                if change.trash and self.trash is not None:
                    self.trash.take(handle.fd, old, change.path.name, str(change.path))
                remove_tree(handle.fd, old)
        if change.is_staged:
            with staging.open() as handle:
                remove_tree(handle.fd, new)

    def _flush(self, changes: Sequence[Change]) -> None:
        folders: dict[str, SafePath] = {}
        for change in changes:
            for path in (change.path, change.target):
                if path is not None:
                    folder = path if change.kind in BULK_KINDS else path.parent
                    folders.setdefault(folder.absolute, folder)
        if len(folders) > MAX_FLUSHES:
            _flush_file_systems(folders.values())
            return
        for folder in folders.values():
            with suppress(ToolError), folder.open() as handle:
                flush_folder(handle.fd)


def _flush_together(changes: Sequence[Change]) -> bool:
    """Whether it is quicker to flush the file system once than each file."""
    written = (p for p in changes if p.is_staged and not p.has_stored_tree)
    return sum(max(len(p.tree), 1) for p in written) > MAX_FLUSHES


def _flush_file_systems(folders: Iterable[SafePath]) -> None:
    """See all that was written onto the disk, each file system once."""
    hasher: set[int] = set()
    for folder in {path.absolute: path for path in folders}.values():
        with suppress(ToolError), folder.open() as handle:
            if handle.status.st_dev not in hasher:
                hasher.add(handle.status.st_dev)
                flush_system(handle.fd)


def _need_unchanged(change: Change, status: os.stat_result | None) -> None:
    if change.before is None or not change.before.is_at(status):
        raise changed_error(change.display)


def _comparable(state: EntryState) -> tuple[object, ...]:
    """What can be compared without reading: a rename leaves all of it as it was."""
    is_folder = state.kind == "folder"
    mark, mtime = (state.inode, 0) if is_folder else (state.mark, state.mtime)
    return state.path, state.kind, state.mode, state.owner, state.size, state.target, mark, mtime


def _rights(tree: Iterable[EntryState]) -> list[tuple[int, tuple[int, int]]]:
    return [(state.mode, state.owner) for state in sorted_tree(tree)]


def _as_created(state: EntryState) -> tuple[str, str, int, int, str]:
    """How something looks that was made from an state."""
    still = state.kind in ("folder", "pipe")
    return state.path, state.kind, state.size, 0 if still else state.mtime, state.target


def _moved(path: SafePath, move: Change) -> SafePath:
    """Where a path is after a move."""
    assert move.target is not None
    top = move.path.parts
    if path.root != move.path.root or path.parts[: len(top)] != top:
        return path
    parts = (*move.target.parts, *path.parts[len(top) :])
    return SafePath(move.target.root, parts, path.gate, -1)


def _restore_mode(change: Change, place: WritePlace) -> None:
    if change.before is not None and change.before.is_at(place.status):
        set_mode(place.folder, place.name, change.before.mode)


def _undo_move(change: Change, place: WritePlace) -> None:
    assert change.target is not None
    assert change.before is not None
    with change.target.place(whole=True) as destination:
        if not change.before.is_at(destination.status):
            return
        if place.status is None:
            rename(destination.folder, destination.name, place.folder, place.name)
        elif change.before.is_at(place.status) and change.before.kind != "folder":
            drop_name(destination.folder, destination.name)  # it was given the second name only


@contextmanager
def _explained_errors(change: Change) -> Iterator[None]:
    """Failures of the system in words."""
    try:
        yield
    except FileExistsError:
        raise Conflict(
            f"{change.display} exists already.", hint="Look at it, then decide again."
        ) from None
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise changed_error(change.display) from None
        raise explained(error, change.display) from None
