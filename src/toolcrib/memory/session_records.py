"""Records of conversations: what each was about, what was done in it, and what comes next."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from toolcrib.core.context import AGENT_MARK, Services
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.memory.memory_records import Origin, storable
from toolcrib.memory.synced_index import IndexedRow, SyncedIndex
from toolcrib.memory.times import DAY
from toolcrib.retrieval.entries import IndexEntry
from toolcrib.retrieval.indexes import Indexes
from toolcrib.state.store import Area, Schema, Store

SCHEMA = Schema(
    "session_records",
    (
        """
        CREATE TABLE session_record (
            id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL UNIQUE,
            project INTEGER NOT NULL, parts TEXT NOT NULL, notes TEXT NOT NULL,
            source TEXT NOT NULL, outside INTEGER NOT NULL, started REAL NOT NULL,
            changed REAL NOT NULL, turn INTEGER NOT NULL,
            version INTEGER NOT NULL, stale INTEGER NOT NULL, gone INTEGER NOT NULL
        );
        CREATE INDEX record_project ON session_record (project, turn) WHERE NOT gone;
        CREATE INDEX record_stale ON session_record (id) WHERE stale;
        """,
        "ALTER TABLE session_record ADD COLUMN private INTEGER NOT NULL DEFAULT 1;",
    ),
)
SELECT = (
    "SELECT id, session, project, parts, notes, source, outside, private, started, changed,"
    " version, gone FROM session_record"
)
PARTS = ("task", "done", "pending", "decisions", "next")
MAX_PART_CHARS = 8000
MAX_NOTES = 50
MAX_NOTE_CHARS = 2000
MAX_RECORDS = 2000
"""Records that are kept; the ones changed longest ago go first."""
STALE_SECONDS = 3 * DAY
MIN_SCORE = 0.15


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """What is kept of one conversation. `parts` are texts by the names in `PARTS`.

    One that nobody summarized has no parts: it was begun by what was done in it.
    """

    id: int
    session: str
    project: int
    parts: Mapping[str, str]
    notes: tuple[str, ...] = ()
    source: str = ""
    outside: bool = False
    started: float = 0.0
    changed: float = 0.0
    private: bool = False

    @property
    def title(self) -> str:
        """What it was about, in its own words."""
        return next(filter(None, (*(self.parts.get(p, "") for p in PARTS), *self.notes)), "")

    def is_stale(self, now: float) -> bool:
        """Whether much may have changed since."""
        return now - self.changed > STALE_SECONDS

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return {
            "id": self.id,
            **{part: self.parts.get(part, "") for part in PARTS},
            "notes": list(self.notes),
            "source": self.source,
            "outside": self.outside,
            "started": self.started,
            "changed": self.changed,
        }


class SessionRecords:
    """A service: the records of this user's conversations, for any number of processes.

    Args:
        rows: where they are kept.
        indexes: the indexes of this toolbox.
    """

    def __init__(self, rows: Area, indexes: Indexes) -> None:
        self._rows = rows
        self._index = SyncedIndex(rows, "session_record", indexes, "sessions", _indexed)

    @classmethod
    def open(cls, services: Services) -> Self:
        """The records in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.use(Indexes))

    async def close(self) -> None:
        """End what runs in the background."""
        await self._index.close()

    async def save(
        self,
        session: str,
        project: int,
        origin: Origin,
        parts: Mapping[str, str] | None = None,
        note: str = "",
    ) -> SessionRecord:
        """Keep a summary, or a note, of a conversation.

        Args:
            session: the conversation.
            project: of it.
            origin: where what is said comes from.
            parts: those that are given take the place of what was there.
            note: is put before the others.

        Raises:
            BadInput: something is too long.
        """
        given = {name: text.strip() for name, text in (parts or {}).items() if text.strip()}
        if any(len(text) > MAX_PART_CHARS for text in given.values()):
            raise BadInput(
                f"Each part of a summary has at most {MAX_PART_CHARS:,} characters.",
                hint="Say what matters, in short sentences.",
            )
        if len(note) > MAX_NOTE_CHARS:
            raise BadInput(
                f"A note has at most {MAX_NOTE_CHARS:,} characters, not {len(note):,}.",
                hint="Say what matters, in a sentence or two.",
            )

        def write(connection: sqlite3.Connection) -> SessionRecord:
            now = time.time()
            row = connection.execute(f"{SELECT} WHERE session = ?", (session,)).fetchone()
            known = SessionRecord(0, session, project, {}) if row is None else _record(row)
            if row is not None and row[-1]:
                known = SessionRecord(known.id, session, known.project, {}, started=now)
            after = replace(
                known,
                parts={**known.parts, **given},
                notes=tuple(dict.fromkeys((*filter(None, (note,)), *known.notes)))[:MAX_NOTES],
                source=origin.source if origin.outside else known.source,
                outside=known.outside or (origin.outside and bool(given or note)),
                private=known.private or (origin.private and bool(given or note)),
            )
            connection.execute(
                "INSERT INTO session_record (session, project, parts, notes, source, outside,"
                " private, started, changed, turn, version, stale, gone)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,"
                " (SELECT coalesce(max(turn), 0) + 1 FROM session_record), 1, 1, 0)"
                " ON CONFLICT (session) DO UPDATE SET project = excluded.project,"
                " parts = excluded.parts, notes = excluded.notes, source = excluded.source,"
                " outside = excluded.outside, private = excluded.private,"
                " started = excluded.started, gone = 0,"
                " changed = excluded.changed, turn = excluded.turn,"
                " version = version + 1, stale = 1",
                (session, after.project, _packed(dict(after.parts)), _packed(list(after.notes)),
                 storable(after.source), after.outside, after.private, after.started or now, now),
            )  # fmt: skip
            _trim(connection)
            row = connection.execute(f"{SELECT} WHERE session = ?", (session,)).fetchone()
            return _record(row)

        return await self._rows.write(write)

    async def touch(self, session: str, project: int, began: float) -> None:
        """Note that a conversation goes on; one without a record gets an empty one.

        Args:
            session: the conversation.
            project: of it.
            began: when its first call came, as far as that was seen.
        """
        if AGENT_MARK in session:
            return  # what an agent did belongs to the conversation that sent it

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO session_record (session, project, parts, notes, source, outside,"
                " private, started, changed, turn, version, stale, gone)"
                " VALUES (?1, ?2, '{}', '[]', '', 0, 0,"
                " ?3, ?4, (SELECT coalesce(max(turn), 0) + 1 FROM session_record), 1, 1, 0)"
                " ON CONFLICT (session) DO UPDATE SET started = min(started, excluded.started),"
                " changed = excluded.changed, turn = excluded.turn WHERE NOT gone",
                (session, project, began, time.time()),
            )
            _trim(connection)

        await self._rows.write(write)

    async def get(self, number: int | None, project: int, session: str) -> SessionRecord:
        """One by its number; else the last of a project that is not this conversation's own.

        Raises:
            NotFound: there is none.
        """
        condition, values = "id = ?", (number,)
        if number is None:
            condition, values = "project = ? AND session != ?", (project, session)  # type: ignore[assignment]
        sql = f"{SELECT} WHERE NOT gone AND {condition} ORDER BY turn DESC LIMIT 1"
        row = await self._rows.first(sql, values)
        if row is None:
            what = (
                "no earlier session of this project" if number is None else f"no session {number}"
            )
            raise NotFound(f"There is {what}.", hint="search_sessions lists what there is.")
        return _record(row)

    async def own(self, session: str) -> SessionRecord | None:
        """That of one conversation."""
        row = await self._rows.first(f"{SELECT} WHERE NOT gone AND session = ?", (session,))
        return None if row is None else _record(row)

    async def listed(
        self, project: int | None = None, limit: int = 8, besides: str = ""
    ) -> list[SessionRecord]:
        """The last ones, of a project or of all."""
        sql = (
            f"{SELECT} WHERE NOT gone AND session != ?"
            " AND (?2 IS NULL OR project = ?2) ORDER BY turn DESC LIMIT ?3"
        )
        return [_record(row) for row in await self._rows.fetch(sql, (besides, project, limit))]

    async def search(
        self, question: str, limit: int, project: int | None = None
    ) -> tuple[list[SessionRecord], tuple[str, ...]]:
        """Those that a question is about, best first, with what the caller should know.

        Raises:
            StorageFailure: the index cannot be used.
        """
        prefixes = [] if project is None else [f"{project}/"]
        scores, notes = await self._index.scores(question, limit * 3, prefixes, MIN_SCORE)
        ids = list(scores)
        sql = f"{SELECT} WHERE NOT gone AND id IN (SELECT value FROM json_each(?))"  # noqa: S608 - ours
        rows = await self._rows.fetch(sql, (json.dumps(ids),))
        found = {row[0]: _record(row) for row in rows}
        return [found[number] for number in ids if number in found][:limit], notes

    async def clear(self, project: int | None = None) -> int:
        """Remove those of a project for good, or all; how many there were."""

        def write(connection: sqlite3.Connection) -> int:
            if project is None:
                return connection.execute("DELETE FROM session_record").rowcount
            return connection.execute(
                "UPDATE session_record SET gone = 1, stale = 1, version = version + 1,"
                " parts = '{}', notes = '[]' WHERE NOT gone AND project = ?",
                (project,),
            ).rowcount

        count = await self._rows.write(write)
        await (self._index.clear() if project is None else self._index.catch_up())
        return count


