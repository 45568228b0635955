"""What runs keep: folders in the data folder, and rows of the store for pending runs."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from toolcrib.core.config import data_folder
from toolcrib.core.errors import Busy, StorageFailure
from toolcrib.files.changes.snapshots import CONTENTS
from toolcrib.state.store import Schema, held, make_private
from toolcrib.system.locked_folders import LockedFolder, open_locked
from toolcrib.system.removal import remove
from toolcrib.system.threads import content_id, random_id

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError


SCHEMA: Schema = Schema(
    "held_runs",
    (
        """
        CREATE TABLE held_run (
            id TEXT PRIMARY KEY, time REAL NOT NULL, tool TEXT NOT NULL, session TEXT NOT NULL,
            kind TEXT NOT NULL, since INTEGER NOT NULL, roots TEXT NOT NULL,
            step INTEGER NOT NULL, bytes INTEGER NOT NULL
        );
        CREATE INDEX held_run_time ON held_run (time);
        """,
        "ALTER TABLE held_run ADD COLUMN for_user INTEGER NOT NULL DEFAULT 0;",
        "ALTER TABLE held_run ADD COLUMN preview TEXT NOT NULL DEFAULT '';",
    ),
)
COLUMNS = "id, time, tool, session, kind, since, roots, step, bytes, for_user, preview"
MAX_PENDING = 32
"""Pending runs of a store; the oldest go first."""


@dataclass(frozen=True, slots=True)
class PendingRun:
    """A run whose changes wait for `Runs.apply` or `Runs.drop`.

    Attributes:
        id: also the name of its folder.
        time: since when it waits, in seconds since 1970.
        tool, session: who ran it.
        kind: "overlay": its changes stand in its folder; "step": a step of the undo log took
            them back, and undoing that makes them again.
        since: see `overlay_upper.OverlayUpper`.
        roots: the real paths of the roots, in the order of the folders.
        step: that step's number.
        size: bytes on disk.
        for_user: whether only the user can make the changes.
        preview: what a person sees of them before they allow them.
    """

    id: str
    time: float
    tool: str
    session: str
    kind: Literal["overlay", "step"]
    since: int
    roots: tuple[str, ...]
    step: int = 0
    size: int = 0
    for_user: bool = False
    preview: str = ""


def add(connection: sqlite3.Connection, pending: PendingRun) -> None:
    """Write a row."""
    row = astuple(pending)
    values = (*row[:6], json.dumps(pending.roots), *row[7:])
    connection.execute(
        f"INSERT INTO held_run ({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)",  # noqa: S608
        values,
    )


def find(connection: sqlite3.Connection, run: str) -> PendingRun | None:
    """One row."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM held_run WHERE id = ?", (run,))  # noqa: S608
    return next(map(_of_row, rows), None)


def all_pending(connection: sqlite3.Connection) -> list[PendingRun]:
    """All, the newest first."""
    statement = f"SELECT {COLUMNS} FROM held_run ORDER BY time DESC, id"  # noqa: S608
    return [_of_row(row) for row in connection.execute(statement)]


def drop(connection: sqlite3.Connection, runs: Iterable[str]) -> None:
    """Forget rows."""
    connection.executemany("DELETE FROM held_run WHERE id = ?", [(run,) for run in runs])


def leave_to_user(connection: sqlite3.Connection, run: str, preview: str) -> None:
    """Let nobody but the user make the changes of one, who sees this of it."""
    connection.execute("UPDATE held_run SET for_user = 1, preview = ? WHERE id = ?", (preview, run))


def too_many(found: Iterable[PendingRun], oldest: float, max_bytes: int) -> list[PendingRun]:
    """Those that have expired, or for which there is no room."""
    total, gone = 0, []
    for number, pending in enumerate(found):
        total += pending.size
        if pending.time < oldest or number >= MAX_PENDING or (total > max_bytes and number):
            gone.append(pending)
    return gone


def _of_row(row: tuple[Any, ...]) -> PendingRun:
    values = (*row[:6], tuple(json.loads(row[6])), *row[7:9], bool(row[9]), row[10])
    return PendingRun(*values)


LOCK = "lock"
MEMORY = "memory-"
OLD_SECONDS = 7 * 86_400.0
"""After so long a folder of another store that nobody holds is taken for forgotten."""
LOCK_SECONDS = 10.0


class RunFolder(LockedFolder):
    """One run's folder: for each root of the workspace an upper and a work directory."""

    @property
    def id(self) -> str:
        """That of the run."""
        return self.path.name

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


class Folders:
    """The folders of the runs of one store.

    Args:
        store: the file of the store; None for one in memory.
    """

    def __init__(self, store: Path | None) -> None:
        name = content_id(str(store.absolute())) if store else f"{MEMORY}{secrets.token_hex(6)}"
        self.top = data_folder() / "runs"
        self.base: Path = self.top / name
        self._in_memory = store is None

    def make(self) -> RunFolder:
        """A new one.

        Raises:
            StorageFailure: the disk is full, or the system refuses.
        """
        try:
            make_private(self.base)
            with self._guarded():
                path = self.base / random_id(8)
                path.mkdir(mode=0o700)
                lock = open_locked(path / LOCK, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise StorageFailure(
                f"A run needs a folder in {self.base}: {error.strerror or error}.",
                hint="Free some space there, or set TOOLCRIB_DATA to another folder.",
            ) from None
        return RunFolder(path, lock)

    def find(self, run: str) -> RunFolder | None:
        """The folder of a held run, locked; None where it is gone.

        Raises:
            Busy: another call is at work on it.
        """
        path = self.base / run
        try:
            lock = open_locked(path / LOCK, os.O_RDWR)
        except OSError:
            return None
        if lock < 0:
            raise Busy(f"Another call is working on the held run {run}.", hint="Wait for it.")
        return RunFolder(path, lock)

    def abandoned(self) -> list[RunFolder]:
        """Folders that no process holds, locked now; they may still be those of held runs."""
        if not self.base.is_dir():
            return []
        with self._guarded():
            return [folder for folder in _each_taken(self.base) if folder is not None]

    def sweep_others(self) -> None:
        """Remove what dead processes with stores in memory, or forgotten stores, left."""
        for base in self.top.iterdir() if self.top.is_dir() else ():
            if base == self.base or not base.is_dir():
                continue
            with suppress(OSError):
                forgotten = time.time() - base.stat().st_mtime > OLD_SECONDS
                if base.name.startswith(MEMORY) or forgotten:
                    _remove_base(base)

    def close(self) -> None:
        """Drop what a store in memory would not find again."""
        if self._in_memory:
            remove(self.base)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        late = Busy("Another toolcrib process has been holding the folder of runs for too long.")
        with held(self.base / LOCK, LOCK_SECONDS, late):
            yield


def _taken(path: Path) -> RunFolder | None:
    with suppress(OSError):
        lock = open_locked(path / LOCK, os.O_RDWR | os.O_CREAT)
        return RunFolder(path, lock) if lock >= 0 else None
    return None


def _each_taken(base: Path) -> list[RunFolder | None]:
    """The folders of runs in there, locked now; None for each that somebody holds."""
    return [_taken(path) for path in base.iterdir() if path.is_dir() and path.name != CONTENTS]


def _remove_base(base: Path) -> None:
    taken = _each_taken(base)
    for folder in filter(None, taken):
        folder.remove()
    if all(taken):
        remove(base)
