"""PostgreSQL and MariaDB on loopback, each in a folder of its own, with a role for each case."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.listening import free_port

PASSWORD = "pass-" + "word"
ROLES = ("reader", "filer", "owner")
"""Reads the table; may read files; is the superuser."""


@dataclass(frozen=True)
class DatabaseServer:
    dialect: str
    port: int
    socket: str
    folder: Path

    def place(self, role: str = "reader", **more: Any) -> dict[str, Any]:
        """What the child is told, with a socket that it closes."""
        opened = socket.create_connection(("127.0.0.1", self.port))
        return {
            "dialect": self.dialect,
            "fd": opened.detach(),
            "host": "127.0.0.1",
            "user": role,
            "password": PASSWORD,
            "database": "shop",
            "tls": False,
            "trusted": False,
            "functions": [],
            "name": "shop",
            "seconds": 20.0,
            "limit": 50,
            "save_as": "",
            **more,
        }


def _program(name: str) -> str | None:
    """A program of the server, wherever Debian puts it."""
    found = shutil.which(name)
    if found and Path(found).exists():
        return found
    places = [*sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), Path("/usr/sbin") / name]
    return next((str(place) for place in reversed(places) if place.exists()), None)


def missing(dialect: str) -> str:
    """Why a server cannot be started here; empty where it can."""
    if os.name == "nt":
        return "these servers are started on Linux alone"
    programs = {"postgresql": ("initdb", "postgres"), "mariadb": ("mariadb-install-db", "mariadbd")}
    for name in programs[dialect]:
        if _program(name) is None:
            return f"{name} is not installed (apt-get install postgresql mariadb-server)"
    return ""


@contextmanager
def running(dialect: str) -> Iterator[DatabaseServer]:
    """A server until the end of the context."""
    # Paths of sockets are short; the folders of tests are not.
    folder = Path(tempfile.mkdtemp(prefix="sql-"))
    start = _postgresql if dialect == "postgresql" else _mariadb
    process: subprocess.Popen[bytes] | None = None
    try:
        while True:
            port = free_port()
            process, local = start(folder, port)
            if _answers(process, local):
                break
            process.wait()  # another program took the port meanwhile
        _fill(dialect, port)
        yield DatabaseServer(dialect, port, local, folder)
    finally:
        if process is not None:
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _answers(process: subprocess.Popen[bytes], local: str) -> bool:
    """Whether the server takes connections; False once it has ended.

    Its own local socket says so: the port may be that of another program.
    """
    while process.poll() is None:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as opened:
            opened.connect(local)
            return True
        time.sleep(0.05)
    return False


def _postgresql(folder: Path, port: int) -> tuple[subprocess.Popen[bytes], str]:
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:  # it refuses to run as root
        as_user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(folder, "postgres", "postgres")
    data = folder / "data"
    if not data.exists():
        secret = folder / "secret"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        subprocess.run(
            [str(_program("initdb")), "-D", str(data), "-U", "owner", "--auth=scram-sha-256",
             f"--pwfile={secret}", "-E", "UTF8", "--locale=C", "-N"],
            check=True, cwd="/", capture_output=True, **as_user,
        )  # fmt: skip
    options = {"listen_addresses": "127.0.0.1", "port": port, "fsync": "off",
               "unix_socket_directories": folder, "shared_buffers": "16MB"}  # fmt: skip
    listed = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    command = [str(_program("postgres")), "-D", str(data), *listed]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, cwd="/", stdout=log, stderr=log, **as_user)
    return process, f"{folder}/.s.PGSQL.{port}"


def _mariadb(folder: Path, port: int) -> tuple[subprocess.Popen[bytes], str]:
    user = "mysql" if os.geteuid() == 0 else ""
    if user:
        shutil.chown(folder, user)
    data, local = folder / "data", folder / "s"
    named = [f"--user={user}"] if user else []
    if not data.exists():
        subprocess.run(
            [str(_program("mariadb-install-db")), "--no-defaults", f"--datadir={data}", *named,
             "--auth-root-authentication-method=normal", "--skip-test-db"],
            check=True, capture_output=True,
        )  # fmt: skip
    command = [str(_program("mariadbd")), "--no-defaults", f"--datadir={data}", *named,
               f"--port={port}", "--bind-address=127.0.0.1", f"--socket={local}",
               "--innodb-buffer-pool-size=8M", "--innodb-flush-log-at-trx-commit=0",
               "--secure-file-priv=", "--skip-name-resolve"]  # fmt: skip
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log), str(local)


TABLES = (
    "CREATE TABLE item (id integer PRIMARY KEY, name varchar(50) NOT NULL, price numeric(8, 2))",
    "CREATE TABLE sale (id integer PRIMARY KEY, item integer REFERENCES item (id), day date)",
    "INSERT INTO item VALUES (1, 'lamp', 9.50), (2, 'tent; DROP TABLE item', 80)",
    "INSERT INTO sale VALUES (1, 1, '2026-01-02'), (2, 2, '2026-02-03'), (3, 1, '2026-03-04')",
    "CREATE VIEW cheap AS SELECT name FROM item WHERE price < 10",
)


def _fill(dialect: str, port: int) -> None:
    if dialect == "postgresql":
        import pg8000.dbapi

        def connected(database: str) -> Any:
            while True:  # it takes connections a little before it answers them
                with suppress(pg8000.dbapi.Error):
                    opened = pg8000.dbapi.connect(
                        "owner", host="127.0.0.1", port=port, password=PASSWORD, database=database
                    )
                    opened.autocommit = True
                    return opened

        first = connected("postgres")
        first.cursor().execute("CREATE DATABASE shop")
        first.close()
        connection = connected("shop")
        statements = [
            f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'",
            f"CREATE ROLE filer LOGIN PASSWORD '{PASSWORD}'",
            "GRANT pg_read_server_files TO filer",
            *TABLES,
            "CREATE TYPE level AS ENUM ('Low', 'high')",
            "CREATE TABLE ticket (id integer, level level)",
            "CREATE SEQUENCE numbers",
            "CREATE FUNCTION spend(i integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT i'",
            "CREATE FUNCTION grab(item) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1'",
            "CREATE SCHEMA stock CREATE TABLE shelf (id integer)",
            # More than reading, so that what holds is seen to hold without the role's help.
            "GRANT ALL ON ALL TABLES IN SCHEMA public TO reader",
            "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO reader",
            "GRANT CREATE ON SCHEMA public TO reader",
        ]
    else:
        import pymysql

        connection = pymysql.connect(
            host="127.0.0.1", port=port, user="root", password="", autocommit=True
        )
        statements = [
            "CREATE DATABASE shop",
            "USE shop",
            *TABLES,
            "CREATE TABLE ticket (id integer, level ENUM('Low', 'high'))",
            "CREATE SEQUENCE numbers",
            "CREATE FUNCTION spend(i integer) RETURNS integer DETERMINISTIC RETURN i",
            *(f"CREATE USER {r}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'" for r in ROLES),
            f"CREATE USER reader@localhost IDENTIFIED BY '{PASSWORD}'",
            *(f"GRANT ALL ON shop.* TO {r}@'127.0.0.1'" for r in ROLES),
            "GRANT SELECT ON shop.* TO reader@localhost",
            "GRANT FILE ON *.* TO filer@'127.0.0.1'",
            "GRANT ALL ON *.* TO owner@'127.0.0.1'",
        ]
    cursor = connection.cursor()
    for statement in statements:
        cursor.execute(statement)
    connection.close()
