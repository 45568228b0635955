"""What is to be changed, as one step: collected first, then applied by `Changes`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from toolcrib.files.paths import SafePath
from toolcrib.files.staged_entries import Attributes
from toolcrib.files.tree_images import Image

ANYTHING: Final = "*"
"""For `expected`: whatever stands there now may be replaced."""

Kind = Literal["write", "delete", "move", "folder", "plant", "unmake", "mode"]


class Source(Protocol):
    """Content that is not held in memory: it is read once, while it is put in place."""

    def chunks(self) -> Iterator[bytes]:
        """All of it, in pieces; what it raises fails the whole plan."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a plan.

    Attributes:
        kind: what happens to `path`.
        path: where; for a move, what is moved.
        data: the whole new content of a file that is written.
        target: where a move leads.
        expected: the `fingerprint` that the file must have when it is changed, "" where
            nothing may stand there, `ANYTHING` where that does not matter.
        mode: permission bits of a file that is new; None for the usual ones. A file that
            is replaced keeps its own.
        trash: whether what is deleted goes to the trash of the desktop.
        permanent: whether what is deleted is not kept for undo.
        mtime: the time of change that a file is given, in nanoseconds; None for now.
        tree: what a "plant" puts at `path`, the path itself first; for a delete, what must
            stand there; for a "mode", what stands there and the mode that it has.
        attributes: extended ones that a file is given beside those that it has.
        digest: what the file may hold instead of having the fingerprint `expected`.
        meaning: what the index of a repository may say instead; see `gitindex`.
    """

    kind: Kind
    path: SafePath
    data: bytes | Source = b""
    target: SafePath | None = None
    expected: str = ANYTHING
    mode: int | None = None
    trash: bool = False
    permanent: bool = False
    mtime: int | None = None
    tree: tuple[Image, ...] = ()
    digest: str = ""
    meaning: str = ""
    attributes: Attributes = ()


@dataclass(slots=True)
class Plan:
    """Changes that belong together: all are made, or none.

    Args:
        tool: who asks, for the log.
        undoes: the steps that it takes back; only `Changes.undo` sets it.
        unseen: whether the conversation does not know what is changed: what it has read is
            not compared, and it is not taken to know how the files look then.
        chosen: the last step of the log when those to take back were chosen.
    """

    tool: str
    undoes: tuple[int, ...] = ()
    changes: list[Change] = field(default_factory=list)
    unseen: bool = False
    chosen: int | None = None

    def write(
        self,
        path: SafePath,
        data: bytes | Source,
        *,
        expected: str = ANYTHING,
        mode: int | None = None,
        mtime: int | None = None,
        attributes: Attributes = (),
    ) -> None:
        """Create a file or replace its content; missing folders above it are made."""
        change = Change("write", path, data, expected=expected, mode=mode, mtime=mtime)
        self.changes.append(replace(change, attributes=attributes) if attributes else change)

    def delete(
        self,
        path: SafePath,
        *,
        expected: str = ANYTHING,
        trash: bool = False,
        permanent: bool = False,
    ) -> None:
        """Remove a file, a link, or a folder with all that it holds.

        With `permanent` nothing of it is kept, and the step cannot be undone.
        """
        self.changes.append(
            Change("delete", path, expected=expected, trash=trash, permanent=permanent)
        )

    def move(self, path: SafePath, target: SafePath, *, replace: bool = False) -> None:
        """Move a file or folder; with `replace`, a file that stands at the target goes."""
        expected = ANYTHING if replace else ""
        self.changes.append(Change("move", path, target=target, expected=expected))

    def make_folder(self, path: SafePath, *, mode: int | None = None) -> None:
        """Make a folder and those above it; no harm where it exists."""
        self.changes.append(Change("folder", path, mode=mode))

    def set_mode(self, path: SafePath, mode: int, before: Image) -> None:
        """Give a file or folder other permission bits; `before` is how it is now."""
        self.changes.append(Change("mode", path, mode=mode, tree=(before,)))

    def plant(self, path: SafePath, *tree: Image) -> None:
        """Make a tree where nothing stands; contents of its files are such as undo keeps."""
        self.changes.append(Change("plant", path, tree=tree))


@dataclass(frozen=True, slots=True)
class Applied:
    """A step of the log. `step` is its number; `undo_changes` takes it back.

    Attributes:
        paths: what was changed, as a call would name it.
        undoable: whether undo can bring everything back; `note` says what not, and why.
    """

    step: int
    paths: tuple[str, ...]
    undoable: bool = True
    note: str = ""
