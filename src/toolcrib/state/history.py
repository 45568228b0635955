"""The record of every call: written before the answer leaves, bounded, without secrets."""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Literal, Self

from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, StorageFailure
from toolcrib.state.store import Area, Schema, Store

SCHEMA = Schema(
    "history",
    (
        """
        CREATE TABLE history (
            seq INTEGER PRIMARY KEY, id TEXT NOT NULL, time REAL NOT NULL,
            surface TEXT NOT NULL, client TEXT NOT NULL, session TEXT NOT NULL,
            tool TEXT NOT NULL, arguments TEXT NOT NULL, outcome TEXT NOT NULL,
            ms REAL NOT NULL, tokens INTEGER NOT NULL, bytes INTEGER NOT NULL,
            note TEXT NOT NULL
        );
        CREATE UNIQUE INDEX history_time ON history (time, id);
        """,
    ),
)
COLUMNS = "id, time, surface, client, session, tool, arguments, outcome, ms, tokens, bytes, note"
INSERT = f"INSERT OR IGNORE INTO history ({COLUMNS}) VALUES ({', '.join('?' * 12)})"  # noqa: S608
MAX_PENDING = 1000
RETRY_SECONDS = 1.0
TRIM_EVERY = 100
PAGE = 500

SortBy = Literal["calls", "errors", "p50_ms", "p95_ms", "tokens", "last_used"]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One call.

    `time` is UTC in seconds since 1970. `arguments` is JSON text, redacted and cut.
    `outcome` is `ok`, `job` for a call that went on as one, or the code of the error.
    `tokens` and `bytes_` measure the answer.
    """

    id: str
    time: float
    surface: str
    client: str
    session: str
    tool: str
    arguments: str
    outcome: str
    ms: float
    tokens: int = 0
    bytes_: int = 0
    note: str = ""

    def to_json(self) -> str:
        """One line for other programs; `status` is ok, job, error, or throw for a defect."""
        status = {"ok": "ok", "job": "job", "internal": "throw"}.get(self.outcome, "error")
        stamp = datetime.fromtimestamp(self.time, UTC).isoformat(timespec="milliseconds")
        record = {f.name.rstrip("_"): getattr(self, f.name) for f in fields(self)}
        record |= {"time": stamp, "status": status, "ms": round(self.ms, 3)}
        return json.dumps(record, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ToolStats:
    """What the kept history says about one tool; `last_used` is UTC in seconds."""

    tool: str
    calls: int
    errors: int
    p50_ms: float
    p95_ms: float
    tokens: int
    last_used: float


_row = attrgetter(*(field.name for field in fields(HistoryEntry)))


class History:
    """A service: writes each record at once, or keeps it until the store works again."""

    def __init__(self, rows: Area, keep: int) -> None:
        self._rows = rows
        self._keep = keep
        self._pending: dict[tuple[float, str], HistoryEntry] = {}
        self._dropped = 0
        self._problem = ""
        self._try_again = 0.0
        self._retry: asyncio.Task[None] | None = None

    @classmethod
    def open(cls, services: Services) -> Self:
        """The history in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.config.history.keep)

    @property
    def warning(self) -> str:
        """What to tell while records cannot be written; empty when all is well."""
        if not self._pending:
            return ""
        lost = f", {self._dropped} older ones were dropped" if self._dropped else ""
        return (
            f"The history cannot be written: {self._problem} "
            f"{len(self._pending)} records wait in memory{lost}."
        )

    async def record(self, entry: HistoryEntry) -> None:
        """Write one record; it is committed, or kept in memory, when this returns."""
        if self._pending:
            self._hold([entry])
            if time.monotonic() >= self._try_again:
                await self._flush()
            return
        try:
            await self._rows.write(lambda c: self._insert(c, [entry]), quick=True)
        except (StorageFailure, ConfigError) as error:
            self._hold([entry], error.message)
        except asyncio.CancelledError:
            # Whether it was written is not known here; writing it twice changes nothing.
            self._hold([entry], "a call was cancelled.")
            raise

    async def query(
        self,
        limit: int = 50,
        tool: str | None = None,
        outcome: str | None = None,
        prefix: str = "",
    ) -> list[HistoryEntry]:
        """Records, newest first.

        Args:
            limit: how many at most.
            tool: only calls of this tool.
            outcome: `ok`, `job`, an error code, or `error` for all of these.
            prefix: how the id begins.
        """
        await self._flush()
        where, values = _conditions(tool=tool, outcome=outcome)
        newest = f"{where} AND substr(id, 1, ?) = ? ORDER BY time DESC, id DESC"
        bound = [*values, len(prefix), prefix, limit]
        return await self._rows.read(lambda connection: _entries(connection, newest, bound))

    async def stats(self, limit: int = 20, sort_by: SortBy = "calls") -> list[ToolStats]:
        """One line a tool, the largest of `sort_by` first; what went on as a job is left out."""
        await self._flush()
        statement = "SELECT tool, ms, outcome, tokens, time FROM history WHERE outcome <> 'job'"
        rows = await self._rows.fetch(statement)
        by_tool: dict[str, list[tuple[float, str, int, float]]] = {}
        for tool, *rest in rows:
            by_tool.setdefault(tool, []).append(tuple(rest))
        found = [_summary(tool, calls) for tool, calls in by_tool.items()]
        found.sort(key=lambda s: (-getattr(s, sort_by), s.tool))
        return found[:limit]

    async def export(
        self, tool: str | None = None, outcome: str | None = None
    ) -> AsyncIterator[str]:
        """Every record as one JSON line, oldest first; narrowed as `query` does."""
        await self._flush()
        where, values = _conditions(tool=tool, outcome=outcome)
        following = f"{where} AND (time, id) > (?, ?) ORDER BY time, id"
        edge: tuple[float, str] = (-math.inf, "")
        while True:
            bound = [*values, *edge, PAGE]
            page = await self._rows.read(
                lambda c, b=bound: _entries(c, following, b)  # type: ignore[misc]
            )
            for entry in page:
                yield entry.to_json()
            if len(page) < PAGE:
                return
            edge = (page[-1].time, page[-1].id)

    async def close(self) -> None:
        """Try once more to write what waits."""
        if self._retry is not None:
            self._retry.cancel()
        await self._flush()

    def _hold(self, entries: Iterable[HistoryEntry], problem: str = "") -> None:
        for entry in entries:
            self._pending[entry.time, entry.id] = entry
        while len(self._pending) > MAX_PENDING:
            del self._pending[next(iter(self._pending))]
            self._dropped += 1
        if problem:
            self._problem = problem
            self._try_again = time.monotonic() + RETRY_SECONDS
        if self._retry is None or self._retry.done():
            self._retry = asyncio.create_task(self._keep_trying())

    async def _keep_trying(self) -> None:
        while self._pending:
            await asyncio.sleep(RETRY_SECONDS)
            await self._flush()

    async def _flush(self) -> None:
        """Write what waits; on failure it goes on waiting."""
        batch = list(self._pending.values())
        if not batch:
            return
        try:
            await self._rows.write(lambda c: self._insert(c, batch))
        except (StorageFailure, ConfigError) as error:
            self._problem = error.message
            self._try_again = time.monotonic() + RETRY_SECONDS
            return
        for entry in batch:
            self._pending.pop((entry.time, entry.id), None)
        if not self._pending:
            self._dropped = 0

    def _insert(self, connection: sqlite3.Connection, entries: list[HistoryEntry]) -> None:
        for entry in entries:
            row = connection.execute(INSERT, _row(entry)).lastrowid or 0
            if row % TRIM_EVERY == 0:
                connection.execute("DELETE FROM history WHERE seq <= ?", (row - self._keep,))


