"""The log: one row for each step, kept in the store that all processes share."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from toolcrib.core.call import well_formed
from toolcrib.core.errors import Conflict
from toolcrib.state.database import Schema

SCHEMA = Schema(
    "undo",
    (
        """
        CREATE TABLE step (
            id INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL UNIQUE,
            time REAL NOT NULL, tool TEXT NOT NULL, session TEXT NOT NULL, owner TEXT NOT NULL,
            state TEXT NOT NULL, undoable INTEGER NOT NULL, note TEXT NOT NULL,
            undoes TEXT NOT NULL, paths TEXT NOT NULL, bytes INTEGER NOT NULL,
            record BLOB NOT NULL
        );
        CREATE INDEX step_unfinished ON step (owner) WHERE state <> 'done';
        """,
    ),
)
COLUMNS = (
    "id, token, time, tool, session, owner, state, undoable, note, undoes, paths, bytes, record"
)
MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Step:
    """One change that was made, as a row of the log.

    Attributes:
        id: its number; 0 before it has one.
        token: what its names on disk have in common.
        time: seconds since 1970.
        tool: what made it.
        session: the conversation.
        owner: the process, see `Owner`.
        state: "open" while it is made, "made" while what is old is still there, "done".
        undoable: whether undo can bring everything back.
        note: what it cannot, and why.
        undoes: the steps that it took back.
        paths: what was changed, absolute.
        size: bytes that were newly kept for it.
        record: the pieces of work, packed.
    """

    id: int
    token: str
    time: float
    tool: str
    session: str
    owner: str
    state: str
    undoable: bool
    note: str
    undoes: tuple[int, ...]
    paths: tuple[str, ...]
    size: int
    record: bytes

    @classmethod
    def of_row(cls, row: tuple[Any, ...]) -> Step:
        """From a row with all `COLUMNS`."""
        known = dict(zip(COLUMNS.split(", "), row, strict=True))
        return cls(
            id=known["id"],
            token=known["token"],
            time=known["time"],
            tool=known["tool"],
            session=known["session"],
            owner=known["owner"],
            state=known["state"],
            undoable=bool(known["undoable"]),
            note=known["note"],
            undoes=tuple(json.loads(known["undoes"])),
            paths=tuple(json.loads(known["paths"])),
            size=known["bytes"],
            record=known["record"],
        )

    def row(self) -> tuple[Any, ...]:
        """All columns but the number."""
        undoes, paths = json.dumps(self.undoes), json.dumps(self.paths)
        head = (self.token, self.time, self.tool, self.session, self.owner, self.state)
        note = well_formed(self.note)  # a name in it need not be text
        return (*head, int(self.undoable), note, undoes, paths, self.size, self.record)


def pack(pieces: Iterable[dict[str, Any]]) -> bytes:
    """Pieces of work for a row."""
    return zlib.compress(json.dumps(list(pieces), separators=(",", ":")).encode("ascii"), 1)


def unpack(record: bytes) -> list[dict[str, Any]]:
    """The inverse of `pack`."""
    found: list[dict[str, Any]] = json.loads(zlib.decompress(record))
    return found


def save(connection: sqlite3.Connection, step: Step) -> int:
    """Write a step, new or known by its token; its number."""
    row = step.row()
    names = COLUMNS.removeprefix("id, ").split(", ")
    pairs = ", ".join(f"{name} = ?" for name in names)
    known = connection.execute(
        f"UPDATE step SET {pairs} WHERE token = ? RETURNING id",  # noqa: S608
        (*row, step.token),
    ).fetchone()
    if known is not None:
        return int(known[0])
    marks = ", ".join("?" * len(row))
    made = connection.execute(
        f"INSERT INTO step ({', '.join(names)}) VALUES ({marks})",  # noqa: S608
        row,
    )
    return int(made.lastrowid or 0)


def last(connection: sqlite3.Connection) -> int:
    """The highest number of a step, made or being made; 0 for none."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM step").fetchone()[0])


