"""Second names of protected files: a hard link called `notes.txt` that is the `.env`.

Nothing in a file says what other names it has. So when a file with more than one name is
opened, the names beneath the root are looked through for a protected one of the same
file. That is bounded and kept for a moment: a protected name beyond the bounds, outside
the root, or made within that moment is not noticed.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Iterator

from toolcrib.files.protection import Protection

MOST_ENTRIES = 20_000
"""Names looked at, those nearest to the root first."""
SECONDS = 0.5
"""How long the look may take."""
KEPT = 2.0
"""Seconds for which what was found is used again."""


class Twins:
    """Tells whether a file is a protected one under another name."""

    def __init__(self, protection: Protection) -> None:
        self._protection = protection
        self._known: dict[str, tuple[float, dict[tuple[int, int], str]]] = {}

    def pattern(self, root: str, status: os.stat_result) -> str:
        """The pattern that protects another name of a file beneath a root; "" for none.

        Args:
            root: absolute, without links.
            status: that of the open file.
        """
        if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
            return ""
        until, found = self._known.get(root, (0.0, {}))
        if time.monotonic() > until:
            found = dict(self._protected(root))
            self._known[root] = (time.monotonic() + KEPT, found)
        return found.get((status.st_dev, status.st_ino), "")

    def _protected(self, root: str) -> Iterator[tuple[tuple[int, int], str]]:
        """Device and inode of each protected file that has several names."""
        top = tuple(part for part in root.split("/") if part)
        folders: deque[tuple[tuple[str, ...], bool]] = deque([((), False)])
        stop, seen = time.monotonic() + SECONDS, 0
        while folders and seen < MOST_ENTRIES and time.monotonic() < stop:
            parts, inherited = folders.popleft()
            try:
                # By name: what a race can add here is one more file that is not read.
                with os.scandir("/".join((root.rstrip("/"), *parts)) or "/") as scan:
                    entries = list(scan)
            except OSError:
                continue
            seen += len(entries)
            for entry in entries:
                way = (*parts, entry.name)
                depth = len(way) if inherited else 1
                pattern = self._protection.match((*top, *way), depth, "read")
                if entry.is_dir(follow_symlinks=False):
                    folders.append((way, inherited or bool(pattern)))
                elif pattern:
                    yield from _names(entry, pattern)


def _names(entry: os.DirEntry[str], pattern: str) -> Iterator[tuple[tuple[int, int], str]]:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return
    if status.st_nlink > 1:
        yield (status.st_dev, status.st_ino), pattern
