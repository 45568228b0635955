"""SQLite databases, in a worker's child: read behind an authorizer, described, and changed.

To read, the kernel has given the child the files of the database alone, and not to write.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any
from urllib.parse import quote

from toolcrib.core.errors import (
    BadInput,
    Busy,
    Conflict,
    Denied,
    TooLarge,
    ToolError,
    Unavailable,
    UnsupportedContent,
)
from toolcrib.data.rows import answer_of, described_column, plain_value
from toolcrib.system.openat import pread

MAX_VALUE_BYTES = 50_000_000
SAMPLE_ROWS = 50
DISPLAYED_ROWS = 3
MAX_TABLES = 100
MAX_COUNTED = 20
"""Tables of which the rows are counted, when a database is described."""
BUSY_MS = 3000
PRAGMAS = frozenset(
    [
        *("table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo"),
        *("foreign_key_list", "collation_list", "function_list", "compile_options", "quick_check"),
        *("integrity_check", "foreign_key_check", "database_list"),
        "data_version",  # full-text search asks for it
    ]
)
"""These read, whatever they are given."""
SETTINGS = frozenset(
    ["user_version", "application_id", "page_count", "page_size", "encoding", "journal_mode"]
)
"""These read where they are given nothing."""
FORBIDDEN_FUNCTIONS = frozenset(
    ["load_extension", "fts3_tokenizer", "writefile", "readfile", "edit"]
)
READING = frozenset(
    [sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, getattr(sqlite3, "SQLITE_RECURSIVE", 33)]
)
LIMITS = ((sqlite3.SQLITE_LIMIT_ATTACHED, 0), (sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES))


def prepare() -> None:
    """Load what is loaded late."""
    with closing(_memory(b"")) as connection:
        query({"sql": "SELECT 1, 1.5, x'00'", "limit": 1, "save_as": "csv"}, b"", connection)
        connection.set_authorizer(None)


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action in READING:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if second in FORBIDDEN_FUNCTIONS else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA:
        name = (first or "").lower()
        reads = name in PRAGMAS or (name in SETTINGS and not second)
        return sqlite3.SQLITE_OK if reads else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_DENY


EPONYMOUS = ("json_each", "json_tree", *(f"pragma_{name}" for name in sorted(PRAGMAS)))


def _guard(connection: sqlite3.Connection) -> None:
    """Let nothing but reading through from here on.

    Virtual tables are connected before: SQLite has the authorizer judge the declaration of each
    as if somebody made a table.
    """
    virtual = connection.execute(
        "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%' LIMIT 1000"
    ).fetchall()
    for name in (*EPONYMOUS, *(name for (name,) in virtual)):
        with suppress(sqlite3.Error):
            connection.execute(f"SELECT 1 FROM {quoted_name(name)} LIMIT 0")  # noqa: S608
    connection.set_authorizer(_authorize)


def _memory(data: bytes) -> sqlite3.Connection:
    """A database in memory alone."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    if data[18:20] == b"\2\2":  # it has a log, and memory has none
        data = data[:18] + b"\1\1" + data[20:]
    if data:
        connection.deserialize(data)
    _harden(connection)
    return connection


def _harden(connection: sqlite3.Connection) -> None:
    for limit, value in LIMITS:
        connection.setlimit(limit, value)
    for setting in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {setting}")
    connection.text_factory = lambda data: data.decode("utf-8", "replace")


def open_to_read(request: dict[str, Any], data: bytes) -> sqlite3.Connection:
    """The database of a request: at `path`, with `log` where it has a write-ahead log."""
    if not request.get("path"):
        return _memory(data)
    # Without a log nobody writes, or by a journal whose locks are obeyed; a database whose log
    # is gone could not be opened without writing.
    wal = _is_wal(request["fd"])
    still = "&immutable=1" if wal and not request["log"] else ""
    connection = _connected(request["path"], f"mode=ro{still}")
    _harden(connection)
    return connection


