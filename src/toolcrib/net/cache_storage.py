"""Where entries stand: in the store, or in memory while the store is out of order."""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections import OrderedDict
from dataclasses import dataclass

from toolcrib.net.cache_entry import ERROR, Entry
from toolcrib.state.database import Schema
from toolcrib.state.owner import Owner
from toolcrib.state.store import Area

SCHEMA = Schema(
    "cache",
    (
        """
        CREATE TABLE cache (
            key BLOB PRIMARY KEY, kind TEXT NOT NULL, form TEXT NOT NULL,
            created REAL NOT NULL, expires REAL NOT NULL, stale_until REAL NOT NULL,
            used REAL NOT NULL, size INTEGER NOT NULL, packed INTEGER NOT NULL,
            body BLOB NOT NULL
        );
        CREATE INDEX cache_used ON cache (used, kind, size);
        CREATE INDEX cache_stale ON cache (stale_until);
        CREATE TABLE cache_total (
            kind TEXT PRIMARY KEY, entries INTEGER NOT NULL, bytes INTEGER NOT NULL
        );
        CREATE TRIGGER cache_added AFTER INSERT ON cache BEGIN
            INSERT INTO cache_total VALUES (new.kind, 1, new.size) ON CONFLICT (kind)
            DO UPDATE SET entries = entries + 1, bytes = bytes + new.size;
        END;
        CREATE TRIGGER cache_removed AFTER DELETE ON cache BEGIN
            UPDATE cache_total SET entries = entries - 1, bytes = bytes - old.size
            WHERE kind = old.kind;
        END;
        CREATE TABLE cache_lease (
            key BLOB PRIMARY KEY, owner TEXT NOT NULL, holder TEXT NOT NULL,
            until REAL NOT NULL
        ) WITHOUT ROWID;
        """,
    ),
)
PACK_ABOVE = 1024
ROW_BYTES = 200
"""What a row takes beside its body, about."""
KEEP_SHARE = 0.9
"""How full the cache is left once something had to go, so that it does not go one by one."""
MOST_TOUCHED = 32
LEASE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Claim:
    """What was found when making a value was to begin, and whether it is ours to make."""

    entry: Entry | None
    mine: bool


