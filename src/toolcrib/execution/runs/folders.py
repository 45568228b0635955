"""Folders for runs in toolcrib's data folder; those of dead processes are found and removed."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.core.config import data_folder
from toolcrib.core.errors import Busy, StorageFailure
from toolcrib.execution.runs.removal import remove
from toolcrib.state.store_files import held, make_private
from toolcrib.system.ids import content_id, random_id

LOCK = "lock"
MEMORY = "memory-"
OLD_SECONDS = 7 * 86_400.0
"""After so long a folder of another store that nobody holds is taken for forgotten."""
LOCK_SECONDS = 10.0


@dataclass(slots=True)
class RunFolder:
    """One run's folder: for each root of the workspace an upper and a work directory.

    While this process lives, it holds a lock in the folder, unless that is let go.
    """

    id: str
    path: Path
    _lock: int = field(repr=False)

    def overlay(self, number: int, mode: int) -> tuple[Path, Path]:
        """The upper and the work folder for a root, made. The root is seen with `mode`."""
        inside = self.path / str(number)
        inside.mkdir(mode=0o700)
        upper, work = inside / "upper", inside / "work"
        upper.mkdir()
        upper.chmod(mode | 0o700)
        work.mkdir(mode=0o700)
        return upper, work

    def upper(self, number: int) -> Path:
        """Where the changes of a root are."""
        return self.path / str(number) / "upper"

    def drop_work(self) -> None:
        """Remove what only the overlay itself needed."""
        for inside in self.path.iterdir():
            if inside.is_dir():
                remove(inside / "work")

    def release(self) -> None:
        """Let go of the lock; the folder stays."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def remove(self) -> None:
        """Remove it."""
        remove(self.path)
        self.release()


class Folders:
    """The folders of the runs of one store.

    Args:
        store: the file of the store; None for one in memory.
    """

    def __init__(self, store: Path | None) -> None:
        name = content_id(str(store.absolute())) if store else f"{MEMORY}{secrets.token_hex(6)}"
        self.top = data_folder() / "runs"
        self.base = self.top / name
        self._in_memory = store is None

    def make(self) -> RunFolder:
        """A new one.

        Raises:
            StorageFailure: the disk is full, or the system refuses.
        """
        try:
            make_private(self.base)
            with self._guarded():
                run = random_id(8)
                path = self.base / run
                path.mkdir(mode=0o700)
                lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                take_lock(lock)
        except OSError as error:
            raise StorageFailure(
                f"A run needs a folder in {self.base}: {error.strerror or error}.",
                hint="Free some space there, or set TOOLCRIB_DATA to another folder.",
            ) from None
        return RunFolder(run, path, lock)

    def find(self, run: str) -> RunFolder | None:
        """The folder of a held run, locked; None where it is gone.

        Raises:
            Busy: another call is at work on it.
        """
        path = self.base / run
        try:
            lock = os.open(path / LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        if not take_lock(lock):
            os.close(lock)
            raise Busy(f"Another call is working on the held run {run}.", hint="Wait for it.")
        return RunFolder(run, path, lock)

    def abandoned(self) -> list[RunFolder]:
        """Folders that no process holds, locked now; they may still be those of held runs."""
        found: list[RunFolder] = []
        if not self.base.is_dir():
            return found
        with self._guarded():
            for path in self.base.iterdir():
                if path.is_dir():
                    folder = _taken(path)
                    if folder is not None:
                        found.append(folder)
        return found

    def sweep_others(self) -> None:
        """Remove what dead processes with stores in memory, or forgotten stores, left."""
        for base in self.top.iterdir() if self.top.is_dir() else ():
            if base == self.base or not base.is_dir():
                continue
            with suppress(OSError):
                forgotten = time.time() - base.stat().st_mtime > OLD_SECONDS
                if base.name.startswith(MEMORY) or forgotten:
                    _remove_base(base)

    def close(self, alive: Collection[str] = ()) -> None:
        """Drop what a store in memory would not find again."""
        if self._in_memory and not alive:
            remove(self.base)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        late = Busy("Another toolcrib process has been holding the folder of runs for too long.")
        with held(self.base / LOCK, LOCK_SECONDS, late):
            yield


def take_lock(handle: int) -> bool:
    """Take a lock that others see, without waiting; whether it was free."""
    try:
        import fcntl
    except ImportError:  # Windows has no overlays either
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _taken(path: Path) -> RunFolder | None:
    with suppress(OSError):
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if take_lock(lock):
            return RunFolder(path.name, path, lock)
        os.close(lock)
    return None


def _remove_base(base: Path) -> None:
    folders = [path for path in base.iterdir() if path.is_dir()]
    taken = [_taken(path) for path in folders]
    for folder in taken:
        if folder is not None:
            folder.remove()
    if all(taken):
        remove(base)
