"""Questions to PostgreSQL and MariaDB over an open socket. Runs in a worker's child.

The role that the user gave is the boundary: what it may not do is refused by the server. Around
it stand a transaction that only reads, a bound of time, and a list of functions.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pg8000.dbapi  # type: ignore[import-untyped]
import pymysql  # type: ignore[import-untyped]
import sqlalchemy
from pg8000 import converters
from pymysql.cursors import SSCursor  # type: ignore[import-untyped]
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.pool import NullPool

from toolcrib.core.errors import (
    BadInput,
    ConnectionFailed,
    Denied,
    TimedOut,
    TlsFailure,
    ToolError,
)
from toolcrib.core.package_data import package_table
from toolcrib.data.rows import answer_of, described_column, plain_value
from toolcrib.data.sql_statement import read_statement
from toolcrib.text.display import some_of

if TYPE_CHECKING:
    from collections.abc import Iterator

TLS_REFUSED = 2026
"""PyMySQL's number for a server that has no TLS."""
NO_SUCH_TABLE = ("42P01", 1146)
MAX_TABLES = 60
MAX_CHOICES = 20
SAMPLE_ROWS = 20
DISPLAYED_ROWS = 3
MAX_COUNTED_ROWS = 100_000
SYSTEM_SCHEMAS = ("information_schema", "pg_catalog", "pg_toast")
_TLS = ssl.create_default_context()

POSTGRESQL_FILE_FUNCTIONS = (
    "pg_read_file(text)",
    "pg_read_binary_file(text)",
    "pg_ls_dir(text)",
    "lo_import(text)",
    "lo_export(oid,text)",
)
_FUNCTIONS = package_table("data/sql_functions.toml")
POSTGRESQL_HARMLESS = frozenset(_FUNCTIONS["postgresql_harmless"].split())
MARIADB_HARMLESS = frozenset(_FUNCTIONS["mariadb_harmless"].split())


def prepare() -> None:
    """Load what is loaded late."""
    for dialect in (postgresql.dialect(), mysql.dialect()):  # type: ignore[no-untyped-call]
        str(sqlalchemy.select(sqlalchemy.literal("x")).compile(dialect=dialect))
    for url in ("postgresql+pg8000://", "mariadb+pymysql://"):
        sqlalchemy.create_engine(url, poolclass=NullPool)
    for codec in ("ascii", "latin-1", "utf-8", "cp1252", "idna"):
        "x".encode(codec)
    for convert, text in (
        (converters.date_in, "2026-01-02"),
        (converters.time_in, "10:20:30"),
        (converters.timestamp_in, "2026-01-02 10:20:30.5"),
        (converters.timestamptz_in, "2026-01-02 10:20:30.5+02"),
        (converters.interval_in, "1 day 10:20:30"),
        (converters.uuid_in, "12345678-1234-1234-1234-123456789012"),
        (converters.inet_in, "10.0.0.1"),
    ):
        convert(text)