class StoreShelf:
    """Entries in the store, bounded by bytes in all and by number for each kind.

    Args:
        rows: where they are.
        most_bytes: the bytes of all entries.
        holder: tells this cache from others of the same process.
    """

    def __init__(self, rows: Area, most_bytes: int, holder: str) -> None:
        self._rows = rows
        self._most_bytes = most_bytes
        self._holder = holder
        self._touched: dict[bytes, float] = {}

    async def get(self, key: bytes) -> Entry | None:
        """The entry, fresh or not."""
        entry = await self._rows.read(lambda c: _get(c, key))
        if entry is not None:
            self._touched[key] = time.time()
            if len(self._touched) >= MOST_TOUCHED:
                await self.flush()
        return entry

    async def claim(self, key: bytes) -> Claim:
        """Become the one who makes this value, unless it is there or in the making."""
        now = time.time()
        owner = Owner.current()

        def write(connection: sqlite3.Connection) -> Claim:
            entry = _get(connection, key)
            if entry is not None and entry.is_fresh(now):
                return Claim(entry, mine=False)
            row = connection.execute(
                "SELECT owner, holder FROM cache_lease WHERE key = ? AND until > ?", (key, now)
            ).fetchone()
            if row and row[1] != self._holder and Owner.parse(row[0]).is_alive() is not False:
                return Claim(entry, mine=False)
            connection.execute("DELETE FROM cache_lease WHERE until < ?", (now,))
            connection.execute(
                "REPLACE INTO cache_lease VALUES (?,?,?,?)",
                (key, str(owner), self._holder, now + LEASE_SECONDS),
            )
            return Claim(entry, mine=True)

        return await self._rows.write(write)

    async def release(self, key: bytes) -> None:
        """Let others make the value."""
        await self._rows.write(lambda c: self._release(c, key))

    async def put(self, key: bytes, kind: str, entry: Entry, most_entries: int) -> bool:
        """Keep an entry, give the lease back, and drop what is over the bounds."""
        touched, self._touched = self._touched, {}

        def write(connection: sqlite3.Connection) -> None:
            packed = zlib.compress(entry.body, 1) if len(entry.body) > PACK_ABOVE else entry.body
            is_packed = len(packed) < len(entry.body)
            body = packed if is_packed else entry.body
            self._release(connection, key)
            _touch(connection, touched)
            connection.execute("DELETE FROM cache WHERE key = ?", (key,))
            size = len(body) + ROW_BYTES
            if size > self._most_bytes * KEEP_SHARE:
                return
            times = (entry.created, entry.expires, entry.stale_until, time.time())
            connection.execute(
                "INSERT INTO cache VALUES (?,?,?,?,?,?,?,?,?,?)",
                (key, kind, entry.form, *times, size, is_packed, body),
            )
            _evict(connection, kind, most_entries, self._most_bytes)

        await self._rows.write(write)
        return True

    async def renew(self, key: bytes, entry: Entry) -> None:
        """Write the times of an entry that is there, and give the lease back."""

        def write(connection: sqlite3.Connection) -> None:
            self._release(connection, key)
            connection.execute(
                "UPDATE cache SET created = ?, expires = ?, stale_until = ?, used = ? "
                "WHERE key = ?",
                (entry.created, entry.expires, entry.stale_until, time.time(), key),
            )

        await self._rows.write(write)

    async def created(self, key: bytes) -> float | None:
        """When a fresh value was made; None where there is none."""
        row = await self._rows.read(
            lambda c: c.execute(
                "SELECT created, expires, form FROM cache WHERE key = ?", (key,)
            ).fetchone(),
            quick=True,
        )
        if row is None or row[1] <= time.time() or row[2] == ERROR:
            return None
        self._touched[key] = time.time()
        return float(row[0])

    async def remove(self, key: bytes, *, release: bool = False) -> None:
        """Drop an entry, and with `release` give the lease back."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM cache WHERE key = ?", (key,))
            if release:
                self._release(connection, key)

        await self._rows.write(write)

    async def flush(self) -> None:
        """Write when the entries were last used."""
        touched, self._touched = self._touched, {}
        if touched:
            await self._rows.write(lambda c: _touch(c, touched))

    def _release(self, connection: sqlite3.Connection, key: bytes) -> None:
        connection.execute(
            "DELETE FROM cache_lease WHERE key = ? AND holder = ?", (key, self._holder)
        )


class MemoryShelf:
    """A few entries in this process."""

    def __init__(self, most_bytes: int = 8_000_000) -> None:
        self._most_bytes = most_bytes
        self._entries: OrderedDict[bytes, Entry] = OrderedDict()

    def get(self, key: bytes) -> Entry | None:
        """The entry, fresh or not."""
        return self._entries.get(key)

    def put(self, key: bytes, entry: Entry) -> None:
        """Keep an entry; the oldest go when there is no room."""
        self._entries.pop(key, None)
        self._entries[key] = entry
        while sum(len(e.body) + ROW_BYTES for e in self._entries.values()) > self._most_bytes:
            self._entries.popitem(last=False)

    def remove(self, key: bytes) -> None:
        """Drop an entry."""
        self._entries.pop(key, None)


def _get(connection: sqlite3.Connection, key: bytes) -> Entry | None:
    row = connection.execute(
        "SELECT form, body, created, expires, stale_until, packed FROM cache WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    form, body, created, expires, stale_until, packed = row
    try:
        body = zlib.decompress(body) if packed else body
    except zlib.error:
        return None
    return Entry(form, body, created, expires, stale_until)


def _touch(connection: sqlite3.Connection, touched: dict[bytes, float]) -> None:
    connection.executemany(
        "UPDATE cache SET used = max(used, ?) WHERE key = ?",
        [(when, key) for key, when in touched.items()],
    )


def _evict(connection: sqlite3.Connection, kind: str, most_entries: int, most_bytes: int) -> None:
    entries = connection.execute(
        "SELECT entries FROM cache_total WHERE kind = ?", (kind,)
    ).fetchone()[0]
    if entries > most_entries:
        kept = max(int(most_entries * KEEP_SHARE), 1)
        connection.execute(
            "DELETE FROM cache WHERE rowid IN (SELECT rowid FROM cache WHERE kind = ? "
            "ORDER BY used DESC, rowid DESC LIMIT -1 OFFSET ?)",
            (kind, kept),
        )
    if _bytes(connection) > most_bytes:
        connection.execute("DELETE FROM cache WHERE stale_until < ?", (time.time(),))
    if _bytes(connection) > most_bytes:
        connection.execute(
            "DELETE FROM cache WHERE rowid IN (SELECT rowid FROM (SELECT rowid, sum(size) "
            "OVER (ORDER BY used DESC, rowid DESC) AS total FROM cache) WHERE total > ?)",
            (int(most_bytes * KEEP_SHARE),),
        )


def _bytes(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT total(bytes) FROM cache_total").fetchone()
    return int(row[0])
