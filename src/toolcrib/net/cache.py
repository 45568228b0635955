"""The service: look, make once, keep."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

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
from toolcrib.core.services import Services
from toolcrib.core.version import VERSION
from toolcrib.net.cache_entry import Entry
from toolcrib.net.cache_storage import SCHEMA, Claim, MemoryShelf, StoreShelf
from toolcrib.net.single_flight import Flights
from toolcrib.state.store import Area, Store
from toolcrib.system.ids import random_id

T = TypeVar("T")

REMEMBERED = (NotFound, NoResults, TooLarge, UnsupportedContent)
"""Errors that are worth remembering: the same question gets the same answer for a while."""
GONE = (404, 410)
"""HTTP statuses that are remembered likewise."""
PASSING = (Network, TimedOut, Unavailable)
"""Errors in which an old value is better than none."""
MOST_ENTRIES = 5000
WAIT_SECONDS = 5.0
"""How long to wait for another process that makes the same value."""
BROKEN_SECONDS = 5.0
"""How long a store that failed is left alone."""


class _Unchanged:
    """Stands for the old value."""


UNCHANGED = _Unchanged()
"""What `again` gives when the old value still holds."""


@dataclass(frozen=True, slots=True)
class Fleeting:
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
class _Order:
    kind: str
    key: bytes
    make: Callable[[], Awaitable[Any]]
    again: Callable[[Any], Awaitable[Any]] | None
    ttl: float
    stale: float
    negative_ttl: float
    max_bytes: int | None
    max_entries: int


@dataclass(frozen=True, slots=True)
class _Found:
    entry: Entry
    hit: bool
    stale: bool = False


class Cache:
    """A service: values by kind and key, made once, kept for a while, shared by processes.

    A store that is full or broken never fails a call: values then live in memory.

    Args:
        rows: where they are kept.
        most_bytes: how much in all, compressed.
    """

    def __init__(self, rows: Area, most_bytes: int) -> None:
        self._shelf = StoreShelf(rows, most_bytes, holder=random_id(8))
        self._memory = MemoryShelf()
        self._flights: Flights[_Found] = Flights()
        self._broken_until = 0.0

    @classmethod
    def open(cls, services: Services) -> Self:
        """The cache in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.config.store.cache_bytes)

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
        max_entries: int = MOST_ENTRIES,
        again: Callable[[Any], Awaitable[Any]] | None = None,
    ) -> Cached:
        """The value of a key, made if it is not there.

        Equal calls at the same time make it once, in this process and, as far as
        another process answers soon, among all.

        Args:
            kind: a family of keys (`search`, `page`).
            key: all that the value depends on.
            make: gives JSON values or bytes, or one of them as `Fleeting`.
            ttl: seconds for which the value is good; 0 switches the cache off.
            stale: seconds more in which it stands in when making a new one fails.
            negative_ttl: seconds for which a lasting failure is remembered.
            max_bytes: a larger value is given back and not kept.
            max_entries: how many of this kind are kept.
            again: takes a value whose time ran out, instead of `make`, and gives a new one,
                or `UNCHANGED` where it still holds.

        Raises:
            ToolError: what `make` raised, now or a short while ago.
        """
        if ttl <= 0:
            value, _ = _opened(await make())
            return Cached(value, 0.0, hit=False, stale=False, created=time.time())
        place = _place(kind, key)
        order = _Order(kind, place, make, again, ttl, stale, negative_ttl, max_bytes, max_entries)
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
        kept = self._memory.get(place)
        if kept is not None and kept.is_fresh(time.time()):
            return None if kept.is_error else kept.created
        return await self._safely(lambda: self._shelf.created(place))

    async def forget(self, kind: str, key: str) -> None:
        """Drop one value."""
        place = _place(kind, key)
        self._memory.remove(place)
        await self._safely(lambda: self._shelf.remove(place))

    async def close(self) -> None:
        """Note which values were used."""
        await self._safely(self._shelf.flush)

    async def _produce(self, order: _Order) -> _Found:
        claim = await self._claim(order.key)
        if claim.entry is not None and claim.entry.is_fresh(time.time()):
            return _Found(claim.entry, hit=True)
        old = claim.entry or self._memory.get(order.key)
        try:
            if order.again is None or old is None or old.is_error:
                made = await order.make()
            else:
                made = await order.again(old.value())
                if made is UNCHANGED:
                    return await self._renewed(order, old)
            value, fleeting = _opened(made)
            entry = Entry.of(value, time.time(), order.ttl, order.stale)
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

    async def _renewed(self, order: _Order, old: Entry) -> _Found:
        entry = old.renewed(time.time(), order.ttl, order.stale)
        if self._memory.get(order.key) is not None:
            self._memory.put(order.key, entry)
        await self._safely(lambda: self._shelf.renew(order.key, entry))
        return _Found(entry, hit=True)

    async def _failed(self, order: _Order, old: Entry | None, error: ToolError) -> _Found:
        now = time.time()
        if old is not None and old.is_usable(now) and _is_passing(error):
            await self._safely(lambda: self._shelf.release(order.key))
            return _Found(old, hit=True, stale=True)
        if order.negative_ttl > 0 and _is_lasting(error):
            await self._put(order, Entry.of_error(error, now, order.negative_ttl))
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

    async def _get(self, key: bytes) -> Entry | None:
        kept = self._memory.get(key)
        if kept is not None and kept.is_fresh(time.time()):
            return kept
        return await self._safely(lambda: self._shelf.get(key)) or kept

    async def _put(self, order: _Order, entry: Entry) -> None:
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
    return (made.value, True) if isinstance(made, Fleeting) else (made, False)


def _place(kind: str, key: str) -> bytes:
    # The version, since another one may keep values of another shape.
    text = f"{VERSION}\0{kind}\0{key}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def _is_lasting(error: ToolError) -> bool:
    if isinstance(error, HttpStatus):
        return error.details.get("status") in GONE
    return isinstance(error, REMEMBERED)


def _is_passing(error: ToolError) -> bool:
    if isinstance(error, HttpStatus):
        return int(error.details.get("status", 0)) >= 500
    return isinstance(error, PASSING)