def refuse_rivals(
    connection: sqlite3.Connection, step: Step, chosen: int, gone: Container[str]
) -> None:
    """Refuse to take back what another process takes back, or has changed since.

    Args:
        connection: in a transaction that writes, so that only one of two comes through.
        step: the undo that is about to begin.
        chosen: the last step when it was decided what to take back.
        gone: tokens of steps that were given up and are still in the log.

    Raises:
        Conflict: there is such a step.
    """
    rows = connection.execute(
        "SELECT token, tool, undoes, paths FROM step "
        "WHERE (id > ?1 OR state = 'open') AND token <> ?2",
        (chosen, step.token),
    )
    for token, tool, undoes, paths in rows:
        again = not set(json.loads(undoes)).isdisjoint(step.undoes)
        if token not in gone and (again or _meet(step.paths, json.loads(paths))):
            raise Conflict(
                f"{tool} changes the same files at this moment.",
                hint="list_changes shows what is left to undo.",
            )


def _meet(some: Iterable[str], others: Iterable[str]) -> bool:
    """Whether a path of one is a path of the other, or lies in one."""
    one, other = set(some), set(others)
    return any(_lies_in(path, b) for a, b in ((one, other), (other, one)) for path in a)


def _lies_in(path: str, folders: Container[str]) -> bool:
    while path:
        if path in folders:
            return True
        path = path.rpartition("/")[0]
    return False


def drop(connection: sqlite3.Connection, token: str) -> None:
    """Forget a step that was taken back at once."""
    connection.execute("DELETE FROM step WHERE token = ?", (token,))


def finish(connection: sqlite3.Connection, token: str, note: str) -> None:
    """Nothing of what is old is left on disk."""
    connection.execute("UPDATE step SET state = 'done', note = ? WHERE token = ?", (note, token))


def forget(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Drop finished steps."""
    connection.executemany(
        "DELETE FROM step WHERE id = ? AND state = 'done'", [(number,) for number in numbers]
    )


def find(connection: sqlite3.Connection, number: int) -> Step | None:
    """One step that was made."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM step WHERE id = ? AND state <> 'open'",  # noqa: S608
        (number,),
    )
    return next(map(Step.of_row, rows), None)


def unfinished(connection: sqlite3.Connection) -> list[Step]:
    """Steps that some process is making, or died over."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM step WHERE state <> 'done'")  # noqa: S608
    return [Step.of_row(row) for row in rows]


def claim(connection: sqlite3.Connection, step: Step, owner: str) -> bool:
    """Take over a step of a dead process, unless another was quicker."""
    done = connection.execute(
        "UPDATE step SET owner = ? WHERE token = ? AND owner = ?", (owner, step.token, step.owner)
    )
    return done.rowcount == 1


def newest(connection: sqlite3.Connection, *, before: int = 0, count: int = 200) -> list[Step]:
    """Steps that were made, the last first; those before a number, if one is given."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM step WHERE state <> 'open' AND (?1 = 0 OR id < ?1) "  # noqa: S608
        "ORDER BY id DESC LIMIT ?2",
        (before, count),
    )
    return [Step.of_row(row) for row in rows]


def prune(connection: sqlite3.Connection, oldest: float, most_bytes: int) -> None:
    """Forget steps that are too old, too many, or for whose contents there is no room."""
    rows = connection.execute(
        "SELECT id, time, bytes FROM step WHERE state = 'done' ORDER BY id DESC"
    ).fetchall()
    total, gone = 0, []
    for number, (step, time, size) in enumerate(rows):
        total += size
        if time < oldest or number >= MOST_STEPS or total > most_bytes:
            gone.append((step,))
    connection.executemany("DELETE FROM step WHERE id = ?", gone)


def records(connection: sqlite3.Connection) -> list[bytes]:
    """The packed work of all steps."""
    return [row[0] for row in connection.execute("SELECT record FROM step")]


def digests(packed: Iterable[bytes]) -> Iterator[str]:
    """The kept contents that steps need."""
    for record in packed:
        for piece in unpack(record):
            images = [*piece.get("tree", ()), *([piece["before"]] if "before" in piece else ())]
            yield from (image[8] for image in images if image[8])
