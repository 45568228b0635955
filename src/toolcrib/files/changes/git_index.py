"""The index of a repository by what it says, whatever git noted beside that for its own speed.

Each `git status` writes it anew, with the times and inodes of the files that it saw.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

from toolcrib.files.changes.plan import Source
from toolcrib.files.paths import SafePath
from toolcrib.state.blobs import digest_of

MOST_BYTES = 64_000_000
HEAD, CHECKSUM = 12, 20
FIXED = 62
"""Bytes of an entry before its name."""
EXTENDED = 0x4000
WITHOUT = frozenset({b"link", b"sdir"})
"""Extensions by which what is missing stands elsewhere."""


def is_index(path: SafePath) -> bool:
    """Whether a file is the index of a repository."""
    return path.parts[-2:] == (".git", "index")


def meaning_of(content: bytes | Source) -> str:
    """A digest of what an index says; "" where it cannot be told."""
    if isinstance(content, bytes):
        return _meaning(content)
    data = bytearray()
    for chunk in content.chunks():
        data += chunk
        if len(data) > MOST_BYTES:
            return ""
    return _meaning(bytes(data))


def _meaning(data: bytes) -> str:
    if len(data) < HEAD + CHECKSUM or data[:4] != b"DIRC":
        return ""
    if hashlib.sha1(data[:-CHECKSUM], usedforsecurity=False).digest() != data[-CHECKSUM:]:
        return ""
    version, count = struct.unpack(">II", data[4:HEAD])
    if version not in (2, 3):
        return ""
    seen = digest_of()
    try:
        for part in _entries(data, count):
            seen.update(part)
    except (struct.error, ValueError):
        return ""
    return seen.hexdigest()


def _entries(data: bytes, count: int) -> Iterator[bytes]:
    """Of each entry its mode, object, flags and name.

    Raises:
        ValueError, struct.error: it is none that is understood.
    """
    at = HEAD
    for _ in range(count):
        (flags,) = struct.unpack_from(">H", data, at + FIXED - 2)
        name = at + FIXED + (2 if flags & EXTENDED else 0)
        end = data.index(b"\0", name)
        yield data[at + 24 : at + 28] + data[at + 40 : end + 1]
        at += (end - at + 8) // 8 * 8
    while at < len(data) - CHECKSUM:
        kind, size = struct.unpack_from(">4sI", data, at)
        if kind in WITHOUT:
            raise ValueError(kind)
        at += 8 + size
