"""What a run changed, name by name, however that was found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.git_index import is_index, meaning_of
from toolcrib.files.changes.plan import Source
from toolcrib.files.paths import SafePath
from toolcrib.files.staged_entries import Attributes
from toolcrib.files.tree_images import Image


@dataclass(frozen=True, slots=True)
class Delta:
    """One name that is not as it was.

    Attributes:
        path: where.
        before: what stood there, a folder before what it held; empty for nothing.
        after: what stands there now; None for nothing. A folder's content has deltas of
            its own.
        old, new: the contents of a file before and after; None for what is no plain file.
        same: whether a file holds what it held, so that only its mode or time changed.
        attributes: extended ones of a new file.
        whole: whether what stood there has to be taken away first, since it has other names
            or may not be written to.
    """

    path: SafePath
    before: tuple[Image, ...] = ()
    after: Image | None = None
    old: Source | None = None
    new: Source | None = None
    same: bool = False
    whole: bool = False
    attributes: Attributes = ()

    @property
    def replaces(self) -> bool:
        """Whether a thing of another kind stood there."""
        return bool(self.before and self.after and self.before[0].kind != self.after.kind)


@dataclass(slots=True)
class Reading:
    """All that a run changed.

    Attributes:
        deltas: in the order of the walk, folders before what they hold.
        left: what is not taken over, and why: the path as a call names it, and a reason.
        conflicts: what was changed by others meanwhile.
        size: bytes of all new contents.
    """

    deltas: list[Delta] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    size: int = 0


def without_refreshed(deltas: Sequence[Delta]) -> list[Delta]:
    """All but the indexes that git wrote anew and that say the same; nobody meant to change those.

    Where more of the same `.git` was changed, its index goes with that.
    """
    rest = [delta.path for delta in deltas if not is_index(delta.path)]
    if len(rest) == len(deltas):
        return list(deltas)
    touched = {str(path.ancestor(n)) for path in rest for n in range(1, len(path.parts) + 1)}
    return [
        delta
        for delta in deltas
        if not is_index(delta.path)
        or str(delta.path.parent) in touched
        or not _says_the_same(delta)
    ]


def _says_the_same(delta: Delta) -> bool:
    before, after = delta.before, delta.after
    if delta.old is None or delta.new is None or after is None or len(before) != 1:
        return False
    if (before[0].kind, before[0].mode) != (after.kind, after.mode):
        return False
    if delta.same:
        return True
    try:
        old = meaning_of(delta.old)
        return bool(old) and old == meaning_of(delta.new)
    except (ToolError, OSError):
        return False
