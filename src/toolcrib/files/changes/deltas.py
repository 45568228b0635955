"""What a run changed, name by name, and the index of git compared by what it says.

Each `git status` writes the index anew, with the times and inodes of the files it saw.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.step import Source
from toolcrib.files.paths import SafePath
from toolcrib.files.trees import EntryState
from toolcrib.files.writer import Attributes
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
INDEX_HEADER_BYTES, CHECKSUM_BYTES = 12, 20
FIXED_ENTRY_BYTES = 62
"""Bytes of an entry before its name."""
EXTENDED = 0x4000
WITHOUT = frozenset({b"link", b"sdir"})
"""Extensions by which what is missing stands elsewhere."""


def is_index(path: SafePath) -> bool:
    """Whether a file is the index of a repository."""
    return path.parts[-2:] == (".git", "index")


def index_digest(content: bytes | Source) -> str:
    """A digest of what an index says; "" where that is unknown."""
    if isinstance(content, bytes):
        return _meaning(content)
    data = bytearray()
    for chunk in content.chunks():
        data += chunk
        if len(data) > MAX_INDEX_BYTES:
            return ""
    return _meaning(bytes(data))


def _meaning(data: bytes) -> str:
    if len(data) < INDEX_HEADER_BYTES + CHECKSUM_BYTES or data[:4] != b"DIRC":
        return ""
    if (
        hashlib.sha1(data[:-CHECKSUM_BYTES], usedforsecurity=False).digest()
        != data[-CHECKSUM_BYTES:]
    ):
        return ""
    version, count = struct.unpack(">II", data[4:INDEX_HEADER_BYTES])
    if version not in (2, 3):
        return ""
    hasher = digest_of()
    try:
        for part in _entries(data, count):
            hasher.update(part)
    except (struct.error, ValueError):
        return ""
    return hasher.hexdigest()


def _entries(data: bytes, count: int) -> Iterator[bytes]:
    """Of each entry its mode, object, flags and name.

    Raises:
        ValueError, struct.error: it is none that is understood.
    """
    at = INDEX_HEADER_BYTES
    for _ in range(count):
        (flags,) = struct.unpack_from(">H", data, at + FIXED_ENTRY_BYTES - 2)
        name = at + FIXED_ENTRY_BYTES + (2 if flags & EXTENDED else 0)
        end = data.index(b"\0", name)
        yield data[at + 24 : at + 28] + data[at + 40 : end + 1]
        at += (end - at + 8) // 8 * 8
    while at < len(data) - CHECKSUM_BYTES:
        kind, size = struct.unpack_from(">4sI", data, at)
        if kind in WITHOUT:
            raise ValueError(kind)
        at += 8 + size
