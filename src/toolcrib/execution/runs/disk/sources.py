"""What is taken from the upper side of an overlay: contents of files, and their attributes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from toolcrib.core.errors import Conflict
from toolcrib.execution.runs.disk.opener import open_file
from toolcrib.execution.runs.disk.removal import opened
from toolcrib.files.handles import fingerprint
from toolcrib.files.staged_entries import Attributes
from toolcrib.files.tree_images import PIECE, ZEROS, pieces

MARK = "user.overlay."
"""How the names of an overlay's own marks start."""
MOST_ATTRIBUTES = 64


@dataclass(frozen=True, slots=True)
class FromUpper:
    """A file on the upper side as a source."""

    upper: Path
    parts: tuple[str, ...]
    mark: str

    def chunks(self) -> Iterator[bytes]:
        """See `Source`. Holes come as `ZEROS`, and are not read."""
        with opened(self.upper) as top:
            fd = open_file(top, self.parts)
        try:
            status = os.fstat(fd)
            if fingerprint(status) != self.mark:
                raise Conflict(
                    f"{'/'.join(self.parts)} of the held run has changed.", hint="Run it again."
                )
            if status.st_blocks * 512 < status.st_size - PIECE:
                yield from _sparse(fd, status.st_size)
            else:
                yield from pieces(fd, lambda: None)
        finally:
            os.close(fd)


def _sparse(fd: int, size: int) -> Iterator[bytes]:
    """A file with holes; each hole begins and ends at a multiple of `PIECE`."""
    at = 0
    while at < size:
        try:
            data = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            data = size
        while data - at >= PIECE:
            yield ZEROS
            at += PIECE
        if at < size:
            piece = os.pread(fd, PIECE, at)
            if not piece:
                return
            at += len(piece)
            yield piece


def attributes_of(folder: int, name: str) -> Attributes:
    """The extended attributes that a program gave to a file."""
    found: list[tuple[str, bytes]] = []
    place = f"/proc/self/fd/{folder}/{name}"
    with suppress(OSError):
        for attribute in os.listxattr(place, follow_symlinks=False)[:MOST_ATTRIBUTES]:
            if attribute.startswith("user.") and not attribute.startswith(MARK):
                with suppress(OSError):
                    found.append((attribute, os.getxattr(place, attribute, follow_symlinks=False)))
    return tuple(sorted(found))