def _packed(value: object) -> str:
    return storable(json.dumps(value, ensure_ascii=False))


def _trim(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM session_record WHERE gone AND NOT stale")
    connection.execute(
        "UPDATE session_record SET gone = 1, stale = 1, version = version + 1 WHERE id IN"
        " (SELECT id FROM session_record WHERE NOT gone ORDER BY turn DESC LIMIT -1 OFFSET ?)",
        (MAX_RECORDS,),
    )


def _record(row: Sequence[Any]) -> SessionRecord:
    number, session, project, parts, notes, source, *rest, _, _ = row
    outside, private, started, changed = rest
    return SessionRecord(
        number, session, project, json.loads(parts), tuple(json.loads(notes)), source,
        bool(outside), started, changed, bool(private),
    )  # fmt: skip


def _indexed(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[IndexedRow]:
    """What the index is to hold of some records."""
    sql = f"{SELECT} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - ours
    rows = connection.execute(sql, (json.dumps(list(numbers)),)).fetchall()
    found = []
    for row in rows:
        record = _record(row)
        key = f"{record.project}/{record.id}"
        # One without a text has an entry too: the index and the table are compared by number.
        text = "\n\n".join((*record.parts.values(), *record.notes)).strip() or "-"
        title = record.parts.get("task", "")[:200]
        entry = None if row[-1] else IndexEntry.note(key, text, title=title, date=record.changed)
        found.append(IndexedRow(record.id, row[-2], key, entry))
    return found