def _connected(path: str, options: str) -> sqlite3.Connection:
    address = f"file:{quote(path)}?{options}"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_MS / 1000)


def _is_wal(fd: int) -> bool:
    return pread(fd, 20, 0)[18:20] == b"\2\2"


LISTED_TABLES = (
    "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite_%' ORDER BY type, name"
)


def query(
    request: dict[str, Any], data: bytes, connection: sqlite3.Connection | None = None
) -> tuple[dict[str, Any], bytes]:
    """The rows of one statement that reads.

    Args:
        request: `sql`, `limit`, `save_as`, and where the database is.
        data: the database, where it is not a file.
        connection: an open one.

    Raises:
        Denied: the statement does anything but read.
        BadInput: it is no statement of SQLite.
        UnsupportedContent: the file is no database.
    """
    with _explaining():
        opened = connection or open_to_read(request, data)
        _guard(opened)
        try:
            cursor = opened.execute(request["sql"])
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            rows = opened.execute(LISTED_TABLES).fetchmany(30)
            listed = ", ".join(name for name, _ in rows) or "none"
            hint = f"The tables are: {listed}. describe_database shows more."
            raise BadInput(f"SQLite: {error}.", hint=hint) from None
        names = [column[0] for column in cursor.description or ()]
        if not names:
            raise BadInput("There is no statement that reads.", hint="Send a SELECT.")
        return answer_of(names, [], cursor.fetchmany, request["limit"], request["save_as"])


