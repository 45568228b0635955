"""What a run changed, name by name, and the index of git compared by what it says.

Each `git status` writes the index anew, with the times and inodes of the files it saw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.sources import Source, whole_content
from toolcrib.files.extended_attributes import Attributes
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.index import HASH_SIZES, read_index
from toolcrib.files.trees import EntryKind, EntryState
from toolcrib.state.blobs import digest_of


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
        attributes: gives the extended ones of a new file.
        whole: whether what stood there has to be taken away first, since it has other names
            or may not be written to.
    """

    path: SafePath
    before: tuple[EntryState, ...] = ()
    after: EntryState | None = None
    old: Source | None = None
    new: Source | None = None
    same: bool = False
    whole: bool = False
    attributes: Callable[[], Attributes] = tuple

    @property
    def kind(self) -> EntryKind | Literal[""]:
        """Of what stands there now; "" for nothing."""
        return self.after.kind if self.after else ""

    @property
    def is_link(self) -> bool:
        """Whether a symbolic link is there now."""
        return self.kind == "link"

    @property
    def digest(self) -> str:
        """What a file holds now; "" where that is not known."""
        return self.after.digest if self.after else ""

    @property
    def replaces(self) -> bool:
        """Whether a thing of another kind stood there."""
        return bool(self.before and self.after and self.before[0].kind != self.after.kind)


@dataclass(slots=True)
class RunDeltas:
    """All that a run changed.

    Attributes:
        deltas: in the order of the walk, folders before what they hold.
        refused: what is not taken over, and why: the path as a call names it, and a reason.
        conflicts: what was changed by others meanwhile.
        size: bytes of all new contents.
    """

    deltas: list[Delta] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
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
        old = index_digest(delta.old)
        return bool(old) and old == index_digest(delta.new)
    except (ToolError, OSError):
        return False


MAX_INDEX_BYTES = 64_000_000


def is_index(path: SafePath) -> bool:
    """Whether a file is the index of a repository."""
    return path.parts[-2:] == (".git", "index")


def index_digest(content: bytes | Source) -> str:
    """A digest of what an index says; "" where that is unknown."""
    data = content if isinstance(content, bytes) else whole_content(content, MAX_INDEX_BYTES)
    return "" if data is None else _meaning(data)


def _meaning(data: bytes) -> str:
    """What its entries say; "" where some stand elsewhere, or the checksum is not right."""
    body, checksum = data[: -HASH_SIZES[0]], data[-HASH_SIZES[0] :]
    if hashlib.sha1(body, usedforsecurity=False).digest() != checksum:
        return ""
    try:
        index = read_index(data)
    except (ValueError, IndexError):
        return ""
    if any(extension.is_required for extension in index.extensions):
        return ""
    hasher = digest_of()
    for entry in index.entries:
        hasher.update(entry.says + entry.name + b"\0")
    return hasher.hexdigest()
