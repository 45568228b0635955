"""Preparation of a step: every check, and a copy of what is there, before anything changes."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from toolcrib.core.context import Session
from toolcrib.core.errors import (
    BadInput,
    Busy,
    Conflict,
    NotFound,
    PathDenied,
    TooLarge,
    Unavailable,
)
from toolcrib.core.settings import UndoConfig, WorkspaceConfig
from toolcrib.files.changes.closed_folders import ClosedFolders, is_ours
from toolcrib.files.changes.copies import FileSource
from toolcrib.files.changes.deltas import index_digest
from toolcrib.files.changes.links import refuse_misled_links
from toolcrib.files.changes.step import ANYTHING, BULK_KINDS, Change, changed_error
from toolcrib.files.changes.tree_store import TreeStore
from toolcrib.files.handles import Root, WritePlace, fingerprint, kind_of
from toolcrib.files.path_gate import LISTS_HINT
from toolcrib.files.path_rules import OWN_FILES_RULE
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.credentials import are_settings
from toolcrib.files.trees import (
    ContentSink,
    EntryState,
    TreeReader,
    may_change,
    parent_of,
    skip_content,
)
from toolcrib.files.writer import explained, status_of
from toolcrib.state.blobs import Blobs, digest_of
from toolcrib.system.removal import opened
from toolcrib.text.display import some_of

READ_AGAIN = "Read it again, then send the change again."
NO_COPY = "permanent=true deletes it for good; that asks the user."


@dataclass(slots=True)
class Preparer:
    """Makes changes ready to be executed.

    Args:
        blobs: where what is there is stored.
        trees: where trees are put that are undone.
        session: whose reads are compared; None where that does not matter.
        limits: what is stored for undo.
        names: the protected names that the user added.
        roots: those of the workspace.
        check: called between two steps.
        skip: how the names start that this step uses meanwhile.
        is_alone: whether no run goes on, nor begins before the end of the step.
        restoring: an undo: what a tree held comes back whatever its names are.
        of_run: what a run changed, which nobody need hide from runs.
        names_taken: how many names of a file, by its inode, the undo takes away or gives another.
        closed: the folders that an undo opened up; the caller closes them in the end.
    """

    blobs: Blobs
    trees: TreeStore
    session: Session | None
    limits: UndoConfig
    names: WorkspaceConfig
    roots: Sequence[Root]
    check: Callable[[], None]
    skip: str
    is_alone: Callable[[], bool]
    restoring: bool = False
    of_run: bool = False
    names_taken: Mapping[str, int] = field(default_factory=dict)
    closed: ClosedFolders = field(default_factory=ClosedFolders)
    added: int = 0
    notes: list[str] = field(default_factory=list)
    _ready: list[Change] = field(default_factory=list)
    _count: int = 0
    _folders: dict[str, tuple[SafePath, SafePath]] = field(default_factory=dict)

    def prepare(self, changes: Sequence[Change]) -> list[Change]:
        """Changes that do not depend on each other, made ready.

        Raises:
            Conflict: something is not as expected, or changed since it was read.
            PathDenied: a path is protected, or the system refuses it.
            NotFound, BadInput, TooLarge: as they say.
        """
        self._ready = []
        self._folders.clear()
        self.closed.begin()
        for change in changes:
            self.check()
            self._open_parents(change)
            match change.kind:
                case "write":
                    self._write(change)
                case "delete":
                    self._delete_tree(change)
                case "move":
                    self._move(change)
                case "folder":
                    self._folder(change)
                case "create_tree":
                    self._create_tree(change)
                case "remove_folder":
                    self._remove_folder(change)
                case "mode":
                    self._mode(change)
                case "move_in" | "move_out":
                    self._many(change)
        return self._ready

    def _open_parents(self, change: Change) -> None:
        if not self.restoring:
            return
        for path in (change.path, change.target):
            if path is not None:
                self.closed.open_parents(path)
        if change.kind in BULK_KINDS:
            self.closed.open(change.path)

    def _hide(self, place: SafePath, names: Iterable[str] = ("",)) -> None:
        """Refuse to put what must not be read where a run could: no mask lies over it there.

        Args:
            place: where something comes to stand.
            names: the paths of what it holds from there, itself as "".

        Raises:
            Busy: a run goes on.
        """
        if self.of_run:
            return
        gate = place.gate.whole
        barring = cache(lambda parts: gate.barring(place.at(parts), "read"))
        for name in names:
            path = _beneath(place, name)
            hidden = barring(path.parts[:-1])(path.name) or are_settings(path.parts)
            if hidden and not self.is_alone():
                raise Busy(
                    f"A program that runs in the workspace could read {path.display} while it is "
                    "put in place, and that is protected from reading.",
                    hint="Wait for its end, or end it: list_jobs shows what goes on.",
                )

    def _write(self, change: Change) -> None:
        ready = self._resolved(change)
        self._hide(ready.path)
        # An undo puts another file in its place: nothing is written under its other names.
        with self._place(change.path, ready, whole=self.restoring) as place:
            status = place.status if place else None
            self._compare(change, ready.path, place)
            if place is not None and status is not None:
                if kind_of(status.st_mode) == "folder":
                    raise BadInput(
                        f"{change.path.display} is a folder, not a file.", hint="Name a file in it."
                    )
                if not may_change(place.folder, place.name) and not (
                    self.restoring and is_ours(status)
                ):
                    raise read_only(change.path)
                self._note_other_names(change, status)
                (ready.before,) = self._reader(self._store).take(place, change.path.display)
                if not ready.before.is_at(status):  # another one than was compared
                    raise changed_error(change.path.display)
                self._need_content(change, ready.before, place)
                if not ready.before.digest:
                    self._need_leave_to_lose(change, ready.before)
                    ready.undoable = False
                    self.notes.append(
                        f"{change.path.display} had {status.st_size:,} bytes, more than undo "
                        "keeps: what it held cannot be brought back"
                    )
        self._ready.append(ready)

    def _need_leave_to_lose(self, change: Change, before: EntryState) -> None:
        """Refuse to write over what could not be brought back; a run's was judged before."""
        if not (self.of_run or self.restoring):
            raise TooLarge(
                f"{change.path.display} has {before.size:,} bytes, more than undo keeps of a file "
                f"({self.limits.max_file_bytes:,}).",
                hint="delete_path with permanent=true asks the user; then write it anew.",
            )

    def _note_other_names(self, change: Change, status: os.stat_result) -> None:
        """Tell of names that a run, or somebody else, gave to what it wrote."""
        taken = self.names_taken.get(EntryState.of(status).inode, 1)
        if self.restoring and status.st_nlink > taken:
            self.notes.append(
                f"{change.path.display} had more names (hard links) that are not in what was "
                "undone: there the file is as it was left"
            )

    def _delete(self, change: Change) -> None:
        ready = self._resolved(change)
        with self._place(change.path, ready, whole=True) as place:
            if place is None or place.status is None:
                change.path.stat()
                raise NotFound(f"{change.path.display} does not exist.", hint="Nothing to do.")
            self._compare(change, ready.path, place)
            if change.stored and not self._may_store(place.folder):
                ready.stored = ""
            copied = not (change.permanent or ready.stored)
            inside = self._guard(change.path, ready.path, copied=copied)
            inside.placed_ns = change.placed_ns
            reader = self._reader(self._store if copied else skip_content, inside.may_go)
            if self.restoring:
                reader.before_folder = lambda folder, name, inner: self.closed.open_in(
                    folder, name, _beneath(ready.path, inner)
                )
            ready.tree = reader.take(place, change.path.display)
            if ready.stored:
                ready.tree = self._with_digests(change.tree, ready.tree, place, inside.late)
                self.added += sum(state.size for state in ready.tree)
            self._need_content(change, ready.tree[0], place)
            same = ready.tree[0].is_at(place.status)
            if not same or (change.tree and not same_tree(change.tree, ready.tree)):
                raise changed_error(change.path.display)
            self._need_undoable(change, ready.tree)
            ready.before, ready.trash = ready.tree[0], change.trash and not inside.found
            ready.undoable = not change.permanent
            if change.permanent:
                self.notes.append(f"{change.path.display} cannot be brought back")
            if inside.found:
                self.notes.append(f"among what was deleted: {some_of(inside.found)} (protected)")
        self._ready.append(ready)

    def _need_content(self, change: Change, now: EntryState, place: WritePlace) -> None:
        """Refuse to take back over an edit of the same size whose time was set back."""
        known = change.expected_digest
        if known and now.digest != known and not self._holds(change, place):
            raise changed_error(change.path.display)

    def _may_store(self, folder: int) -> bool:
        """Whether what is in an open folder can be stored by renaming it.

        A run that stands in it would go on writing there, where no boundary is.
        """
        return self.trees.is_beside(folder) and self.is_alone()

    def _delete_tree(self, change: Change) -> None:
        """Delete; of a tree that was made whole, and in which others changed something, its own."""
        added, notes = self.added, list(self.notes)
        try:
            self._delete(change)
        except (Conflict, TooLarge):
            if not change.stored:
                raise
            self.added, self.notes = added, notes
            for single in expand(change):
                if single.kind == "remove_folder":
                    self._remove_folder(single)
                else:
                    self._delete(single)

    def _with_digests(
        self,
        known: Sequence[EntryState],
        tree: Sequence[EntryState],
        place: WritePlace,
        late: Container[str],
    ) -> tuple[EntryState, ...]:
        """A tree that was read without contents: only what looks otherwise than known is read.

        And what is `late`: its entry changed since, if only by another name or other bits.
        """
        before = {state.path: state for state in known}
        return tuple(
            state
            if state.kind != "file" or was is None or not was.digest
            else was
            if (was.mark, was.mode, was.owner) == (state.mark, state.mode, state.owner)
            and state.path not in late
            else replace(state, digest=self._digest_in(place, state))
            for state in tree
            for was in (before.get(state.path),)
        )

    def _digest_in(self, place: WritePlace, state: EntryState) -> str:
        with parent_of(place.folder, f"{place.name}/{state.path}".rstrip("/")) as (folder, name):
            inner = WritePlace(folder, name, "", os.lstat(name, dir_fd=folder))
            return self._reader(hash_only).take(inner, state.path)[0].digest

    def _need_undoable(self, change: Change, tree: Sequence[EntryState]) -> None:
        """Refuse to delete what could not be brought back."""
        if change.permanent or self.restoring:
            return
        for state in tree:
            where = f"{change.path.display}/{state.path}".rstrip("/")
            if state.kind == "other":
                raise PathDenied(
                    f"Access denied: {where} is a socket or a device: undo cannot bring it back.",
                    hint=NO_COPY,
                )
            if state.kind == "file" and not state.digest:
                raise TooLarge(
                    f"{where} has {state.size:,} bytes, more than undo keeps of a file "
                    f"({self.limits.max_file_bytes:,}).",
                    hint=NO_COPY,
                )
        if sum(state.size for state in tree) > self.limits.keep_bytes:
            raise TooLarge(
                f"{change.path.display} is larger than all that undo keeps "
                f"({self.limits.keep_bytes:,} bytes).",
                hint=NO_COPY,
            )

    def _move(self, change: Change) -> None:
        source, target = change.path, change.target
        assert target is not None
        ready = self._resolved(change)
        with self._place(source, ready, whole=True) as place:
            if place is None or place.status is None:
                source.stat()
                raise NotFound(f"{source.display} does not exist.", hint="List its folder.")
            self._compare(change, ready.path, place, moving=True)
            creation = self._resolved(Change("create_tree", target))
            refuse_into_itself(source, target, ready.path, creation.path)
            self._clear_target(change, place.status, creation)
            _refuse_closed(creation.staging_folder, target)
            away = creation.staging_folder.stat().st_dev != place.status.st_dev
            elsewhere = away or ready.path.root != creation.path.root
            inside = self._guard(source, ready.path, creation.path, copied=elsewhere)
            single = kind_of(place.status.st_mode) == "file"
            sink = self._store_any if away else hash_only if single else skip_content
            tree = self._reader(sink, inside.may_move).take(place, source.display)
            if change.before and not change.before.holds_as(tree[0]):
                raise changed_error(source.display)
            self._hide(creation.path, (state.path for state in tree))
            if not self.of_run and not self.restoring:
                refuse_misled_links(ready.path, creation.path, tree, self.roots)
            ready.target, ready.before = creation.path, tree[0]
            if away:
                self._need_undoable(Change("delete", source), tree)
                ready.kind, ready.target, ready.tree, creation.tree = "delete", None, tree, tree
                self._ready.append(creation)
            self._ready.append(ready)

    def _clear_target(self, change: Change, source: os.stat_result, creation: Change) -> None:
        target = change.target
        assert target is not None
        with self._place(target, creation, whole=True) as place:
            if place is None or place.status is None:
                return
            kinds = kind_of(source.st_mode), kind_of(place.status.st_mode)
            if change.expected != ANYTHING or "folder" in kinds:
                raise Conflict(
                    f"{target.display} exists already.",
                    hint=_instead(target, *kinds, name=change.path.name),
                )
        self._delete(Change("delete", target))

    def _folder(self, change: Change) -> None:
        before = len(self._ready)
        self._folder_of(change.path)
        if len(self._ready) > before:
            self._ready[-1].mode = change.mode

    def _create_tree(self, change: Change) -> None:
        ready = self._resolved(change)
        self._hide(ready.path, (state.path for state in change.tree))
        with self._place(change.path, ready, whole=True) as place:
            if change.has_stored_tree and not os.path.lexists(change.stored):
                raise gone(change)
            if place is not None and place.status is not None:
                raise Conflict(
                    f"{change.path.display} exists now, so what stood there cannot be brought "
                    "back.",
                    hint="Move it away first.",
                )
        self._ready.append(ready)

    def _remove_folder(self, change: Change) -> None:
        with suppress(NotFound), change.path.place(whole=True) as place:
            if place.status is not None and kind_of(place.status.st_mode) == "folder":
                ready = self._resolved(change)
                ready.before = EntryState.of(place.status)
                self._ready.append(ready)

    def _mode(self, change: Change) -> None:
        ready = self._resolved(change)
        with self._place(change.path, ready, whole=True) as place:
            if place is None or place.status is None:
                raise changed_error(change.path.display)
            ready.before, known = self.closed.as_it_was(place.status), change.before
            if known is None or (known.kind, known.mode) != (ready.before.kind, ready.before.mode):
                raise changed_error(change.path.display)
        self._ready.append(ready)

    def _many(self, change: Change) -> None:
        """Files of one folder that are renamed together, between it and a stored one."""
        real, _ = self._folder_of(change.path)
        self._count += 1
        ready = replace(change, path=real, number=self._count)
        ready.display = change.path.display
        barring = real.gate.barring(real, "write")
        for state in change.tree:
            if barring(state.path):
                real.gate.check(real.child(state.path), "write")
        if change.kind == "move_out":
            with real.open() as folder:
                if not self._may_store(folder.fd):
                    for state in change.tree:
                        self._delete(_single(change, state))
                    return
                ready.tree = tuple(self._unchanged(folder.fd, change, s) for s in change.tree)
            self.added += sum(state.size for state in ready.tree)
        else:
            self._hide(real, (state.path for state in change.tree))
            try:
                with opened(Path(change.stored)) as fd:
                    ready.tree = tuple(self._unchanged(fd, change, s) for s in change.tree)
            except (FileNotFoundError, NotFound):
                raise gone(change) from None
        ready.after = ready.tree[0]
        self._ready.append(ready)

    def _unchanged(self, folder: int, change: Change, state: EntryState) -> EntryState:
        """A file as it is now, which holds what it should."""
        self.check()
        status = status_of(folder, state.path)
        display = state_path(change.path, state).display
        if status is None:
            raise NotFound(f"{display} does not exist.", hint="Nothing to do.")
        late = 0 < change.placed_ns < status.st_ctime_ns
        same = state.is_at(status) and not late
        if same and (state.mode, *state.owner) == (
            stat.S_IMODE(status.st_mode),
            status.st_uid,
            status.st_gid,
        ):
            return state
        now = EntryState.of(status, state.path, state.digest)
        if not same:
            place = WritePlace(folder, state.path, "", status)
            if now.kind == "file":
                now = replace(self._reader(hash_only).take(place, display)[0], path=state.path)
            if not state.digest or not now.holds_as(state):
                raise changed_error(display)
        return now

    def _resolved(self, change: Change) -> Change:
        """A change on the path without links. Folders that are missing above it come first."""
        change.path.need_inside()
        parent, staging = self._folder_of(change.path.parent)
        return self._numbered(change, parent, staging)

    def _numbered(self, change: Change, parent: SafePath, staging: SafePath) -> Change:
        self._count += 1
        real = change.path.real_at((*parent.parts, change.path.name))
        ready = replace(change, path=real, number=self._count)
        ready.display, ready.staging_folder = change.path.display, staging
        return ready

    def _folder_of(self, folder: SafePath) -> tuple[SafePath, SafePath]:
        """A folder without links in its path, and the deepest one above it that exists.

        The folders between them are made, before what stands in them.
        """
        known = self._folders.get(folder.absolute)
        if known is not None:
            return known
        try:
            with folder.open() as handle:
                if handle.kind != "folder":
                    raise Conflict(
                        f"{folder.display} is a file, not a folder.", hint="Use another name."
                    )
                real = folder.place_of(handle)
            found = real, real
        except NotFound:
            parent, staging = self._folder_of(folder.parent)
            folder.gate.check(folder, "write")
            ready = self._numbered(Change("folder", folder), parent, staging)
            ready.path.gate.check(ready.path, "write")
            if staging == parent:
                with folder.place():  # refuses a link that leads nowhere
                    pass
            self._ready.append(ready)
            found = ready.path, staging
        self._folders[folder.absolute] = found
        return found

    @contextmanager
    def _place(
        self, path: SafePath, ready: Change, *, whole: bool = False
    ) -> Iterator[WritePlace | None]:
        """The place, or None where its folder does not exist yet."""
        for each in (path, ready.path):
            each.gate.check(each, "write")
        if ready.staging_folder != ready.path.parent:
            yield None
            return
        with path.place(whole=whole) as place:
            yield place

    def _compare(
        self, change: Change, real: SafePath, place: WritePlace | None, *, moving: bool = False
    ) -> None:
        status = place.status if place else None
        display, mark = change.path.display, fingerprint(status) if status else ""
        if change.expected == "" and not moving and status is not None:
            raise Conflict(
                f"{display} exists already.",
                hint=_instead(change.path, "file", kind_of(status.st_mode)),
            )
        if change.expected not in ("", ANYTHING, mark) and not self._holds(change, place):
            raise changed_error(change.path.display)
        if self.session is None or moving or status is None or change.merged:
            return
        seen = self.session.reads.get(real.real_absolute)
        if seen and seen != mark and kind_of(status.st_mode) == "file":
            raise Conflict(f"{display} has changed since it was read.", hint=READ_AGAIN)

    def _holds(self, change: Change, place: WritePlace | None) -> bool:
        """Whether a file, though another now, holds what it should."""
        if not change.expected_digest or place is None or place.status is None:
            return False
        if kind_of(place.status.st_mode) != "file":
            return False
        if change.expected_index and index_digest(
            FileSource(change.path, fingerprint(place.status))
        ) == (change.expected_index):
            return True
        (state,) = self._reader(hash_only).take(place, change.path.display)
        return state.digest == change.expected_digest

    def _reader(
        self, sink: ContentSink, visit: Callable[[str, os.stat_result], None] | None = None
    ) -> TreeReader:
        reader = TreeReader(
            sink,
            self.check,
            self.limits.max_entries,
            skip=self.skip,
            opens_closed=self.restoring,
        )
        if visit is not None:
            reader.visit = visit
        return reader

    def _store(self, size: int, chunks: Iterator[bytes]) -> str:
        return "" if size > self.limits.max_file_bytes else self._store_any(size, chunks)

    def _store_any(self, size: int, chunks: Iterator[bytes]) -> str:
        del size
        digest, added = self.blobs.add(chunks)
        self.added += added
        return digest

    def _guard(
        self, path: SafePath, real: SafePath, target: SafePath | None = None, *, copied: bool
    ) -> TreeGuard:
        own = frozenset({*self.names.protect_read, *self.names.protect_write})
        return TreeGuard(path, real, own, target, self.restoring, copied)


