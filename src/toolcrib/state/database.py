"""One connection to the SQLite file: opening, migrating, transactions, rescue.

Everything here blocks, and is used by one thread at a time.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from toolcrib.core.errors import ConfigError, StorageFailure
from toolcrib.state import failures
from toolcrib.state import store_files as files

Work: TypeAlias = Callable[[sqlite3.Connection], Any]

APPLICATION_ID = 0x54435242
"""Marks the file as ours, so that another program's database is never touched."""
ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class Schema:
    """What one area keeps: a name and its migrations, each a script of SQL statements.

    A migration is never changed once released; a new one goes to the end.
    """

    name: str
    migrations: tuple[str, ...]


class Database:
    """The file and the connection to it.

    Args:
        path: the file; None keeps everything in memory.
        warn: is told when a broken file was set aside.
        busy_seconds: how long to wait for another process that writes.
    """

    def __init__(
        self, path: Path | None, warn: Callable[[str], None], busy_seconds: float = 5.0
    ) -> None:
        self._path = path
        self._warn = warn
        self._busy_seconds = busy_seconds
        self._connection: sqlite3.Connection | None = None
        self._broken: sqlite3.Connection | None = None
        self._identity: files.Identity | None = None
        self._ready: set[str] = set()

    def write(self, works: Sequence[tuple[Schema, Work]]) -> list[Any]:
        """Run all in one transaction; what each returned, once it is committed.

        Raises:
            StorageFailure: nothing of it was written.
            ConfigError: a newer toolcrib wrote this store.
        """
        done: list[Any] = self._guarded(lambda: self._transaction(works))
        return done

    def read(self, schema: Schema, work: Work) -> Any:
        """Run one piece of reading on a single view of the data; it cannot write."""
        return self._guarded(lambda: self._view(schema, work))

    def attempt(self, schema: Schema, work: Work, *, writes: bool) -> tuple[bool, Any]:
        """Run it only if nothing has to be opened, migrated, awaited or repaired.

        Returns:
            Whether it was done, and what the work returned.
        """
        if self._connection is None or schema.name not in self._ready:
            return False, None
        try:
            done = self._transaction([(schema, work)])[0] if writes else self._view(schema, work)
        except (sqlite3.Error, StorageFailure):
            return False, None
        # Were the file replaced, this went to the old one, and is done again on the new.
        return not self._has_moved(), done

    def ready(self, schema: Schema) -> None:
        """Open and migrate now what `attempt` will need."""
        if schema.name not in self._ready or self._has_moved():
            self._guarded(lambda: self._view(schema, lambda _: None))

    def checkpoint(self) -> None:
        """Move the log into the main file, as far as nobody reads from it."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Drop the connection; the next use opens it again."""
        held = self._connection, self._broken
        self._connection = self._broken = None
        self._ready.clear()
        for connection in held:
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.close()

    def _guarded(self, act: Callable[[], Any]) -> Any:
        """Do it, and do it again on a fresh file when this one was broken or replaced."""
        doubted = False
        for _ in range(ATTEMPTS):
            try:
                done = act()
            except (sqlite3.Error, OSError) as error:
                if not failures.is_storage(error):
                    raise
                if not failures.is_damage(error) or self._path is None:
                    self.close()
                    raise failures.explain(error, self._path) from error
                # Before closing: with the last connection SQLite would delete the log.
                try:
                    self._rescue(error, trust=not doubted)
                finally:
                    self.close()
                doubted = True
                continue
            if not self._has_moved():
                return done
            self.close()
            self._warn("The store was replaced by another process and was opened anew.")
        raise StorageFailure(f"The store {self._path} changes all the time.")

    def _rescue(self, error: Exception, *, trust: bool) -> None:
        """Set the broken file aside, unless another process has done so already.

        With `trust`, a file that checks out is left alone once: the damage may have
        been in this process's view of it.
        """
        assert self._path is not None
        try:
            with files.locked(self._path):
                if self._has_moved() or (trust and _is_sound(self._path)):
                    return
                aside = files.set_aside(self._path)
        except OSError as failure:
            raise failures.explain(failure, self._path) from failure
        self._warn(
            f"The store was damaged ({error}). It was set aside as {aside.name} "
            "and a new one was started."
        )

    def _transaction(self, works: Sequence[tuple[Schema, Work]]) -> list[Any]:
        connection = self._open()
        for schema, _ in works:
            self._migrate(connection, schema)
        with _transaction(connection, "BEGIN IMMEDIATE"):
            return [work(connection) for _, work in works]

    def _view(self, schema: Schema, work: Work) -> Any:
        connection = self._open()
        self._migrate(connection, schema)
        with _transaction(connection, "BEGIN", "ROLLBACK"):
            return work(connection)

    def _has_moved(self) -> bool:
        return self._path is not None and files.identity(self._path) != self._identity

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            if self._path is None:
                self._connection = self._connect(":memory:")
            else:
                files.prepare(self._path)
                with files.locked(self._path):
                    files.prepare(self._path)
                    self._identity = files.identity(self._path)
                    self._connection = self._connect(str(self._path))
        return self._connection

    def _connect(self, name: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            name, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            self._settle(connection)
        except BaseException as error:
            if failures.is_damage(error):
                self._broken = connection
            else:
                connection.close()
            raise
        return connection

    def _settle(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_size_limit = 16000000")
        if not self._busy_seconds:  # who may not wait must not flush the log to disk either
            connection.execute("PRAGMA wal_autocheckpoint = 0")
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables:
            with _transaction(connection, "BEGIN IMMEDIATE"):
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS area (name TEXT PRIMARY KEY, version INTEGER)"
                )
        elif connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise ConfigError(
                f"{self._path} is the database of another program.",
                hint="Set store.url to a file of toolcrib's own.",
            )

    def _migrate(self, connection: sqlite3.Connection, schema: Schema) -> None:
        if schema.name in self._ready:
            return
        known = len(schema.migrations)
        if self._version(connection, schema) < known:
            with _transaction(connection, "BEGIN IMMEDIATE"):
                for script in schema.migrations[self._version(connection, schema) :]:
                    _run_script(connection, script)
                connection.execute("REPLACE INTO area VALUES (?, ?)", (schema.name, known))
        self._ready.add(schema.name)

    def _version(self, connection: sqlite3.Connection, schema: Schema) -> int:
        row = connection.execute(
            "SELECT version FROM area WHERE name = ?", (schema.name,)
        ).fetchone()
        version = int(row[0]) if row else 0
        if version > len(schema.migrations):
            raise ConfigError(
                f"The store {self._path} was written by a newer toolcrib "
                f"({schema.name} {version}, known here: {len(schema.migrations)}).",
                hint="Upgrade toolcrib, or set store.url to another file. Nothing was changed.",
            )
        return version


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection, begin: str, end: str = "COMMIT") -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute(end)
    finally:
        if connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")


def _run_script(connection: sqlite3.Connection, script: str) -> None:
    """Statement by statement, since `executescript` would commit what came before."""
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            if statement.strip("; \n"):
                connection.execute(statement)
            statement = ""


def _is_sound(path: Path) -> bool:
    try:
        connection = sqlite3.connect(path, timeout=1.0)
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        finally:
            connection.close()
    except sqlite3.Error:
        return False
