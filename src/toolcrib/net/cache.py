"""The service: look, make once, keep."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import time
import zlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from toolcrib.core import errors
from toolcrib.core.context import Services
from toolcrib.core.errors import (
    ConfigError,
    HttpStatus,
    Network,
    NoResults,
    NotFound,
    StorageFailure,
    TimedOut,
    TooLarge,
    ToolError,
    Unavailable,
    UnsupportedContent,
)
from toolcrib.core.version import VERSION
from toolcrib.state.store import Area, Owner, Schema, Store
from toolcrib.system.threads import random_id

# One piece of work for all who want it at the same time.

T = TypeVar("T")


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiters: int = 0


class SingleFlight(Generic[T]):
    """Runs equal work once. A waiter that gives up stops the work only if it is the last."""

    def __init__(self) -> None:
        self._running: dict[tuple[int, bytes], _Flight[T]] = {}

    async def join(self, key: bytes, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The outcome of the running work of this key, started if there is none."""
        place = (id(asyncio.get_running_loop()), key)
        flight = self._running.get(place)
        if flight is None:
            flight = self._running[place] = _Flight(asyncio.create_task(start()))
            flight.task.add_done_callback(lambda _: self._leave(place, flight))
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if not flight.waiters and not flight.task.done():
                self._leave(place, flight)
                flight.task.cancel()
                await asyncio.wait({flight.task})

    def _leave(self, place: tuple[int, bytes], flight: _Flight[T]) -> None:
        if self._running.get(place) is flight:
            del self._running[place]
        if flight.task.done() and not flight.task.cancelled():
            flight.task.exception()  # nobody may be left to take it


# Where entries stand: in the store, or in memory while the store is out of order.

# One value of the cache, as it is kept: JSON, bytes, or a remembered error.

JSON, BYTES, ERROR = "json", "bytes", "error"


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """Times are UTC in seconds since 1970."""

    form: str
    body: bytes
    created: float
    expires: float
    stale_until: float

    @classmethod
    def of(cls, value: Any, now: float, ttl: float, stale: float = 0) -> Self:
        """An entry for JSON values or bytes.

        Raises:
            TypeError: neither.
        """
        if isinstance(value, bytes | bytearray):
            form, body = BYTES, bytes(value)
        else:
            form = JSON
            body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
                "utf-8", "surrogatepass"
            )
        return cls(form, body, now, now + ttl, now + ttl + stale)

    @classmethod
    def of_error(cls, error: ToolError, now: float, ttl: float) -> Self:
        """An entry that raises the same error again."""
        kind = next(k.__name__ for k in type(error).__mro__ if k.__module__ == errors.__name__)
        record = {
            "kind": kind,
            "message": error.message,
            "hint": error.hint,
            "code": error.stable_code,
            "details": error.details,
        }
        body = json.dumps(record, default=str).encode("ascii")
        return cls(ERROR, body, now, now + ttl, now + ttl)

    def renewed(self, now: float, ttl: float, stale: float) -> Self:
        """The same value, known to hold from now on."""
        return replace(self, created=now, expires=now + ttl, stale_until=now + ttl + stale)

    @property
    def is_error(self) -> bool:
        """Whether it is a remembered error."""
        return self.form == ERROR

    def is_fresh(self, now: float) -> bool:
        """Whether it may be used without asking again."""
        return now < self.expires

    def is_usable(self, now: float) -> bool:
        """Whether it may stand in when asking again fails."""
        return self.form != ERROR and now < self.stale_until

    def value(self) -> Any:
        """The value, a new one each time.

        Raises:
            ToolError: the remembered error.
        """
        if self.form == BYTES:
            return self.body
        value = json.loads(self.body.decode("utf-8", "surrogatepass"))
        if self.form == ERROR:
            kind = getattr(errors, value["kind"])
            raise kind(value["message"], hint=value["hint"], code=value["code"], **value["details"])
        return value


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
MAX_MEMORY_BYTES = 8_000_000
"""Of entries that are kept in this process alone."""
KEEP_SHARE = 0.9
"""How full the cache is left once something had to go, so that it does not go one by one."""
MAX_TOUCHED_KEYS = 32
LEASE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Claim:
    """What was found when making a value was to begin, and whether it is ours to make."""

    entry: CacheEntry | None
    mine: bool


