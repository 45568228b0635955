"""Making changes ready: every check, and a copy of what is there, before anything changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from toolcrib.core.errors import BadInput, Conflict, NotFound, PathDenied, TooLarge
from toolcrib.core.session import Session
from toolcrib.core.settings import UndoConfig, WorkspaceConfig
from toolcrib.files.changes.copies import Copied
from toolcrib.files.changes.git_index import meaning_of
from toolcrib.files.changes.inspection import (
    Inside,
    changed,
    hash_only,
    read_only,
    refuse_into_itself,
    same_tree,
)
from toolcrib.files.changes.plan import ANYTHING, Change
from toolcrib.files.changes.work import Do, Piece
from toolcrib.files.content.sizes import some
from toolcrib.files.handles import Place, fingerprint, kind_of
from toolcrib.files.path_rules import parts_beneath
from toolcrib.files.paths import SafePath
from toolcrib.files.tree_images import Camera, Image, Keep, ignore, may_change
from toolcrib.state.blobs import Blobs

READ_AGAIN = "Read it again, then send the change again."
NO_COPY = "permanent=true deletes it for good; that asks the user."


@dataclass(slots=True)
class Preparation:
    """Turns changes into pieces of work.

    Args:
        blobs: where what is there is kept.
        session: whose reads are compared; None where that does not matter.
        limits: what is kept for undo.
        names: the protected names that the user added.
        check: called between two steps.
        skip: how the names start that this step uses meanwhile.
        restoring: an undo: what a tree held comes back whatever its names are.
    """

    blobs: Blobs
    session: Session | None
    limits: UndoConfig
    names: WorkspaceConfig
    check: Callable[[], None]
    skip: str
    restoring: bool = False
    added: int = 0
    notes: list[str] = field(default_factory=list)
    _pieces: list[Piece] = field(default_factory=list)
    _count: int = 0
    _folders: dict[str, tuple[SafePath, SafePath]] = field(default_factory=dict)

    def prepare(self, changes: Sequence[Change]) -> list[Piece]:
        """The pieces of changes that do not depend on each other.

        Raises:
            Conflict: something is not as expected, or changed since it was read.
            PathDenied: a path is protected, or the system refuses it.
            NotFound, BadInput, TooLarge: as they say.
        """
        self._pieces = []
        self._folders.clear()
        for change in changes:
            self.check()
            match change.kind:
                case "write":
                    self._write(change)
                case "delete":
                    self._delete(change)
                case "move":
                    self._move(change)
                case "folder":
                    self._folder(change)
                case "plant":
                    self._plant(change)
                case "unmake":
                    self._unmake(change)
                case "mode":
                    self._mode(change)
        return self._pieces

    def _write(self, change: Change) -> None:
        real, stand = self._settle(change.path)
        piece = self._piece("put", change.path, real, stand)
        piece.data, piece.mode, piece.mtime = change.data, change.mode, change.mtime
        piece.attributes = change.attributes
        with self._place(change.path, real, stand) as place:
            status = place.status if place else None
            self._compare(change, real, place)
            if place is not None and status is not None:
                if kind_of(status.st_mode) == "folder":
                    raise BadInput(
                        f"{change.path.display} is a folder, not a file.", hint="Name a file in it."
                    )
                if not may_change(place.folder, place.name):
                    raise read_only(change.path)
                (piece.before,) = self._camera(self._keep).take(place, change.path.display)
                if not piece.before.is_at(status):  # another one than was compared
                    raise changed(change.path.display)
                if not piece.before.digest:
                    piece.kept = False
                    self._say_lost(change.path, status.st_size)
        self._pieces.append(piece)

    def _delete(self, change: Change) -> None:
        real, stand = self._settle(change.path)
        with self._place(change.path, real, stand, whole=True) as place:
            if place is None or place.status is None:
                change.path.stat()
                raise NotFound(f"{change.path.display} does not exist.", hint="Nothing to do.")
            self._compare(change, real, place)
            piece = self._piece("remove", change.path, real, stand)
            keep = ignore if change.permanent else self._keep
            inside = self._inside(change.path, real, copied=not change.permanent)
            camera = self._camera(keep, inside.may_go)
            piece.tree = camera.take(place, change.path.display)
            same = piece.tree[0].is_at(place.status)
            if not same or (change.tree and not same_tree(change.tree, piece.tree)):
                raise changed(change.path.display)
            self._need_kept(change, piece.tree)
            piece.before, piece.trash = piece.tree[0], change.trash and not inside.found
            piece.kept = not change.permanent
            if change.permanent:
                self.notes.append(f"{change.path.display} cannot be brought back")
            if inside.found:
                self.notes.append(f"among what was deleted: {some(inside.found)} (protected)")
        self._pieces.append(piece)

    def _need_kept(self, change: Change, tree: Sequence[Image]) -> None:
        """Refuse to delete what could not be brought back."""
        if change.permanent or self.restoring:
            return
        for image in tree:
            where = f"{change.path.display}/{image.path}".rstrip("/")
            if image.kind == "other":
                raise PathDenied(
                    f"Access denied: {where} is a socket or a device: undo cannot bring it back.",
                    hint=NO_COPY,
                )
            if image.kind == "file" and not image.digest:
                raise TooLarge(
                    f"{where} has {image.size:,} bytes, more than undo keeps of a file "
                    f"({self.limits.max_file_bytes:,}).",
                    hint=NO_COPY,
                )
        if sum(image.size for image in tree) > self.limits.keep_bytes:
            raise TooLarge(
                f"{change.path.display} is larger than all that undo keeps "
                f"({self.limits.keep_bytes:,} bytes).",
                hint=NO_COPY,
            )

    def _move(self, change: Change) -> None:
        source, target = change.path, change.target
        assert target is not None
        real, stand = self._settle(source)
        with self._place(source, real, stand, whole=True) as place:
            if place is None or place.status is None:
                source.stat()
                raise NotFound(f"{source.display} does not exist.", hint="List its folder.")
            self._compare(change, real, place, moving=True)
            there, below = self._settle(target)
            refuse_into_itself(source, target, real, there)
            self._clear_target(change, place.status, there, below)
            away = below.stat().st_dev != place.status.st_dev
            elsewhere = away or real.root != there.root
            inside = self._inside(source, real, there, copied=elsewhere)
            single = kind_of(place.status.st_mode) == "file"
            keep = self._keep_all if away else hash_only if single else ignore
            tree = self._camera(keep, inside.may_move).take(place, source.display)
            if change.tree and not same_tree(change.tree, tree[:1]):
                raise changed(source.display)
            if away:
                self._need_kept(Change("delete", source), tree)
                plant = self._piece("plant", target, there, below)
                plant.tree = tree
                remove = self._piece("remove", source, real, stand)
                remove.tree, remove.before = tree, tree[0]
                self._pieces += [plant, remove]
                return
            piece = self._piece("rename", source, real, stand)
            piece.target, piece.before = there, tree[0]
            self._pieces.append(piece)

    def _clear_target(
        self, change: Change, source: os.stat_result, there: SafePath, below: SafePath
    ) -> None:
        target = change.target
        assert target is not None
        with self._place(target, there, below, whole=True) as place:
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
        before = len(self._pieces)
        self._make(change.path)
        if len(self._pieces) > before:
            self._pieces[-1].mode = change.mode

    def _plant(self, change: Change) -> None:
        real, stand = self._settle(change.path)
        with self._place(change.path, real, stand, whole=True) as place:
            if place is not None and place.status is not None:
                raise Conflict(
                    f"{change.path.display} exists now, so what stood there cannot be brought "
                    "back.",
                    hint="Move it away first.",
                )
        piece = self._piece("plant", change.path, real, stand)
        piece.tree = change.tree
        self._pieces.append(piece)

    def _unmake(self, change: Change) -> None:
        with suppress(NotFound), change.path.place(whole=True) as place:
            if place.status is not None and kind_of(place.status.st_mode) == "folder":
                real, stand = self._settle(change.path)
                piece = self._piece("unmake", change.path, real, stand)
                piece.before = Image.of(place.status)
                self._pieces.append(piece)

    def _mode(self, change: Change) -> None:
        real, stand = self._settle(change.path)
        with self._place(change.path, real, stand, whole=True) as place:
            if place is None or place.status is None:
                raise changed(change.path.display)
            piece = self._piece("mode", change.path, real, stand)
            piece.mode, piece.before = change.mode, Image.of(place.status)
            (known,) = change.tree
            if (known.kind, known.mode) != (piece.before.kind, piece.before.mode):
                raise changed(change.path.display)
        self._pieces.append(piece)

    def _settle(self, path: SafePath) -> tuple[SafePath, SafePath]:
        """A path without links on the way, and the deepest folder above it that exists.

        The folders between them are planned. They are made before what stands in them.
        """
        if not path.parts:
            raise PathDenied(
                f"Access denied: {path.display} is the workspace itself.",
                hint="Name a file or a folder inside it.",
            )
        parent, stand = self._make(path.parent)
        return SafePath(parent.root, (*parent.parts, path.name), path.gate, -1), stand

    def _make(self, folder: SafePath) -> tuple[SafePath, SafePath]:
        known = self._folders.get(folder.absolute)
        if known is not None:
            return known
        try:
            with folder.open() as handle:
                if handle.kind != "folder":
                    raise Conflict(
                        f"{folder.display} is a file, not a folder.", hint="Use another name."
                    )
                parts = parts_beneath(handle.absolute, folder.root.real) or []
            real = SafePath(folder.root, tuple(parts), folder.gate, -1)
            found = real, real
        except NotFound:
            parent, stand = self._make(folder.parent)
            folder.gate.check(folder, "write")
            real = SafePath(parent.root, (*parent.parts, folder.name), folder.gate, -1)
            real.gate.check(real, "write")
            if stand == parent:
                with folder.place():  # refuses a link that leads nowhere
                    pass
            self._pieces.append(self._piece("folder", folder, real, stand))
            found = real, stand
        self._folders[folder.absolute] = found
        return found

    @contextmanager
    def _place(
        self, path: SafePath, real: SafePath, stand: SafePath, *, whole: bool = False
    ) -> Iterator[Place | None]:
        """The place, or None where its folder does not exist yet."""
        for each in (path, real):
            each.gate.check(each, "write")
        if stand != real.parent:
            yield None
            return
        with path.place(whole=whole) as place:
            yield place

    def _piece(self, do: Do, path: SafePath, real: SafePath, stand: SafePath) -> Piece:
        self._count += 1
        return Piece(do, real, path.display, self._count, stand)

    def _compare(
        self, change: Change, real: SafePath, place: Place | None, *, moving: bool = False
    ) -> None:
        status = place.status if place else None
        shown, mark = change.path.display, fingerprint(status) if status else ""
        if change.expected == "" and not moving and status is not None:
            raise Conflict(
                f"{shown} exists already.",
                hint=_instead(change.path, "file", kind_of(status.st_mode)),
            )
        if change.expected not in ("", ANYTHING, mark) and not self._holds(change, place):
            raise changed(change.path.display)
        if self.session is None or moving or status is None:
            return
        seen = self.session.reads.get(real.root.real_path(real.parts))
        if seen and seen != mark and kind_of(status.st_mode) == "file":
            raise Conflict(f"{shown} has changed since it was read.", hint=READ_AGAIN)

    def _holds(self, change: Change, place: Place | None) -> bool:
        """Whether a file, though another now, holds what it should."""
        if not change.digest or place is None or place.status is None:
            return False
        if kind_of(place.status.st_mode) != "file":
            return False
        if change.meaning and meaning_of(Copied(change.path, fingerprint(place.status))) == (
            change.meaning
        ):
            return True
        (image,) = self._camera(hash_only).take(place, change.path.display)
        return image.digest == change.digest

    def _camera(
        self, keep: Keep, visit: Callable[[str, os.stat_result], None] | None = None
    ) -> Camera:
        camera = Camera(keep, self.check, self.limits.max_entries, skip=self.skip)
        if visit is not None:
            camera.visit = visit
        return camera

    def _keep(self, size: int, chunks: Iterator[bytes]) -> str:
        return "" if size > self.limits.max_file_bytes else self._keep_all(size, chunks)

    def _keep_all(self, size: int, chunks: Iterator[bytes]) -> str:
        del size
        digest, added = self.blobs.add(chunks)
        self.added += added
        return digest

    def _say_lost(self, path: SafePath, size: int) -> None:
        self.notes.append(
            f"{path.display} had {size:,} bytes, more than undo keeps: "
            "what it held cannot be brought back"
        )

    def _inside(
        self, path: SafePath, real: SafePath, target: SafePath | None = None, *, copied: bool
    ) -> Inside:
        own = frozenset({*self.names.protect_read, *self.names.protect_write})
        return Inside(path, real, own, target, self.restoring, copied)


def _instead(there: SafePath, new: str, old: str, name: str = "NAME") -> str:
    """What to do where something stands already."""
    if old == "folder":
        return f"It is a folder; {there.display}/{name} is a path inside it."
    return f"Use another name{'' if new == 'folder' else ', or overwrite=true to replace it'}."
