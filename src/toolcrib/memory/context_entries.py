"""Context entries: what was decided, changed, learnt or went wrong, for the work that follows."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.memory.memory_records import (
    ENTRY_TYPES,
    MAX_CONTENT_CHARS,
    MAX_TITLE_CHARS,
    EntryDraft,
    Origin,
    storable,
    where_visible,
)
from toolcrib.memory.synced_index import IndexedRow, SyncedIndex
from toolcrib.memory.times import DAY
from toolcrib.retrieval.entries import IndexEntry
from toolcrib.retrieval.indexes import Indexes
from toolcrib.state.store import Area, Schema, Store

SCHEMA = Schema(
    "context",
    (
        """
        CREATE TABLE context_entry (
            id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, type TEXT NOT NULL,
            title TEXT NOT NULL, content TEXT NOT NULL, tags TEXT NOT NULL, digest BLOB NOT NULL,
            count INTEGER NOT NULL, turn INTEGER NOT NULL, source TEXT NOT NULL,
            outside INTEGER NOT NULL, created REAL NOT NULL, used REAL NOT NULL, expires REAL,
            version INTEGER NOT NULL, stale INTEGER NOT NULL, gone INTEGER NOT NULL
        );
        CREATE UNIQUE INDEX context_digest ON context_entry (scope, digest) WHERE NOT gone;
        CREATE INDEX context_turn ON context_entry (scope, turn) WHERE NOT gone;
        CREATE INDEX context_stale ON context_entry (id) WHERE stale;
        """,
        "ALTER TABLE context_entry ADD COLUMN private INTEGER NOT NULL DEFAULT 1;",
    ),
)
COLUMNS = (
    "id, scope, type, title, content, tags, count, source, outside, private, created, used, gone"
)
MAX_ENTRIES = 1000
"""Entries of one scope; those that were met longest ago go first."""
SESSION_SECONDS = DAY
"""For so long an entry of one conversation is there."""
HALF_LIFE = 7 * DAY
RECENCY, FREQUENCY = 0.7, 0.3
BESIDE = 0.3
"""What recency and frequency together count beside relevance."""
OFTEN = 10
"""An entry met so often is as frequent as can be."""
MIN_SCORE = 0.15
PATTERN_USES = 3
"""A tool that was used more often is a pattern."""
MAX_EVENTS = 1000


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """An entry. `count` is how often it was met; times are in seconds since 1970."""

    id: int
    scope: str
    type: str
    title: str
    content: str
    tags: tuple[str, ...]
    count: int
    source: str
    outside: bool
    created: float
    used: float
    private: bool = True

    def weight(self, now: float) -> float:
        """How recent and frequent it is, from 0 to 1."""
        recency: float = 0.5 ** (max(now - self.used, 0.0) / HALF_LIFE)
        frequency = min(math.log1p(self.count) / math.log1p(OFTEN), 1.0)
        return RECENCY * recency + FREQUENCY * frequency

    def to_json(self) -> dict[str, Any]:
        """The entry as JSON values."""
        names = ("id", "type", "title", "content", "count", "source", "outside", "created", "used")
        found = {name: getattr(self, name) for name in names}
        return {**found, "scope": self.scope.partition(":")[0], "tags": list(self.tags)}


@dataclass(frozen=True, slots=True)
class EntryList:
    """Some entries, and how many there are of their kind."""

    entries: tuple[ContextEntry, ...]
    count: int
    notes: tuple[str, ...] = ()


class ContextEntries:
    """A service: the entries of this user, for any number of processes.

    Args:
        rows: where they are kept.
        indexes: the indexes of this toolbox.
    """

    def __init__(self, rows: Area, indexes: Indexes) -> None:
        self._rows = rows
        self._index = SyncedIndex(rows, "context_entry", indexes, "context", _indexed)

    @classmethod
    def open(cls, services: Services) -> Self:
        """The entries in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.use(Indexes))

    async def close(self) -> None:
        """End what runs in the background."""
        await self._index.close()

    async def save(
        self, drafts: Sequence[EntryDraft], scope: str, origin: Origin
    ) -> list[ContextEntry]:
        """Keep entries, all or none. One that is there already is counted once more.

        Raises:
            BadInput: one has no title, or is too long.
        """
        for draft in drafts:
            _check(draft)

        def write(connection: sqlite3.Connection) -> list[ContextEntry]:
            saved = [_save(connection, draft, scope, origin) for draft in drafts]
            _trim(connection, scope)
            return saved

        return await self._rows.write(write)

    async def listed(
        self,
        scopes: Sequence[str] | None,
        type_: str = "",
        limit: int = 20,
        offset: int = 0,
        *,
        outside: bool | None = None,
    ) -> EntryList:
        """Entries, the last met first; see `Memories.listed` for the arguments."""
        where, values = where_visible(scopes)
        if type_:
            where, values = f"{where} AND type = ?", [*values, type_]
        if outside is not None:
            where, values = f"{where} AND outside = ?", [*values, outside]

        def read(connection: sqlite3.Connection) -> EntryList:
            (count,) = connection.execute(
                f"SELECT count(*) FROM context_entry WHERE {where}",  # noqa: S608 - ours
                values,
            ).fetchone()
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM context_entry WHERE {where}"  # noqa: S608 - ours
                " ORDER BY turn DESC LIMIT ? OFFSET ?",
                (*values, limit, offset),
            )
            return EntryList(tuple(_entry(row) for row in rows), count)

        return await self._rows.read(read)

    async def search(
        self, question: str, limit: int, scopes: Sequence[str], type_: str = ""
    ) -> EntryList:
        """Entries that a question is about; recent and frequent ones before others.

        Raises:
            StorageFailure: the index cannot be used.
        """
        scores, notes = await self._index.scores(
            question, limit * 4, [f"{scope}/" for scope in scopes], MIN_SCORE
        )
        where, values = where_visible(scopes)
        sql = (
            f"SELECT {COLUMNS} FROM context_entry WHERE {where}"  # noqa: S608 - ours
            " AND id IN (SELECT value FROM json_each(?))"
        )
        rows = await self._rows.fetch(sql, (*values, json.dumps(list(scores))))
        now = time.time()
        met = [entry for entry in map(_entry, rows) if not type_ or entry.type == type_]
        met.sort(key=lambda e: -(scores[e.id] * (1 - BESIDE) + e.weight(now) * BESIDE))
        return EntryList(tuple(met[:limit]), len(met), notes)

    async def counts(self, scopes: Sequence[str] | None) -> dict[tuple[str, str], int]:
        """How many there are, by the kind of scope and type."""
        where, values = where_visible(scopes)
        sql = f"SELECT scope, type, count(*) FROM context_entry WHERE {where} GROUP BY 1, 2"  # noqa: S608
        rows = await self._rows.fetch(sql, values)
        found: dict[tuple[str, str], int] = {}
        for scope, type_, count in rows:
            key = scope.partition(":")[0], type_
            found[key] = found.get(key, 0) + count
        return found

    async def delete(self, number: int, scopes: Sequence[str]) -> ContextEntry:
        """Delete one.

        Raises:
            NotFound: there is none of that number.
        """
        where, values = where_visible(scopes)

        def write(connection: sqlite3.Connection) -> ContextEntry:
            row = connection.execute(
                f"SELECT {COLUMNS} FROM context_entry WHERE id = ? AND {where}",  # noqa: S608
                (number, *values),
            ).fetchone()
            if row is None:
                raise NotFound(
                    f"There is no entry {number} here.", hint="list_context shows the ids."
                )
            _hide(connection, "id = ?", number)
            return _entry(row)

        return await self._rows.write(write)

    async def clear(self, scopes: Sequence[str] | None = None) -> int:
        """Remove those of some scopes for good, None of all; how many there were."""
        where, values = where_visible(scopes)
        everything = scopes is None

        def write(connection: sqlite3.Connection) -> int:
            (count,) = connection.execute(
                f"SELECT count(*) FROM context_entry WHERE {where}",  # noqa: S608 - ours
                values,
            ).fetchone()
            if everything:
                connection.execute("DELETE FROM context_entry")
            else:
                _hide(connection, where, *values)
                connection.execute(
                    "UPDATE context_entry SET title = '', content = '', tags = '[]' WHERE gone"
                )
            return int(count)

        count = await self._rows.write(write)
        if everything:
            await self._index.clear()
        else:
            await self._index.catch_up()
        return count