class StoreBackend:
    """Entries in the store, bounded by bytes in all and by number for each kind.

    Args:
        rows: where they are.
        max_bytes: the bytes of all entries.
        holder: tells this cache from others of the same process.
    """

    def __init__(self, rows: Area, max_bytes: int, holder: str) -> None:
        self._rows = rows
        self._max_bytes = max_bytes
        self._holder = holder
        self._touched: dict[bytes, float] = {}

    async def get(self, key: bytes) -> CacheEntry | None:
        """The entry, fresh or not."""
        entry = await self._rows.read(lambda c: _get(c, key))
        if entry is not None:
            self._touched[key] = time.time()
            if len(self._touched) >= MAX_TOUCHED_KEYS:
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

    async def put(self, key: bytes, kind: str, entry: CacheEntry, max_entries: int) -> bool:
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
            if size > self._max_bytes * KEEP_SHARE:
                return
            times = (entry.created, entry.expires, entry.stale_until, time.time())
            connection.execute(
                "INSERT INTO cache VALUES (?,?,?,?,?,?,?,?,?,?)",
                (key, kind, entry.form, *times, size, is_packed, body),
            )
            _evict(connection, kind, max_entries, self._max_bytes)

        await self._rows.write(write)
        return True

    async def renew(self, key: bytes, entry: CacheEntry) -> None:
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
        sql = "SELECT created, expires, form FROM cache WHERE key = ?"
        row = await self._rows.first(sql, (key,), quick=True)
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

    async def sizes(self) -> dict[str, tuple[int, int]]:
        """Entries and bytes by kind."""
        rows = await self._rows.fetch("SELECT kind, entries, bytes FROM cache_total")
        return {kind: (entries, size) for kind, entries, size in rows if entries}

    async def clear(self) -> None:
        """Remove every entry."""
        await self._rows.execute("DELETE FROM cache")

    async def flush(self) -> None:
        """Write when the entries were last used."""
        touched, self._touched = self._touched, {}
        if touched:
            await self._rows.write(lambda c: _touch(c, touched))

    def _release(self, connection: sqlite3.Connection, key: bytes) -> None:
        connection.execute(
            "DELETE FROM cache_lease WHERE key = ? AND holder = ?", (key, self._holder)
        )


class MemoryBackend:
    """A few entries in this process."""

    def __init__(self) -> None:
        self._entries: OrderedDict[bytes, CacheEntry] = OrderedDict()

    def get(self, key: bytes) -> CacheEntry | None:
        """The entry, fresh or not."""
        return self._entries.get(key)

    def put(self, key: bytes, entry: CacheEntry) -> None:
        """Keep an entry; the oldest go when there is no room."""
        self._entries.pop(key, None)
        self._entries[key] = entry
        while sum(len(e.body) + ROW_BYTES for e in self._entries.values()) > MAX_MEMORY_BYTES:
            self._entries.popitem(last=False)

    def remove(self, key: bytes) -> None:
        """Drop an entry."""
        self._entries.pop(key, None)


def _get(connection: sqlite3.Connection, key: bytes) -> CacheEntry | None:
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
    return CacheEntry(form, body, created, expires, stale_until)


def _touch(connection: sqlite3.Connection, touched: dict[bytes, float]) -> None:
    connection.executemany(
        "UPDATE cache SET used = max(used, ?) WHERE key = ?",
        [(when, key) for key, when in touched.items()],
    )


def _evict(connection: sqlite3.Connection, kind: str, max_entries: int, max_bytes: int) -> None:
    entries = connection.execute(
        "SELECT entries FROM cache_total WHERE kind = ?", (kind,)
    ).fetchone()[0]
    if entries > max_entries:
        target_count = max(int(max_entries * KEEP_SHARE), 1)
        connection.execute(
            "DELETE FROM cache WHERE rowid IN (SELECT rowid FROM cache WHERE kind = ? "
            "ORDER BY used DESC, rowid DESC LIMIT -1 OFFSET ?)",
            (kind, target_count),
        )
    if _bytes(connection) > max_bytes:
        connection.execute("DELETE FROM cache WHERE stale_until < ?", (time.time(),))
    if _bytes(connection) > max_bytes:
        connection.execute(
            "DELETE FROM cache WHERE rowid IN (SELECT rowid FROM (SELECT rowid, sum(size) "
            "OVER (ORDER BY used DESC, rowid DESC) AS total FROM cache) WHERE total > ?)",
            (int(max_bytes * KEEP_SHARE),),
        )