def _instead(there: SafePath, new: str, old: str, name: str = "NAME") -> str:
    """What to do where something stands already."""
    if old == "folder":
        return f"It is a folder; {there.display}/{name} is a path inside it."
    return f"Use another name{'' if new == 'folder' else ', or overwrite=true to replace it'}."


NEVER_DELETED = frozenset({".git", OWN_FILES_RULE})


@dataclass(slots=True)
class TreeGuard:
    """The protected names in a tree that is removed or moved as a whole.

    Args:
        path: the tree.
        real: the same without links in its path.
        own: the patterns that the user added.
        target: where it is moved.
        restoring: an undo, which may take away what it was allowed to make.
        copied: what the tree holds is stored or goes elsewhere, and could be read there.
        placed_ns: see `Change`; entries that changed since are noted in `late`.
    """

    path: SafePath
    real: SafePath
    own: frozenset[str]
    target: SafePath | None = None
    restoring: bool = False
    copied: bool = False
    placed_ns: int = 0
    found: list[str] = field(default_factory=list)
    late: set[str] = field(default_factory=set)
    _barring: dict[str, Callable[[str], str]] = field(default_factory=dict)

    def may_go(self, inner: str, status: os.stat_result) -> None:
        """Note a protected name; refuse the tree for one that must stay."""
        if 0 < self.placed_ns < status.st_ctime_ns:
            self.late.add(inner)
        self._refuse_second_name(inner, status)
        if not inner:
            return
        folder, _, name = inner.rpartition("/")
        if folder not in self._barring:
            self._barring[folder] = self.real.gate.barring(_beneath(self.real, folder), "write")
        pattern = self._barring[folder](name)
        if not pattern:
            return
        must_stay = pattern in NEVER_DELETED or pattern in self.own
        if pattern == OWN_FILES_RULE or (must_stay and not self.restoring):
            raise self._refusal(inner, pattern, "is never deleted")
        self.found.append(inner)

    def may_move(self, inner: str, status: os.stat_result) -> None:
        """Refuse the tree for a name that would gain or lose its protection."""
        assert self.target is not None
        self._refuse_second_name(inner, status)
        before = self._pattern(self.real, inner)
        after = self._pattern(self.target, inner)
        if before != after or before == OWN_FILES_RULE:
            raise self._refusal(inner, before or after, "is protected only in one of the places")

    def _refuse_second_name(self, inner: str, status: os.stat_result) -> None:
        """A copy of a protected file has no second name that would give it away."""
        if not self.copied or status.st_nlink < 2:
            return
        here = _beneath(self.real, inner)
        pattern = here.gate.second_name(here, status)
        if pattern and not here.gate.pattern(here, "read"):
            raise PathDenied(
                f"Access denied: {inner or self.path.display} is another name of a file that is "
                f"protected from reading ({pattern}).",
                hint=f"Name what is beside it; permanent=true deletes it. {LISTS_HINT}",
                rule=pattern,
            )

    def _pattern(self, top: SafePath, inner: str) -> str:
        return top.gate.pattern(_beneath(top, inner), "write")

    def _refusal(self, inner: str, pattern: str, why: str) -> PathDenied:
        return PathDenied(
            f"Access denied: {self.path.display} holds {inner}, which {why} ({pattern}).",
            hint=f"Name what is beside it. {LISTS_HINT}",
            rule=pattern,
        )