def collected(
    events: Sequence[Mapping[str, Any]], config_changes: Sequence[str] = ()
) -> list[EntryDraft]:
    """What is worth keeping of many events: patterns, settings, decisions, and one summary.

    Args:
        events: each with `type` and, as `data`, a text or values such as `tool` and `title`.
        config_changes: settings that were changed, each in a line.

    Raises:
        BadInput: there are too many.
    """
    if len(events) > MAX_EVENTS or len(config_changes) > MAX_EVENTS:
        raise BadInput(f"At most {MAX_EVENTS:,} events are taken at once.", hint="Send fewer.")
    uses: dict[str, int] = {}
    kinds: dict[str, int] = {}
    drafts: list[EntryDraft] = []
    for event in events:
        kind, data = str(event.get("type", "")), event.get("data", "")
        kinds[kind or "event"] = kinds.get(kind or "event", 0) + 1
        values = data if isinstance(data, Mapping) else {"title": str(data)}
        name = str(values.get("tool") or values.get("tool_name") or values.get("name") or "")
        if "tool" in kind and name:
            uses[name] = uses.get(name, 0) + 1
        title = str(values.get("title") or values.get("decision") or values.get("text") or "")
        if kind in ENTRY_TYPES and kind not in ("summary", "pattern") and title:
            content = str(values.get("content", ""))[:MAX_CONTENT_CHARS]
            drafts.append(EntryDraft(kind, title[:MAX_TITLE_CHARS], content))
    drafts += [
        EntryDraft("pattern", f"{name} is used often", f"{count} times in one conversation")
        for name, count in uses.items()
        if count > PATTERN_USES
    ]
    drafts += [
        EntryDraft("configuration", change.strip()[:MAX_TITLE_CHARS])
        for change in config_changes
        if change.strip()
    ]
    summary = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    summary = ", ".join(
        filter(None, (summary, f"{len(config_changes)} settings changed" if config_changes else ""))
    )
    titles = "\n".join(draft.title for draft in drafts)[:MAX_CONTENT_CHARS]
    return [*drafts, EntryDraft("summary", summary[:MAX_TITLE_CHARS], titles)]


