"""A change of a file, and the step that changes are made in: all of them or none, undoable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from toolcrib.core.errors import Conflict
from toolcrib.files.changes.sources import Source
from toolcrib.files.extended_attributes import Attributes
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.trees import EntryState
from toolcrib.files.writer import staged_names

ANYTHING: Final = "*"
"""For `expected`: whatever stands there now may be replaced."""

ChangeKind = Literal[
    "write",
    "delete",
    "move",
    "folder",
    "create_tree",
    "remove_folder",
    "mode",
    "move_in",
    "move_out",
]
BULK_KINDS: Final = ("move_in", "move_out")
"""Kinds that are about many files of one folder at once."""
_LOGGED_KINDS: dict[ChangeKind, str] = {
    "write": "put",
    "delete": "remove",
    "move": "rename",
    "create_tree": "plant",
    "remove_folder": "unmake",
    "move_in": "fill",
    "move_out": "drain",
}
"""How the log names kinds that have another name here."""
_KINDS = {logged: kind for kind, logged in _LOGGED_KINDS.items()}


@dataclass(slots=True)
class Change:
    """One change of one name: what is asked for, then what it found and left.

    `Preparer` makes changes ready: links in paths are followed, and what asks for more
    than one name (missing folders, a move to another disk) becomes several.

    Attributes:
        kind: "write" a file, "delete" a tree, "move" something, make a "folder", "create_tree",
            "remove_folder" for an empty one, give other permission bits ("mode"); "move_in" files
            of a stored folder into this one, or "move_out" those that it has into a stored one.
        path: where; for a move, what is moved; the folder that files are moved into or out of.
        data: the whole new content of a file that is written.
        target: where a move leads.
        expected: the `fingerprint` that the file must have when it is changed, "" where
            nothing may stand there, `ANYTHING` where that does not matter.
        mode: permission bits of what is new, None for the usual ones; a file that is
            replaced keeps its own.
        mtime: the time of change that a file is given, in nanoseconds; None for now.
        attributes: extended ones that a file is given beside those that it has.
        tree: what is created or deleted, its top first; of a delete that is not made ready,
            what must stand there, empty for anything. The files that are moved.
        trash: whether what is deleted goes to the trash of the desktop.
        permanent: whether what is deleted is not kept for undo.
        expected_digest: what the file may hold instead of having the fingerprint `expected`.
        merged: whether the content was worked out from the file as it is now, at places that
            were found exactly, so that it does not matter what the conversation has read.
        expected_index: what the index of a repository may say instead, see `index_digest`.
        before: what was there; for a move, what is moved. Of a "mode" or a move that takes
            something back, what must be there.
        after: what is there then; None where nothing was done.
        undoable: whether undo can bring back what was there.
        index_digest: what an index that is written says.
        stored: the tree of our own (see `tree_store`) that is put in place, or that a deleted one
            becomes; "" where contents are copied.
        placed_ns: when that tree was in its place, in nanoseconds; 0 where nobody knows. The
            entry of a file in it that changed later may hold something else, though its size and
            time are the same.
        number: its place in the step; the names that it uses meanwhile come from it.
        display: the path as a call would name it.
        staging_folder: where new things stand until they are put in place.
    """

    kind: ChangeKind
    path: SafePath
    data: bytes | Source = b""
    target: SafePath | None = None
    expected: str = ANYTHING
    mode: int | None = None
    mtime: int | None = None
    attributes: Attributes = ()
    tree: tuple[EntryState, ...] = ()
    trash: bool = False
    permanent: bool = False
    expected_digest: str = ""
    expected_index: str = ""
    merged: bool = False
    before: EntryState | None = None
    after: EntryState | None = None
    undoable: bool = True
    index_digest: str = ""
    stored: str = ""
    placed_ns: int = 0
    number: int = 0
    display: str = field(init=False)
    staging_folder: SafePath = field(init=False)

    def __post_init__(self) -> None:
        self.display = self.path.display
        self.staging_folder = self.path.parent

    def staged_names(self, token: str) -> tuple[str, str]:
        """The names for the new and the old while the change is made."""
        return staged_names(token, self.number)

    @property
    def is_staged(self) -> bool:
        """Whether something new is written first, and then put in place."""
        return self.kind in ("write", "create_tree")

    @property
    def has_stored_tree(self) -> bool:
        """Whether what is new is not written, but stands somewhere and is renamed."""
        return self.kind == "create_tree" and bool(self.stored)

    @property
    def absolute_paths(self) -> list[str]:
        """The paths that are changed."""
        if self.kind in BULK_KINDS:
            return [f"{self.path.absolute}/{state.path}" for state in self.tree]
        return [str(p) for p in (self.path, self.target) if p is not None]

    @property
    def digests(self) -> set[str]:
        """The stored contents that undo needs."""
        states = (*self.tree, *((self.before,) if self.before else ()))
        return {state.digest for state in states if state.digest}

    def to_json(self) -> dict[str, Any]:
        """What has to be known to take it back."""
        found: dict[str, Any] = {
            "do": _LOGGED_KINDS.get(self.kind, self.kind),
            "number": self.number,
            "root": self.path.root.real,
            "path": self.path.parts,
            "stand": self.staging_folder.parts,
            "kept": self.undoable,
        }
        if self.path.gate.grants:
            found["granted"] = True
        if self.path.gate.lifted:
            found["lifted"] = list(self.path.gate.lifted)
        if self.index_digest:
            found["meaning"] = self.index_digest
        if self.target is not None:
            found |= {"target_root": self.target.root.real, "target": self.target.parts}
        if self.before is not None:
            found["before"] = self.before.to_json()
        if self.after is not None:
            found["after"] = self.after.to_json()
        if self.stored:
            found["at"] = self.stored
        if self.placed_ns:
            found["placed"] = self.placed_ns
        if self.tree and (self.after is not None or not self.has_stored_tree):
            found["tree"] = [state.to_json() for state in self.tree]
        return found

    @classmethod
    def from_json(cls, found: Mapping[str, Any], workspace: Workspace) -> Change:
        """The inverse of `to_json`; its paths are found by way of a workspace's gate."""
        path = workspace.at(found["root"], found["path"])
        if found.get("granted"):  # by what the content was then, which the log pins
            path = path.granted()
        for pattern in found.get("lifted", ()):  # what was changed there can be taken back
            path = path.but_for(pattern)
        target = found.get("target")
        change = cls(
            kind=_KINDS.get(found["do"], found["do"]),
            path=path,
            number=found["number"],
            target=workspace.at(found["target_root"], target) if target is not None else None,
            before=_state(found.get("before")),
            after=_state(found.get("after")),
            tree=tuple(map(EntryState.from_json, found.get("tree", ()))),
            undoable=found["kept"],
            index_digest=found.get("meaning", ""),
            stored=found.get("at", ""),
            placed_ns=found.get("placed", 0),
        )
        change.staging_folder = workspace.at(found["root"], found["stand"])
        return change


