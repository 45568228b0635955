"""Turns: the time between two requests to one place, kept by all processes on one store."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self

from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, RateLimited, StorageFailure
from toolcrib.state.store import Area, Schema, Store

SCHEMA = Schema(
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
        return cls(services.use(Store).area(SCHEMA))

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

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE pace SET free = free - ? WHERE key = ? AND free = ?", (gap, key, free)
            )

        with suppress(StorageFailure, ConfigError):
            await self._rows.write(write, quick=True)

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
