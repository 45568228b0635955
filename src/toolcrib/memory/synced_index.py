"""An index that follows a table: rows that changed are put into it before it is searched."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from toolcrib.core.errors import StorageFailure
from toolcrib.retrieval.entries import EntryFilter, IndexEntry, PassageRanking
from toolcrib.retrieval.indexes import Indexes
from toolcrib.state.store import Area

BATCH = 200
WIDER = 2
"""So many times more are looked for at first, as some may belong to others."""
PAUSE_SECONDS = 0.5
"""So long after a change the index follows, so that many changes are put into it together."""


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """What an index is to hold of a row: `entry` is None for one that is gone.

    `version` tells whether the row has changed since it was read.
    """

    id: int
    version: int
    key: str
    entry: IndexEntry | None


Load = Callable[[sqlite3.Connection, Sequence[int]], list[IndexedRow]]


class SyncedIndex:
    """Finds rows of a table by an index of the retrieval engine.

    The table has the columns `id`, `version` and `stale`; whoever changes a row raises its
    version and sets `stale` in the same transaction. So nothing is missing after a crash, and
    any process brings the index up to date.

    Args:
        rows: where the table is.
        table: its name.
        indexes: the indexes of this toolbox.
        name: of the index.
        load: reads rows of some ids.
    """

    def __init__(self, rows: Area, table: str, indexes: Indexes, name: str, load: Load) -> None:
        self._rows = rows
        self._table = table
        self._indexes = indexes
        self._name = name
        self._load = load
        self._lock = asyncio.Lock()
        self._checked: tuple[str, ...] | None = None
        self._running: asyncio.Task[None] | None = None

    async def scores(
        self, question: str, limit: int, prefixes: Sequence[str], min_score: float
    ) -> tuple[dict[int, float], tuple[str, ...]]:
        """The numbers of rows with their scores, best first, and what the caller should know."""
        ranking = await self.search(question, limit, prefixes, min_score)
        found: dict[int, float] = {}
        for passage in ranking.passages:
            found.setdefault(int(passage.entry.key.rpartition("/")[2]), passage.score)
        return found, ranking.notes

    async def search(
        self, question: str, limit: int, prefixes: Sequence[str], min_score: float
    ) -> PassageRanking:
        """The passages of entries whose keys begin with one of some prefixes, best first."""
        await self.catch_up()
        found = await self._search(question, limit, prefixes, min_score)
        if self._checked == self._indexes.index(self._name).warnings:
            return found
        await self.catch_up()  # the index was found broken, and begun anew
        return await self._search(question, limit, prefixes, min_score)

    async def _search(
        self, question: str, limit: int, prefixes: Sequence[str], min_score: float
    ) -> PassageRanking:
        index = self._indexes.index(self._name)
        keys = tuple(prefixes)
        # Without a filter first: with one, every entry that it lets pass is listed before.
        ranking = await index.search(question, limit * WIDER, None, min_score)
        within = tuple(p for p in ranking.passages if p.entry.key.startswith(keys) or not keys)
        if len(within) < min(limit, len(ranking.passages)):
            return await index.search(question, limit, EntryFilter(prefix=keys), min_score)
        return replace(ranking, passages=within[:limit])

    def follow_soon(self) -> None:
        """Bring the index up to date in the background."""
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._follow())

    async def catch_up(self) -> None:
        """Put every stale row into the index.

        Raises:
            StorageFailure: the index or the store cannot be written.
        """
        async with self._lock:
            index = self._indexes.index(self._name)
            await self._recover()
            changed = False
            while loaded := await self._stale():
                await index.put([row.entry for row in loaded if row.entry is not None])
                await index.remove(row.key for row in loaded if row.entry is None)
                await self._settle(loaded)
                changed = True
            if changed:
                self._indexes.embed_soon(self._name)

    async def clear(self) -> None:
        """Empty the index; the rows are gone already."""
        async with self._lock:
            await self._indexes.index(self._name).clear()

    async def close(self) -> None:
        """End what runs in the background; what is not done is done before the next search."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError, StorageFailure):
                await self._running

    async def _follow(self) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        with suppress(StorageFailure):  # the search that needs it says so
            await self.catch_up()

    async def _recover(self) -> None:
        """Begin anew where the index has less than it should: its file is gone, or was broken."""
        index = self._indexes.index(self._name)
        if self._checked == index.warnings:
            return
        held = (await index.status()).entries
        table = self._table

        def work(connection: sqlite3.Connection) -> None:
            (count,) = connection.execute(
                f"SELECT count(*) FROM {table} WHERE NOT stale AND NOT gone"  # noqa: S608 - ours
            ).fetchone()
            if held < count:
                connection.execute(f"UPDATE {table} SET stale = 1")  # noqa: S608

        await self._rows.write(work)
        self._checked = index.warnings

    async def _stale(self) -> list[IndexedRow]:
        sql = f"SELECT id FROM {self._table} WHERE stale LIMIT {BATCH}"  # noqa: S608 - ours

        def work(connection: sqlite3.Connection) -> list[IndexedRow]:
            return self._load(connection, [row[0] for row in connection.execute(sql)])

        return await self._rows.read(work, quick=True)

    async def _settle(self, loaded: Sequence[IndexedRow]) -> None:
        """Note what the index has; a row that changed meanwhile is put into it once more.

        Another process may have put that newer one before, and this one the older over it.
        """
        sql = f"UPDATE {self._table} SET stale = (version != ?) WHERE id = ?"  # noqa: S608 - ours
        pairs = [(row.version, row.id) for row in loaded]
        await self._rows.write(lambda c: c.executemany(sql, pairs))