def query(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The rows of one SELECT.

    Args:
        request: the source and the statement.
        data: authorities that are trusted over TLS, in DER form: it opens no files.

    Raises:
        Denied: the role may do too much, or the statement does more than read.
        BadInput: the server refuses the statement.
    """
    dialect = request["dialect"]
    statement = read_statement(request["sql"], dialect)
    with _opened(request, data) as connection, _naming_tables(connection, dialect):
        raw = connection.connection.dbapi_connection
        if dialect == "postgresql":
            _check_postgresql_calls(connection, statement.calls, statement.members, request)
            # The server's parser takes only a SELECT here, and one alone.
            raw.execute_unnamed(f"DECLARE answer NO SCROLL CURSOR FOR\n{statement.text}")
            cursor = raw.cursor()
            cursor.execute("FETCH 0 FROM answer")

            def fetch(count: int) -> Sequence[Sequence[Any]]:
                cursor.execute(f"FETCH {count} FROM answer")
                return list(cursor.fetchall())
        else:
            _check_mariadb_calls(statement.calls, request)
            cursor = raw.cursor(SSCursor)
            cursor.execute(statement.text)
            fetch = cursor.fetchmany
        names = [column[0] for column in cursor.description or ()]
        try:
            return answer_of(names, [""] * len(names), fetch, request["limit"], request["save_as"])
        finally:
            left = getattr(cursor, "_result", None)
            if dialect == "mariadb" and left is not None and left.unbuffered_active:
                # Rows that nobody takes: closing would read them all.
                left.unbuffered_active = False
                connection.invalidate()


def describe(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The tables that the role sees: columns, keys, rows, and some of them; see `query`.

    Raises:
        Denied: the role may do too much.
    """
    with _opened(request, data) as connection:
        looked = sqlalchemy.inspect(connection)
        found = _listed(looked, request["dialect"])
        tables = [_table(connection, looked, *each) for each in found[:MAX_TABLES]]
        engine = {"postgresql": "PostgreSQL", "mariadb": "MariaDB"}[request["dialect"]]
        return {"engine": engine, "tables": tables, "more": len(found) - len(tables)}, b""


def _listed(looked: Any, dialect: str) -> list[tuple[str | None, str, str]]:
    """Tables and views with their schema, None for the role's own, and their kind."""
    own = looked.default_schema_name
    schemas: list[str | None] = [None]
    if dialect == "postgresql":
        schemas += [
            name for name in looked.get_schema_names() if name != own and name not in SYSTEM_SCHEMAS
        ]
    found = []
    for schema in schemas:
        found += [(schema, name, "table") for name in looked.get_table_names(schema)]
        found += [(schema, name, "view") for name in looked.get_view_names(schema)]
    return found


@contextmanager
def _naming_tables(connection: Any, dialect: str) -> Iterator[None]:
    """What a server says of a table that it does not have, with those that it has.

    Raises:
        BadInput: there is no such table.
    """
    try:
        yield
    except (pg8000.dbapi.Error, pymysql.err.Error) as error:
        if _state(error) not in NO_SUCH_TABLE:
            raise
        connection.rollback()  # the server answers nothing more in the broken transaction
        found = _listed(sqlalchemy.inspect(connection), dialect)
        names = ", ".join(".".join(filter(None, each[:2])) for each in found[:30]) or "none"
        hint = f"The tables are: {names}. describe_database shows more."
        raise BadInput(f"The server: {_text(error)}", hint=hint) from None


def _table(
    connection: Any, looked: Any, schema: str | None, name: str, kind: str
) -> dict[str, Any]:
    prepare_name = connection.dialect.identifier_preparer.quote
    quoted = ".".join(prepare_name(part) for part in (schema, name) if part)
    display = f"{schema}.{name}" if schema else name
    found: dict[str, Any] = {"name": display, "kind": kind, "rows": None, "sample": []}
    columns: list[dict[str, Any]] = []
    keys: set[str] = set()
    foreign: dict[str, str] = {}
    sample: list[list[Any]] = []
    try:
        with connection.begin_nested():
            rows = connection.exec_driver_sql(f"SELECT * FROM {quoted} LIMIT {SAMPLE_ROWS}")  # noqa: S608
            columns = [{"name": column, "type": "", "nullable": True} for column in rows.keys()]  # noqa: SIM118 - no mapping
            sample = [[plain_value(value) for value in row] for row in rows]
            count = connection.exec_driver_sql(
                f"SELECT count(*) FROM (SELECT 1 FROM {quoted} LIMIT {MAX_COUNTED_ROWS + 1}) AS n"  # noqa: S608
            ).scalar()
            found["rows"] = count if count <= MAX_COUNTED_ROWS else None
    except sqlalchemy.exc.DBAPIError as error:  # a table that the role may not read
        found["error"] = _text(error.orig)
    # The columns of a view are not told to a role that may only read it.
    with suppress(sqlalchemy.exc.DBAPIError), connection.begin_nested():
        columns = looked.get_columns(name, schema)
        keys = set(looked.get_pk_constraint(name, schema).get("constrained_columns") or ())
        foreign = {
            own: f"of {key['referred_table']}.{other}"
            for key in looked.get_foreign_keys(name, schema)
            for own, other in zip(key["constrained_columns"], key["referred_columns"], strict=False)
        }
    listed = []
    for number, column in enumerate(columns):
        values = [row[number] for row in sample] if sample else []
        own, is_key = column["name"], column["name"] in keys
        required = not is_key and not column["nullable"]
        declared, choices = _declared(column["type"])
        marks = ("key" if is_key else "", "required" if required else "", foreign.get(own, ""))
        listed.append(described_column(own, declared, values, *marks, choices))
    return {**found, "columns": listed, "sample": sample[:DISPLAYED_ROWS]}


def _declared(kind: Any) -> tuple[str, str]:
    """The type of a column, and what is said of the values of an enum."""
    if not isinstance(kind, sqlalchemy.Enum):
        return str(kind), ""
    return kind.name or "enum", f"one of {some_of(kind.enums, MAX_CHOICES)}"


@contextmanager
def _opened(request: dict[str, Any], authorities: bytes) -> Iterator[Any]:
    """A connection within a transaction that only reads, by a role that may not do too much."""
    if authorities:
        _TLS.load_verify_locations(cadata=authorities)
    is_postgresql = request["dialect"] == "postgresql"
    driver = "postgresql+pg8000" if is_postgresql else "mariadb+pymysql"
    connect = _connect_postgresql if is_postgresql else _connect_mariadb
    engine = sqlalchemy.create_engine(
        f"{driver}://", poolclass=NullPool, creator=lambda: connect(request)
    )
    milliseconds = int(request["seconds"] * 1000)
    try:
        with engine.connect() as connection:
            if is_postgresql:
                connection.exec_driver_sql("SET TRANSACTION READ ONLY")
                for name, value in (
                    ("statement_timeout", str(milliseconds)),
                    ("lock_timeout", "5000"),
                    ("standard_conforming_strings", "on"),
                ):
                    connection.exec_driver_sql(f"SET LOCAL {name} = {value}")
            else:
                connection.rollback()
                connection.exec_driver_sql(
                    f"SET SESSION max_statement_time = {milliseconds / 1000}"
                )
                connection.exec_driver_sql("SET SESSION sql_mode = '', lock_wait_timeout = 5")
                connection.exec_driver_sql("SET SESSION TRANSACTION READ ONLY")
                connection.exec_driver_sql("START TRANSACTION READ ONLY")
            if not request["trusted"]:
                check = _check_postgresql_role if is_postgresql else _check_mariadb_role
                check(connection, request["name"])
            yield connection
            connection.rollback()
    except sqlalchemy.exc.DBAPIError as error:
        raise explained(error.orig) from None
    except (pg8000.dbapi.Error, pymysql.err.Error, OSError) as error:
        raise explained(error) from None


def _socket(request: dict[str, Any]) -> socket.socket:
    # It waits without a timeout, for which the kernel refuses a child that opens nothing; who
    # started the child ends it.
    return socket.socket(fileno=request["fd"])


def _connect_postgresql(request: dict[str, Any]) -> Any:
    return pg8000.dbapi.connect(
        request["user"],
        host=request["host"] or "localhost",
        database=request["database"] or None,
        password=request["password"] or None,
        ssl_context=_TLS if request["tls"] else False,
        application_name="toolcrib",
        sock=_socket(request),
    )


def _connect_mariadb(request: dict[str, Any]) -> Any:
    connection = pymysql.connect(
        user=request["user"],
        host=request["host"] or "localhost",
        database=request["database"] or None,
        password=request["password"],
        charset="utf8mb4",
        ssl=_TLS if request["tls"] else None,
        local_infile=False,
        defer_connect=True,
    )
    connection.connect(_socket(request))
    return connection


def _check_postgresql_role(connection: Any, name: str) -> None:
    rows = connection.exec_driver_sql(
        "SELECT rolname, rolsuper, rolcreaterole, rolreplication, rolname IN"
        " ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')"
        " FROM pg_catalog.pg_roles WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER')"
    ).all()
    for role, *rights in rows:
        if any(rights):
            raise _too_strong(name, f"it is, or may become, {role}")
    for function in POSTGRESQL_FILE_FUNCTIONS:
        if connection.exec_driver_sql(
            f"SELECT has_function_privilege(session_user, 'pg_catalog.{function}', 'EXECUTE')"
        ).scalar():
            raise _too_strong(name, f"it may call {function}")


def _check_mariadb_role(connection: Any, name: str) -> None:
    for (grant,) in connection.exec_driver_sql("SHOW GRANTS"):
        found = re.match(r"GRANT (.+) ON \*\.\* TO", grant)
        for right in found[1].split(", ") if found else ():
            if right in _FUNCTIONS["mariadb_dangerous"]:
                raise _too_strong(name, f"it has the right {right} for the whole server")


def _too_strong(name: str, reason: str) -> Denied:
    return Denied(
        f"The role of the source {name} may do too much: {reason}.",
        hint="Tell the user: give it a role that may only read these tables, or set"
        f" sql.sources.{name}.trusted.",
    )


def _check_postgresql_calls(
    connection: Any, calls: frozenset[str], members: frozenset[str], request: dict[str, Any]
) -> None:
    """Refuse functions that are volatile, or that are neither PostgreSQL's nor an extension's."""
    rows = connection.execute(
        sqlalchemy.text(
            "SELECT DISTINCT p.proname FROM pg_catalog.pg_proc p"
            " JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace"
            " WHERE (p.proname = ANY(:calls) OR p.proname = ANY(:members) AND p.pronargs = 1"
            "  AND n.nspname <> 'pg_catalog')"
            " AND (p.provolatile = 'v' OR n.nspname <> 'pg_catalog' AND NOT EXISTS (SELECT FROM"
            "  pg_catalog.pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e'"
            "  AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass))"
        ),
        {"calls": sorted(calls), "members": sorted(members)},
    )
    for (name,) in rows:
        if name not in POSTGRESQL_HARMLESS and not _is_allowed(name, request):
            raise _not_listed(name, request)


def _check_mariadb_calls(calls: frozenset[str], request: dict[str, Any]) -> None:
    for name in sorted(calls - MARIADB_HARMLESS):
        if not _is_allowed(name, request):
            raise _not_listed(name, request)


def _is_allowed(name: str, request: dict[str, Any]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in request["functions"])


def _not_listed(name: str, request: dict[str, Any]) -> Denied:
    return Denied(
        f"The function {name[:60]} may do more than read.",
        hint=f"Do without it, or have the user name it in sql.sources.{request['name']}.functions."
        " Columns of a WITH are named by AS within it.",
    )


def _text(error: BaseException | None) -> str:
    """What a server says of an error."""
    given = error.args[0] if error is not None and error.args else error
    if isinstance(given, dict):
        return " ".join(str(given.get("M", given)).split())[:300]
    whole = error.args[1] if error is not None and len(error.args) > 1 else given
    return " ".join(str(whole).split())[:300]


def _state(error: BaseException | None) -> Any:
    """The code of an error: five characters of PostgreSQL, a number of MariaDB."""
    given = error.args[0] if error is not None and error.args else None
    return given.get("C", "") if isinstance(given, dict) else given


def explained(error: BaseException | None) -> ToolError:
    """What an error of a server means here."""
    text = _text(error)
    given = error.args[0] if error is not None and error.args else None
    state = given.get("C", "") if isinstance(given, dict) else ""
    cause = getattr(error, "original_exception", error)
    if isinstance(cause, ssl.SSLError) or given == TLS_REFUSED or "refuses SSL" in text:
        return TlsFailure(
            f"No trusted TLS connection to the database server: {text}",
            hint="Tell the user: egress.ca_file names further authorities to trust.",
        )
    if state == "57014" or given in (1969, 3024) or isinstance(error, TimeoutError):
        return TimedOut(f"The server ended it: {text}", hint="Ask for less: filter or aggregate.")
    if state == "25006" or given == 1792:
        return Denied(f"Only statements that read are run here: {text}", hint="Send one SELECT.")
    if state in ("42501", "42939") or given in (1142, 1143, 1227, 1044, 1370):
        return Denied(f"The role may not do that: {text}", hint="Ask for what it may read.")
    if state[:2] in ("28", "3D", "08") or given in (1045, 1049, 1698, 2003, 2006, 2013):
        return ConnectionFailed(
            f"The server does not let this source in: {text}",
            hint="Tell the user to look at its url and password_env in the configuration.",
        )
    if isinstance(error, OSError | pg8000.dbapi.InterfaceError):
        with suppress(AttributeError):
            text = text or type(error).__name__
        return ConnectionFailed(f"The connection broke: {text}", hint="Try it once more.")
    own = " ".join(str(given.get("H", "")).split())[:300] if isinstance(given, dict) else ""
    hint = f"{own} describe_database shows its tables and columns.".lstrip()
    return BadInput(f"The server: {text}", hint=hint)
