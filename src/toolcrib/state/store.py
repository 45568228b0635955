"""The store: one SQLite file, the thread that works on it, and the areas that reach its rows."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import platform
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Self, TypeAlias, TypeVar, cast

from toolcrib.core.config import store_file
from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, StorageFailure, ToolError
from toolcrib.system.file_locks import NOT_INHERITED, try_lock
from toolcrib.system.sweep import HAS_PROC, look, runs

# Which process wrote a row, and whether it still lives.


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: where it runs, its number, and when it started.

    A number alone is not enough, since numbers are used again. `place` tells
    machines, boots and containers apart: a process of another place cannot be
    looked up from here.
    """

    place: str
    pid: int
    started: str

    @classmethod
    def current(cls) -> Self:
        """This process."""
        seen = look(os.getpid())
        return cls(_place(), os.getpid(), str(seen.started) if seen else "")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `str`."""
        place, pid, started = text.rsplit(":", 2)
        return cls(place, int(pid), started)

    def __str__(self) -> str:
        return f"{self.place}:{self.pid}:{self.started}"

    def is_alive(self) -> bool | None:
        """Whether the process still runs; None when that cannot be seen from here."""
        if self.place != _place():
            return None
        if not HAS_PROC:
            return False if runs(self.pid) is False else None
        seen = look(self.pid)
        return seen is not None and seen.alive and str(seen.started) == self.started


@cache
def _place() -> str:
    """Boot and process namespace on Linux, the host name elsewhere."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - not a path
    except OSError:
        return platform.node()


# What goes wrong in a store, in words that say what to do.

DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
FORBIDDEN = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
}
FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
FULL_ERRNO = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def primary_code(error: BaseException) -> int:
    """SQLite's primary result code; 0 for errors that do not come from the library."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Whether the file itself is broken, or is no database at all."""
    return primary_code(error) in DAMAGED


def is_storage(error: BaseException) -> bool:
    """Whether the machine is at fault (disk, lock, permission) and not the statement."""
    code = primary_code(error)
    return isinstance(error, OSError) or code in LOCKED | FORBIDDEN | FULL | DAMAGED


def explain(error: BaseException, path: Path | None) -> StorageFailure:
    """The error of the tree for a failure of SQLite or of the file system."""
    where = str(path) if path else "the store in memory"
    code = primary_code(error)
    if code in LOCKED:
        return StorageFailure(
            f"The store {where} is locked by another process.",
            hint="Send the call again; if this stays, another toolcrib hangs.",
        )
    if code in FULL or (isinstance(error, OSError) and error.errno in FULL_ERRNO):
        return StorageFailure(
            f"The store {where} cannot be written: {error}.",
            hint="The disk may be full: free some space, or set store.url to another place. "
            "No restart is needed.",
        )
    return StorageFailure(
        f"The store {where} cannot be used: {error}.",
        hint="The folder must be writable for you; store.url names another place.",
    )


# The files of a store: made private, locked while opened, set aside when broken.

Identity = tuple[int, int]
LOCK_SECONDS = 5.0
SIDE_FILES = ("-wal", "-shm")


def prepare(path: Path) -> None:
    """Make the folder (0700) and the empty file (0600) where they are missing.

    A file that is there is never opened here: closing it would drop the locks that
    SQLite holds on it in this process, and another process could take its log away.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def identity(path: Path) -> Identity | None:
    """Which file stands at the path now; None when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - on the way of every transaction
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from opening the store or setting it aside meanwhile.

    Raises:
        StorageFailure: another process held the lock for `LOCK_SECONDS`.
    """
    late = StorageFailure(
        f"Another process has been opening the store {path} for too long.",
        hint="Look for a toolcrib process that hangs, and end it.",
    )
    with held(Path(f"{path}.lock"), LOCK_SECONDS, late):
        yield


@contextlib.contextmanager
def held(
    path: Path, seconds: float, late: ToolError, check: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold a lock that other processes take by the same path; it ends with the process.

    Args:
        path: an empty file, made if it is missing.
        seconds: how long another process is waited for.
        late: what is raised then.
        check: called while waiting, to stop by raising.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | NOT_INHERITED, 0o600)
    try:
        until, wait = time.monotonic() + seconds, 0.001
        while not try_lock(handle):
            check()
            if time.monotonic() > until:
                raise late
            time.sleep(wait)
            wait = min(wait * 2, 0.05)
        yield
    finally:
        os.close(handle)


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def quarantine(path: Path) -> Path:
    """Rename a broken store and its side files; returns the new name of the main file.

    The side files go first: were the process killed in between, the main file is still
    found broken and set aside next time, and nothing gets lost.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target = path.with_name(f"{path.name}.corrupt-{stamp}")
    for suffix in (*SIDE_FILES, ""):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{suffix}").rename(f"{target}{suffix}")
    return target


