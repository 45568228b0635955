"""Held runs: rows of the store, one for each run whose changes wait for a decision."""

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
MOST = 32
"""Held runs of a store; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Held:
    """A run that waits.

    Attributes:
        id: also the name of its folder.
        time: when it was held, in seconds since 1970.
        tool, session: who ran it.
        kind: "overlay": its changes stand in its folder; "step": a step of the undo log took
            them back, and undoing that makes them again.
        since: see `disk.upper.Upper`.
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


def add(connection: sqlite3.Connection, held: Held) -> None:
    """Write a row."""
    connection.execute(
        f"INSERT INTO held_run ({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)",  # noqa: S608
        (
            held.id,
            held.time,
            held.tool,
            held.session,
            held.kind,
            held.since,
            json.dumps(held.roots),
            held.step,
            held.size,
        ),
    )


def find(connection: sqlite3.Connection, run: str) -> Held | None:
    """One row."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM held_run WHERE id = ?", (run,))  # noqa: S608
    return next(map(_of_row, rows), None)


def every(connection: sqlite3.Connection) -> list[Held]:
    """All, the newest first."""
    statement = f"SELECT {COLUMNS} FROM held_run ORDER BY time DESC, id"  # noqa: S608
    return [_of_row(row) for row in connection.execute(statement)]


def drop(connection: sqlite3.Connection, runs: Iterable[str]) -> None:
    """Forget rows."""
    connection.executemany("DELETE FROM held_run WHERE id = ?", [(run,) for run in runs])


def too_many(found: Iterable[Held], oldest: float, most_bytes: int) -> list[Held]:
    """Those that have expired, or for which there is no room."""
    total, gone = 0, []
    for number, held in enumerate(found):
        total += held.size
        if held.time < oldest or number >= MOST or (total > most_bytes and number):
            gone.append(held)
    return gone


def _of_row(row: tuple[str, float, str, str, str, int, str, int, int]) -> Held:
    run, time, tool, session, kind, since, roots, step, size = row
    return Held(
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
