"""What differs between two looks at the files, mended where it must not differ."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from toolcrib.core.errors import ToolError
from toolcrib.core.settings import WorkspaceConfig
from toolcrib.execution.runs.disk.index import Index, compare, digest_now, walk
from toolcrib.execution.runs.disk.restore import disarm, put_back
from toolcrib.execution.runs.links import leads_out
from toolcrib.execution.runs.verdict import GIT, NO_GIT, must_stay, protecting
from toolcrib.files.changes.copies import Copied
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.git_index import is_index, meaning_of
from toolcrib.files.changes.reversal import Kept
from toolcrib.files.changes.work import Do, Piece
from toolcrib.files.content.sizes import printable, some
from toolcrib.files.handles import Handle
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories import Repositories, Repository
from toolcrib.files.roots import Root
from toolcrib.files.tree_images import Image
from toolcrib.state.blobs import Blobs
from toolcrib.system.threads import Checkpoint

LEFT = "left as it is, since others may have written it; undo takes away what is new"
MISLEADING = frozenset({"protected (.git/commondir)", "protected (*.git/commondir)"})
"""What nobody writes to where it was found: it makes git use other settings."""
HASHED = 500_000_000
"""Bytes of a changed file up to which what it holds now is looked at."""
ARMED = stat.S_ISUID | stat.S_ISGID


@dataclass(slots=True)
class Comparison:
    """Collects what differs, root by root.

    Attributes:
        roots: of the workspace.
        settings: the names that the user protects.
        mends: whether what must not be changed is put back; else it is only told.
        masked: whether the run could not change the protected names that were there.
        deltas: what differs and may.
        notes: what may not, and what was done about it.
    """

    roots: Sequence[Root]
    settings: WorkspaceConfig
    mends: bool
    masked: bool
    deltas: list[Delta] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(
        self,
        top: SafePath,
        start: tuple[str, ...],
        before: Index,
        blobs: Blobs,
        skip: frozenset[tuple[int, int]],
    ) -> None:
        """Look at a root again.

        Args:
            top: the root.
            start: see `Upper`.
            before: how it looked.
            blobs: what it held.
            skip: see `walk`.
        """
        look = _Look(top, start, before, blobs)
        with top.open() as handle:
            after = walk(handle.fd, skip, Checkpoint())
            deltas, repositories = self._judged(look.deltas(handle, after))
            if self._mend(handle, look, deltas, repositories) and self.mends:
                after = walk(handle.fd, skip, Checkpoint())
                deltas, repositories = self._judged(look.deltas(handle, after))
        self.notes += repositories.notes
        self.deltas += [found for delta in deltas if (found := self._logged(delta)) is not None]

    def _judged(self, deltas: Sequence[Delta]) -> tuple[list[Delta], Repositories]:
        repositories = Repositories.among(deltas, self.roots)
        return list(map(repositories.allowed, deltas)), repositories

    def _logged(self, delta: Delta) -> Delta | None:
        """A change as the log has it; None for what it cannot speak of, or undo must not touch.

        What is new under a protected name, and was not put back, can be taken away by undo.
        """
        if delta.after is not None and delta.after.kind in ("pipe", "other"):
            return None
        if not protecting(delta.path)[1]:
            return delta
        granted = delta.path.granted()
        if (delta.before and self.masked) or protecting(granted)[1]:
            return None
        return replace(delta, path=granted)

    def _mend(
        self, handle: Handle, look: _Look, deltas: Sequence[Delta], repositories: Repositories
    ) -> bool:
        """Put back what must not have been changed; whether there was something."""
        wrong: dict[str, str] = {}
        for delta in deltas:
            way, why = self._wrong(delta, repositories.of(delta.path))
            if why:
                wrong.setdefault(way, why)
        done: dict[str, list[str]] = {}
        for way, why in wrong.items():
            if any(way.startswith(f"{other}/") for other in wrong):
                continue
            fate = LEFT
            if self.mends or why in MISLEADING:
                fate = "put back" if look.mend(handle, way, why) else "could not be put back"
            done.setdefault(f"{why}: {fate}", []).append(printable(look.shown(way)))
        self.notes += [f"{some(paths, 5)}: {text}" for text, paths in done.items()]
        if self.mends and any(why == f"protected ({GIT})" for why in wrong.values()):
            self.notes.append(NO_GIT)
        return bool(done)

    def _wrong(self, delta: Delta, repository: Repository | None) -> tuple[str, str]:
        """The way to what must not be changed, and why; no why where it may."""
        if repository is not None and repository.is_refused:
            return "/".join(repository.place.parts), repository.told
        top, rule = protecting(delta.path)
        if rule:
            return "/".join(top.parts), f"protected ({rule})"
        own = frozenset({*self.settings.protect_read, *self.settings.protect_write})
        kept = must_stay(delta, own)
        if kept is not None:
            return "/".join(kept[0].parts), f"protected ({kept[1]})"
        way, after = "/".join(delta.path.parts), delta.after
        if after is None:
            return way, ""
        if after.kind == "link" and leads_out(delta.path, after.target, self.roots):
            return way, "a link that leads out of the workspace"
        if after.kind == "file" and after.mode & ARMED:
            return way, "a setuid or setgid program"
        return way, "a named pipe" if after.kind == "pipe" else ""


@dataclass(slots=True)
class _Look:
    top: SafePath
    start: tuple[str, ...]
    before: Index
    blobs: Blobs

    def path(self, way: str) -> SafePath:
        parts = tuple(way.split("/"))
        base = len(self.start) if parts[: len(self.start)] == self.start else -1
        return SafePath(self.top.root, parts, self.top.gate, base)

    def shown(self, way: str) -> str:
        return self.path(way).display

    def deltas(self, handle: Handle, after: Index) -> list[Delta]:
        gone, fresh = compare(self.before, after)
        found = [self._removed(way, after) for way in gone]
        for way in fresh:
            delta = self._changed(handle, way, after)
            if delta is not None:
                found.append(delta)
        return found

    def _removed(self, way: str, after: Index) -> Delta:
        del after
        tree = self.before.tree(way)
        old = self._kept(tree[0]) if tree[0].kind == "file" else None
        return Delta(self.path(way), tree, old=old)

    def _changed(self, handle: Handle, way: str, after: Index) -> Delta | None:
        now = after.entries[way].image
        was = self.before.entries.get(way)
        before = was.image if was is not None and was.image.kind == now.kind else None
        path, digest = self.path(way), ""
        if now.kind == "file" and now.size <= HASHED:
            digest = digest_now(handle.fd, way, now)
        image = replace(now, path="", digest=digest)
        if before is None:
            new = Copied(path, now.mark) if now.kind == "file" else None
            return Delta(path, (), image, new=new)
        tree = (replace(before, path=""),)
        if now.kind != "file":
            return Delta(path, tree, image, same=now.kind == "folder")
        same = bool(digest) and digest == before.digest
        if same and (now.mode, now.mtime) == (before.mode, before.mtime):
            return None
        return Delta(path, tree, image, self._kept(before), Copied(path, now.mark), same)

    def _kept(self, image: Image) -> Kept | None:
        return Kept(self.blobs, image.digest) if image.digest else None

    def mend(self, handle: Handle, way: str, why: str) -> bool:
        if why.startswith("a setuid") and way not in self.before.entries:
            return disarm(handle.fd, way)
        return put_back(handle.fd, way, self.before.tree(way), self.blobs.read, Checkpoint())


def pieces_of(deltas: Iterable[Delta]) -> list[Piece]:
    """What the log says about changes that were made already."""
    found: list[Piece] = []

    def add(do: Do, delta: Delta) -> Piece:
        piece = Piece(do, delta.path, delta.path.display, len(found) + 1, delta.path.parent)
        found.append(piece)
        return piece

    for delta in deltas:
        before, after = delta.before, delta.after
        if before and (after is None or after.kind == "link"):
            piece = add("remove", delta)
            piece.tree, piece.before = before, before[0]
            piece.kept = _is_kept(before)
        if after is None:
            continue
        if after.kind == "link":
            piece = add("plant", delta)
            piece.tree, piece.after = (after,), after
        elif after.kind == "folder":
            piece = add("mode" if before else "folder", delta)
            piece.before, piece.after = (before[0] if before else None), after
        else:
            piece = add("put", delta)
            piece.before, piece.after = (before[0] if before else None), after
            piece.kept = not before or bool(before[0].digest)
            if delta.new is not None and is_index(delta.path):
                with suppress(ToolError):
                    piece.meaning = meaning_of(delta.new)
    return found


def _is_kept(tree: Sequence[Image]) -> bool:
    return all(image.digest for image in tree if image.kind == "file") and not any(
        image.kind == "other" for image in tree
    )
