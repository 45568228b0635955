"""Turns at one place and its cool-downs after refusals, kept by all processes on one store."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self, TypeVar

from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, RateLimited, StorageFailure
from toolcrib.state.store import Area, Schema, Store

PACE_SCHEMA = Schema(
    "pace",
    ("CREATE TABLE pace (key TEXT PRIMARY KEY, free REAL NOT NULL) WITHOUT ROWID;",),
)
FORGET_SECONDS = 3600.0
SWEEP_SECONDS = 60.0
LOOK_SECONDS = 0.25
"""Between two looks whether a turn is still worth waiting for."""


class Pace:
    """A service: hands out turns, one after the other, at least a gap apart.

    Args:
        rows: where the next free time of each place is kept. While the store is out
            of order, the turns of this process alone are kept apart.
    """

    def __init__(self, rows: Area) -> None:
        self._rows = rows
        self._here: dict[str, float] = {}
        self._swept = 0.0

    @classmethod
    def open(cls, services: Services) -> Self:
        """The turns kept in the toolbox's store."""
        return cls(services.use(Store).area(PACE_SCHEMA))

    async def turn(
        self,
        key: str,
        gap: float,
        patience: float,
        look: Callable[[], Awaitable[None]] | None = None,
    ) -> float:
        """Wait for a turn.

        Args:
            key: the place.
            gap: seconds between two turns; 0 waits for nothing.
            patience: the longest wait in seconds.
            look: called now and then while waiting; what it raises ends the wait.

        Returns:
            What `give_back` takes.

        Raises:
            RateLimited: the wait would be longer; no turn was taken.
        """
        if gap <= 0:
            return 0.0
        wait, free = await self._take(key, gap, patience)
        if wait > patience:
            raise RateLimited(
                f"Too many requests to {key} at once: the next is free in {wait:.0f} s.",
                hint="Wait that long, then send this call again.",
                retry_after=round(wait, 1),
            )
        await _waited(wait, look)
        return free

    async def give_back(self, key: str, gap: float, free: float) -> None:
        """Let the next not wait for a turn that was not used, where nobody waits yet."""
        if gap <= 0:
            return
        if self._here.get(key) == free:
            self._here[key] = free - gap

        sql = "UPDATE pace SET free = free - ? WHERE key = ? AND free = ?"
        with suppress(StorageFailure, ConfigError):
            await self._rows.execute(sql, (gap, key, free), quick=True)

    async def _take(self, key: str, gap: float, patience: float) -> tuple[float, float]:
        """The seconds to wait for a turn, and when the one after it is."""
        sweep = time.monotonic() - self._swept > SWEEP_SECONDS

        def write(connection: sqlite3.Connection) -> tuple[float, float]:
            now = time.time()
            if sweep:
                connection.execute("DELETE FROM pace WHERE free < ?", (now - FORGET_SECONDS,))
            row = connection.execute("SELECT free FROM pace WHERE key = ?", (key,)).fetchone()
            # A clock that was set back must not hold everybody up.
            free = min(row[0], now + FORGET_SECONDS) if row else now
            wait = max(0.0, float(free) - now)
            if wait <= patience:
                connection.execute("REPLACE INTO pace VALUES (?, ?)", (key, now + wait + gap))
            return wait, now + wait + gap

        try:
            taken = await self._rows.write(write, quick=True)
        except (StorageFailure, ConfigError):
            now = time.time()
            wait = max(0.0, self._here.get(key, now) - now)
            if wait <= patience:
                self._here[key] = now + wait + gap
            return wait, now + wait + gap
        if sweep:
            self._swept = time.monotonic()
        return taken


async def _waited(seconds: float, look: Callable[[], Awaitable[None]] | None) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        await asyncio.sleep(min(left, LOOK_SECONDS if look else math.inf))
        if look:
            await look()


# Rests: places that refused are left alone for a while, by all processes on one store.

COOLDOWN_SCHEMA = Schema(
    "cooldowns",
    (
        """
        CREATE TABLE cooldown (
            key TEXT PRIMARY KEY, until REAL NOT NULL, level INTEGER NOT NULL,
            slips INTEGER NOT NULL, code TEXT NOT NULL
        ) WITHOUT ROWID;
        """,
    ),
)
FORGET_REST_SECONDS = 86_400.0
"""How long after a rest it still counts; also the longest rest of all."""
SLIP_SECONDS = 900.0
"""How long after its rest a passing failure still counts."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rest:
    """A place rests: `seconds` more, since it failed with this error code.

    `passing` says that the failure may pass by itself, and was no refusal.
    """

    seconds: float
    code: str
    passing: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    until: float
    level: int = 0
    slips: int = 0
    code: str = ""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long rests are, in seconds: the first, which doubles each time, and the longest.

    With a first of 0 nothing ever rests.
    """

    first: float
    max_seconds: float

    def of(self, level: int) -> float:
        """The rest after so many others in a row."""
        return min(self.first * 2.0 ** min(level, 40), self.max_seconds)


