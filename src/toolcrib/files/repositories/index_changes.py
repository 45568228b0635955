"""What an index of git is changed to say."""

from __future__ import annotations

import os
from contextlib import suppress

from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.sources import read_content
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.credentials import hash_size_in
from toolcrib.files.repositories.index import (
    HASH_SIZES,
    INDEX,
    MAX_INDEX_BYTES,
    SIGNATURE,
    UNREADABLE,
    GitIndexEntry,
    hidden_names,
    index_trouble,
    read_index,
)
from toolcrib.files.repositories.membership import MODULES, module_depth, repository_depth
from toolcrib.text.display import printable, some_of

CONFIG = "config"


def staging_trouble(delta: Delta, hash_size: int) -> str:
    """Why an index is not taken over; "" for nothing."""
    data = read_content(delta.new, delta.digest, MAX_INDEX_BYTES)
    if data is not None and not data.startswith(SIGNATURE):
        return ""  # a branch of that name, or what git does not read
    if data is None:
        return UNREADABLE
    why = index_trouble(data, hash_size)
    if not why and fold(delta.path.name) != "index":
        # Its checksum is part of its name, so it is taken as it is; git writes no more to one.
        others = [e for e in read_index(data, hash_size).extensions if not e.is_position]
        more = others or hidden_names(data, hash_size)
        why = "the shared part of its index says more than names" if more and data else ""
    return why


def hiding_trouble(delta: Delta, hash_size: int, *, is_sparse: bool) -> str:
    """What an index has git hide of the working tree; "" for nothing."""
    with suppress(ValueError, IndexError):
        old = read_content(delta.old, max_bytes=MAX_INDEX_BYTES) or b""
        names = hidden_names(index_content(delta), hash_size, old, is_sparse=is_sparse)
        displayed = [printable(name.decode("utf-8", "replace")) for name in names]
        return f"by its index, git would show no change of {some_of(displayed)}" * bool(names)
    return ""


def staged(delta: Delta) -> list[tuple[SafePath, bytes]]:
    """What an index has that it did not have before: each path, with its hash, b"" for a folder.

    The index stands for an entry without a name. What it has no more counts, as a folder does, if
    it must not be read.

    That of a further working tree, or of a repository with a name of its own, is taken to lie
    where the repository does, that of a submodule where its name says.
    """
    depth = index_depth(delta)
    new = b"" if depth is None else index_content(delta)  # few of thousands are one
    if depth is None or not new:
        return []
    top = delta.path.ancestor(depth)
    is_there = os.path.lexists(f"{top.absolute}/{CONFIG}")
    old = read_content(delta.old, max_bytes=MAX_INDEX_BYTES) or b""
    place, found = top.ancestor(max(depth - 1, 0)), dict[SafePath, bytes]()
    if (module := module_depth(delta.path)) is not None:
        # It usually lies where its name says, from the repository around it.
        inner = (name for name in delta.path.parts[depth + 1 : module] if name != MODULES)
        place = place.at((*place.parts, *inner))
    # The settings of a new one are among the changes: what it says with either size counts.
    for hash_size in (hash_size_in(top.absolute),) if is_there else HASH_SIZES:
        for entry in _new_entries(old, new, hash_size):
            if not entry.name:  # of a shared part, which says the name
                found[delta.path] = b""
                continue
            names = os.fsdecode(entry.name).removesuffix("/").split("/")
            digest = b"" if entry.name.endswith(b"/") else entry.hash(hash_size)
            found[place.at((*place.parts, *names))] = digest
        for name in _gone_names(old, new, hash_size):
            path = place.at((*place.parts, *os.fsdecode(name).split("/")))
            if path.gate.pattern(path, "read"):  # `git add` would store it anew
                found[path] = b""
    return list(found.items())


def _new_entries(old: bytes, new: bytes, hash_size: int) -> list[GitIndexEntry]:
    """The entries that an index did not have before; none of one that is none with such hashes."""
    with suppress(ValueError, IndexError):
        before = read_index(old, hash_size).entries if old else []
        entries, known = read_index(new, hash_size).entries, set(before)
        nameless = [entry for entry in entries if not entry.name]
        # They count by their order. Of a new index, the shared part is new too, and names them.
        if not old or nameless == [entry for entry in before if not entry.name]:
            nameless = []
        return nameless + [entry for entry in entries if entry.name and entry not in known]
    return []


def _gone_names(old: bytes, new: bytes, hash_size: int) -> set[bytes]:
    """The names that an index has no more."""
    with suppress(ValueError, IndexError):
        before = {entry.name for entry in read_index(old, hash_size).entries} if old else set()
        return before - {entry.name for entry in read_index(new, hash_size).entries} - {b""}
    return set()


def index_depth(delta: Delta) -> int | None:
    """How many names lead to the repository whose index it is; None where it is none."""
    is_one = delta.kind == "file" and INDEX.match(fold(delta.path.name))
    return repository_depth(delta.path) if is_one else None


def index_content(delta: Delta) -> bytes:
    """What it says now; b"" where that cannot be had."""
    return read_content(delta.new, delta.digest, MAX_INDEX_BYTES) or b""