def _beneath(top: SafePath, inner: str) -> SafePath:
    return top.real_at((*top.parts, *inner.split("/")) if inner else top.parts)


def hash_only(size: int, chunks: Iterable[bytes]) -> str:
    """The digest of a content that is not stored."""
    del size
    seen = digest_of()
    for chunk in chunks:
        seen.update(chunk)
    return seen.hexdigest()


def gone(change: Change) -> Unavailable:
    """What was undone is not stored any more."""
    return Unavailable(
        f"What {change.path.display} held is not kept any more.",
        hint="Look at list_changes for another step.",
    )


def _single(change: Change, state: EntryState) -> Change:
    path = state_path(change.path, state)
    return Change("delete", path, expected=state.mark, expected_digest=state.digest)


def expand(change: Change) -> Iterator[Change]:
    """The changes that delete what a tree holds name by name, its folders where they are empty."""
    for state in reversed(change.tree):
        path = state_path(change.path, state)
        if state.kind == "folder":
            yield Change("remove_folder", path)
        elif state.kind == "file":
            yield _single(change, state)
        else:
            yield Change("delete", path, tree=(replace(state, path=""),))


def state_path(top: SafePath, state: EntryState) -> SafePath:
    """Where something of a tree stands."""
    return top.at((*top.parts, *state.path.split("/")) if state.path else top.parts)


