"""Doing the work: new things are made beside their place, then put there by renaming.

Nothing is written over. What was there stands under another name until all is done, so
that taking back is renaming too, needs no space, and brings back the very same files.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from toolcrib.core.errors import Conflict, NotFound, ToolError
from toolcrib.files.changes.git_index import is_index, meaning_of
from toolcrib.files.changes.inspection import changed
from toolcrib.files.changes.work import Piece
from toolcrib.files.handles import Place
from toolcrib.files.paths import SafePath
from toolcrib.files.staged_entries import (
    Fetch,
    build_tree,
    drop_name,
    flush_folder,
    flush_system,
    holds_only,
    make_one,
    remove_tree,
    rename,
    rename_new,
    set_mode,
    staged_prefix,
    status_of,
    unmake_one,
    write_file,
)
from toolcrib.files.staged_entries import (
    replace as replace_file,
)
from toolcrib.files.trash import Trash
from toolcrib.files.tree_images import Camera, Image, ignore
from toolcrib.files.writer import explained
from toolcrib.state.blobs import digest_of

MOST_FLUSHES = 32
"""Files or folders that are seen onto the disk one by one; more of them all at once."""


@dataclass(slots=True)
class Making:
    """Makes the pieces of one step.

    Args:
        token: what the names that are used meanwhile have in common.
        fetch: gives back kept contents.
        check: called between two steps.
        trash: where deleted things go if they shall and can.
    """

    token: str
    fetch: Fetch
    check: Callable[[], None]
    trash: Trash | None = None
    notes: list[str] = field(default_factory=list)

    def stage(self, pieces: Sequence[Piece]) -> None:
        """Write all that is new under names of our own; nothing else changes."""
        many = _are_many(pieces)
        for piece in pieces:
            self.check()
            if piece.do in ("put", "plant"):
                with _worded(piece), piece.stand.open() as stand:
                    self._stage(piece, stand.fd, flush=not many)
        if many:
            _flush_systems(piece.stand for piece in pieces)

    def commit(self, pieces: Sequence[Piece]) -> None:
        """Put everything in place."""
        for piece in pieces:
            self.check()
            with _worded(piece), piece.path.place(whole=True) as place:
                self._commit(piece, place)
        self._flush(pieces)

    def take_back(self, pieces: Sequence[Piece]) -> list[str]:
        """Undo what was done of the pieces, as far as nobody has changed it since.

        Works from what is found, so it can be done again, and by another process.

        Returns:
            What could not be put back, in words.
        """
        problems: list[str] = []
        for piece in reversed(pieces):
            try:
                self._take_back(piece)
            except NotFound:
                continue
            except (OSError, ToolError) as error:
                problems.append(f"{piece.shown} could not be put back: {error}")
        return problems

    def clean(self, pieces: Sequence[Piece]) -> None:
        """Take away what stood there before; what cannot be removed is noted."""
        moves = [(number, p) for number, p in enumerate(pieces) if p.do == "rename"]
        for number, piece in enumerate(pieces):
            parent, stand = piece.path.parent, piece.stand
            for later, move in moves:
                if later > number:
                    parent, stand = _moved(parent, move), _moved(stand, move)
            try:
                self._clean(piece, parent, stand)
            except NotFound:
                continue
            except (OSError, ToolError) as error:
                self.notes.append(f"{piece.names(self.token)[1]} could not be removed: {error}")

    def _stage(self, piece: Piece, stand: int, *, flush: bool) -> None:
        new, _ = piece.names(self.token)
        if piece.do == "plant":
            status = build_tree(stand, new, piece.tree, self.fetch, self.check, flush=flush)
            piece.after = Image.of(status, target=piece.tree[0].target)
            return
        before, seen = piece.before, digest_of()
        if is_index(piece.path):
            piece.meaning = meaning_of(piece.data)

        def hashed() -> Iterator[bytes]:
            chunks = (piece.data,) if isinstance(piece.data, bytes) else piece.data.chunks()
            for chunk in chunks:
                seen.update(chunk)
                yield chunk

        status = write_file(
            stand,
            new,
            hashed(),
            self.check,
            mode=before.mode if before and piece.mode is None else piece.mode,
            mtime=piece.mtime,
            owner=before.owner if before else None,
            like=piece.path.name if before else "",
            attributes=piece.attributes,
            flush=flush,
        )
        piece.data = b""
        piece.after = Image.of(status, digest=seen.hexdigest())

    def _commit(self, piece: Piece, place: Place) -> None:
        match piece.do:
            case "put" | "plant":
                self._commit_new(piece, place)
            case "remove":
                _need(piece, place.status)
                _, old = piece.names(self.token)
                rename(place.folder, place.name, place.folder, old)
                self._compare(piece, place.folder, old)
            case "rename":
                _need(piece, place.status)
                assert piece.target is not None
                with piece.target.place(whole=True) as there:
                    rename_new(place.folder, place.name, there.folder, there.name)
                piece.after = piece.before
            case "folder":
                if place.status is None:
                    made = make_one(place.folder, place.name, piece.mode)
                    piece.after = Image.of(made)
            case "unmake":
                self._commit_unmake(piece, place)
            case "mode":
                _need(piece, place.status)
                assert piece.mode is not None
                piece.after = Image.of(set_mode(place.folder, place.name, piece.mode))

    def _commit_new(self, piece: Piece, place: Place) -> None:
        new, old = piece.names(self.token)
        if piece.before is not None:
            _need(piece, place.status)
            replace_file(place.folder, new, place.name, old)
            return
        with piece.stand.open() as stand:
            rename_new(stand.fd, new, place.folder, place.name)

    def _commit_unmake(self, piece: Piece, place: Place) -> None:
        """A folder that holds something else meanwhile stays."""
        _, old = piece.names(self.token)
        if piece.before is None or not piece.before.is_at(place.status):
            return
        if holds_only(place.folder, place.name, staged_prefix(self.token)):
            rename(place.folder, place.name, place.folder, old)
            piece.after = piece.before

    def _compare(self, piece: Piece, folder: int, name: str) -> None:
        """Look at a tree that was just taken away: is it what was kept for undo?"""
        now = self._look(folder, name, piece)
        if [_looks(image) for image in now] != [_looks(image) for image in piece.tree]:
            raise changed(piece.shown)

    def _look(self, folder: int, name: str, piece: Piece) -> tuple[Image, ...]:
        most = 2 * len(piece.tree) + 1000
        camera = Camera(ignore, self.check, most, skip=staged_prefix(self.token))
        return camera.take(Place(folder, name, "", status_of(folder, name)), piece.shown)

    def _take_back(self, piece: Piece) -> None:
        new, _ = piece.names(self.token)
        try:
            with piece.path.place(whole=True) as place:
                if piece.do in ("put", "plant") and self._is_ours(piece, place):
                    self._take_away(piece, place)
                elif piece.do == "rename":
                    _move_back(piece, place)
                elif piece.do == "mode":
                    _mode_back(piece, place)
                elif piece.do == "folder" and (
                    piece.after is None or piece.after.is_at(place.status)
                ):
                    unmake_one(place.folder, place.name)
                else:
                    self._put_back(piece, place)
        finally:
            if piece.do in ("put", "plant"):
                with piece.stand.open() as stand:
                    remove_tree(stand.fd, new)

    def _is_ours(self, piece: Piece, place: Place) -> bool:
        """Whether what stands there is what this step made, and nobody changed it since."""
        if piece.after is None or not piece.after.is_at(place.status):
            return False
        if piece.after.kind != "folder":
            return True
        now = self._look(place.folder, place.name, piece)
        return [_planted(image) for image in now] == [_planted(image) for image in piece.tree]

    def _take_away(self, piece: Piece, place: Place) -> None:
        aside = self._aside(piece, place)
        if aside:
            rename(place.folder, aside, place.folder, place.name)
        else:
            remove_tree(place.folder, place.name)

    def _aside(self, piece: Piece, place: Place) -> str:
        """The name under which what was there stands now; "" where it does not."""
        new, old = piece.names(self.token)
        if status_of(place.folder, old) is not None:
            return old
        before = piece.before if piece.do == "put" else None
        if before is not None and before.is_at(status_of(place.folder, new)):
            return new
        return ""

    def _put_back(self, piece: Piece, place: Place) -> None:
        """Give what was set aside its name again, unless another thing has it."""
        old = self._aside(piece, place)
        here, aside = place.folder, status_of(place.folder, old) if old else None
        if aside is None:
            return
        if place.status is None:
            rename(here, old, here, place.name)
        elif (aside.st_dev, aside.st_ino) == (place.status.st_dev, place.status.st_ino):
            drop_name(here, old)
        else:
            other = f"{place.name}.before-{self.token}"
            rename(here, old, here, other)
            raise Conflict(
                f"it was changed by another program; what stood there is now {other}.",
                hint="Look at both.",
            )

    def _clean(self, piece: Piece, parent: SafePath, stand: SafePath) -> None:
        new, old = piece.names(self.token)
        aside = piece.before is not None or piece.do == "remove"
        if aside and piece.do in ("put", "remove", "unmake"):
            with parent.open() as handle:
                if piece.trash and self.trash is not None:
                    self.trash.take(handle.fd, old, piece.path.name, str(piece.path))
                remove_tree(handle.fd, old)
        if piece.do in ("put", "plant"):
            with stand.open() as handle:
                remove_tree(handle.fd, new)

    def _flush(self, pieces: Sequence[Piece]) -> None:
        folders: dict[str, SafePath] = {}
        for piece in pieces:
            for path in (piece.path, piece.target):
                if path is not None:
                    folders.setdefault(path.parent.absolute, path.parent)
        if len(folders) > MOST_FLUSHES:
            _flush_systems(folders.values())
            return
        for folder in folders.values():
            with suppress(ToolError), folder.open() as handle:
                flush_folder(handle.fd)


def _are_many(pieces: Sequence[Piece]) -> bool:
    """Whether it is quicker to flush the file system once than each file."""
    return sum(max(len(p.tree), 1) for p in pieces if p.do in ("put", "plant")) > MOST_FLUSHES


def _flush_systems(folders: Iterable[SafePath]) -> None:
    """See all that was written onto the disk, each file system once."""
    seen: set[int] = set()
    for folder in {path.absolute: path for path in folders}.values():
        with suppress(ToolError), folder.open() as handle:
            if handle.status.st_dev not in seen:
                seen.add(handle.status.st_dev)
                flush_system(handle.fd)


def _need(piece: Piece, status: os.stat_result | None) -> None:
    if piece.before is None or not piece.before.is_at(status):
        raise changed(piece.shown)


def _looks(image: Image) -> Image:
    """What can be compared without reading: a rename leaves all of it as it was."""
    if image.kind == "folder":
        image = replace(image, mtime=0, mark=image.inode)
    return replace(image, digest="")


def _planted(image: Image) -> tuple[str, str, int, int, str]:
    """How something looks that was made from an image."""
    still = image.kind in ("folder", "pipe")
    return image.path, image.kind, image.size, 0 if still else image.mtime, image.target


def _moved(path: SafePath, move: Piece) -> SafePath:
    """Where a path is after a move."""
    assert move.target is not None
    top = move.path.parts
    if path.root != move.path.root or path.parts[: len(top)] != top:
        return path
    parts = (*move.target.parts, *path.parts[len(top) :])
    return SafePath(move.target.root, parts, path.gate, -1)


def _mode_back(piece: Piece, place: Place) -> None:
    if piece.before is not None and piece.before.is_at(place.status):
        set_mode(place.folder, place.name, piece.before.mode)


def _move_back(piece: Piece, place: Place) -> None:
    assert piece.target is not None
    assert piece.before is not None
    with piece.target.place(whole=True) as there:
        if not piece.before.is_at(there.status):
            return
        if place.status is None:
            rename(there.folder, there.name, place.folder, place.name)
        elif piece.before.is_at(place.status) and piece.before.kind != "folder":
            drop_name(there.folder, there.name)  # it was given the second name only


@contextmanager
def _worded(piece: Piece) -> Iterator[None]:
    """Failures of the system in words."""
    try:
        yield
    except FileExistsError:
        raise Conflict(
            f"{piece.shown} exists already.", hint="Look at it, then decide again."
        ) from None
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise changed(piece.shown) from None
        raise explained(error, piece.shown) from None