def describe(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The tables of a database: columns, keys, indexes, rows, and some of them.

    Raises:
        UnsupportedContent: the file is no database.
    """
    with _explaining(), closing(open_to_read(request, data)) as connection:
        _guard(connection)
        tables = connection.execute(LISTED_TABLES).fetchall()
        described = [
            _table(connection, name, kind, count=number < MAX_COUNTED)
            for number, (name, kind) in enumerate(tables[:MAX_TABLES])
        ]
    return {"engine": "SQLite", "tables": described, "more": len(tables) - len(described)}, b""


def _table(connection: sqlite3.Connection, name: str, kind: str, *, count: bool) -> dict[str, Any]:
    quoted = quoted_name(name)
    found: dict[str, Any] = {"name": name, "kind": kind, "rows": None, "columns": [], "sample": []}
    try:
        info = connection.execute(f"PRAGMA table_xinfo({quoted})").fetchall()
        cursor = connection.execute(f"SELECT * FROM {quoted} LIMIT {SAMPLE_ROWS}")  # noqa: S608
        sample = [[plain_value(value) for value in row] for row in cursor]
        keys = {
            row[3]: f"{row[2]}.{row[4] or 'its key'}"
            for row in connection.execute(f"PRAGMA foreign_key_list({quoted})")
        }
        visible = [column for column in info if column[6] != 1]
        for number, (_, column, declared, required, _, key, _) in enumerate(visible):
            values = [row[number] for row in sample]
            mark = "key" if key else "required" if required else ""
            foreign = f"of {keys[column]}" if column in keys else ""
            found["columns"].append(described_column(column, declared, values, mark, foreign))
        found["sample"] = sample[:DISPLAYED_ROWS]
        if count:
            found["rows"] = connection.execute(f"SELECT count(*) FROM {quoted}").fetchone()[0]  # noqa: S608
    except sqlite3.OperationalError as error:  # a view of what is gone, a module that is not here
        found["error"] = str(error)[:200]
    return found


def quoted_name(name: str) -> str:
    """An identifier in quotes."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


@contextmanager
def _explaining(*, changes: bool = False) -> Iterator[None]:
    """Raise what an error of SQLite means here; `changes` for statements that may write."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise explained(error, changes=changes) from None


def explained(error: sqlite3.Error | sqlite3.Warning, *, changes: bool = False) -> ToolError:
    """What an error of SQLite means here; `changes` for statements that may write."""
    text = " ".join(str(error).split())[:300]
    low = text.lower()
    if "not authorized" in low or "prohibited" in low or "too many attached" in low:
        if changes:
            return Denied(
                f"This changes more than the tables of the database: {text}.",
                hint="Leave out BEGIN and COMMIT: all statements are one transaction. ATTACH, "
                "extensions and most PRAGMA are left to the user.",
            )
        return Denied(
            f"Only statements that read are run here: {text}.",
            hint="Send one SELECT. change_database changes a database, and asks the user.",
        )
    if "one statement" in low:
        return Denied("There is more than one statement.", hint="Send one SELECT.")
    if "not a database" in low or "encrypted" in low or "unsupported file format" in low:
        return UnsupportedContent(
            "The file is no SQLite database, or it is encrypted.",
            hint="Use a copy that is not encrypted.",
        )
    if "malformed" in low or "corrupt" in low or "disk i/o" in low:
        return UnsupportedContent(
            f"The database is damaged: {text}.", hint="The user can try sqlite3's .recover."
        )
    if "locked" in low or "busy" in low:
        return Busy("Another program holds the database locked.")
    if "unable to open" in low or "readonly" in low:
        return Conflict(
            "The database was left in the middle of a change.",
            hint="Open it once with the program that wrote it, or use a copy with all its files.",
        )
    if "too big" in low or "out of memory" in low:
        return TooLarge(f"A value is too large: {text}.")
    return BadInput(f"SQLite: {text}.", hint="describe_database shows tables and columns.")


# Changes: first on a copy in memory, then, if it is wanted, on the file.

ACTIONS = {"INSERT": ("new",), "UPDATE": ("old", "new"), "DELETE": ("old",)}
MAX_WATCHED = 200
MAX_LISTED_CHANGES = 20
MAX_DISPLAYED_COLUMNS = 60
LISTED = 'SELECT action, name, old, new FROM temp."toolcrib changes" LIMIT ?'
TALLIED = 'SELECT action, name, count(*) FROM temp."toolcrib changes" GROUP BY 1, 2'


def preview(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What statements would do to a database, tried on a copy in memory.

    Returns:
        See `_observed`.

    Raises:
        BadInput: a statement fails.
        Denied: one reaches for other files.
    """
    with _explaining(changes=True):
        with closing(open_to_read(request, data)) as original:
            # Reads first, since `serialize` does not say why it cannot: locked, damaged, encrypted.
            original.execute("SELECT count(*) FROM sqlite_master").fetchone()
            is_empty = not original.execute("PRAGMA page_count").fetchone()[0]
            whole = b"" if is_empty else original.serialize()  # which it cannot do of nothing
        with closing(_memory(whole)) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            return _observed(connection, request["sql"]), b""


def create(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What statements make of an empty database, and its file.

    Returns:
        See `_observed`.

    Raises:
        BadInput, Denied: as of `preview`.
    """
    del data
    with _explaining(changes=True), closing(_memory(b"")) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("BEGIN IMMEDIATE")
        done = _observed(connection, request["sql"])
        connection.execute("COMMIT")
        return done, connection.serialize()


def _observed(connection: sqlite3.Connection, sql: str) -> dict[str, Any]:
    """Run statements in the transaction that is open, and look at what they do.

    Returns:
        How many rows of which table are added, changed and removed (`counts`), some of them
        (`rows`), what becomes of `tables`, how many rows more are touched (`unseen`), and one
        `identity` for all of that but new values, which may be random or a time.
    """
    before = _counts(connection)
    _watch(connection)
    touched = _run(connection, sql)
    listed = connection.execute(LISTED, (MAX_LISTED_CHANGES,)).fetchall()
    counts = connection.execute(TALLIED).fetchall()
    after = _counts(connection)
    sums = {name: 0 for _, name, _ in counts}
    for action, name, count in counts:
        sums[name] += {"INSERT": count, "DELETE": -count}.get(action, 0)
    tables = {
        name: [before.get(name), after.get(name)]
        for name in {**before, **after}
        if (name in before) != (name in after)
        or after.get(name, 0) - before.get(name, 0) != sums.get(name, 0)
    }
    seen = 2 * sum(count for *_, count in counts)  # each was noted, in a row of its own
    unseen = max(touched - seen, 0)
    there = [row[:3] for row in listed if row[0] != "INSERT"]
    return {
        "rows": [list(row) for row in listed],
        "counts": [list(row) for row in counts],
        "tables": tables,
        "unseen": unseen,
        "identity": _digest(repr((there, sorted(counts), sorted(tables.items()), unseen)).encode()),
    }


def _counts(connection: sqlite3.Connection) -> dict[str, int]:
    counts = {}
    for name in _tables(connection, "table", "virtual"):
        with suppress(sqlite3.Error):
            counted = connection.execute(f"SELECT count(*) FROM {quoted_name(name)}")  # noqa: S608
            counts[name] = counted.fetchone()[0]
    return counts


def _tables(connection: sqlite3.Connection, *kinds: str) -> list[str]:
    """The names of the tables of some kinds that changes are watched in.

    Raises:
        Unavailable: SQLite does not tell them apart.
    """
    listed = connection.execute("PRAGMA main.table_list").fetchall()
    if not listed:
        raise Unavailable(
            f"SQLite {sqlite3.sqlite_version} does not show what changes do.",
            hint="The user needs a Python with SQLite 3.37 or newer.",
        )
    names = [name for _, name, kind, *_ in listed if kind in kinds]
    return [name for name in names if not name.startswith("sqlite_")][:MAX_WATCHED]


def _watch(connection: sqlite3.Connection) -> None:
    """Note each row that is added, changed or removed."""
    connection.execute("PRAGMA recursive_triggers = ON")  # else REPLACE removes unseen
    connection.execute('CREATE TEMP TABLE "toolcrib changes" (action, name, old, new)')
    # A trigger on a table of a virtual one (full-text search) has SQLite crash.
    for name in _tables(connection, "table"):
        info = connection.execute(f"PRAGMA table_info({quoted_name(name)})").fetchall()
        columns = [row[1] for row in info[:MAX_DISPLAYED_COLUMNS]]
        for action, sides in ACTIONS.items():
            values = [
                _described(side, columns) if side in sides else "NULL" for side in ("old", "new")
            ]
            literal = name.replace("'", "''")
            with suppress(sqlite3.Error):  # of a virtual table
                trigger = quoted_name(f"toolcrib {action} {name}")
                added = f"'{action}', '{literal}', {', '.join(values)}"
                body = f'INSERT INTO "toolcrib changes" VALUES ({added})'  # noqa: S608
                event = f"AFTER {action} ON main.{quoted_name(name)}"
                connection.execute(f"CREATE TEMP TRIGGER {trigger} {event} BEGIN {body}; END")


def _described(side: str, columns: list[str]) -> str:
    parts = [
        f"'{c.replace(chr(39), chr(39) * 2)}=' || coalesce(substr({side}.{quoted_name(c)}, 1, 60), "
        "'NULL')"
        for c in columns
    ]
    return " || ', ' || ".join(parts) or "''"


DENIED_CHANGES = frozenset(
    [
        *(sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_TRANSACTION),
        getattr(sqlite3, "SQLITE_SAVEPOINT", 32),
        sqlite3.SQLITE_CREATE_TEMP_TRIGGER,  # it could hide rows from ours
    ]
)
OURS = "toolcrib "
"""How the names begin by which changes are watched."""


class _ChangeAuthorizer:
    """Decides what one statement that changes may reach."""

    def __init__(self) -> None:
        self._drops_table = False

    def __call__(
        self, action: int, first: str | None, second: str | None, _: str | None, trigger: str | None
    ) -> int:
        if action in DENIED_CHANGES:
            return sqlite3.SQLITE_DENY
        self._drops_table |= action == sqlite3.SQLITE_DROP_TABLE
        is_ours = any(name and name.lower().startswith(OURS) for name in (first, second))
        # With its table, a trigger of ours goes by itself.
        goes = self._drops_table and action == sqlite3.SQLITE_DROP_TEMP_TRIGGER
        if is_ours and not goes and not (trigger and trigger.startswith(OURS)):
            return sqlite3.SQLITE_DENY
        if action in (sqlite3.SQLITE_PRAGMA, sqlite3.SQLITE_FUNCTION):
            return _authorize(action, first, second)
        return sqlite3.SQLITE_OK


def _run(connection: sqlite3.Connection, sql: str) -> int:
    """Run statements in the transaction that is open; how many rows they touched."""
    before = connection.total_changes
    for statement in statements(sql):
        connection.set_authorizer(_ChangeAuthorizer())
        connection.execute(statement)
    connection.set_authorizer(None)
    return connection.total_changes - before


def statements(sql: str) -> list[str]:
    """The statements of a text, parted where SQLite says that one is complete.

    Raises:
        BadInput: there is none.
    """
    found = []
    part = ""
    for piece in sql.split(";"):
        part += piece
        if sqlite3.complete_statement(f"{part};"):
            if part.strip():
                found.append(part)
            part = ""
        else:
            part += ";"
    if part.strip(" ;\n\t\r"):
        found.append(part)
    if not found:
        raise BadInput("There is no statement.", hint="Send an INSERT, UPDATE, DELETE or CREATE.")
    return found


def snapshot(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The file of a database as undo has to bring it back, with all that its log held.

    Raises:
        Busy: another program holds it.
    """
    del data
    with _explaining(changes=True), closing(_open_to_change(request)) as connection:
        content = pread(request["fd"], os.fstat(request["fd"]).st_size, 0)
        connection.execute("ROLLBACK")
    return {"digest": _digest(content)}, content


def apply(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Change the file of a database, all or nothing.

    Args:
        request: `sql`, `path`, `fd`, the `digest` that the file must have, the `identity` of
            what was judged, and whether it is `alone`: no run goes on.
        data: nothing.

    Returns:
        See `_observed`; and whether the file holds the `whole` change: a log that others read
        cannot be emptied.

    Raises:
        Conflict: the file has changed since, or the statements do something else.
        BadInput, Busy, Denied: a statement fails, or another program holds it.
    """
    del data
    with _explaining(changes=True), closing(_open_to_change(request)) as connection:
        content = pread(request["fd"], os.fstat(request["fd"]).st_size, 0)
        if _digest(content) != request["digest"]:
            raise Conflict("The database was changed meanwhile.", hint="Send the call again.")
        done = _observed(connection, request["sql"])
        if done["identity"] != request["identity"]:
            raise Conflict(
                "Nothing was changed: the statements do something else by now than what the "
                "user was shown.",
                hint="Send the call again; name what is meant without random() and the time.",
            )
        connection.execute("COMMIT")
        checkpoint = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return {**done, "whole": not checkpoint[0]}, b""


def _open_to_change(request: dict[str, Any]) -> sqlite3.Connection:
    """A connection that holds the right to write, its log empty."""
    connection = _connected(request["path"], "mode=rw")
    try:
        _harden(connection)
        connection.execute("PRAGMA foreign_keys = ON")
        mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
        if mode == "delete" and not request["alone"]:
            connection.execute("PRAGMA journal_mode = TRUNCATE")  # nothing may be removed
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise Busy("Another program reads or writes the database.")
        connection.execute("BEGIN IMMEDIATE")
    except BaseException:
        connection.close()
        raise
    return connection


def _digest(content: bytes) -> str:
    from hashlib import blake2b

    return blake2b(content, digest_size=16).hexdigest()
