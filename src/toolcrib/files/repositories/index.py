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
from contextlib import suppress
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
_NAME_LENGTH, _IS_EXTENDED, _ASSUMED, _SKIPPED = 0x0FFF, 0x4000, 0x80, 0x40
_SUSPECT = re.compile(rb"(?:\A|/)(?:/|\Z|\.|git~|[^/]*[^\x00-\x7f])", re.IGNORECASE)
"""A component that has to be looked at: empty, with a dot, a short name, or beyond ASCII."""


_SPLIT = b"link"
"""The extension of an index whose entries stand in a shared one too."""
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

    def hiding(self, size: int) -> tuple[bool, bool]:
        """Whether git is not to look at the file: it is assumed to be unchanged, or left out."""
        flags = self.says[4 + size :]
        return bool(flags[0] & _ASSUMED), len(flags) > 2 and bool(flags[2] & _SKIPPED)


class PlacedEntry(NamedTuple):
    """An entry, and where it begins, its flags begin, and it ends."""

    entry: GitIndexEntry
    start: int
    flags_at: int
    end: int


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
    placed, extensions = _parsed(data, hash_size)
    return GitIndex([each.entry for each in placed], extensions)


def _parsed(data: bytes, hash_size: int) -> tuple[list[PlacedEntry], list[IndexExtension]]:
    placed = list(_placed_entries(data, hash_size))
    at, end = placed[-1].end if placed else _HEADER.size, len(data) - hash_size
    return placed, list(_extensions(data, at, end))


def _placed_entries(data: bytes, hash_size: int) -> Iterator[PlacedEntry]:
    if len(data) < _HEADER.size + hash_size:
        raise ValueError
    signature, version, count = _HEADER.unpack_from(data)
    if signature != SIGNATURE or version not in (2, 3, 4):
        raise ValueError
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
        yield PlacedEntry(GitIndexEntry(last, says), start, flags_at, at)
        size += len(last)
        if size > MAX_NAMES_BYTES:  # in version 4 a short file can say very long names
            raise ValueError


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


def plain_index(
    data: bytes, hash_size: int = HASH_SIZES[0], old: bytes = b"", *, is_sparse: bool = False
) -> bytes:
    """An index as its entries say, by which git looks at each file that was changed.

    Left out is what git has noted beside them for itself, and makes anew where it is missing.
    Taken from entries is which times and inode a file had, unless they had it before, and what
    `hidden_names` finds.

    Args:
        data: of the file.
        hash_size: the bytes of a hash in that repository.
        old: of the file before.
        is_sparse: whether files are left out by the settings of the repository.

    Raises:
        ValueError, IndexError: it is no index with hashes of that size.
    """
    placed, extensions = _parsed(data, hash_size)
    known, body = _Known.of(old, hash_size), bytearray(data)
    for entry, start, flags_at, _ in placed:
        if known.states.get(entry.name) != data[start : start + _FIXED_BYTES]:
            body[start : start + _MODE_AT] = bytes(_MODE_AT)
            body[start + _MODE_AT + 4 : start + _FIXED_BYTES] = bytes(_FIXED_BYTES - _MODE_AT - 4)
        assumed, skipped = known.newly_hiding(entry, is_sparse=is_sparse)
        body[flags_at] &= ~(_ASSUMED * assumed) & 0xFF
        if skipped:
            body[flags_at + 2] &= ~_SKIPPED & 0xFF
    end = placed[-1].end if placed else _HEADER.size
    required = (body[each.start : each.end] for each in extensions if each.is_required)
    plain = bytes(body[:end]) + b"".join(required)
    if not any(data[-hash_size:]):  # index.skipHash
        return plain + bytes(hash_size)
    digest = hashlib.sha1 if hash_size == HASH_SIZES[0] else hashlib.sha256
    return plain + digest(plain, usedforsecurity=False).digest()


def hidden_names(
    data: bytes, hash_size: int = HASH_SIZES[0], old: bytes = b"", *, is_sparse: bool = False
) -> list[bytes]:
    """The names at whose files git is told not to look any more: it shows no change of them.

    For the parameters see `plain_index`. Where files are left out by settings, git looks at those
    that are there all the same.
    """
    known = _Known.of(old, hash_size)
    return [
        entry.name
        for entry in read_index(data, hash_size).entries
        if any(known.newly_hiding(entry, is_sparse=is_sparse))
    ]


class _Known(NamedTuple):
    """What an index said before: of each name its flags, and what it noted of its file."""

    hash_size: int
    is_split: bool
    flags: dict[bytes, tuple[bool, bool]]
    states: dict[bytes, bytes]

    @classmethod
    def of(cls, data: bytes, hash_size: int) -> _Known:
        with suppress(ValueError, IndexError):
            placed, extensions = _parsed(data, hash_size)
            flags = {each.entry.name: each.entry.hiding(hash_size) for each in placed}
            states = {p.entry.name: data[p.start : p.start + _FIXED_BYTES] for p in placed}
            return cls(hash_size, any(e.kind == _SPLIT for e in extensions), flags, states)
        return cls(hash_size, is_split=False, flags={}, states={})

    def newly_hiding(self, entry: GitIndexEntry, *, is_sparse: bool) -> tuple[bool, bool]:
        """Which flags are new; none of an index that was split, whose names are not all known."""
        assumed, skipped = entry.hiding(self.hash_size)
        if self.is_split or not (assumed or skipped):
            return False, False
        was_assumed, was_skipped = self.flags.get(entry.name, (False, False))
        return assumed and not was_assumed, skipped and not was_skipped and not is_sparse


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
