"""The files of a store: made private, locked while opened, set aside when broken."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from toolcrib.core.errors import StorageFailure, ToolError

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
    late = StorageFailure(
        f"Another process has been opening the store {path} for too long.",
        hint="Look for a toolcrib process that hangs, and end it.",
    )
    with held(Path(f"{path}.lock"), LOCK_SECONDS, late):
        yield


@contextlib.contextmanager
def held(
    path: Path, seconds: float, late: ToolError, check: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold a lock that other processes take by the same path; it ends with the process.

    Args:
        path: an empty file, made if it is missing.
        seconds: how long another process is waited for.
        late: what is raised then.
        check: called while waiting, to stop by raising.
    """
    try:
        import fcntl
    except ImportError:  # Windows: renaming an open file fails there, which protects as well
        yield
        return
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        until, wait = time.monotonic() + seconds, 0.001
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                check()
                if time.monotonic() > until:
                    raise late from None
                time.sleep(wait)
                wait = min(wait * 2, 0.05)
        yield
    finally:
        os.close(handle)


def is_ours(handle: int) -> bool:
    """Take a file that no living process has taken; it is let go when it is closed."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


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