def _check(draft: EntryDraft) -> None:
    if not draft.title.strip():
        raise BadInput("The title is empty.", hint="Say in a few words what happened.")
    if len(draft.title) > MAX_TITLE_CHARS or len(draft.content) > MAX_CONTENT_CHARS:
        raise BadInput(
            f"An entry has a title of at most {MAX_TITLE_CHARS} characters and a content of at "
            f"most {MAX_CONTENT_CHARS:,}.",
            hint="Say what matters; write the rest to a file and name its path.",
        )


def _save(
    connection: sqlite3.Connection, draft: EntryDraft, scope: str, origin: Origin
) -> ContextEntry:
    now, tags = time.time(), storable(json.dumps(list(draft.tags), ensure_ascii=False))
    title, content = storable(draft.title.strip()), storable(draft.content.strip())
    identity = f"{draft.type}\0{title.casefold()}\0{content}"
    mark = blake2b(identity.encode(), digest_size=16).digest()
    (turn,) = connection.execute("SELECT coalesce(max(turn), 0) + 1 FROM context_entry").fetchone()
    expires = now + SESSION_SECONDS if scope.startswith("session:") else None
    row = connection.execute(
        f"""
        INSERT INTO context_entry (scope, type, title, content, tags, digest, count, turn, source,
            outside, private, created, used, expires, version, stale, gone)
        VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, 1, 1, 0)
        ON CONFLICT (scope, digest) WHERE NOT gone DO UPDATE SET count = count + 1,
            turn = excluded.turn, used = excluded.used, expires = excluded.expires,
            source = CASE WHEN excluded.outside THEN source ELSE excluded.source END,
            outside = outside AND excluded.outside, private = private OR excluded.private
        RETURNING {COLUMNS}
        """,  # noqa: S608 - ours
        (scope, draft.type, title, content, tags, mark, turn, storable(origin.source),
         origin.outside, origin.private, now, now, expires),
    ).fetchone()  # fmt: skip
    return _entry(row)


def _trim(connection: sqlite3.Connection, scope: str) -> None:
    """Hide what has ended or is too much; what is out of the index too goes for good."""
    connection.execute("DELETE FROM context_entry WHERE gone AND NOT stale")
    _hide(connection, "expires <= ?", time.time())
    _hide(
        connection,
        "id IN (SELECT id FROM context_entry WHERE scope = ? AND NOT gone"
        " ORDER BY turn DESC LIMIT -1 OFFSET ?)",
        scope,
        MAX_ENTRIES,
    )


def _hide(connection: sqlite3.Connection, where: str, *values: Any) -> None:
    connection.execute(
        "UPDATE context_entry SET gone = 1, stale = 1, version = version + 1"  # noqa: S608 - ours
        f" WHERE NOT gone AND {where}",
        values,
    )


def _entry(row: Sequence[Any]) -> ContextEntry:
    number, scope, type_, title, content, tags, count, source, *rest, _ = row
    outside, private, created, used = rest
    return ContextEntry(
        number, scope, type_, title, content, tuple(json.loads(tags)), count, source,
        bool(outside), created, used, bool(private),
    )  # fmt: skip


def _indexed(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[IndexedRow]:
    """What the index is to hold of some entries."""
    rows = connection.execute(
        f"SELECT {COLUMNS}, version FROM context_entry"  # noqa: S608 - ours
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(numbers)),),
    ).fetchall()
    found = []
    for *row, gone, version in rows:
        entry = _entry([*row, gone])
        key = f"{entry.scope}/{entry.id}"
        text = f"{entry.title}\n{entry.content}".strip()
        title = " ".join((entry.type.replace("_", " "), *entry.tags))
        note = None if gone else IndexEntry.note(key, text, title=title, date=entry.created)
        found.append(IndexedRow(entry.id, version, key, note))
    return found
