"""The files of a store: made private, locked while opened, set aside when broken."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from toolcrib.core.errors import StorageFailure

Identity = tuple[int, int]
LOCK_SECONDS = 5.0
SIDE_FILES = ("-wal", "-shm")


def prepare(path: Path) -> None:
    """Make the folder (0700) and the empty file (0600) where they are missing.

    A file that is there is never opened here: closing it would drop the locks that
    SQLite holds on it in this process, and another process could take its log away.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def identity(path: Path) -> Identity | None:
    """Which file stands at the path now; None when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - on the way of every transaction
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from opening the store or setting it aside meanwhile.

    Raises:
        StorageFailure: another process held the lock for `LOCK_SECONDS`.
    """
    try:
        import fcntl
    except ImportError:  # Windows: renaming an open file fails there, which protects as well
        yield
        return
    handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise StorageFailure(
                        f"Another process has been opening the store {path} for too long.",
                        hint="Look for a toolcrib process that hangs, and end it.",
                    ) from None
                time.sleep(0.01)
        yield
    finally:
        os.close(handle)


def set_aside(path: Path) -> Path:
    """Rename a broken store and its side files; returns the new name of the main file.

    The side files go first: were the process killed in between, the main file is still
    found broken and set aside next time, and nothing gets lost.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    aside = path.with_name(f"{path.name}.corrupt-{stamp}")
    for suffix in (*SIDE_FILES, ""):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{suffix}").rename(f"{aside}{suffix}")
    return aside
