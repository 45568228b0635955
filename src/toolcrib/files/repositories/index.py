"""The names in a git index, read without git: whether each of them lies in the working tree.

git checks names when it adds them to an index, and trusts those of an index that it reads: by
one with a name such as `../x`, `/x` or `.git/hooks/x`, a `git stash` or `git checkout .` writes
there, and a `git diff` shows what stands there. The format is described in git's own
documentation (gitformat-index); versions 2 to 4 are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct

from toolcrib.files.path_rules import fold

INDEX = re.compile(r"index\Z|sharedindex\.[0-9a-f]+\Z")
"""The files of a repository that hold such names."""
MAX_INDEX_BYTES = 256_000_000
HASH_SIZES = (20, 32)
"""Bytes of SHA-1 and of SHA-256."""
SIGNATURE = b"DIRC"
UNREADABLE = "its index cannot be read"
_HEADER = Struct(">4sII")
_FLAGS = Struct(">H")
_FIXED_BYTES = 40
"""Times, mode, owner and size of a file, before its hash."""
_NAME_LENGTH, _IS_EXTENDED = 0x0FFF, 0x4000
_SUSPECT = re.compile(rb"(?:\A|/)(?:/|\Z|\.|git~|[^/]*[^\x00-\x7f])", re.IGNORECASE)
"""A component that has to be looked at: empty, with a dot, a short name, or beyond ASCII."""


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
        for name in list(_names(data, hash_size)):
            # A split index has no names for what replaces entries of the shared one.
            if name and _SUSPECT.search(name) and _is_misplaced(name):
                return f"its index names {name.decode('utf-8', 'replace')[:100]!r}"
    except (ValueError, IndexError):
        return UNREADABLE
    return ""


def _is_misplaced(name: bytes) -> bool:
    # A folder of a sparse index ends with a slash.
    parts = name.decode("utf-8", "surrogateescape").removesuffix("/").split("/")
    for part in parts:
        # Of `.git:x` Windows takes the part before the colon, and `git~1` for its short name.
        plain = fold(part.partition(":")[0])
        if part in ("", ".", "..") or plain in (".git", "git~1"):
            return True
    return False


def _names(data: bytes, hash_size: int) -> Iterator[bytes]:
    """The names of all entries.

    Raises:
        ValueError, IndexError: it is no index with hashes of that size.
    """
    if len(data) < _HEADER.size + hash_size:
        raise ValueError
    signature, version, count = _HEADER.unpack_from(data)
    if signature != SIGNATURE or version not in (2, 3, 4):
        raise ValueError
    at, end, last = _HEADER.size, len(data) - hash_size, b""
    for _ in range(count):
        start, flags_at = at, at + _FIXED_BYTES + hash_size
        if flags_at + _FLAGS.size > end:
            raise ValueError
        flags = _FLAGS.unpack_from(data, flags_at)[0]
        at = flags_at + (4 if flags & _IS_EXTENDED else 2)
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
        yield last
    _check_extensions(data, at, end)


def _offset(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as git writes offsets, and where it ends."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1


def _check_extensions(data: bytes, at: int, end: int) -> None:
    while at < end:
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        if at + 8 > end or not data[at : at + 4].isalpha():
            raise ValueError
        at += 8 + size
    if at != end:
        raise ValueError
