"""What a run leaves in a repository of Mercurial by which that shows, keeps or sends other things.

The dirstate says which files the next commit stores, and which of them have not changed; phases
say what is not to be sent. Caches are believed without a look at what they were made of.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.sources import BytesSource, read_content
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.index import MAX_INDEX_BYTES

FOLDER, DIRSTATE, PHASES, REQUIRES = ".hg", "dirstate", "store/phaseroots", "requires"
CACHES = frozenset({"cache", "wcache"})
NEEDED = frozenset({"store", PHASES, REQUIRES, f"store/{REQUIRES}"})
"""Without these Mercurial takes a repository for another one, in which nothing is secret."""
STORES_OTHERS = "by it, Mercurial stores or sends what it would not"
SECOND_FORM = b"dirstate-v2\n"
PARENTS_BYTES = 40
_ENTRY = struct.Struct(">cllll")
UNKNOWN_TIME = struct.pack(">l", -1)
TIME_AT = 9
"""Where the time of the file stands in an entry."""
PUBLIC_OR_DRAFT = (b"0 ", b"1 ")


def is_cache(path: SafePath) -> bool:
    """Whether Mercurial makes it again from what is in the repository."""
    return inner_of(path).partition("/")[0] in CACHES


def inner_of(path: SafePath) -> str:
    """The path of a file in the folder of Mercurial; "" outside of one."""
    names = list(map(fold, path.parts))
    return "/".join(names[names.index(FOLDER) + 1 :]) if FOLDER in names else ""


def without_times(delta: Delta) -> Delta:
    """A change of the dirstate, so that Mercurial looks at the files of each new entry itself."""
    if inner_of(delta.path) != DIRSTATE or delta.same:
        return delta
    new = read_content(delta.new, max_bytes=MAX_INDEX_BYTES)
    if new is None:
        return delta
    old = read_content(delta.old, max_bytes=MAX_INDEX_BYTES) or b""
    with suppress(ValueError, struct.error):
        is_at_same = new[:PARENTS_BYTES] == old[:PARENTS_BYTES]
        known = set(_entries(old) if is_at_same else ())
        entries = (each if each in known else _without_time(each) for each in _entries(new))
        return replace(delta, new=BytesSource(b"".join((new[:PARENTS_BYTES], *entries))))
    return delta


def stores_others(delta: Delta) -> bool:
    """Whether a commit stores a file that no run reads, or what was secret is secret no more."""
    inner = inner_of(delta.path)
    if inner not in (DIRSTATE, PHASES):
        return False
    new = read_content(delta.new, max_bytes=MAX_INDEX_BYTES)
    old = read_content(delta.old, max_bytes=MAX_INDEX_BYTES) or b""
    if new is None:
        return True
    if inner == PHASES:
        return any(line not in new.split(b"\n") for line in old.split(b"\n") if _is_secret(line))
    top = delta.path.ancestor(list(map(fold, delta.path.parts)).index(FOLDER))
    with suppress(ValueError, struct.error):
        known = {_name_of(entry) for entry in _entries(old)} if old else set()
        added = {_name_of(entry) for entry in _entries(new)} - known
        return any(_is_unreadable(top, name) for name in added)
    return not old.startswith(SECOND_FORM)


def loses_its_state(delta: Delta) -> bool:
    """Whether what Mercurial needs is gone from a repository that stays."""
    return inner_of(delta.path) in NEEDED


def _entries(dirstate: bytes) -> Iterator[bytes]:
    """Each of the first form of a dirstate.

    Raises:
        ValueError, struct.error: it has another one.
    """
    at = PARENTS_BYTES
    while at < len(dirstate):
        *_, size = _ENTRY.unpack_from(dirstate, at)
        end = at + _ENTRY.size + size
        if size <= 0 or end > len(dirstate):
            raise ValueError
        yield dirstate[at:end]
        at = end


def _without_time(entry: bytes) -> bytes:
    return entry[:TIME_AT] + UNKNOWN_TIME + entry[TIME_AT + len(UNKNOWN_TIME) :]


def _name_of(entry: bytes) -> str:
    return os.fsdecode(entry[_ENTRY.size :].partition(b"\0")[0])


def _is_secret(line: bytes) -> bool:
    return bool(line) and not line.startswith(PUBLIC_OR_DRAFT)


def _is_unreadable(top: SafePath, name: str) -> bool:
    names = name.split("/")
    if any(each in ("", ".", "..") for each in names):
        return True
    path = top.at((*top.parts, *names))
    return bool(path.gate.pattern(path, "read"))
