"""Memories: facts that outlast a conversation, with their source, their history and a way back."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Self

from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.memory.memory_records import (
    MAX_TAGS,
    USER,
    ChangeKind,
    Memory,
    MemoryChange,
    MemoryDraft,
    MemoryHit,
    MemoryHits,
    MemoryList,
    Origin,
    Saved,
    check_draft,
    storable,
    where_visible,
)
from toolcrib.memory.similarity import (
    MIN_LIKENESS,
    MIN_SHARED,
    digest,
    likeness,
    same_subject,
    sketch,
    trigrams,
)
from toolcrib.memory.synced_index import IndexedRow, SyncedIndex
from toolcrib.memory.times import DAY
from toolcrib.retrieval.entries import IndexEntry
from toolcrib.retrieval.indexes import Indexes
from toolcrib.state.store import Area, Schema, Store

SCHEMA = Schema(
    "memories",
    (
        """
        CREATE TABLE memory (
            id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, path TEXT,
            fact TEXT NOT NULL, tags TEXT NOT NULL, digest BLOB NOT NULL,
            source TEXT NOT NULL, outside INTEGER NOT NULL,
            created REAL NOT NULL, changed REAL NOT NULL, expires REAL,
            version INTEGER NOT NULL, stale INTEGER NOT NULL, gone INTEGER NOT NULL
        );
        CREATE UNIQUE INDEX memory_digest ON memory (scope, digest)
            WHERE NOT gone AND path IS NULL;
        CREATE UNIQUE INDEX memory_path ON memory (path) WHERE NOT gone AND path IS NOT NULL;
        CREATE INDEX memory_stale ON memory (id) WHERE stale;
        CREATE INDEX memory_expires ON memory (expires) WHERE expires IS NOT NULL AND NOT gone;
        CREATE TABLE memory_sketch (
            hash INTEGER NOT NULL, memory INTEGER NOT NULL, PRIMARY KEY (hash, memory)
        ) WITHOUT ROWID;
        CREATE TABLE memory_change (
            id INTEGER PRIMARY KEY AUTOINCREMENT, step INTEGER, memory INTEGER NOT NULL,
            kind TEXT NOT NULL, time REAL NOT NULL, session TEXT NOT NULL, caller TEXT NOT NULL,
            before TEXT, undone INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX change_memory ON memory_change (memory);
        """,
        "ALTER TABLE memory ADD COLUMN private INTEGER NOT NULL DEFAULT 1;",
    ),
)
COLUMNS = (
    "id, scope, path, fact, tags, source, outside, private, created, changed, expires, "
    "version, gone"
)
MAX_CHANGES = 50
"""Changes of one memory that its history has."""
GONE_SECONDS = 30 * DAY
"""For so long what was deleted can be brought back."""
SESSION_SECONDS = 7 * DAY
"""For so long a memory of one conversation is there, as the conversation itself."""
CANDIDATES = 16
MAX_COMPARED = 5
MAX_SIMILAR = 3
MAX_SEEN = 5000
MAX_PARTS = 24
"""Parts of a question up to which they are looked for as they stand."""


class Memories:
    """A service: the memories of this user, for any number of processes.

    Args:
        rows: where they are kept.
        indexes: the indexes of this toolbox.
    """

    def __init__(self, rows: Area, indexes: Indexes) -> None:
        self._rows = rows
        self._seen: OrderedDict[tuple[str, int], int] = OrderedDict()
        self._index = SyncedIndex(rows, "memory", indexes, "memories", _indexed)

    @classmethod
    def open(cls, services: Services) -> Self:
        """The memories in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.use(Indexes))

    async def close(self) -> None:
        """End what runs in the background."""
        await self._index.close()

    async def save(self, draft: MemoryDraft, origin: Origin, visible: Sequence[str] = ()) -> Saved:
        """Keep a fact. An equal one is not kept twice, and one of its subject gives way to it.

        Args:
            draft: what is to be kept.
            origin: where it comes from.
            visible: scopes in which equal and similar ones are looked for, beside its own.

        Raises:
            BadInput: it is empty or too long.
        """
        checked = check_draft(draft)
        scopes = tuple(dict.fromkeys((checked.scope, *visible)))
        done = await self._rows.write(lambda c: _save(c, checked, origin, scopes), quick=True)
        self._index.follow_soon()
        return done

    async def save_all(self, drafts: Sequence[MemoryDraft], origin: Origin) -> list[Saved]:
        """Keep many facts, all or none, as one step that can be taken back."""
        checked = [check_draft(draft) for draft in drafts]

        def write(connection: sqlite3.Connection) -> list[Saved]:
            step = _next_step(connection)
            return [
                _save(connection, draft, origin, (draft.scope,), "imported", step)
                for draft in checked
            ]

        done = await self._rows.write(write)
        self._index.follow_soon()
        return done

    async def update(
        self,
        number: int,
        scopes: Sequence[str] | None,
        origin: Origin,
        **changes: Any,
    ) -> tuple[Memory, Memory]:
        """Change a memory; what it was stays in its history.

        Args:
            number: of the memory.
            scopes: in which it may be; None is anywhere.
            origin: where the change comes from.
            changes: new values of `fact`, `tags`, `expires` or `path`.

        Returns:
            The memory before, and as it is now.

        Raises:
            NotFound: there is none of that number.
            BadInput: the new fact is empty, too long, or there already.
        """
        return (await self.edit([number], scopes, origin, lambda m: replace(m, **changes)))[0]

    async def edit(
        self,
        numbers: Sequence[int],
        scopes: Sequence[str] | None,
        origin: Origin,
        changed: Callable[[Memory], Memory],
    ) -> list[tuple[Memory, Memory]]:
        """Change memories from what they say at that moment, all or none, as one step.

        What another process writes meanwhile is not lost: `changed` sees it.

        Raises:
            NotFound: one is not there.
            BadInput: a new one is empty, too long, or there already; or `changed` refuses it.
        """

        def write(connection: sqlite3.Connection) -> list[tuple[Memory, Memory]]:
            step = _next_step(connection)
            return [
                _edited(connection, _existing(connection, number, scopes), changed, origin, step)
                for number in numbers
            ]

        done = await self._rows.write(write)
        self._index.follow_soon()
        return done

    async def delete(
        self, numbers: Sequence[int], scopes: Sequence[str] | None, origin: Origin
    ) -> list[Memory]:
        """Delete memories, as one step that can be taken back for a while.

        Raises:
            NotFound: one is not there; then none is deleted.
        """

        def write(connection: sqlite3.Connection) -> list[Memory]:
            found = [_existing(connection, number, scopes) for number in numbers]
            step = _next_step(connection)
            for memory in found:
                _hide(connection, memory.id, gone=True)
                _note(connection, memory.id, "deleted", origin, memory, step)
            _forget_old(connection)
            return found

        done = await self._rows.write(write)
        self._index.follow_soon()
        return done

    async def get(self, number: int, scopes: Sequence[str] | None = None) -> Memory:
        """One by its number.

        Raises:
            NotFound: there is none.
        """
        return await self._rows.read(lambda c: _existing(c, number, scopes))

    async def listed(
        self,
        scopes: Sequence[str] | None = None,
        tag: str = "",
        limit: int = 50,
        offset: int = 0,
        *,
        outside: bool | None = None,
    ) -> MemoryList:
        """Memories, the last changed first.

        Args:
            scopes: those of which they may be; None is any.
            tag: in any case of letters; empty for all.
            limit: how many at most.
            offset: how many of the first are left out.
            outside: only those that may be outside text, or only others; None is both.
        """
        where, values = where_visible(scopes)
        if tag:
            where += " AND EXISTS (SELECT 1 FROM json_each(tags) WHERE lower(value) = lower(?))"
            values.append(tag.strip())
        if outside is not None:
            where += " AND outside = ?"
            values.append(outside)

        def read(connection: sqlite3.Connection) -> MemoryList:
            (count,) = connection.execute(
                f"SELECT count(*) FROM memory WHERE {where}",  # noqa: S608 - ours
                values,
            ).fetchone()
            page = f"{where} ORDER BY changed DESC, id DESC LIMIT ? OFFSET ?"
            return MemoryList(tuple(_selected(connection, page, *values, limit, offset)), count)

        return await self._rows.read(read)

    async def files(self) -> list[Memory]:
        """The memories that are files, by path."""
        where, values = where_visible((USER,))
        where += " AND path IS NOT NULL ORDER BY path"
        return await self._rows.read(lambda c: _selected(c, where, *values))

    def note_seen(self, session: str, memory: Memory) -> None:
        """Note that a conversation was shown a memory as it is."""
        self._seen[session, memory.id] = memory.version
        self._seen.move_to_end((session, memory.id))
        while len(self._seen) > MAX_SEEN:
            self._seen.popitem(last=False)

    def seen_version(self, session: str, number: int) -> int | None:
        """The version of a memory that a conversation was shown last, if it was shown."""
        return self._seen.get((session, number))

    async def search(
        self, question: str, limit: int, scopes: Sequence[str] | None, min_score: float
    ) -> MemoryHits:
        """The memories that a question is about, best first.

        Raises:
            StorageFailure: the index cannot be used.
        """
        await self._end_expired()
        prefixes = [f"{scope}/" for scope in scopes] if scopes is not None else []
        # A long one may be found by several of its passages.
        count = limit + limit // 2
        scores, notes = await self._index.scores(question, count, prefixes, min_score)
        found = await self._rows.read(lambda c: _by_ids(c, list(scores), scopes), quick=True)
        hits = [MemoryHit(found[number], scores[number]) for number in scores if number in found]
        if not hits:  # signs that are no words, as an emoji, are not in the index
            hits = await self._with_all(question.split(), limit, scopes)
        return MemoryHits(tuple(hits[:limit]), notes)

    async def _with_all(
        self, parts: Sequence[str], limit: int, scopes: Sequence[str] | None
    ) -> list[MemoryHit]:
        """The memories in which all parts of a question stand, the last changed first."""
        if not 0 < len(parts) <= MAX_PARTS:
            return []
        where, values = where_visible(scopes)
        where += " AND instr(lower(fact || ' ' || tags), lower(?))" * len(parts)
        where += " ORDER BY changed DESC LIMIT ?"
        values += [storable(part) for part in parts] + [limit]
        found = await self._rows.read(lambda c: _selected(c, where, *values))
        return [MemoryHit(memory, 1.0) for memory in found]

    async def _end_expired(self) -> None:
        """Take what has expired out of the index too."""
        now = time.time()
        due = "WHERE expires IS NOT NULL AND expires <= ? AND NOT gone"
        first = f"SELECT 1 FROM memory {due} LIMIT 1"  # noqa: S608 - ours
        end = f"UPDATE memory SET gone = 1, stale = 1, version = version + 1 {due}"  # noqa: S608
        if await self._rows.first(first, (now,), quick=True):
            await self._rows.execute(end, (now,))

    async def history(
        self, number: int, scopes: Sequence[str] | None
    ) -> tuple[Memory | None, list[MemoryChange]]:
        """What became of a memory: as it is now, if it is there, and its changes, oldest first.

        Raises:
            NotFound: there never was one.
        """

        def read(connection: sqlite3.Connection) -> tuple[Memory | None, list[MemoryChange]]:
            row = connection.execute(
                f"SELECT {COLUMNS} FROM memory WHERE id = ?",  # noqa: S608 - ours
                (number,),
            ).fetchone()
            if row is None or (scopes is not None and row[1] not in scopes):
                raise _missing(connection, number, scopes)
            rows = connection.execute(
                "SELECT id, kind, time, session, caller, before, undone FROM memory_change"
                " WHERE memory = ? ORDER BY id",
                (number,),
            ).fetchall()
            return (None if row[-1] else _memory(row)), [_change(found) for found in rows]

        return await self._rows.read(read)

    async def undo(self) -> list[tuple[str, Memory]]:
        """Take back the last step; the memories that it was about, each with what was done.

        Empty where nothing is left that can be taken back.
        """

        def write(connection: sqlite3.Connection) -> list[tuple[str, Memory]]:
            (step,) = connection.execute(
                "SELECT max(step) FROM memory_change WHERE NOT undone"
            ).fetchone()
            rows = connection.execute(
                "SELECT id, memory, kind, before FROM memory_change WHERE step = ?"
                " ORDER BY id DESC",
                (step,),
            ).fetchall()
            return [_take_back(connection, *row) for row in rows]

        done = await self._rows.write(write)
        self._index.follow_soon()
        return done

    async def clear(self) -> int:
        """Remove all memories with their history, for good; how many there were."""

        def write(connection: sqlite3.Connection) -> int:
            (count,) = connection.execute("SELECT count(*) FROM memory WHERE NOT gone").fetchone()
            for table in ("memory", "memory_sketch", "memory_change"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - ours
            return int(count)

        count = await self._rows.write(write)
        await self._index.clear()
        return count


def _save(
    connection: sqlite3.Connection,
    draft: MemoryDraft,
    origin: Origin,
    scopes: Sequence[str],
    kind: ChangeKind = "saved",
    step: int | None = None,
) -> Saved:
    now = time.time()
    mark = digest(draft.fact)
    if draft.is_own:
        origin = replace(origin, source=draft.source, outside=draft.outside, private=draft.private)
    elif draft.source or draft.outside:
        source = draft.source or origin.source
        origin = replace(origin, source=source, outside=origin.outside or draft.outside)
    if draft.path:
        known = _at(connection, draft.path)
        if known is not None:
            return _save_over(connection, known, draft, origin, step)
    equal = _equal(connection, mark, scopes) if not draft.path else None
    if equal is not None:
        return Saved(_confirmed(connection, equal, draft, origin), "known")
    hashes = sketch(draft.fact)
    similar = [] if draft.path else _similar(connection, draft.fact, hashes, scopes)
    may_replace = (m for m in similar if not draft.is_own and _may_replace(m, draft, origin))
    replaced = next(may_replace, None)
    if replaced is not None:
        after = replace(
            replaced,
            fact=draft.fact,
            tags=draft.tags or replaced.tags,
            expires=draft.expires,
        )
        memory = _write_over(connection, after, origin)
        _note(connection, memory.id, "updated", origin, replaced, step)
        rest = tuple(other for other in similar if other.id != memory.id)
        return Saved(memory, "replaced", replaced, rest)
    expires = draft.expires
    if expires is None and draft.scope.startswith("session:"):
        expires = now + SESSION_SECONDS
    created = now if draft.created is None else draft.created
    changed = created if draft.changed is None else draft.changed
    number = connection.execute(
        "INSERT INTO memory (scope, path, fact, tags, digest, source, outside, private, created,"
        " changed, expires, version, stale, gone)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1, 0)",
        (draft.scope, draft.path or None, draft.fact, _tags(draft.tags), mark, origin.source,
         origin.outside, origin.private, created, changed, expires),
    ).lastrowid  # fmt: skip
    assert number is not None
    _sketch(connection, number, hashes)
    _note(connection, number, kind, origin, None, step)
    memory = Memory(
        number, draft.scope, draft.fact, draft.tags, origin.source, origin.outside, created,
        changed, expires, 1, draft.path, origin.private,
    )  # fmt: skip
    return Saved(memory, "saved", similar=tuple(similar))


def _save_over(
    connection: sqlite3.Connection,
    known: Memory,
    draft: MemoryDraft,
    origin: Origin,
    step: int | None,
) -> Saved:
    """Save a file in the place of the one that has its path."""
    if known.fact == draft.fact:
        return Saved(known, "known")
    after = replace(known, fact=draft.fact, tags=draft.tags or known.tags)
    memory = _write_over(connection, after, origin)
    _note(connection, memory.id, "updated", origin, known, step)
    return Saved(memory, "replaced", known)


def _edited(
    connection: sqlite3.Connection,
    before: Memory,
    changed: Callable[[Memory], Memory],
    origin: Origin,
    step: int,
) -> tuple[Memory, Memory]:
    after = changed(before)
    checked = check_draft(MemoryDraft(after.fact, after.scope, after.tags, path=after.path))
    after = replace(after, fact=checked.fact, tags=checked.tags)
    twin = _twin(connection, after)
    if twin is not None:
        says = f"{after.path} is there" if after.path else f"Memory {twin.id} says that"
        hint = f"delete_memory {before.id} leaves that one alone."
        raise BadInput(f"{says} already.", hint="Choose another name." if after.path else hint)
    now = _write_over(connection, after, origin)
    _note(connection, before.id, "updated", origin, before, step)
    return before, now


def _may_replace(known: Memory, draft: MemoryDraft, origin: Origin) -> bool:
    """Whether a new fact stands in the place of a known one.

    What was read outside never takes the place of what was not.
    """
    allowed = known.scope == draft.scope and (known.outside or not origin.outside)
    return allowed and same_subject(known.fact, draft.fact)


def _confirmed(
    connection: sqlite3.Connection, known: Memory, draft: MemoryDraft, origin: Origin
) -> Memory:
    """A fact that was known, with what is new of it; said by the user, it is their own."""
    after = replace(
        known,
        tags=tuple(dict.fromkeys((*known.tags, *draft.tags)))[:MAX_TAGS],
        expires=known.expires if draft.expires is None else draft.expires,
        outside=known.outside and origin.outside,
    )
    if after == known:
        return known
    if not after.outside and known.outside:
        after = replace(after, source=origin.source)
    after = _write_over(connection, after, None)
    _note(connection, known.id, "updated", origin, known)
    return after


def _write_over(connection: sqlite3.Connection, memory: Memory, origin: Origin | None) -> Memory:
    """Write a memory in the place of what it was.

    Args:
        connection: within a transaction.
        memory: as it is to be.
        origin: where the change comes from; what comes from outside stays marked so. None
            leaves source and time as they are.
    """
    if origin is not None:
        memory = replace(
            memory,
            source=origin.source or (memory.source if memory.outside else ""),
            outside=memory.outside or origin.outside,
            private=memory.private or origin.private,
            changed=time.time(),
        )
    memory = replace(memory, version=memory.version + 1)
    connection.execute(
        "UPDATE memory SET path = ?, fact = ?, tags = ?, digest = ?, source = ?, outside = ?,"
        " private = ?, changed = ?, expires = ?, version = ?, stale = 1, gone = 0 WHERE id = ?",
        (memory.path or None, memory.fact, _tags(memory.tags), digest(memory.fact), memory.source,
         memory.outside, memory.private, memory.changed, memory.expires, memory.version, memory.id),
    )  # fmt: skip
    connection.execute("DELETE FROM memory_sketch WHERE memory = ?", (memory.id,))
    _sketch(connection, memory.id, sketch(memory.fact))
    return memory


def _hide(connection: sqlite3.Connection, number: int, *, gone: bool) -> None:
    connection.execute(
        "UPDATE memory SET gone = ?, version = version + 1, stale = 1 WHERE id = ?", (gone, number)
    )


def _take_back(
    connection: sqlite3.Connection, change: int, number: int, kind: str, before: str | None
) -> tuple[str, Memory]:
    """Undo one change."""
    connection.execute("UPDATE memory_change SET undone = 1 WHERE id = ?", (change,))
    (memory,) = _selected(connection, "id = ?", number)
    if before is None:
        _hide(connection, number, gone=True)
        return kind, memory
    old = replace(_parsed(before), version=memory.version)
    if _twin(connection, old) is not None:  # it was saved anew meanwhile
        _hide(connection, number, gone=True)
        return kind, memory
    return kind, _write_over(connection, old, None)


def _forget_old(connection: sqlite3.Connection) -> None:
    """Remove for good what was deleted, or ended, long ago."""
    oldest = time.time() - GONE_SECONDS
    rows = connection.execute(
        "SELECT id FROM memory WHERE (gone AND NOT stale AND id NOT IN (SELECT memory FROM"
        " memory_change WHERE kind = 'deleted' AND time > ?1 AND NOT undone)) OR expires < ?1",
        (oldest,),
    ).fetchall()
    for table, column in (
        ("memory", "id"),
        ("memory_sketch", "memory"),
        ("memory_change", "memory"),
    ):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", rows)  # noqa: S608 - ours


# Rows.


def _note(
    connection: sqlite3.Connection,
    number: int,
    kind: ChangeKind,
    origin: Origin,
    before: Memory | None,
    step: int | None = None,
) -> None:
    """Write a change down; one without a step is a step of its own."""
    packed = None if before is None else _packed(before)
    connection.execute(
        "INSERT INTO memory_change (step, memory, kind, time, session, caller, before)"
        " VALUES (coalesce(?, (SELECT coalesce(max(id), 0) + 1 FROM memory_change)),"
        " ?, ?, ?, ?, ?, ?)",
        (step, number, kind, time.time(), origin.session, origin.caller, packed),
    )
    if before is not None:
        connection.execute(
            "DELETE FROM memory_change WHERE memory = ?1 AND id <= (SELECT id FROM memory_change"
            " WHERE memory = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
            (number, MAX_CHANGES),
        )


def _next_step(connection: sqlite3.Connection) -> int:
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM memory_change").fetchone()
    return int(last) + 1


def _sketch(connection: sqlite3.Connection, number: int, hashes: Sequence[int]) -> None:
    if hashes:
        places = ", ".join(["(?, ?)"] * len(hashes))
        values = [value for mark in hashes for value in (mark, number)]
        connection.execute(f"INSERT OR IGNORE INTO memory_sketch VALUES {places}", values)  # noqa: S608


def _similar(
    connection: sqlite3.Connection, fact: str, hashes: Sequence[int], scopes: Sequence[str]
) -> list[Memory]:
    """Memories much like a fact, most alike first."""
    if not hashes:
        return []
    rows = connection.execute(
        _candidates(len(hashes)), (*hashes, min(MIN_SHARED, len(hashes)), MAX_COMPARED)
    ).fetchall()
    if not rows:
        return []
    own = trigrams(fact)
    alike = [(likeness(own, trigrams(text)), number) for number, text in rows]
    shares = {number: share for share, number in alike if share >= MIN_LIKENESS}
    if not shares:
        return []
    found = _by_ids(connection, list(shares), scopes).values()
    return sorted(found, key=lambda m: (-shares[m.id], -m.id))[:MAX_SIMILAR]


@cache
def _candidates(hashes: int) -> str:
    """The statement that finds facts with hashes in common, those with most of them first.

    Of each hash only the newest are looked at, so that 10,000 facts that are alike cost no more.
    """
    one = (
        "SELECT * FROM (SELECT memory FROM memory_sketch WHERE hash = ?"  # noqa: S608 - ours
        f" ORDER BY memory DESC LIMIT {CANDIDATES})"
    )
    return (
        "SELECT id, fact FROM memory JOIN (SELECT memory AS other, count(*) AS shared FROM ("  # noqa: S608
        + " UNION ALL ".join([one] * hashes)
        + ") GROUP BY memory HAVING shared >= ? ORDER BY shared DESC, memory DESC LIMIT ?)"
        " ON id = other WHERE NOT gone AND path IS NULL"
    )


def _equal(connection: sqlite3.Connection, mark: bytes, scopes: Sequence[str]) -> Memory | None:
    places = ", ".join("?" * len(scopes))
    where = f"scope IN ({places}) AND digest = ? AND NOT gone AND path IS NULL"
    found = _selected(connection, where, *scopes, mark)
    now = time.time()
    for memory in sorted(found, key=lambda m: scopes.index(m.scope)):
        if memory.expires is None or memory.expires > now:
            return memory
        _hide(connection, memory.id, gone=True)
    return None


def _twin(connection: sqlite3.Connection, memory: Memory) -> Memory | None:
    """Another memory that says the same in the same scope, or has the same path."""
    if memory.path:
        found = _at(connection, memory.path)
        return None if found is None or found.id == memory.id else found
    same = "scope = ? AND digest = ? AND path IS NULL AND NOT gone AND id != ?"
    twins = _selected(connection, same, memory.scope, digest(memory.fact), memory.id)
    return next(iter(twins), None)


def _at(connection: sqlite3.Connection, path: str) -> Memory | None:
    """The memory that is a file of this path."""
    return next(iter(_selected(connection, "path = ? AND NOT gone", path)), None)


def _by_ids(
    connection: sqlite3.Connection, numbers: Sequence[int], scopes: Sequence[str] | None
) -> dict[int, Memory]:
    where, values = where_visible(scopes)
    where += " AND id IN (SELECT value FROM json_each(?))"
    found = _selected(connection, where, *values, json.dumps(list(numbers)))
    return {memory.id: memory for memory in found}


def _existing(connection: sqlite3.Connection, number: int, scopes: Sequence[str] | None) -> Memory:
    found = _by_ids(connection, [number], scopes)
    if not found:
        raise _missing(connection, number, scopes)
    return found[number]


def _missing(connection: sqlite3.Connection, number: int, scopes: Sequence[str] | None) -> NotFound:
    row = connection.execute("SELECT scope, gone FROM memory WHERE id = ?", (number,)).fetchone()
    if row is not None and row[1] and (scopes is None or row[0] in scopes):
        return NotFound(f"Memory {number} is gone.", hint="memory_history shows what it said.")
    return NotFound(
        f"There is no memory {number} here.",
        hint="list_memories and search_memories show the ids.",
    )


def _selected(connection: sqlite3.Connection, rest: str, *values: Any) -> list[Memory]:
    """The memories of a condition, which may go on with an order and a limit."""
    sql = f"SELECT {COLUMNS} FROM memory WHERE {rest}"  # noqa: S608 - ours
    return [_memory(row) for row in connection.execute(sql, values)]


def _memory(row: Sequence[Any]) -> Memory:
    number, scope, path, fact, tags, source, outside, private, *rest, _ = row
    created, changed, expires, version = rest
    return Memory(
        number, scope, fact, tuple(json.loads(tags)), source, bool(outside), created, changed,
        expires, version, path or "", bool(private),
    )  # fmt: skip


def _tags(tags: Sequence[str]) -> str:
    return json.dumps(list(tags), ensure_ascii=False)


def _packed(memory: Memory) -> str:
    values: Mapping[str, Any] = {name: getattr(memory, name) for name in Memory.__slots__}
    return json.dumps(values, ensure_ascii=False)


def _parsed(packed: str) -> Memory:
    values = json.loads(packed)
    return Memory(**{**values, "tags": tuple(values["tags"])})


def _change(row: Sequence[Any]) -> MemoryChange:
    number, kind, when, session, caller, before, undone = row
    return MemoryChange(
        number, kind, when, session, caller, _parsed(before) if before else None, bool(undone)
    )


def _indexed(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[IndexedRow]:
    """What the index is to hold of some memories."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM memory WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608
        (json.dumps(list(numbers)),),
    ).fetchall()
    found = []
    for row in rows:
        memory = _memory(row)
        key = f"{memory.scope}/{memory.id}"
        title = " ".join((memory.path, *memory.tags)).strip()
        entry = (
            None if row[-1] else IndexEntry.note(key, memory.fact, title=title, date=memory.changed)
        )
        found.append(IndexedRow(memory.id, memory.version, key, entry))
    return found
