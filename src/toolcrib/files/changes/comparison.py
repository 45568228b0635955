"""The files of a root compared with a snapshot of before a program worked on them.

What differs is what the program changed, but for what steps of the undo log did meanwhile.
"""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import filterfalse
from typing import Any, Self

from toolcrib.core.errors import ToolError
from toolcrib.core.settings import WorkspaceConfig
from toolcrib.files.changes.attributes import attributes_since
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.copies import FileSource
from toolcrib.files.changes.deltas import Delta, index_digest, is_index
from toolcrib.files.changes.snapshots import (
    Snapshot,
    clear_set_id_bits,
    compare,
    digest_now,
    restore_tree,
    take_snapshot,
)
from toolcrib.files.changes.step import BULK_KINDS, Change, ChangeKind
from toolcrib.files.changes.undo_log import StoredSource
from toolcrib.files.changes.verdict import (
    GIT,
    NO_GIT,
    NO_STATE,
    ChangeJudge,
    is_git_state,
    protecting,
)
from toolcrib.files.handles import Handle
from toolcrib.files.path_rules import parts_beneath
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.trees import EntryState
from toolcrib.state.blobs import Blobs
from toolcrib.system.threads import Checkpoint
from toolcrib.text.display import printable, some_of

LEFT = "left as it is, since others may have written it"
LEFT_TO_UNDO = f"{LEFT}; undo takes away what is new"
LEFT_FOR_GOOD = f"{LEFT}; undo does not touch it either"
MISLEADING = frozenset({"protected (.git/commondir)", "protected (*.git/commondir)"})
"""Nobody writes to what was found there: it makes git use other settings."""
MAX_HASHED_BYTES = 500_000_000
"""Bytes of a changed file up to which its present content is hashed."""
SET_ID_BITS = stat.S_ISUID | stat.S_ISGID
MAX_DISPLAY_CHARS = 100
"""Of a path that lies too deep."""
NO_FILES = "sockets or devices, which undo leaves; each has to be covered in the runs to come"
MARKS = "marks of an overlay (user.overlay.*), by which runs would see other files"
ATTRIBUTES = (
    "extended attributes that the run may have set: undo leaves them",
    f"{MARKS}: removed",
    f"{MARKS}: could not be removed",
)
NOT_LOOKED_INTO = "not looked into (too deep, or closed): undo leaves what the run made there"