def same_tree(one: Sequence[EntryState], other: Sequence[EntryState]) -> bool:
    """Whether two trees hold the same."""
    return len(one) == len(other) and all(
        a.holds_as(b) for a, b in zip(sorted_tree(one), sorted_tree(other), strict=True)
    )


def sorted_tree(tree: Iterable[EntryState]) -> Iterator[EntryState]:
    """The states of a tree in one order."""
    return iter(sorted(tree, key=lambda state: state.path))


def refuse_into_itself(
    source: SafePath, target: SafePath, real: SafePath, target_real: SafePath
) -> None:
    """A folder cannot be put into itself.

    Raises:
        BadInput: that was asked for.
    """
    top, target_path = real.real_absolute, target_real.real_absolute
    if target_path == top:
        raise BadInput(
            f"{source.display} and {target.display} are the same.", hint="Nothing to do."
        )
    if target_path.startswith(f"{top}/"):
        raise BadInput(
            f"{target.display} is inside {source.display}.", hint="Use a target outside of it."
        )


def read_only(path: SafePath) -> PathDenied:
    """The system protects the file."""
    return PathDenied(
        f"Access denied: the operating system does not let toolcrib write {path.display}.",
        hint="Use another file, or ask the user for the permission.",
        rule="permissions",
    )


def _refuse_closed(folder: SafePath, target: SafePath) -> None:
    """Refuse a move into a folder where nothing may be made: that is not the source's fault.

    Raises:
        PathDenied: the system does not let us.
    """
    if sys.platform == "win32":  # it cannot be told there
        return
    with folder.open() as handle:
        try:
            read_only_disk = bool(os.fstatvfs(handle.fd).f_flag & os.ST_RDONLY)
        except OSError:
            return
        if read_only_disk:
            raise explained(OSError(errno.EROFS, "read-only"), target.display)
        if not may_change(handle.fd, "."):
            raise explained(OSError(errno.EACCES, "no rights"), target.display)


def names_taken(changes: Iterable[Change]) -> Counter[str]:
    """How many names of a file, by its inode, changes take away or give another file."""
    expected = (change.expected for change in changes if change.kind in ("write", "delete"))
    return Counter(mark.rpartition("-")[2] for mark in expected)
