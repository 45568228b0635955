"""Folders of our own that are locked as long as a process needs them, and swept when it died."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.system.file_locks import NOT_INHERITED, take_lock
from toolcrib.system.removal import remove


@dataclass(slots=True)
class LockedFolder:
    """One of them; blocking to remove.

    Attributes:
        path: where it is.
    """

    path: Path
    _lock: int = field(repr=False)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        remove(self.path)
        self.release()

    def release(self) -> None:
        """Let go of the lock, so that others may take or remove it; the folder stays."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def open_locked(path: str | Path, flags: int) -> int:
    """Open a file or folder and take its lock; -1 where somebody else has that.

    Raises:
        OSError: it cannot be opened.
    """
    fd = os.open(path, flags | NOT_INHERITED, 0o600)
    if take_lock(fd):
        return fd
    os.close(fd)
    return -1