@dataclass(slots=True)
class Comparison:
    """Collects what differs between a root and its snapshot, and mends what must not.

    Attributes:
        top: the root.
        workspace: that it is one of.
        config: of the workspace.
        blobs: what the files of the root held.
        start: see `OverlayUpper`.
        before: its snapshot.
        restores: whether what must not be changed is put back; else it is only reported.
        masked: whether the run could not change the protected names that were there.
        deltas: what differs and may.
        notes: what may not, and what was done about it.
        paths: all that differs, absolute.
    """

    top: SafePath
    workspace: Workspace
    config: WorkspaceConfig
    blobs: Blobs
    start: SafePath
    before: Snapshot
    restores: bool
    masked: bool
    deltas: list[Delta] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def compare(self, skip: frozenset[tuple[int, int]]) -> None:
        """Compare the root with its snapshot; for `skip` see `take_snapshot`."""
        with self.top.open() as handle:
            after = take_snapshot(handle.fd, skip, Checkpoint(), self.before)
            judge = self._judge(handle, after)
            if self._restore(handle, judge) and self.restores:
                after = take_snapshot(handle.fd, skip, Checkpoint(), self.before)
                judge = self._judge(handle, after)
            self._tell_attributes(handle, after)
        self.notes += [*judge.repositories.notes, *self._unknown(after)]
        self.paths += [delta.path.absolute for delta in judge.deltas]
        odd = [delta.path for delta in judge.deltas if delta.kind == "other"]
        if odd:
            self.notes.append(f"{some_of([printable(path.display) for path in odd])}: {NO_FILES}")
        self.deltas += [
            found for delta in judge.deltas if (found := self._loggable(delta)) is not None
        ]

    def _tell_attributes(self, handle: Handle, after: Snapshot) -> None:
        if sys.platform != "linux":  # nor are there overlays elsewhere
            return
        for paths, text in zip(
            attributes_since(handle.fd, self.before, after), ATTRIBUTES, strict=True
        ):
            if paths:
                displayed = [printable(self._path(path).display if path else ".") for path in paths]
                self.notes.append(f"{some_of(displayed, 5)}: {text}")

    def _judge(self, handle: Handle, after: Snapshot) -> ChangeJudge:
        deltas = self._differing(handle, after)
        return ChangeJudge.of(deltas, self.workspace.roots, self.config, in_place=True)

    def _loggable(self, delta: Delta) -> Delta | None:
        """A change as the log has it; None for what it cannot speak of, or undo must not touch.

        What is new under a protected name, and was not put back, can be taken away by undo.
        """
        if delta.kind in ("pipe", "other"):
            return None
        if not protecting(delta.path)[1]:
            return delta
        granted = delta.path.granted()
        if (delta.before and self.masked) or protecting(granted)[1]:
            return None
        return replace(delta, path=granted)

    def _restore(self, handle: Handle, judge: ChangeJudge) -> bool:
        """Put back what must not have been changed; whether there was something."""
        wrong: dict[str, str] = {}
        stays: set[str] = set()
        for delta in filterfalse(self._is_put_back, judge.deltas):
            if found := judge.objection(delta):
                relative, why = "/".join(found.place.parts), found.why
            elif why := _oddity(delta.after):
                relative = "/".join(delta.path.parts)
            else:
                continue
            wrong.setdefault(relative, why)
            if not self.restores and self._loggable(delta) is None:
                stays.add(relative)
        wrong = self._moved_away(judge.deltas, wrong) | wrong
        done: dict[str, list[str]] = {}
        for relative, why in wrong.items():
            if any(relative.startswith(f"{other}/") for other in wrong):
                continue
            fate = LEFT_FOR_GOOD if relative in stays else LEFT_TO_UNDO
            if self.restores or why in MISLEADING:
                is_back = self._put_back(handle, relative, why)
                fate = "put back" if relative in self.before.entries else "taken away"
                fate = fate if is_back else "could not be put back"
            done.setdefault(f"{why}: {fate}", []).append(printable(self._path(relative).display))
        self.notes += [f"{some_of(paths, 5)}: {text}" for text, paths in done.items()]
        if self.restores and any(why == f"protected ({GIT})" for why in wrong.values()):
            self.notes.append(NO_GIT)
        if self.restores and any(is_git_state(self._path(relative)) for relative in wrong):
            self.notes.append(NO_STATE)
        return bool(done)

    def _is_put_back(self, delta: Delta) -> bool:
        """Whether a file is as it was since the run went on."""
        before, after = delta.before, delta.after
        is_same = bool(delta.same and before and after and after.mode == before[0].mode)
        return is_same and not self.restores

    def _moved_away(self, deltas: Iterable[Delta], wrong: dict[str, str]) -> dict[str, str]:
        """What is wrong with names whose folder is gone, and which are taken away elsewhere.

        A folder with something protected was moved: it is not to be lost with its new name.
        """
        taken = {
            delta.after.digest: wrong["/".join(delta.path.parts)]
            for delta in deltas
            if delta.after and delta.after.digest and "/".join(delta.path.parts) in wrong
        }
        return {
            "/".join((*delta.path.parts, image.path)): taken[image.digest]
            for delta in deltas
            if delta.after is None and taken
            for image in delta.before[1:]
            if image.digest in taken
        }

    def _path(self, relative: str) -> SafePath:
        return self.top.at(tuple(relative.split("/"))).named_from(self.start)

    def _differing(self, handle: Handle, after: Snapshot) -> list[Delta]:
        gone, fresh = compare(self.before, after)
        found = [self._removed(relative) for relative in gone]
        for relative in fresh:
            delta = self._changed(handle, relative, after)
            if delta is not None:
                found.append(delta)
        return found

    def _unknown(self, after: Snapshot) -> list[str]:
        """A line on what the run may have left where nobody looked."""
        folders = [each for each in after.unread if each not in self.before.unread]
        found = [printable(self._path(each).display)[-MAX_DISPLAY_CHARS:] for each in folders]
        if after.cut and not self.before.cut:
            found.append("what is beyond the limit of files")
        return [f"{some_of(found)} {NOT_LOOKED_INTO}"] if found else []

    def _removed(self, relative: str) -> Delta:
        tree = self.before.tree(relative)
        old = self._stored(tree[0]) if tree[0].kind == "file" else None
        return Delta(self._path(relative), tree, old=old)

    def _changed(self, handle: Handle, relative: str, after: Snapshot) -> Delta | None:
        now = after.entries[relative].image
        was = self.before.entries.get(relative)
        before = was.image if was is not None and was.image.kind == now.kind else None
        path, digest = self._path(relative), ""
        if now.kind == "file" and now.size <= MAX_HASHED_BYTES:
            digest = digest_now(handle.fd, relative, now)
        image = replace(now, path="", digest=digest)
        if before is None:
            new = FileSource(path, now.mark) if now.kind == "file" else None
            return Delta(path, (), image, new=new)
        tree = (replace(before, path=""),)
        if now.kind != "file":
            return Delta(path, tree, image, same=now.kind == "folder")
        same = bool(digest) and digest == before.digest
        if same and (now.mode, now.mtime) == (before.mode, before.mtime):
            return None
        return Delta(path, tree, image, self._stored(before), FileSource(path, now.mark), same)

    def _stored(self, image: EntryState) -> StoredSource | None:
        return StoredSource(self.blobs, image.digest) if image.digest else None

    def _put_back(self, handle: Handle, relative: str, why: str) -> bool:
        if why.startswith("a setuid") and relative not in self.before.entries:
            return clear_set_id_bits(handle.fd, relative)
        return restore_tree(
            handle.fd, relative, self.before.tree(relative), self.blobs.read, Checkpoint()
        )


