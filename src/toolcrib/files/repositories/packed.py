"""References that git keeps in one file, whose order it believes, and what it says of tags."""

from __future__ import annotations

import re

PACKED = "packed-refs"
MAX_PACKED_BYTES = 256_000_000
_HEADER = re.compile(rb"# pack-refs with:([ a-z-]*)")
_REFERENCE = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?)\s(refs/[^\s\x00]+)")
_PEELED = re.compile(rb"\^[0-9a-f]{40}(?:[0-9a-f]{24})?")
SORTED = b"# pack-refs with: sorted \n"


def packed_trouble(data: bytes) -> str:
    """Why git would overlook some of packed references; "" for nothing."""
    found = _parsed(data)
    if found is None:
        return "git would not understand its lines, or overlook some"
    header = _HEADER.match(data)
    names = [name for name, _ in found]
    claims_order = header is not None and b"sorted" in header[1].split()
    if len(set(names)) < len(names) or (claims_order and names != sorted(names)):
        return "it is not sorted as git needs it, so that branches would seem to be gone"
    return ""


def plain_packed(data: bytes) -> bytes:
    """The same references, without what tags lead to: git finds that out itself."""
    found = _parsed(data)
    if found is None or packed_trouble(data):
        return data
    return SORTED + b"".join(b"%s %s\n" % (digest, name) for name, digest in sorted(found))


def _parsed(data: bytes) -> list[tuple[bytes, bytes]] | None:
    """Each name with its hash; None where a line is none of git's."""
    found: list[tuple[bytes, bytes]] = []
    *lines, rest = data.split(b"\n")
    if lines and _HEADER.fullmatch(lines[0]):
        del lines[0]
    last = None
    for line in lines:
        reference = _REFERENCE.fullmatch(line)
        if reference is not None:
            found.append((reference[2], reference[1]))
        elif last is None or _PEELED.fullmatch(line) is None:
            return None
        last = reference
    return None if rest else found