def remove_store(path: Path) -> None:
    """Remove a store; processes that have it open begin a new one with their next use.

    Raises:
        StorageFailure: the system does not let it go.
    """
    try:
        with locked(path):
            for suffix in ("", *SIDE_FILES):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
    except OSError as error:
        raise explain(error, path) from error


# One connection to the SQLite file: opening, migrating, transactions, rescue.
#
# Everything here blocks, and is used by one thread at a time.

Work: TypeAlias = Callable[[sqlite3.Connection], Any]

APPLICATION_ID = 0x54435242
"""Marks the file as ours, so that another program's database is never touched."""
ATTEMPTS = 4
NOT_AS_MADE = ("no such table", "no such column")
"""How errors begin for a file whose tables are not those that were made."""


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
        rebuildable: what it holds is made again from elsewhere, so that a file which is no use
            is set aside like a broken one, where that of a store is left for the user to see.
    """

    def __init__(
        self,
        path: Path | None,
        warn: Callable[[str], None],
        busy_seconds: float = 5.0,
        *,
        rebuildable: bool = False,
    ) -> None:
        self._path = path
        self._rebuildable = rebuildable
        self._warn = warn
        self._busy_seconds = busy_seconds
        self._connection: sqlite3.Connection | None = None
        self._broken: sqlite3.Connection | None = None
        self._identity: Identity | None = None
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
                damaged = is_damage(error) or (
                    self._rebuildable and str(error).startswith(NOT_AS_MADE)
                )
                if not is_storage(error) and not damaged:
                    raise
                if not damaged or self._path is None:
                    self.close()
                    raise explain(error, self._path) from error
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
            with locked(self._path):
                if self._has_moved() or (trust and _is_sound(self._path)):
                    return
                quarantined = quarantine(self._path)
        except OSError as failure:
            raise explain(failure, self._path) from failure
        what = "index" if self._rebuildable else "store"
        self._warn(
            f"The {what} was damaged ({error}). It was set aside as {quarantined.name} "
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
        return self._path is not None and identity(self._path) != self._identity

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            if self._path is None:
                self._connection = self._connect(":memory:")
            else:
                prepare(self._path)
                with locked(self._path):
                    prepare(self._path)
                    self._identity = identity(self._path)
                    self._connection = self._connect(str(self._path))
        return self._connection

    def _connect(self, name: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            name, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            self._settle(connection)
        except BaseException as error:
            if is_damage(error):
                self._broken = connection
            else:
                connection.close()
            raise
        return connection

    def _settle(self, connection: sqlite3.Connection) -> None:
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            if self._rebuildable:
                raise _foreign()
            raise ConfigError(
                f"{self._path} is the database of another program.",
                hint="Set store.url to a file of toolcrib's own.",
            )
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_size_limit = 16000000")
        if not self._busy_seconds:  # who may not wait must not flush the log to disk either
            connection.execute("PRAGMA wal_autocheckpoint = 0")
        if not tables:
            with _transaction(connection, "BEGIN IMMEDIATE"):
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS area (name TEXT PRIMARY KEY, version INTEGER)"
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


def _foreign() -> sqlite3.DatabaseError:
    """The error of a file that is no database, for one of another program."""
    error = sqlite3.DatabaseError("it is the database of another program")
    error.sqlite_errorcode = sqlite3.SQLITE_NOTADB
    return error


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


# The one thread in which a store does what blocks.

BATCH = 64
"""Writes that wait at the same time share one commit, up to this many."""


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """One piece of work and who waits for it."""

    schema: Schema
    work: Work
    writes: bool
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]

    def answer(self, value: Any, error: BaseException | None = None) -> None:
        """Hand the outcome over to the waiter's loop; nobody may be left there."""
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._settle, value, error)

    def _settle(self, value: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(value)
        else:
            self.future.set_exception(error)


class Worker:
    """Takes requests in order, and commits waiting writes together.

    Args:
        database: used by this thread alone.
        quick: a second connection, for work that its callers do themselves (see `Store`).
    """

    def __init__(self, database: Database, quick: Database | None) -> None:
        self._database = database
        self._quick = quick
        self.quick_lock = threading.Lock()
        self._queue: SimpleQueue[StoreRequest | str] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def submit(self, request: StoreRequest) -> None:
        """Queue a request; the thread starts with the first."""
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    # A daemon: a toolbox that nobody closed must not keep the program alive.
                    self._thread = threading.Thread(
                        target=self._run, name="toolcrib-store", daemon=True
                    )
                    self._thread.start()
        self._queue.put(request)

    def checkpoint(self) -> None:
        """Ask for a checkpoint at some time."""
        if self._thread is not None:
            self._queue.put("checkpoint")

    def close(self) -> None:
        """Finish what is queued, then close the file."""
        if self._thread is not None:
            self._queue.put("stop")
            self._thread.join()

    def _run(self) -> None:
        waiting: StoreRequest | str | None = None
        while True:
            item = self._queue.get() if waiting is None else waiting
            waiting = None
            if item == "stop":
                break
            if isinstance(item, str):
                self._database.checkpoint()
            elif item.writes:
                batch = [item]
                waiting = self._gather(batch)
                self._write(batch)
            else:
                self._read(item)
        self._database.close()
        if self._quick is not None:
            with self.quick_lock:
                self._quick.close()

    def _gather(self, batch: list[StoreRequest]) -> StoreRequest | str | None:
        """Add the writes that wait already; what came between them is returned."""
        while len(batch) < BATCH:
            try:
                item = self._queue.get_nowait()
            except Empty:
                return None
            if isinstance(item, str) or not item.writes:
                return item
            batch.append(item)
        return None

    def _write(self, batch: list[StoreRequest]) -> None:
        try:
            values = self._database.write([(r.schema, r.work) for r in batch])
        except (StorageFailure, ConfigError) as error:
            for request in batch:
                request.answer(None, error)
        except BaseException as error:  # noqa: BLE001 - belongs to whoever sent the work
            if len(batch) == 1:
                batch[0].answer(None, error)
                return
            for request in batch:  # one of them failed: the others must not suffer
                self._write([request])
        else:
            for request, value in zip(batch, values, strict=True):
                request.answer(value)
            self._prepare_quick(batch[-1].schema)

    def _read(self, request: StoreRequest) -> None:
        try:
            value = self._database.read(request.schema, request.work)
        except BaseException as error:  # noqa: BLE001 - belongs to whoever sent the work
            request.answer(None, error)
        else:
            request.answer(value)
            self._prepare_quick(request.schema)

    def _prepare_quick(self, schema: Schema) -> None:
        if self._quick is not None:
            with self.quick_lock, contextlib.suppress(StorageFailure, ConfigError):
                self._quick.ready(schema)


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
        rebuildable: what it holds can be made again; see `Database`.
    """

    def __init__(self, path: Path | None, *, rebuildable: bool = False) -> None:
        self.path = path
        self._warnings: list[str] = []
        self._quick = (
            Database(path, self._warn, busy_seconds=0, rebuildable=rebuildable) if path else None
        )
        self._worker = Worker(Database(path, self._warn, rebuildable=rebuildable), self._quick)
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
        self._worker.submit(StoreRequest(schema, work, writes, loop, future))
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

    async def fetch(
        self, sql: str, values: Sequence[Any] = (), *, quick: bool = False
    ) -> list[Any]:
        """All rows of one query."""
        return await self.read(lambda c: c.execute(sql, values).fetchall(), quick=quick)

    async def first(self, sql: str, values: Sequence[Any] = (), *, quick: bool = False) -> Any:
        """The first row of one query; None where there is none."""
        return await self.read(lambda c: c.execute(sql, values).fetchone(), quick=quick)

    async def execute(self, sql: str, values: Sequence[Any] = (), *, quick: bool = False) -> int:
        """Carry out one statement; how many rows it changed."""
        return await self.write(lambda c: c.execute(sql, values).rowcount, quick=quick)