def _oddity(after: EntryState | None) -> str:
    """What no run may leave, whatever it is called; "" for nothing of the kind."""
    if after is not None and after.kind == "file" and after.mode & SET_ID_BITS:
        return "a setuid or setgid program"
    return "a named pipe" if after is not None and after.kind == "pipe" else ""


def changes_of(deltas: Iterable[Delta]) -> list[Change]:
    """What the log says about changes that were made already."""
    found: list[Change] = []

    def add(kind: ChangeKind, delta: Delta, **fields: Any) -> None:
        found.append(Change(kind, delta.path, number=len(found) + 1, **fields))

    for delta in deltas:
        before, after = delta.before, delta.after
        first = before[0] if before else None
        if before and (after is None or after.kind == "link"):
            add("delete", delta, tree=before, before=first, undoable=_is_stored(before))
        if after is None:
            continue
        if after.kind == "link":
            add("create_tree", delta, tree=(after,), after=after)
        elif after.kind == "folder":
            add("mode" if before else "folder", delta, before=first, after=after)
        else:
            undoable, digest = first is None or bool(first.digest), _digest_of_index(delta)
            add("write", delta, before=first, after=after, undoable=undoable, index_digest=digest)
    return found


def _digest_of_index(delta: Delta) -> str:
    """What an index that was written says; "" for what is none, or cannot be read."""
    if delta.new is not None and is_index(delta.path):
        with suppress(ToolError):
            return index_digest(delta.new)
    return ""


def _is_stored(tree: Sequence[EntryState]) -> bool:
    return all(image.digest for image in tree if image.kind == "file") and not any(
        image.kind == "other" for image in tree
    )


States = dict[str, EntryState | None]
"""What stands at an absolute path; None for nothing."""


@dataclass(slots=True)
class OtherSteps:
    """Steps of the undo log that were made while a program worked on the same files.

    Attributes:
        left: what they left.
        found: what the first of them found, as far as it is known.
        git_paths: of steps of git, which takes back itself what it did in its own folder.
        staged: the names that they use for a moment, and whether that is over.
    """

    left: States = field(default_factory=dict)
    found: States = field(default_factory=dict)
    git_paths: list[str] = field(default_factory=list)
    staged: dict[str, bool] = field(default_factory=dict)

    @classmethod
    async def since(cls, began: float, changes: Changes, workspace: Workspace) -> Self:
        """Those since a time in seconds since 1970."""
        others = cls()
        for step in reversed(await changes.since(began)):
            others.git_paths += step.paths if step.program is not None else ()
            for change in step.read_changes(workspace):
                names = change.staged_names(step.token)
                others.staged |= dict.fromkeys(names, step.state == "done")
                others.left |= _left_by(change)
                if change.kind == "write":
                    others.found.setdefault(str(change.path), change.before)
        return others

    def made(self, delta: Delta) -> bool:
        """Whether a change is theirs, and so no part of what the program did."""
        if GIT in delta.path.parts:
            top = delta.path.ancestor(delta.path.parts.index(GIT)).absolute
            if any(parts_beneath(path, top) is not None for path in self.git_paths):
                return True
        if self._is_staged(delta):
            return True
        path = str(delta.path)
        if path not in self.left:
            return False
        if path in self.found:
            first, before = self.found[path], delta.before
            if (first.mark if first else "") != (before[0].mark if before else ""):
                return False  # the program had changed it before: that is in no other step
        known = self.left[path]
        if delta.after is None or known is None:
            return delta.after is known
        return known.kind == delta.after.kind and (
            known.kind != "file" or known.mark == delta.after.mark
        )

    def _is_staged(self, delta: Delta) -> bool:
        """Whether it is what a step uses for a moment, or did.

        The step takes that away; what stands there after its end, a program made itself.
        """
        for depth, name in enumerate(delta.path.parts, 1):
            if name in self.staged:
                with suppress(ToolError):
                    delta.path.ancestor(depth).stat()
                    return not self.staged[name]
                return True
        return False


def _left_by(change: Change) -> States:
    path = str(change.path)
    if change.kind == "delete":
        return {f"{path}/{image.path}".rstrip("/"): None for image in change.tree}
    if change.kind in BULK_KINDS:
        states = change.tree if change.kind == "move_in" else (None,) * len(change.tree)
        return dict(zip(change.absolute_paths, states, strict=True))
    if change.kind == "remove_folder":
        return {path: None}
    if change.kind == "move":
        return {path: None, str(change.target): change.before}
    if change.kind == "create_tree":
        return {f"{path}/{image.path}".rstrip("/"): image for image in change.tree} | {
            path: change.after
        }
    return {path: change.after}
