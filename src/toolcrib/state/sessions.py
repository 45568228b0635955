"""The sessions of conversations, shared by the processes that serve them.

Only what changed goes to the store and comes from it, by a version that every save
raises. Flags are OR-ed and maps are merged, so no process can lower a flag of another.
"""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from toolcrib.core.context import MAX_REMEMBERED, Services, Session
from toolcrib.core.errors import ConfigError, StorageFailure
from toolcrib.core.result import well_formed
from toolcrib.state.store import Area, Schema, Store
from toolcrib.system.threads import random_id

SCHEMA = Schema(
    "sessions",
    (
        """
        CREATE TABLE session (
            id TEXT PRIMARY KEY, version INTEGER NOT NULL, used REAL NOT NULL,
            directory TEXT NOT NULL, untrusted INTEGER NOT NULL, private INTEGER NOT NULL
        );
        CREATE INDEX session_used ON session (used);
        CREATE TABLE session_map (
            session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
            kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
            version INTEGER NOT NULL,
            PRIMARY KEY (session, kind, key)
        ) WITHOUT ROWID;
        """,
    ),
)
EXPIRY_SECONDS = 7 * 86_400.0
TOUCH_SECONDS = 3600.0
CACHED = 256
SMALL = 50
"""Entries that are few enough to be written on the event loop."""

Maps = dict[tuple[str, str], str]


@dataclass(slots=True)
class _Known:
    """A session of this process and what the store is known to hold of it.

    `own` marks a session that this process made up: nobody else can know its id, so
    the store need not be asked again.
    """

    session: Session
    own: bool = False
    version: int = 0
    used: float = 0.0
    directory: str = ""
    reads: dict[str, str] = field(default_factory=dict)
    names: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def _names(session: Session) -> dict[str, dict[str, None]]:
    """The maps of a session that hold names alone, by their kind in the store."""
    return {
        "host": session.hosts,
        "protect": session.protected,
        "written": session.written,
        "link": session.links,
    }


@dataclass(frozen=True, slots=True)
class _Row:
    """What the store holds; `maps` are the entries newer than the version asked for."""

    version: int
    used: float
    directory: str
    flags: tuple[bool, bool]
    maps: Maps


