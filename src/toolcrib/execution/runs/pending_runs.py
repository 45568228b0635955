"""Pending runs: rows of the store, one for each run whose changes wait for a decision."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from toolcrib.state.database import Schema

SCHEMA = Schema(
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
    ),
)
COLUMNS = "id, time, tool, session, kind, since, roots, step, bytes"
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


def add(connection: sqlite3.Connection, pending: PendingRun) -> None:
    """Write a row."""
    connection.execute(
        f"INSERT INTO held_run ({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)",  # noqa: S608
        (
            pending.id,
            pending.time,
            pending.tool,
            pending.session,
            pending.kind,
            pending.since,
            json.dumps(pending.roots),
            pending.step,
            pending.size,
        ),
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


def too_many(found: Iterable[PendingRun], oldest: float, max_bytes: int) -> list[PendingRun]:
    """Those that have expired, or for which there is no room."""
    total, gone = 0, []
    for number, pending in enumerate(found):
        total += pending.size
        if pending.time < oldest or number >= MAX_PENDING or (total > max_bytes and number):
            gone.append(pending)
    return gone


def _of_row(row: tuple[str, float, str, str, str, int, str, int, int]) -> PendingRun:
    run, time, tool, session, kind, since, roots, step, size = row
    return PendingRun(
        run,
        time,
        tool,
        session,
        "step" if kind == "step" else "overlay",
        since,
        tuple(json.loads(roots)),
        step,
        size,
    )
