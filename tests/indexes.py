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


def packs_naming(name: str, objects: dict[str, int]) -> bytes:
    """A list of one pack of any name, with its objects and where they begin in it."""
    pairs = sorted((bytes.fromhex(number), start) for number, start in objects.items())
    fan = (sum(number[0] <= first for number, _ in pairs) for first in range(256))
    chunks = {
        b"PNAM": name.encode() + b"\0" * (4 - len(name) % 4),
        b"OIDF": struct.pack(">256I", *fan),
        b"OIDL": b"".join(number for number, _ in pairs),
        b"OOFF": b"".join(struct.pack(">II", 0, start) for _, start in pairs),
    }
    data = struct.pack(">4s4BI", b"MIDX", 1, 1, len(chunks), 0, 1)
    start = len(data) + 12 * (len(chunks) + 1)
    for kind, chunk in (*chunks.items(), (b"\0" * 4, b"")):
        data += struct.pack(">4sQ", kind, start)
        start += len(chunk)
    data += b"".join(chunks.values())
    return data + hashlib.sha1(data).digest()