class Sessions:
    """A service: loads and saves sessions. All calls of one id share one `Session` here."""

    def __init__(self, rows: Area) -> None:
        self._rows = rows
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._swept = 0.0
        self.warning = ""

    @classmethod
    def open(cls, services: Services) -> Self:
        """The sessions in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA))

    def new_id(self) -> str:
        """An id for a conversation that starts in this process."""
        session_id = random_id(16)
        self._remember(session_id, _Known(Session(session_id), own=True))
        return session_id

    async def load(self, session_id: str) -> Session:
        """The session of this id, with all that any process noted; a new one if unknown.

        While the store cannot be read, the session lives in memory; what other
        processes noted is merged as soon as it can be read.
        """
        known = self._known.get(session_id)
        if known is not None and known.own:
            self._known.move_to_end(session_id)
            return known.session
        version = known.version if known else 0
        try:
            row = await self._rows.read(
                lambda c: _fetch(c, session_id, version), quick=known is not None
            )
        except (StorageFailure, ConfigError) as error:
            self.warning = f"The session cannot be read: {error.message}"
            row = None
        # Another call may have loaded the same session while this one waited.
        known = self._known.get(session_id) or _Known(Session(session_id))
        self._remember(session_id, known)
        if row is not None and row.version > known.version:
            _merge(known, row)
        return known.session

    async def save(self, session: Session) -> None:
        """Write what changed since the last save; a failure is kept for the next one."""
        known = self._known.get(session.id)
        if known is None or known.session is not session:
            known = _Known(session)
            self._remember(session.id, known)
        now = time.time()
        if not session.changed and (not known.version or now - known.used < TOUCH_SECONDS):
            return
        session.changed = False
        flags = session.untrusted, session.private
        directory = session.directory if session.directory != known.directory else None
        reads = dict(session.reads)
        names = defaultdict(set, {kind: set(keys) for kind, keys in _names(session).items()})
        changed = _changed(known)
        sweep = now - self._swept > TOUCH_SECONDS
        full = max(len(reads) + len(names["link"]), len(names["written"])) >= MAX_REMEMBERED

        def write(connection: sqlite3.Connection) -> int:
            if sweep:
                oldest = now - EXPIRY_SECONDS
                connection.execute("DELETE FROM session WHERE used < ?", (oldest,))
            version = _store(connection, session.id, now, flags, directory, changed)
            if full:
                _trim(connection, session.id)
            return version

        try:
            small = not sweep and not full and len(changed) <= SMALL
            version = await self._rows.write(write, quick=small)
        except (StorageFailure, ConfigError) as error:
            session.changed = True
            self.warning = f"The session cannot be saved: {error.message}"
            return
        self.warning = ""
        self._swept = now if sweep else self._swept
        known.used, known.reads, known.names = now, reads, names
        known.directory = directory if directory is not None else known.directory
        if version == known.version + 1:  # else another process wrote: the next load merges
            known.version = version

    def _remember(self, session_id: str, known: _Known) -> None:
        self._known[session_id] = known
        self._known.move_to_end(session_id)
        while len(self._known) > CACHED:
            self._known.popitem(last=False)


def _changed(known: _Known) -> Maps:
    """What the store is not known to hold. A session has thousands of entries, of which few do."""
    session = known.session
    found = {("read", p): m for p, m in session.reads.items() if known.reads.get(p) != m}
    # A name that is no text cannot be stored, and no call can spell it either.
    changed = {key: mark for key, mark in found.items() if well_formed(key[1]) == key[1]}
    if not known.version:
        changed["began", ""] = repr(session.began)
    for kind, keys in _names(session).items():
        changed |= {(kind, key): "" for key in keys if key not in known.names[kind]}
    return changed


def _merge(known: _Known, row: _Row) -> None:
    """Take over what others noted; what changed here and is not saved yet stays."""
    session = known.session
    session.untrusted |= row.flags[0]
    session.private |= row.flags[1]
    if session.directory == known.directory:
        session.directory = row.directory
    known.directory = row.directory
    names = _names(session)
    for (kind, key), value in row.maps.items():
        if kind in names:
            names[kind][key] = None
            known.names[kind].add(key)
        elif kind == "began":
            session.began = min(session.began, float(value))
        else:
            if session.reads.get(key) == known.reads.get(key):
                session.reads[key] = value
            known.reads[key] = value
        for remembered in (session.reads, session.links):
            while len(remembered) > MAX_REMEMBERED:
                del remembered[next(iter(remembered))]
    known.version, known.used = row.version, row.used


def _fetch(connection: sqlite3.Connection, session_id: str, version: int) -> _Row | None:
    found = connection.execute(
        "SELECT version, used, directory, untrusted, private FROM session "
        "WHERE id = ? AND used > ?",
        (session_id, time.time() - EXPIRY_SECONDS),
    ).fetchone()
    if found is None:
        return None
    rows: list[tuple[str, str, str]] = []
    if found[0] > version:
        rows = connection.execute(
            "SELECT kind, key, value FROM session_map WHERE session = ? AND version > ? "
            "ORDER BY version",
            (session_id, version),
        ).fetchall()
    maps = {(kind, key): value for kind, key, value in rows}
    now_at, used, directory, untrusted, private = found
    return _Row(now_at, used, directory, (bool(untrusted), bool(private)), maps)


def _store(
    connection: sqlite3.Connection,
    session_id: str,
    now: float,
    flags: tuple[bool, bool],
    directory: str | None,
    changed: Mapping[tuple[str, str], str],
) -> int:
    """Merge into the row; returns its new version."""
    connection.execute(
        "DELETE FROM session WHERE id = ? AND used < ?", (session_id, now - EXPIRY_SECONDS)
    )
    row = connection.execute(
        "INSERT INTO session VALUES (?1, 1, ?2, coalesce(?3, ''), ?4, ?5) ON CONFLICT (id) "
        "DO UPDATE SET version = version + 1, used = ?2, directory = coalesce(?3, directory), "
        "untrusted = untrusted OR ?4, private = private OR ?5 RETURNING version",
        (session_id, now, directory, *flags),
    ).fetchone()
    version = int(row[0])
    connection.executemany(
        "INSERT INTO session_map VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE "
        "SET value = ?4, version = ?5",
        [(session_id, kind, key, value, version) for (kind, key), value in changed.items()],
    )
    return version


def _trim(connection: sqlite3.Connection, session_id: str) -> None:
    """Drop the oldest entries over the limit that a session in memory has too."""
    for kind in ("read", "link", "written"):
        connection.execute(
            "DELETE FROM session_map WHERE session = ?1 AND kind = ?2 AND key IN (SELECT key "
            "FROM session_map WHERE session = ?1 AND kind = ?2 ORDER BY version DESC "
            "LIMIT -1 OFFSET ?3)",
            (session_id, kind, MAX_REMEMBERED),
        )
