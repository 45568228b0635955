"""Indexes of git that git itself would not write."""

from __future__ import annotations

import hashlib
import struct

EMPTY_BLOB = bytes.fromhex("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")


def index_naming(*names: str, version: int = 2, blob: bytes = EMPTY_BLOB) -> bytes:
    """One whose entries have these names, whatever they are; all plain files of one content."""
    data, last = struct.pack(">4sII", b"DIRC", version, len(names)), b""
    for name in (name.encode() for name in names):
        entry = struct.pack(">10I", *[0] * 6, 0o100644, 0, 0, 0) + blob
        entry += struct.pack(">H", min(len(name), 0xFFF))
        if version == 4:
            shared = next(
                (i for i, (a, b) in enumerate(zip(last, name, strict=False)) if a != b),
                min(len(last), len(name)),
            )
            dropped = len(last) - shared
            assert dropped < 128
            entry += bytes([dropped]) + name[shared:] + b"\0"
        else:
            entry += name
            entry += b"\0" * (8 - len(entry) % 8)
        data, last = data + entry, name
    return data + hashlib.sha1(data).digest()