def changed_error(display: str) -> Conflict:
    """The file is not what it should be."""
    return Conflict(
        f"{display} has changed meanwhile.", hint="Look at it again before changing it."
    )


def _state(values: list[Any] | None) -> EntryState | None:
    return EntryState.from_json(values) if values else None


@dataclass(slots=True)
class Step:
    """Changes that belong together: collected first, then `Changes.apply` makes all or none.

    Args:
        tool: who asks, for the log.
        undoes: the steps that it takes back; only `Changes.undo` sets it.
        ignores_reads: whether the conversation does not know what is changed: what it has
            read is not compared, and it is not taken to know how the files look then.
        log_position: the last step of the log when those to take back were chosen.
        undone_paths: of each step that it takes back, by its number, the paths where it does.
    """

    tool: str
    undoes: tuple[int, ...] = ()
    changes: list[Change] = field(default_factory=list)
    ignores_reads: bool = False
    log_position: int | None = None
    undone_paths: dict[int, list[str]] = field(default_factory=dict)

    def write(
        self,
        path: SafePath,
        data: bytes | Source,
        *,
        expected: str = ANYTHING,
        mode: int | None = None,
        mtime: int | None = None,
        attributes: Attributes = (),
        merged: bool = False,
    ) -> None:
        """Create a file or replace its content; missing folders above it are made."""
        self.changes.append(
            Change(
                "write",
                path,
                data,
                expected=expected,
                mode=mode,
                mtime=mtime,
                attributes=attributes,
                merged=merged,
            )
        )

    def delete(
        self,
        path: SafePath,
        *,
        expected: str = ANYTHING,
        trash: bool = False,
        permanent: bool = False,
        tree: tuple[EntryState, ...] = (),
    ) -> None:
        """Remove a file, a link, or a folder with all that it holds.

        With `permanent` nothing of it is kept, and the step cannot be undone; with `tree` nothing
        but that is removed.
        """
        self.changes.append(
            Change("delete", path, expected=expected, trash=trash, permanent=permanent, tree=tree)
        )

    def move(self, path: SafePath, target: SafePath, *, replace: bool = False) -> None:
        """Move a file or folder; with `replace`, a file that stands at the target goes."""
        expected = ANYTHING if replace else ""
        self.changes.append(Change("move", path, target=target, expected=expected))

    def make_folder(self, path: SafePath, *, mode: int | None = None) -> None:
        """Make a folder and those above it; no harm where it exists."""
        self.changes.append(Change("folder", path, mode=mode))

    def set_mode(self, path: SafePath, mode: int, before: EntryState) -> None:
        """Give a file or folder other permission bits; `before` is how it is now."""
        self.changes.append(Change("mode", path, mode=mode, before=before))

    def create_tree(self, path: SafePath, *tree: EntryState) -> None:
        """Make a tree where nothing stands; contents of its files are such as undo keeps."""
        self.changes.append(Change("create_tree", path, tree=tree))


@dataclass(frozen=True, slots=True)
class AppliedStep:
    """A step that was made. `step` is its number in the log; `undo_changes` takes it back.

    Attributes:
        paths: what was changed, as a call would name it.
        undoable: whether undo can bring everything back; `note` says what not, and why.
        replaced: files that were written where others stood.
    """

    step: int
    paths: tuple[str, ...]
    undoable: bool = True
    note: str = ""
    replaced: frozenset[str] = frozenset()

    @property
    def note_line(self) -> str:
        """The note as a further line of a text; "" without one."""
        return f"\n{self.note}" if self.note else ""

    def place(self, path: SafePath) -> str:
        """How to name a file that was written: where it is, and that another stood there."""
        if path.display not in self.replaced:
            return path.display
        undo = "undo_changes brings it back" if self.undoable else "it cannot be brought back"
        return f"{path.display}, in place of what was there ({undo})"
