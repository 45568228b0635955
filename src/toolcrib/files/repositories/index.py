"""A git index read without git: its entries, and what else git would believe of it.

git checks names when it adds them to an index, and trusts those of an index that it reads: by
one with a name such as `../x`, `/x` or `.git/hooks/x`, a `git stash` or `git checkout .` writes
there, and a `git diff` shows what stands there. It trusts what it has noted in extensions too,
such as which tree the entries make. The format is described in git's own documentation
(gitformat-index); versions 2 to 4 are read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from toolcrib.files.path_rules import fold

INDEX = re.compile(r"index\Z|sharedindex\.[0-9a-f]+\Z")
"""The files of a repository that hold such names."""
MAX_INDEX_BYTES = 256_000_000
MAX_NAMES_BYTES = 128_000_000
"""Of all names of one index."""
HASH_SIZES = (20, 32)
"""Bytes of SHA-1 and of SHA-256."""
SIGNATURE = b"DIRC"
UNREADABLE = "its index cannot be read"
_HEADER = Struct(">4sII")
_FLAGS = Struct(">H")
_FIXED_BYTES = 40
"""Times, mode, owner and size of a file, before its hash."""
_MODE_AT, _MAX_OFFSET_BYTES = 24, 10
_NAME_LENGTH, _IS_EXTENDED = 0x0FFF, 0x4000
_SUSPECT = re.compile(rb"(?:\A|/)(?:/|\Z|\.|git~|[^/]*[^\x00-\x7f])", re.IGNORECASE)
"""A component that has to be looked at: empty, with a dot, a short name, or beyond ASCII."""


_UNTRACKED = b"UNTR"
"""The extension in which git notes what of each folder it does not know."""
_STATUS_BYTES = 36
"""Of a file in that extension: times, device, inode, owner and size."""


class GitIndexEntry(NamedTuple):
    """A name, and its mode, hash and flags as they stand there."""

    name: bytes
    says: bytes

    def hash(self, size: int) -> bytes:
        """Of the content, of so many bytes."""
        return self.says[4 : 4 + size]


class IndexExtension(NamedTuple):
    """A further part of an index: its signature, and where it begins and ends."""

    kind: bytes
    start: int
    end: int

    @property
    def is_position(self) -> bool:
        """Whether it only says where things begin in the file."""
        return self.kind in (b"EOIE", b"IEOT")

    @property
    def is_required(self) -> bool:
        """Whether the entries are not all without it; else git makes it anew."""
        return not self.kind[:1].isupper()


class GitIndex(NamedTuple):
    """What an index says."""

    entries: list[GitIndexEntry]
    extensions: list[IndexExtension]


def read_index(data: bytes, hash_size: int = HASH_SIZES[0]) -> GitIndex:
    """What an index says.

    Args:
        data: of the file.
        hash_size: the bytes of a hash in that repository.

    Raises:
        ValueError, IndexError: it is no index with hashes of that size.
    """
    if len(data) < _HEADER.size + hash_size:
        raise ValueError
    signature, version, count = _HEADER.unpack_from(data)
    if signature != SIGNATURE or version not in (2, 3, 4):
        raise ValueError
    entries: list[GitIndexEntry] = []
    at, end, last, size = _HEADER.size, len(data) - hash_size, b"", 0
    for _ in range(count):
        start, flags_at = at, at + _FIXED_BYTES + hash_size
        if flags_at + _FLAGS.size > end:
            raise ValueError
        flags = _FLAGS.unpack_from(data, flags_at)[0]
        at = flags_at + (4 if flags & _IS_EXTENDED else 2)
        says = data[start + _MODE_AT : start + _MODE_AT + 4] + data[start + _FIXED_BYTES : at]
        if version == 4:
            dropped, at = _offset(data, at)
            if dropped > len(last):
                raise ValueError
            stop = data.index(b"\0", at, end)
            last = last[: len(last) - dropped] + data[at:stop]
            at = stop + 1
        else:
            length = flags & _NAME_LENGTH
            stop = data.index(b"\0", at, end) if length == _NAME_LENGTH else at + length
            last = data[at:stop]
            # Filled up with one to eight NUL to a multiple of eight.
            at = start + (stop - start + 8) // 8 * 8
        if at > end or b"\0" in last:
            raise ValueError
        entries.append(GitIndexEntry(last, says))
        size += len(last)
        if size > MAX_NAMES_BYTES:  # in version 4 a short file can say very long names
            raise ValueError
    return GitIndex(entries, list(_extensions(data, at, end)))


def index_trouble(data: bytes, hash_size: int = HASH_SIZES[0]) -> str:
    """Why git must not read an index; "" where it may.

    Args:
        data: of the file; an empty one is no index, and harmless.
        hash_size: the bytes of a hash in that repository. What another one makes of it may be
            harmless where what git makes of it is not.
    """
    if not data:
        return ""
    try:
        index = read_index(data, hash_size)
        folders = {
            name for each in index.extensions for name in _noted_folders(data, each, hash_size)
        }
    except (ValueError, IndexError):
        return UNREADABLE
    # A split index has no names for what replaces entries of the shared one.
    for name in [*folders, *(entry.name for entry in index.entries)]:
        if name and _SUSPECT.search(name) and _is_misplaced(name):
            return f"its index names {name.decode('utf-8', 'replace')[:100]!r}"
    return ""


def plain_index(data: bytes, hash_size: int = HASH_SIZES[0]) -> bytes:
    """An index without what git has noted in it for itself, and makes anew where it is missing.

    Raises:
        ValueError, IndexError: it is no index with hashes of that size.
    """
    extensions = read_index(data, hash_size).extensions
    required = [each for each in extensions if each.is_required]
    if len(required) == len(extensions):
        return data
    body = data[: extensions[0].start] + b"".join(data[each.start : each.end] for each in required)
    if not any(data[-hash_size:]):  # index.skipHash
        return body + bytes(hash_size)
    digest = hashlib.sha1 if hash_size == HASH_SIZES[0] else hashlib.sha256
    return body + digest(body, usedforsecurity=False).digest()


def _is_misplaced(name: bytes) -> bool:
    # A folder of a sparse index ends with a slash.
    parts = name.decode("utf-8", "surrogateescape").removesuffix("/").split("/")
    for part in parts:
        # Of `.git:x` Windows takes the part before the colon, and `git~1` for its short name.
        plain = fold(part.partition(":")[0])
        if part in ("", ".", "..") or plain in (".git", "git~1"):
            return True
    return False


def _offset(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as git writes offsets, and where it ends."""
    byte, last = data[at], at + _MAX_OFFSET_BYTES
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        if at == last:
            raise ValueError
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1


def _extensions(data: bytes, at: int, end: int) -> Iterator[IndexExtension]:
    while at < end:
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        kind = data[at : at + 4]
        if at + 8 + size > end or not kind.isalpha():
            raise ValueError
        yield IndexExtension(kind, at, at + 8 + size)
        at += 8 + size


def _noted_folders(data: bytes, extension: IndexExtension, hash_size: int) -> Iterator[bytes]:
    """The folders that git looks into for files that it does not know; the first has no name."""
    if extension.kind != _UNTRACKED:
        return
    length, at = _offset(data, extension.start + 8)
    at += length + 2 * _STATUS_BYTES + 4 + 2 * hash_size
    at = data.index(b"\0", at, extension.end) + 1  # `.gitignore`
    count, at = _offset(data, at)
    for number in range(count):
        files, at = _offset(data, at)
        _, at = _offset(data, at)
        stop = data.index(b"\0", at, extension.end)
        if number or stop > at:
            yield data[at:stop]
        for _ in range(files + 1):
            at = data.index(b"\0", at, extension.end) + 1
