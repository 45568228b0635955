"""One change made ready: what it finds, what it leaves, and the names it uses meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.files.changes.plan import Source
from toolcrib.files.paths import SafePath
from toolcrib.files.staged_entries import Attributes, staged_names
from toolcrib.files.tree_images import Image
from toolcrib.files.workspace import Workspace

Do = Literal["put", "folder", "remove", "rename", "plant", "unmake", "mode"]


@dataclass(slots=True)
class Piece:
    """One change of one name.

    Attributes:
        do: "put" a file, make a "folder", "remove" a tree, "rename" something, "plant" a
            tree, "unmake" an empty folder, give other permission bits ("mode").
        path: where, each link on the way followed.
        shown: the same as a call would name it.
        number: its place in the step; the names that it uses meanwhile come from it.
        stand: the folder in which new things stand until they are put in place.
        target: where a rename leads.
        data: the content that is put.
        mode, mtime: what a new file, or one whose mode is changed, is given; None for the
            usual.
        attributes: extended ones that a file is given.
        before: what was there; for a rename, what is renamed.
        after: what is there then.
        tree: what is removed or planted, its top first.
        kept: whether undo can bring back what was there.
        trash: whether what is removed goes to the trash of the desktop.
        meaning: what an index that is put says; see `gitindex`.
    """

    do: Do
    path: SafePath
    shown: str
    number: int
    stand: SafePath
    target: SafePath | None = None
    data: bytes | Source = b""
    mode: int | None = None
    mtime: int | None = None
    attributes: Attributes = ()
    before: Image | None = None
    after: Image | None = None
    tree: tuple[Image, ...] = ()
    kept: bool = True
    trash: bool = False
    meaning: str = ""

    def names(self, token: str) -> tuple[str, str]:
        """The names for the new and the old while the change is made."""
        return staged_names(token, self.number)

    @property
    def places(self) -> list[str]:
        """The absolute paths that are changed."""
        return [str(p) for p in (self.path, self.target) if p is not None]

    @property
    def digests(self) -> set[str]:
        """The kept contents that undo needs."""
        images = (*self.tree, *((self.before,) if self.before else ()))
        return {image.digest for image in images if image.digest}

    def to_json(self) -> dict[str, Any]:
        """What has to be known to take it back."""
        found: dict[str, Any] = {
            "do": self.do,
            "number": self.number,
            "root": self.path.root.real,
            "path": self.path.parts,
            "stand": self.stand.parts,
            "kept": self.kept,
        }
        if self.path.gate.grants:
            found["granted"] = True
        if self.meaning:
            found["meaning"] = self.meaning
        if self.target is not None:
            found |= {"target_root": self.target.root.real, "target": self.target.parts}
        if self.before is not None:
            found["before"] = self.before.to_json()
        if self.after is not None:
            found["after"] = self.after.to_json()
        if self.tree:
            found["tree"] = [image.to_json() for image in self.tree]
        return found

    @classmethod
    def from_json(cls, found: Mapping[str, Any], workspace: Workspace) -> Piece:
        """The inverse of `to_json`; its paths are found by way of a workspace's gate."""
        path = workspace.at(found["root"], found["path"])
        if found.get("granted"):  # by what the content was then, which the log pins
            path = path.granted()
        target = found.get("target")
        return cls(
            do=found["do"],
            path=path,
            shown=path.absolute,
            number=found["number"],
            stand=workspace.at(found["root"], found["stand"]),
            target=workspace.at(found["target_root"], target) if target is not None else None,
            before=_image(found.get("before")),
            after=_image(found.get("after")),
            tree=tuple(map(Image.from_json, found.get("tree", ()))),
            kept=found["kept"],
            meaning=found.get("meaning", ""),
        )


def _image(values: list[Any] | None) -> Image | None:
    return Image.from_json(values) if values else None
