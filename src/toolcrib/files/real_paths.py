"""Paths with their links followed, while others may exchange those."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from toolcrib.core.errors import Conflict
from toolcrib.files.path_rules import is_absolute, slashed

MAX_LINKS = 40
"""On the way of one path, as the kernel follows them."""
MAX_LOOKS = 100
"""At a path whose links are exchanged meanwhile; one look fails half of the time at the worst."""


def real_path(path: str | Path) -> str:
    """Absolute, every link followed.

    Raises:
        Conflict: another program exchanges folders and links on the way all the time.
        OSError: the system cannot tell.
    """
    for _ in range(MAX_LOOKS):
        try:
            return slashed(os.path.realpath(path))
        except OSError as error:
            # What was a link when it was looked at is none any more when it is read.
            if error.errno not in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise
    raise Conflict(f"{path} is being changed by another program.", hint="Look at it again.")


def target_of(place: str) -> str:
    """Where the link at a place leads, as written; "" for what is none, or not there."""
    with suppress(OSError, ValueError):  # most are no links
        return os.readlink(place)  # noqa: PTH115 - of very many
    return ""


def follow(
    start: str, path: str, target: Callable[[str], str] = target_of
) -> tuple[str, list[str]]:
    """Where a path leads, with every link followed, and the links on the way.

    Args:
        start: the folder that a relative one begins at, absolute, without links.
        path: relative or absolute; it need not exist.
        target: where the link at a place leads; "" for none.

    Returns:
        The absolute path, "" where it leads in a circle; and the places of the links, each
        without a link on its own way.
    """
    if sys.platform == "win32":
        return real_path(f"{start}/{path}" if not is_absolute(path) else path), []
    place, links = "" if path.startswith("/") else start.rstrip("/"), list[str]()
    names = path.split("/")[::-1]
    while names:
        name = names.pop()
        if name == "..":
            place = place.rpartition("/")[0]
        if name in ("", ".", ".."):
            continue
        inner = target(f"{place}/{name}")
        if not inner:
            place = f"{place}/{name}"
            continue
        links.append(f"{place}/{name}")
        if len(links) > MAX_LINKS:
            return "", links
        names += inner.split("/")[::-1]
        place = "" if inner.startswith("/") else place
    return place or "/", links
