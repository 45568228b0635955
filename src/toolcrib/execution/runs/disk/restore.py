"""Putting back, on the files themselves, what a run must not have changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress

from toolcrib.execution.runs.disk.opener import holder_of
from toolcrib.execution.runs.disk.removal import FOLDER
from toolcrib.files.staged_entries import (
    PREFIX,
    Fetch,
    build_tree,
    remove_tree,
    rename,
    set_mode,
    status_of,
)
from toolcrib.files.tree_images import Image
from toolcrib.system.ids import random_id


def put_back(
    top: int, way: str, tree: Sequence[Image], fetch: Fetch, check: Callable[[], None]
) -> bool:
    """Make a place look as it did; whether that worked.

    Args:
        top: a descriptor of the root.
        way: the names from there, joined by "/".
        tree: what stood there, the place itself first; empty for nothing.
        fetch: gives back contents.
        check: called between two steps.
    """
    if any(i.kind == "other" or (i.kind == "file" and not i.digest) for i in tree):
        return False
    *folders, name = way.split("/")
    held = os.dup(top)
    try:
        for folder in folders:
            if status_of(held, folder) is None:
                if not tree:
                    return True
                os.mkdir(folder, dir_fd=held)
            inner = os.open(folder, FOLDER, dir_fd=held)
            os.close(held)
            held = inner
        _swap(held, name, tree, fetch, check)
    except OSError:
        return False
    finally:
        os.close(held)
    return True


def _swap(
    folder: int, name: str, tree: Sequence[Image], fetch: Fetch, check: Callable[[], None]
) -> None:
    """Put a tree, or nothing, where something else may stand."""
    new, old = (f"{PREFIX}{random_id(8)}.{end}" for end in ("new", "old"))
    try:
        if tree:
            build_tree(folder, new, tree, fetch, check)
        if status_of(folder, name) is not None:
            rename(folder, name, folder, old)
        if tree:
            rename(folder, new, folder, name)
    finally:
        for left in (new, old):
            with suppress(OSError):
                remove_tree(folder, left)


def cover(top: int, ways: Sequence[str]) -> list[str]:
    """Make empty folders, over which a boundary can be put; those that were made."""
    made = []
    for way in ways:
        with suppress(OSError), holder_of(top, way) as (folder, name):
            os.mkdir(name, dir_fd=folder)
            made.append(way)
    return made


def uncover(top: int, ways: Sequence[str]) -> None:
    """Remove folders that are still empty."""
    for way in ways:
        with suppress(OSError), holder_of(top, way) as (folder, name):
            os.rmdir(name, dir_fd=folder)


def disarm(top: int, way: str) -> bool:
    """Take the setuid and setgid bits from a file; whether that worked."""
    with suppress(OSError), holder_of(top, way) as (folder, name):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        set_mode(folder, name, stat.S_IMODE(status.st_mode) & 0o1777)
        return True
    return False
