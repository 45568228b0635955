"""The rest of long results, kept for `read_more` under a short handle."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, NotFound, StorageFailure
from toolcrib.state.store import Area, Schema, Store
from toolcrib.system.threads import content_id, plain_id

SCHEMA = Schema(
    "results",
    (
        """
        CREATE TABLE result (
            seq INTEGER PRIMARY KEY, session TEXT NOT NULL, handle TEXT NOT NULL,
            expires REAL NOT NULL, source TEXT NOT NULL, size INTEGER NOT NULL,
            body BLOB NOT NULL,
            UNIQUE (session, handle)
        );
        CREATE INDEX result_expires ON result (expires);
        """,
    ),
)
MAX_BYTES = 64_000_000
MAX_BYTES_IN_MEMORY = 8_000_000


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A kept text. `source` names where it came from when it is untrusted."""

    text: str
    source: str
    expires: float


class Results:
    """A service: keeps texts for a session, by content.

    Args:
        rows: where they are kept.
        seconds: how long.
        max_bytes: how much in all, compressed; the oldest go first.
    """

    def __init__(self, rows: Area, seconds: float, max_bytes: int = MAX_BYTES) -> None:
        self._rows = rows
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._memory: OrderedDict[tuple[str, str], StoredResult] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """The results in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.config.results.keep_seconds)

    async def keep(self, text: str, session: str, source: str = "") -> str:
        """Keep a text; its handle. The same text of the same session has one handle.

        `source` is that of the `Result`, so that the rest is fenced like the start.
        While the store cannot be written, the text is kept in this process.
        """
        handle = content_id(session, source, text)
        expires = time.time() + self._seconds

        def write(connection: sqlite3.Connection) -> None:
            body = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
            self._put(connection, [(session, handle, expires, source, len(body), body)])

        try:
            await self._rows.write(write)
        except (StorageFailure, ConfigError):
            self._keep_here(session, handle, StoredResult(text, source, expires))
        return handle

    async def keep_all(self, texts: Sequence[str], session: str) -> list[str]:
        """Keep texts of a session, all in one transaction; their handles, as `keep` gives them."""
        handles = [content_id(session, "", text) for text in texts]
        expires = time.time() + self._seconds
        bodies = [zlib.compress(text.encode("utf-8", "surrogatepass"), 1) for text in texts]
        rows = [
            (session, handle, expires, "", len(body), body)
            for handle, body in zip(handles, bodies, strict=True)
        ]
        try:
            await self._rows.write(lambda connection: self._put(connection, rows))
        except (StorageFailure, ConfigError):
            for handle, text in zip(handles, texts, strict=True):
                self._keep_here(session, handle, StoredResult(text, "", expires))
        return handles

    async def extend(self, handles: Sequence[str], session: str) -> set[str]:
        """Keep what stands behind handles for as long again; those of them that there are.

        Raises:
            StorageFailure: the store cannot be written.
        """

        def write(connection: sqlite3.Connection) -> set[str]:
            connection.execute(
                "UPDATE result SET expires = ? WHERE session = ? AND expires > ? "
                "AND handle IN (SELECT value FROM json_each(?))",
                (time.time() + self._seconds, session, time.time(), json.dumps(list(handles))),
            )
            rows = connection.execute(
                "SELECT handle FROM result WHERE session = ? AND expires > ?",
                (session, time.time()),
            )
            return {handle for (handle,) in rows} & set(handles)

        return await self._rows.write(write)

    async def read(self, handle: str, session: str) -> StoredResult:
        """What stands behind a handle of this session.

        Raises:
            NotFound: no such handle in this session, or it has expired.
            StorageFailure: the store cannot be read.
        """
        key = plain_id(handle)
        stored = self._memory.get((session, key))
        if stored is not None and stored.expires > time.time():
            return stored

        def read(connection: sqlite3.Connection) -> StoredResult | None:
            row = connection.execute(
                "SELECT body, source, expires FROM result "
                "WHERE session = ? AND handle = ? AND expires > ?",
                (session, key, time.time()),
            ).fetchone()
            if row is None:
                return None
            return StoredResult(
                zlib.decompress(row[0]).decode("utf-8", "surrogatepass"), row[1], row[2]
            )

        found = await self._rows.read(read)
        if found is None:
            raise NotFound(
                f"There is no kept result {handle[:40]} in this conversation.",
                hint=f"Results are kept for {self._seconds / 3600:g} hours. "
                "Send the call that gave it again.",
            )
        return found

    async def list(self, session: str, limit: int = 50) -> list[tuple[str, str]]:
        """Handles of a session's kept texts, the newest first, each with its source.

        Raises:
            StorageFailure: the store cannot be read.
        """
        now = time.time()
        rows = await self._rows.fetch(
            "SELECT handle, source FROM result WHERE session = ? AND expires > ? "
            "ORDER BY seq DESC LIMIT ?",
            (session, now, limit),
        )
        here = {
            handle: stored.source
            for (owner, handle), stored in reversed(self._memory.items())
            if owner == session and stored.expires > now
        }
        return list((here | dict(rows)).items())[:limit]

    def _put(
        self,
        connection: sqlite3.Connection,
        rows: Sequence[tuple[str, str, float, str, int, bytes]],
    ) -> None:
        connection.execute("DELETE FROM result WHERE expires < ?", (time.time(),))
        connection.executemany(
            "REPLACE INTO result (session, handle, expires, source, size, body) "
            "VALUES (?,?,?,?,?,?)",
            rows,
        )
        connection.execute(
            "DELETE FROM result WHERE seq IN (SELECT seq FROM (SELECT seq, "
            "sum(size) OVER (ORDER BY seq DESC) AS total FROM result) WHERE total > ?)",
            (max(self._max_bytes, sum(row[4] for row in rows)),),
        )

    def _keep_here(self, session: str, handle: str, stored: StoredResult) -> None:
        self._memory[session, handle] = stored
        while len(self._memory) > 1 and sum(len(k.text) for k in self._memory.values()) > (
            MAX_BYTES_IN_MEMORY
        ):
            self._memory.popitem(last=False)
