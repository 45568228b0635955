"""The battery of SQL, in the very children that answer questions."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.data.battery import (
    DUCKDB_ATTACKS,
    DUCKDB_TWINS,
    SQLITE_ATTACKS,
    SQLITE_TWINS,
    lines,
)
from toolcrib.core.errors import Denied, TimedOut, TooLarge
from toolcrib.data.databases import task
from toolcrib.execution.workers import Task, Workers
from toolcrib.system.processes import Processes

CANARY = "canary-4711"
SQLITE = Task("tests.data.battery:run", "The battery", 60, 1500, access="read")
DUCKDB = Task("tests.data.duckdb_battery:run", "The battery", 60, 6000, access="read")


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    processes = Processes()
    opened = Workers(processes)
    yield opened
    await opened.close()
    await processes.close()


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "ws").mkdir()
    outside = tmp_path / "outside.csv"
    outside.write_text(f"secret\n{CANARY}\n")
    with sqlite3.connect(tmp_path / "ws/own.db") as connection:
        connection.executescript(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, name, day);"
            "INSERT INTO t VALUES (1, 'a', '2026-01-01'), (2, 'DELETE', '');"
            "CREATE VIEW v AS SELECT name FROM t;"
            "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f VALUES ('soft moss');"
        )
    connection.close()
    (tmp_path / "ws/orders.csv").write_text("id,city,amount\n1,Bonn,1.5\n2,COPY,2.5\n")
    return {"OUT": outside, "NEW": tmp_path / "ws/new.csv"}


async def outcome(
    workers: Workers, table: str, places: dict[str, Path], own: Path, engine: str
) -> dict[str, tuple[str, str]]:
    fd = os.open(own, os.O_RDONLY)
    try:
        names = {**{k: str(v) for k, v in places.items()}, "OWN": str(own), "FD": str(fd)}
        statements = lines(table, names)
        source: dict[str, Any] = {"path": str(own), "fd": fd, "log": False}
        if engine == "duckdb":
            file = {"fd": fd, "name": own.name, "kind": "csv", "size": own.stat().st_size}
            source = {"files": [file]}
        request = {"engine": engine, "statements": statements, "source": source}
        kind = SQLITE if engine == "sqlite" else DUCKDB
        answer, _ = await workers.run(kind, request, b"", None, [fd])
    finally:
        os.close(fd)
    return dict(zip(statements, map(tuple, answer["found"]), strict=True))


def tree(top: Path) -> dict[str, bytes]:
    files = [p for p in top.rglob("*") if p.is_file() and "state" not in p.parts]
    return {str(p.relative_to(top)): p.read_bytes() for p in files}


@pytest.mark.rows("C185", "E87")
@pytest.mark.parametrize(
    ("engine", "name", "attacks", "twins"),
    [
        ("sqlite", "own.db", SQLITE_ATTACKS, SQLITE_TWINS),
        ("duckdb", "orders.csv", DUCKDB_ATTACKS, DUCKDB_TWINS),
    ],
    ids=["sqlite", "duckdb"],
)
async def test_no_attack_gets_through_and_all_twins_work(
    workers: Workers, places: dict[str, Path], engine: str, name: str, attacks: str, twins: str
) -> None:
    top = places["OUT"].parent
    before = tree(top)
    own = top / "ws" / name
    found = await outcome(workers, attacks, places, own, engine)
    through = {sql: text for sql, (code, text) in found.items() if not code}
    assert through == {}
    assert not [sql for sql, (_, text) in found.items() if CANARY in text]
    assert {sql: row for sql, row in found.items() if row[0] == "internal"} == {}
    assert tree(top) == before
    working = await outcome(workers, twins, places, own, engine)
    assert {sql: row for sql, row in working.items() if row[0]} == {}
    assert tree(top) == before


async def test_the_kernel_keeps_a_child_to_its_files(
    workers: Workers, places: dict[str, Path]
) -> None:
    top = places["OUT"].parent
    before = tree(top)
    own = top / "ws/own.db"
    fd = os.open(own, os.O_RDONLY)
    names = {"own": str(own), "outside": str(places["OUT"]), "new": str(places["NEW"]), "fd": fd}
    try:
        kind = Task("tests.data.battery:reach", "Reaching", 30, 1500, access="read")
        answer, _ = await workers.run(kind, names, b"", None, [fd])
    finally:
        os.close(fd)
    assert answer["worked"] == ["read own", "read own again"]
    assert tree(top) == before


async def test_a_copy_in_memory_is_read_where_the_kernel_cannot_help(
    workers: Workers, places: dict[str, Path]
) -> None:
    own = places["OUT"].parent / "ws/own.db"
    with sqlite3.connect(own) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    request = {"sql": "SELECT count(*) FROM t", "limit": 9, "save_as": ""}
    answer, _ = await workers.run(task("sqlite", "query", ""), request, own.read_bytes())
    assert answer["rows"] == [[2]]
    with pytest.raises(Denied):
        await workers.run(
            task("sqlite", "query", ""), {**request, "sql": "DELETE FROM t"}, own.read_bytes()
        )


FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


@pytest.mark.parametrize(
    ("engine", "sql"),
    [
        ("sqlite", FOREVER),
        ("duckdb", "SELECT count(*) FROM range(1000000000) a, range(1000000000) b"),
    ],
)
async def test_what_runs_for_ever_is_ended(
    workers: Workers, places: dict[str, Path], engine: str, sql: str
) -> None:
    top = places["OUT"].parent / "ws"
    own = top / ("own.db" if engine == "sqlite" else "orders.csv")
    fd = os.open(own, os.O_RDONLY)
    source: dict[str, Any] = {"path": str(own), "fd": fd, "log": False}
    if engine == "duckdb":
        source = {"files": [{"fd": fd, "name": "orders.csv", "kind": "csv", "size": 40}]}
    request = {**source, "sql": sql, "limit": 10, "save_as": ""}
    try:
        with pytest.raises((TimedOut, TooLarge)):
            await workers.run(
                task(engine, "query", "read"), request, b"", time.monotonic() + 4, [fd]
            )
    finally:
        os.close(fd)


def test_the_battery_is_as_large_as_promised() -> None:
    tables = (SQLITE_ATTACKS, SQLITE_TWINS, DUCKDB_ATTACKS, DUCKDB_TWINS)
    assert sum(len(table.strip().split("\n")) for table in tables) >= 150