def _bytes(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT total(bytes) FROM cache_total").fetchone()
    return int(row[0])


CACHEABLE_ERRORS = (NotFound, NoResults, TooLarge, UnsupportedContent)
"""Errors that are worth remembering: the same question gets the same answer for a while."""
CACHEABLE_STATUSES = (404, 410)
"""HTTP statuses that are remembered likewise."""
TRANSIENT_ERRORS = (Network, TimedOut, Unavailable)
"""Errors in which an old value is better than none."""
MAX_ENTRIES = 5000
WAIT_SECONDS = 5.0
"""How long to wait for another process that makes the same value."""
BROKEN_SECONDS = 5.0
"""How long a store that failed is left alone."""


class _Unchanged:
    """Stands for the old value."""


UNCHANGED = _Unchanged()
"""What `revalidate` gives when the old value still holds."""


@dataclass(frozen=True, slots=True)
class MemoryOnly:
    """A value that is kept in the memory of this process only, never in the store."""

    value: Any


@dataclass(frozen=True, slots=True)
class Cached:
    """A value and where it came from: `age` in seconds, `stale` when its time had run out.

    `created` is when it was made or last found to hold, UTC in seconds since 1970.
    """

    value: Any
    age: float
    hit: bool
    stale: bool
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class _CacheRequest:
    kind: str
    key: bytes
    make: Callable[[], Awaitable[Any]]
    revalidate: Callable[[Any], Awaitable[Any]] | None
    ttl: float
    stale: float
    negative_ttl: float
    max_bytes: int | None
    max_entries: int


@dataclass(frozen=True, slots=True)
class _Found:
    entry: CacheEntry
    hit: bool
    stale: bool = False


class Cache:
    """A service: values by kind and key, made once, kept for a while, shared by processes.

    A store that is full or broken never fails a call: values then live in memory.

    Args:
        rows: where they are kept.
        max_bytes: how much in all, compressed.
    """

    def __init__(self, rows: Area, max_bytes: int) -> None:
        self._shelf = StoreBackend(rows, max_bytes, holder=random_id(8))
        self._memory = MemoryBackend()
        self._flights: SingleFlight[_Found] = SingleFlight()
        self._broken_until = 0.0

    @classmethod
    def open(cls, services: Services) -> Self:
        """The cache in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.config.store.cache_bytes)

    async def sizes(self) -> dict[str, tuple[int, int]]:
        """Entries and bytes in the store, by kind.

        Raises:
            StorageFailure: the store cannot be read.
        """
        return await self._shelf.sizes()

    async def clear(self) -> None:
        """Forget all that is in the store, for every process.

        Raises:
            StorageFailure: the store cannot be written.
        """
        await self._shelf.clear()

    async def fetch(
        self,
        kind: str,
        key: str,
        make: Callable[[], Awaitable[Any]],
        *,
        ttl: float,
        stale: float = 0,
        negative_ttl: float = 0,
        max_bytes: int | None = None,
        max_entries: int = MAX_ENTRIES,
        revalidate: Callable[[Any], Awaitable[Any]] | None = None,
    ) -> Cached:
        """The value of a key, made if it is not there.

        Equal calls at the same time make it once, in this process and, as far as
        another process answers soon, among all.

        Args:
            kind: a family of keys (`search`, `page`).
            key: all that the value depends on.
            make: gives JSON values or bytes, or one of them as `MemoryOnly`.
            ttl: seconds for which the value is good; 0 switches the cache off.
            stale: seconds more in which it stands in when making a new one fails.
            negative_ttl: seconds for which a lasting failure is remembered.
            max_bytes: a larger value is given back and not kept.
            max_entries: how many of this kind are kept.
            revalidate: takes a value whose time ran out, instead of `make`, and gives a new one,
                or `UNCHANGED` where it still holds.

        Raises:
            ToolError: what `make` raised, now or a short while ago.
        """
        if ttl <= 0:
            value, _ = _opened(await make())
            return Cached(value, 0.0, hit=False, stale=False, created=time.time())
        place = _place(kind, key)
        order = _CacheRequest(
            kind, place, make, revalidate, ttl, stale, negative_ttl, max_bytes, max_entries
        )
        entry = await self._get(place)
        if entry is not None and entry.is_fresh(time.time()):
            found = _Found(entry, hit=True)
        else:
            found = await self._flights.join(place, lambda: self._produce(order))
        age = max(time.time() - found.entry.created, 0.0)
        return Cached(found.entry.value(), age, found.hit, found.stale, found.entry.created)

    async def created(self, kind: str, key: str) -> float | None:
        """When the fresh value of a key was made; None where it would have to be made.

        Much cheaper than `fetch`, for who keeps something made of the value.
        """
        place = _place(kind, key)
        cached = self._memory.get(place)
        if cached is not None and cached.is_fresh(time.time()):
            return None if cached.is_error else cached.created
        return await self._safely(lambda: self._shelf.created(place))

    async def forget(self, kind: str, key: str) -> None:
        """Drop one value."""
        place = _place(kind, key)
        self._memory.remove(place)
        await self._safely(lambda: self._shelf.remove(place))

    async def close(self) -> None:
        """Note which values were used."""
        await self._safely(self._shelf.flush)

    async def _produce(self, order: _CacheRequest) -> _Found:
        claim = await self._claim(order.key)
        if claim.entry is not None and claim.entry.is_fresh(time.time()):
            return _Found(claim.entry, hit=True)
        old = claim.entry or self._memory.get(order.key)
        try:
            if order.revalidate is None or old is None or old.is_error:
                made = await order.make()
            else:
                made = await order.revalidate(old.value())
                if made is UNCHANGED:
                    return await self._renewed(order, old)
            value, fleeting = _opened(made)
            entry = CacheEntry.of(value, time.time(), order.ttl, order.stale)
        except ToolError as error:
            return await self._failed(order, old, error)
        except BaseException:
            await self._safely(lambda: self._shelf.release(order.key))
            raise
        if fleeting:
            self._memory.put(order.key, entry)
            await self._safely(lambda: self._shelf.remove(order.key, release=True))
        elif order.max_bytes is None or len(entry.body) <= order.max_bytes:
            await self._put(order, entry)
        else:
            await self._safely(lambda: self._shelf.release(order.key))
        return _Found(entry, hit=False)

    async def _renewed(self, order: _CacheRequest, old: CacheEntry) -> _Found:
        entry = old.renewed(time.time(), order.ttl, order.stale)
        if self._memory.get(order.key) is not None:
            self._memory.put(order.key, entry)
        await self._safely(lambda: self._shelf.renew(order.key, entry))
        return _Found(entry, hit=True)

    async def _failed(
        self, order: _CacheRequest, old: CacheEntry | None, error: ToolError
    ) -> _Found:
        now = time.time()
        if old is not None and old.is_usable(now) and _is_passing(error):
            await self._safely(lambda: self._shelf.release(order.key))
            return _Found(old, hit=True, stale=True)
        if order.negative_ttl > 0 and _is_lasting(error):
            await self._put(order, CacheEntry.of_error(error, now, order.negative_ttl))
        else:
            await self._safely(lambda: self._shelf.release(order.key))
        raise error

    async def _claim(self, key: bytes) -> Claim:
        """Wait until the value is there or is ours to make."""
        pause, deadline = 0.02, time.monotonic() + WAIT_SECONDS
        while True:
            claim = await self._safely(lambda: self._shelf.claim(key))
            if claim is None:
                return Claim(self._memory.get(key), mine=True)
            fresh = claim.entry is not None and claim.entry.is_fresh(time.time())
            if fresh or claim.mine or time.monotonic() >= deadline:
                return claim
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.25)

    async def _get(self, key: bytes) -> CacheEntry | None:
        cached = self._memory.get(key)
        if cached is not None and cached.is_fresh(time.time()):
            return cached
        return await self._safely(lambda: self._shelf.get(key)) or cached

    async def _put(self, order: _CacheRequest, entry: CacheEntry) -> None:
        key = order.key
        put = self._safely(lambda: self._shelf.put(key, order.kind, entry, order.max_entries))
        if await put:
            self._memory.remove(key)
        else:
            self._memory.put(key, entry)

    async def _safely(self, work: Callable[[], Awaitable[T]]) -> T | None:
        """The outcome, or None where the store is out of order."""
        if time.monotonic() < self._broken_until:
            return None
        try:
            return await work()
        except (StorageFailure, ConfigError):
            self._broken_until = time.monotonic() + BROKEN_SECONDS
            return None


def _opened(made: Any) -> tuple[Any, bool]:
    return (made.value, True) if isinstance(made, MemoryOnly) else (made, False)


def _place(kind: str, key: str) -> bytes:
    # The version, since another one may keep values of another shape.
    text = f"{VERSION}\0{kind}\0{key}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def _is_lasting(error: ToolError) -> bool:
    if isinstance(error, HttpStatus):
        return error.details.get("status") in CACHEABLE_STATUSES
    return isinstance(error, CACHEABLE_ERRORS)


def _is_passing(error: ToolError) -> bool:
    if isinstance(error, HttpStatus):
        return int(error.details.get("status", 0)) >= 500
    return isinstance(error, TRANSIENT_ERRORS)