class Cooldowns:
    """A service: notes which places refused, and tells how long they still rest.

    A second failure during a rest does not lengthen the next one: it was on its way
    when the rest began. A success ends everything.

    Args:
        rows: where it is kept. While the store is out of order, what this process saw
            itself is what counts.
    """

    def __init__(self, rows: Area) -> None:
        self._rows = rows
        self._here: dict[str, _Row] = {}
        self._unsaved: set[str] = set()

    @classmethod
    def open(cls, services: Services) -> Self:
        """The rests kept in the toolbox's store."""
        return cls(services.use(Store).area(COOLDOWN_SCHEMA))

    async def resting(self, key: str) -> Rest | None:
        """The rest of a place; None while it may be asked."""
        row = await self._read(key)
        # A clock that was set back must not hold a place for ever.
        left = min(row.until - time.time(), FORGET_REST_SECONDS) if row else 0.0
        return Rest(left, row.code, row.slips > 0) if row and left > 0 else None

    async def refused(
        self, key: str, code: str, lengths: Lengths, requested_seconds: float | None = None
    ) -> float:
        """Begin a rest.

        Args:
            key: the place.
            code: the error code of the refusal.
            lengths: how long rests are.
            requested_seconds: seconds that the place itself asks for, which then count exactly.

        Returns:
            The seconds of the rest.
        """
        if lengths.first <= 0:
            return 0.0

        def change(row: _Row | None, now: float) -> _Row:
            before = row or _Row(0.0)
            going = before.until > now
            seconds = (
                min(requested_seconds, FORGET_REST_SECONDS)
                if requested_seconds
                else lengths.of(before.level)
            )
            if going and not requested_seconds:
                return before
            until = max(before.until, now + seconds)
            return _Row(until, before.level + (not going), 0, code)

        return await self._change(key, change)

    async def slipped(self, key: str, code: str, lengths: Lengths) -> float:
        """Begin the rest of a failure that may pass by itself.

        Such rests double among themselves, and do not lengthen those of refusals.

        Returns:
            The seconds of the rest.
        """
        if lengths.first <= 0:
            return 0.0

        def change(row: _Row | None, now: float) -> _Row:
            before = row or _Row(0.0)
            if before.until > now:
                return before
            slips = before.slips if now - before.until < SLIP_SECONDS else 0
            return _Row(now + lengths.of(slips), before.level, slips + 1, code)

        return await self._change(key, change)

    async def answered(self, key: str) -> None:
        """Forget all failures of a place."""
        if await self._read(key) is None:
            return
        self._here.pop(key, None)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM cooldown WHERE key = ?", (key,))

        await self._saved(key, write)

    async def _read(self, key: str) -> _Row | None:
        if key in self._unsaved:
            return self._here.get(key)
        try:
            return await self._rows.read(lambda c: _select(c, key), quick=True)
        except (StorageFailure, ConfigError):
            return self._here.get(key)

    async def _change(self, key: str, change: Callable[[_Row | None, float], _Row]) -> float:
        def write(connection: sqlite3.Connection) -> _Row:
            now = time.time()
            connection.execute("DELETE FROM cooldown WHERE until < ?", (now - FORGET_REST_SECONDS,))
            row = change(_select(connection, key), now)
            connection.execute(
                "REPLACE INTO cooldown VALUES (?,?,?,?,?)",
                (key, row.until, row.level, row.slips, row.code),
            )
            return row

        row = await self._saved(key, write)
        now = time.time()
        row = row or change(self._here.get(key), now)
        self._here[key] = row
        return max(row.until - now, 0.0)

    async def _saved(self, key: str, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """The outcome; None where the store is out of order, which is remembered."""
        try:
            outcome = await self._rows.write(work)
        except (StorageFailure, ConfigError):
            self._unsaved.add(key)
            return None
        self._unsaved.discard(key)
        return outcome


def _select(connection: sqlite3.Connection, key: str) -> _Row | None:
    row = connection.execute(
        "SELECT until, level, slips, code FROM cooldown WHERE key = ?", (key,)
    ).fetchone()
    return _Row(*row) if row else None
