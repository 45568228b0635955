"""The service through which areas reach their rows."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from toolcrib.core.config import store_file
from toolcrib.core.errors import StorageFailure
from toolcrib.core.services import Services
from toolcrib.state.database import Database, Schema
from toolcrib.state.store_thread import Request, Worker

T = TypeVar("T")
CHECKPOINT_EVERY = 200
"""Quick writes after which the log is moved into the main file, off the event loop."""


class Store:
    """One SQLite file, opened on first use, shared by any number of processes.

    Work is a function of a `sqlite3.Connection`. It may run more than once (after
    a collision or on a fresh file), so it does nothing but SQL. It runs in one thread
    of the store; a cancelled waiter does not undo it.

    Args:
        path: the file; None keeps everything in memory, for this object alone.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._warnings: list[str] = []
        self._quick = Database(path, self._warn, busy_seconds=0) if path else None
        self._worker = Worker(Database(path, self._warn), self._quick)
        self._quick_writes = 0
        self._closed = False

    @classmethod
    def open(cls, services: Services) -> Self:
        """The store that `store.url` names.

        Raises:
            ConfigError: no such kind of store.
        """
        return cls(store_file(services.config.store.url))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know: a broken store that was set aside."""
        return tuple(self._warnings)

    def area(self, schema: Schema) -> Area:
        """The rows of one area."""
        return Area(self, schema)

    async def write(self, schema: Schema, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run work in a write transaction; returns after the commit."""
        return cast("T", await self._submit(schema, work, writes=True))

    async def read(self, schema: Schema, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run work on one view of the data; it cannot write."""
        return cast("T", await self._submit(schema, work, writes=False))

    async def quick(
        self, schema: Schema, work: Callable[[sqlite3.Connection], T], *, writes: bool
    ) -> T:
        """Run a few small statements right here if nothing is in the way, else in the thread.

        A thread's round trip costs several times what the statements themselves do.
        Nothing waits here for a lock, a disk flush, an opening or a repair: those go to
        the thread.
        """
        worker = self._worker
        if self._quick is not None and worker.quick_lock.acquire(blocking=False):
            try:
                done, value = self._quick.attempt(schema, work, writes=writes)
            finally:
                worker.quick_lock.release()
            if done:
                self._count_quick(writes=writes)
                return cast("T", value)
        return cast("T", await self._submit(schema, work, writes=writes))

    async def close(self) -> None:
        """Write what is queued and close the file."""
        self._closed = True
        await asyncio.to_thread(self._worker.close)

    def _count_quick(self, *, writes: bool) -> None:
        self._quick_writes += writes
        if self._quick_writes >= CHECKPOINT_EVERY:
            self._quick_writes = 0
            self._worker.checkpoint()

    async def _submit(
        self, schema: Schema, work: Callable[[sqlite3.Connection], Any], *, writes: bool
    ) -> Any:
        if self._closed:
            raise StorageFailure("The store is closed.")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._worker.submit(Request(schema, work, writes, loop, future))
        return await future

    def _warn(self, message: str) -> None:
        if message not in self._warnings:
            self._warnings.append(message)


@dataclass(frozen=True, slots=True)
class Area:
    """One area's way to its rows: the store together with the area's schema."""

    store: Store
    schema: Schema

    async def write(self, work: Callable[[sqlite3.Connection], T], *, quick: bool = False) -> T:
        """Run work in a write transaction; returns after the commit.

        Raises:
            StorageFailure: nothing was written.
            ConfigError: a newer toolcrib wrote this store.
        """
        if quick:
            return await self.store.quick(self.schema, work, writes=True)
        return await self.store.write(self.schema, work)

    async def read(self, work: Callable[[sqlite3.Connection], T], *, quick: bool = False) -> T:
        """Run work on one view of the data. Raises the same as `write`."""
        if quick:
            return await self.store.quick(self.schema, work, writes=False)
        return await self.store.read(self.schema, work)