def _conditions(**wanted: str | None) -> tuple[str, list[str]]:
    clause, values = "1", []
    for column, value in wanted.items():
        if column == "outcome" and value == "error":
            clause += " AND outcome NOT IN ('ok', 'job')"
        elif value is not None:
            clause += f" AND {column} = ?"
            values.append(value)
    return clause, values


def _entries(
    connection: sqlite3.Connection, clause: str, bound: list[object]
) -> list[HistoryEntry]:
    statement = f"SELECT {COLUMNS} FROM history WHERE {clause} LIMIT ?"  # noqa: S608 - constants
    return [HistoryEntry(*row) for row in connection.execute(statement, bound)]


def _summary(tool: str, calls: list[tuple[float, str, int, float]]) -> ToolStats:
    times = sorted(ms for ms, _, _, _ in calls)
    return ToolStats(
        tool=tool,
        calls=len(calls),
        errors=sum(outcome != "ok" for _, outcome, _, _ in calls),
        p50_ms=_percentile(times, 50),
        p95_ms=_percentile(times, 95),
        tokens=sum(tokens for _, _, tokens, _ in calls),
        last_used=max(when for _, _, _, when in calls),
    )


def _percentile(ordered: list[float], share: int) -> float:
    """The nearest-rank percentile of sorted values."""
    return ordered[max(math.ceil(len(ordered) * share / 100) - 1, 0)]
