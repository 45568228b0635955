"""Files and folders of our own that runs need: in the data folder, for us alone."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from toolcrib.core.config import data_folder

SCRATCH = "run-"
SETTLED = 60.0
"""Seconds after which a folder that nobody holds is not one that is just being made."""


def empty_file() -> str:
    """A file that nobody can read and that has nothing in it."""
    path = data_folder() / "sandbox" / "nothing"
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o000))
    return os.path.realpath(path)


@dataclass(slots=True)
class Scratch:
    """A folder for temporary files of one run, locked as long as it is needed."""

    path: str
    _lock: int

    @classmethod
    def make(cls) -> Self:
        """A new one; those of servers that died are removed."""
        top = data_folder() / "sandbox"
        top.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in top.glob(f"{SCRATCH}*"):
            with suppress(OSError):
                # Numbers of processes say nothing: another server may not see ours.
                if time.time() - old.stat().st_mtime > SETTLED and (lock := _locked(old)) >= 0:
                    cls(str(old), lock).remove()
        path = tempfile.mkdtemp(prefix=SCRATCH, dir=os.path.realpath(top))
        return cls(path, _locked(path))

    def remove(self) -> None:
        """Remove it with all that is in it; blocking."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.let_go()

    def let_go(self) -> None:
        """Let others remove it."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _locked(folder: str | Path) -> int:
    """A descriptor that holds the lock of a folder; -1 where somebody else does."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return -1
    return fd
