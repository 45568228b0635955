"""Questions to real PostgreSQL and MariaDB servers; skipped, with the reason, where none is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.data.server_battery import (
    MARIADB_ATTACKS,
    MARIADB_TWINS,
    POSTGRESQL_ATTACKS,
    POSTGRESQL_TWINS,
)
from tests.servers.databases import PASSWORD, DatabaseServer, missing, running
from toolcrib.core.config import Config
from toolcrib.core.errors import BadInput, ConnectionFailed, Denied, TimedOut, ToolError
from toolcrib.data.sql_statement import read_statement
from toolcrib.toolbox import Toolbox

pytest.importorskip("pg8000")
pytest.importorskip("pymysql")
BATTERIES = {
    "postgresql": (POSTGRESQL_ATTACKS, POSTGRESQL_TWINS),
    "mariadb": (MARIADB_ATTACKS, MARIADB_TWINS),
}
KINDS = {
    "postgresql": "SELECT date '2026-01-02', time '10:20', timestamp '2026-01-02 10:20:30.5',"
    " timestamptz '2026-01-02 10:20+02', interval '1 day 2:03', '[1,3)'::int4range, 1.5::numeric,"
    " '12345678-1234-1234-1234-123456789012'::uuid, '10.0.0.1'::inet, '{\"a\": 1}'::jsonb,"
    " '{1,2}'::int[], 'x'::bytea, true, null, point(1, 2), '10:20+02'::timetz, 1.5::money,"
    " row(1, 2), '<a/>'::xml, 'infinity'::date, '{[1,3)}'::int4multirange",
    "mariadb": "SELECT cast('2026-01-02' AS date), cast('10:20' AS time), now(6), 1.5, x'ff',"
    " json_object('a', 1), null, true, year('2026-01-02'), point(1, 2), uuid()",
}
STATE = "SELECT * FROM item ORDER BY id"


@pytest.fixture(scope="module", params=["postgresql", "mariadb"])
def server(request: pytest.FixtureRequest) -> Iterator[DatabaseServer]:
    reason = missing(request.param)
    if reason:
        pytest.skip(reason)
    with running(request.param) as started:
        yield started


def ask(server: DatabaseServer, sql: str, role: str = "reader", **more: Any) -> dict[str, Any]:
    from toolcrib.data import sql_child

    read_statement(sql, server.dialect)  # type: ignore[arg-type] - before a socket is opened
    return sql_child.query(server.place(role, sql=sql, **more), b"")[0]


def lines(table: str) -> list[str]:
    return [line for line in table.strip().splitlines() if line]


def outcome(server: DatabaseServer, sql: str, role: str, **more: Any) -> str:
    try:
        return repr(ask(server, sql, role, **more)["rows"])
    except (Denied, BadInput, TimedOut) as error:
        return f"[{error.stable_code}]"


@pytest.mark.rows("C185", "E87")
@pytest.mark.parametrize("role", ["reader", "owner"])
def test_no_attack_gets_through(server: DatabaseServer, role: str) -> None:
    attacks = lines(BATTERIES[server.dialect][0])
    files = set(Path("/tmp").glob("out*"))
    before = ask(server, STATE)["rows"]
    found = {sql: outcome(server, sql, role, trusted=True, seconds=1.0) for sql in attacks}
    assert {sql: text for sql, text in found.items() if not text.startswith("[")} == {}
    assert ask(server, STATE)["rows"] == before
    assert set(Path("/tmp").glob("out*")) == files


def test_all_twins_work(server: DatabaseServer) -> None:
    twins = lines(BATTERIES[server.dialect][1])
    found = {sql: outcome(server, sql, "reader") for sql in twins}
    assert {sql: text for sql, text in found.items() if text.startswith("[[") is False} == {}


def test_a_role_that_may_do_too_much_is_refused(server: DatabaseServer) -> None:
    for role in ("filer", "owner"):
        with pytest.raises(Denied, match="may do too much"):
            ask(server, "SELECT 1", role)
        assert ask(server, "SELECT 1", role, trusted=True)["rows"] == [[1]]


def test_functions_may_be_named(server: DatabaseServer) -> None:
    with pytest.raises(Denied, match="spend"):
        ask(server, "SELECT spend(7)")
    assert ask(server, "SELECT spend(7)", functions=["sp*"])["rows"] == [[7]]


def test_what_runs_for_ever_is_ended_by_the_server(server: DatabaseServer) -> None:
    forever = {
        "postgresql": "SELECT count(*) FROM generate_series(1, 1000000000000)",
        "mariadb": "SELECT count(*) FROM seq_1_to_1000000000 a, seq_1_to_1000000000 b",
    }[server.dialect]
    with pytest.raises(TimedOut):
        ask(server, forever, seconds=0.3)


def test_many_rows_are_not_all_taken(server: DatabaseServer) -> None:
    many = {
        "postgresql": "SELECT generate_series(1, 2000000)",
        "mariadb": "SELECT seq FROM seq_1_to_2000000",
    }[server.dialect]
    answer = ask(server, many, limit=3)
    assert answer["rows"] == [[1], [2], [3]]
    assert answer["total"] > 3


def test_a_wrong_password_is_told(server: DatabaseServer) -> None:
    with pytest.raises(ConnectionFailed, match="does not let this source in"):
        ask(server, "SELECT 1", password="x")


def test_errors_say_what_there_is(server: DatabaseServer) -> None:
    with pytest.raises(BadInput) as unknown:
        ask(server, "SELECT * FROM items")
    assert "item" in unknown.value.message
    assert "The tables are: item, sale, ticket, cheap" in unknown.value.hint
    with pytest.raises(BadInput) as misspelt:
        ask(server, "SELECT nam FROM item")
    if server.dialect == "postgresql":
        assert 'Perhaps you meant to reference the column "item.name".' in misspelt.value.hint
    for sql in ("SHOW TABLES", "DESCRIBE item", "\\d item"):
        with pytest.raises(Denied) as listing:
            ask(server, sql)
        assert "describe_database" in listing.value.hint, sql


@pytest.fixture
def config(server: DatabaseServer, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    key = "host" if server.dialect == "postgresql" else "unix_socket"
    local = str(server.folder) if server.dialect == "postgresql" else server.socket
    port = f"localhost:{server.port}" if server.dialect == "postgresql" else ""
    at = f"127.0.0.1:{server.port}"
    named = {"password_env": "SHOP_PASSWORD"}
    sources = {
        "shop": {"url": f"{server.dialect}://reader@{at}/shop", **named},
        "local": {"url": f"{server.dialect}://reader@{port}/shop?{key}={local}", **named},
        "mighty": {"url": f"{server.dialect}://filer@{at}/shop", **named},
        "odd": {"url": "oracle://reader@127.0.0.1/shop"},
    }
    return Config.model_validate({"sql": {"sources": sources}})


@pytest.mark.rows("C067")
async def test_a_server_is_asked_by_its_name(
    server: DatabaseServer, config: Config, tmp_path: Path
) -> None:
    async with Toolbox(config, workspace=tmp_path) as box:
        found = await box.call("describe_database", {"source": "local"})
        assert "of item.id" in found.text, found.render()
        assert "one of Low, high" in found.text, found.render()
        sql = "SELECT * FROM item ORDER BY id"
        saved = {"source": "shop", "sql": sql, "save_to": "items.csv"}
        found = await box.call("query_database", saved)
        assert "tent" in found.text, found.render()
        assert found.private
        assert (tmp_path / "items.csv").read_text().splitlines()[1].startswith("1,lamp,9.5")
        # What reads a value must not have to be loaded where no file can be opened.
        found = await box.call("query_database", {"source": "shop", "sql": KINDS[server.dialect]})
        assert "2026-01-02" in found.text, found.render()
        for name, code, text in (
            ("mighty", "denied", "may do too much"),
            ("odd", "not_configured", "only postgresql and mariadb"),
            (config.sql.sources["shop"].url, "bad_input", "shop, local"),
        ):
            found = await box.call("query_database", {"source": name, "sql": "SELECT 1"})
            assert found.error is not None
            assert (found.error.code, text in found.render()) == (code, True), found.render()
        found = await box.call("change_database", {"source": "shop", "sql": "DELETE FROM item"})
        assert found.error is not None
        assert PASSWORD not in found.render()


@pytest.mark.parametrize("dialect", ["postgresql", "mariadb"])
def test_what_is_not_closed_is_told(dialect: Any) -> None:
    for sql in ("SELECT 'a", 'SELECT "a', "SELECT /* a", "", ";", "SELECT '\0'"):
        with pytest.raises(ToolError):
            read_statement(sql, dialect)
