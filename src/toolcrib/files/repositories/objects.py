"""What is said of the objects of a repository, beside git itself: whether it is true."""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from contextlib import suppress

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.sources import Source, read_content
from toolcrib.files.handles import read_plain
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.index import HASH_SIZES, MAX_INDEX_BYTES
from toolcrib.files.repositories.places import GIT, MAX_CONFIG_BYTES, lies_in_repository

CHANGED = "git never changes an object that is there"
TOO_MUCH = "objects that unpack to so much are not looked at"
FALSE = "its content is not the object that its name says"
MAX_OBJECTS_BYTES, MAX_PIECE_BYTES = 4_000_000_000, 1_000_000
"""Of all that new objects unpack to: a small file may say very much."""
OBJECT = re.compile(
    r"(?:^|/)objects/(?:[0-9a-f]{2}/[0-9a-f]{38,62}|pack/pack-[0-9a-f]+\.(?:pack|idx))\Z"
)


LARGE_FILE = re.compile(r"(?:^|/)lfs/objects/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{64}\Z")
"""A content that git-lfs keeps by its hash, and puts into the place of what stands for it."""


def large_file_hash(source: Source, max_bytes: int) -> tuple[str, int]:
    """The hash of a content, as git-lfs names it, and its size; "" for a larger one."""
    hasher, size = hashlib.sha256(usedforsecurity=False), 0
    with suppress(ToolError, OSError):
        for piece in source.chunks():
            hasher.update(piece)
            size += len(piece)
            if size > max_bytes:
                return "", size
        return hasher.hexdigest(), size
    return "", size


def object_hash(source: Source, digits: int, max_bytes: int) -> tuple[str, int]:
    """The hash of what an object of git unpacks to, and its size; "" for none, or a larger one."""
    unpacker, size = zlib.decompressobj(), 0
    hasher = hashlib.new("sha1" if digits == 40 else "sha256", usedforsecurity=False)
    with suppress(ToolError, OSError, zlib.error):
        for packed in source.chunks():
            rest = packed
            while rest:
                unpacked = unpacker.decompress(rest, MAX_PIECE_BYTES)
                hasher.update(unpacked)
                size += len(unpacked)
                rest = unpacker.unconsumed_tail
                if size > max_bytes:
                    return "", size
        return hasher.hexdigest() if unpacker.eof else "", size
    return "", size


REPLACEMENT = re.compile(rb"refs/replace/[0-9a-f]+")
REPLACING = re.compile(rb"\srefs/replace/")
MADE_AGAIN = re.compile(
    r"(?:^|/)objects/(?:info/commit-graphs?(?:/.*)?"
    r"|pack/(?:pack-[0-9a-f]+\.(?:rev|bitmap)|multi-pack-index(?:[.-].*)?))\Z"
)
"""What git finds out from its objects once more where it is not there; it believes what it says."""
SHOWING_OTHERS = frozenset({"packed-refs", "shallow"})
"""Files of a repository by which git may show other commits than there are."""


def is_made_again(path: SafePath) -> bool:
    """Whether git makes what is there from its objects, and can do without it."""
    found = "objects" in path.parts and MADE_AGAIN.search("/".join(path.parts))
    return bool(found) and (GIT in path.parts or lies_in_repository(path))


def shows_others(delta: Delta) -> bool:
    """Whether git would show other contents or parents of commits by what a run wrote."""
    name = fold(delta.path.name)
    if is_made_again(delta.path):
        return delta.kind == "file"
    if name not in SHOWING_OTHERS or delta.after is None or not lies_in_repository(delta.path):
        return False
    new = read_content(delta.new, max_bytes=MAX_INDEX_BYTES)
    if name == "shallow":  # a new repository may have been cloned so
        return bool(delta.before) or os.path.lexists(delta.path.parent.absolute)
    if new is None:
        return True
    old = read_content(delta.old, max_bytes=MAX_INDEX_BYTES) or b""
    known = {line for line in old.split(b"\n") if REPLACING.search(line)}
    added = [line for line in new.split(b"\n") if REPLACING.search(line) and line not in known]
    return not all(_was_loose(line, delta.path.parent) for line in added)


def _was_loose(line: bytes, repository: SafePath) -> bool:
    """Whether a line of packed references stood in a file of its own before."""
    digest, _, name = line.partition(b" ")
    if REPLACEMENT.fullmatch(name):
        with suppress(OSError):
            place = f"{repository.absolute}/{name.decode()}"
            return read_plain(place, MAX_CONFIG_BYTES, follow=False).strip() == digest
    return False


def blob_hashes(content: bytes, hash_size: int) -> list[bytes]:
    """What git calls a content, with its own ends of lines too."""
    hasher = hashlib.sha1 if hash_size == HASH_SIZES[0] else hashlib.sha256
    contents = (content, content.replace(b"\r\n", b"\n"))
    wholes = (b"blob %d\0" % len(each) + each for each in contents)
    return [hasher(whole, usedforsecurity=False).digest() for whole in wholes]
