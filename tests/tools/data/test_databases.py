"""Databases: asked, described and changed."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import absent
from tests.tools.data.test_query_table import workbook
from tests.tools.files.test_tree_changes import ok, refused
from toolcrib.core.context import Caller, Question
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.toolbox import Toolbox


@pytest.fixture
def shop(ws: Path) -> Path:
    with sqlite3.connect(ws / "shop.db") as connection:
        connection.executescript(
            "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, born TEXT);"
            "CREATE TABLE item(id INTEGER, person_id INTEGER REFERENCES person(id), price REAL);"
            "INSERT INTO person VALUES (1, 'Ada', '10.12.1815'), (2, 'Bob', NULL);"
            "INSERT INTO item VALUES (1, 1, 2.5), (2, 1, 4), (3, 2, x'00ff');"
        )
    connection.close()
    return ws / "shop.db"


@pytest.mark.rows("C067", "E87", "X13")
async def test_query(box: Toolbox, ws: Path, shop: Path) -> None:
    before = shop.read_bytes()
    found = await ok(
        box,
        "query_database",
        source="shop.db",
        sql="SELECT name, sum(price) AS total FROM person JOIN item ON person.id = person_id "
        "WHERE typeof(price) = 'real' GROUP BY name",
    )
    assert found.text == "1 row, 2 columns.\nname (text) | total (number)\nAda | 6.5"
    many = await ok(
        box,
        "query_database",
        sql="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) "
        "SELECT i FROM n",
        limit=3,
        save_to="n.csv",
    )
    assert many.data["total"] == 5000
    assert (ws / "n.csv").read_text().count("\n") == 5001
    odd = await ok(
        box, "query_database", db_path="shop.db", query="SELECT price, NULL, 1e999 FROM item"
    )
    assert odd.data["rows"][2] == ["x'00ff'", None, "inf"]
    await refused(box, "query_database", "denied", source="shop.db", sql="DELETE FROM item")
    await refused(box, "query_database", "bad_input", source="shop.db", sql="SELECT x FROM item")
    await refused(box, "query_database", "bad_input", source="shop.db", sql=" ")
    for address in ("postgresql://u:p@127.0.0.1/x", "file:shop.db?mode=rwc", "sqlite:///shop.db"):
        result = await box.call("query_database", {"source": address, "sql": "SELECT 1"})
        assert result.error, address
    assert shop.read_bytes() == before
    assert sorted(p.name for p in ws.iterdir()) == ["n.csv", "shop.db"]


async def test_sql_in_a_fence_and_a_missing_source(box: Toolbox, shop: Path) -> None:
    for sql in ("```sql\nSELECT 1\n```", "```SELECT 1```", "```sql SELECT 1; ```\n"):
        assert (await ok(box, "query_database", source="shop.db", sql=sql)).data["rows"] == [[1]]
    fenced = "```sql\nDELETE FROM item\n```"
    dry = await ok(box, "change_database", source="shop.db", sql=fenced, dry_run=True)
    assert "removes 3 of item" in dry.text
    result = await refused(box, "query_database", "bad_input", sql="SELECT * FROM person")
    assert "'source' is missing" in result.render()


async def test_saved_rows_keep_columns_of_one_name_and_all_digits(box: Toolbox, ws: Path) -> None:
    sql = "SELECT 1 AS a, 2 AS a, 0.1 + 0.2 AS b, 3.0 AS c"
    for name in ("r.json", "r.jsonl", "r.csv"):
        await ok(box, "query_database", sql=sql, save_to=name)
    row = {"a": 1, "a_2": 2, "b": 0.1 + 0.2, "c": 3.0}
    assert json.loads((ws / "r.json").read_text()) == [row]
    assert json.loads((ws / "r.jsonl").read_text()) == row
    assert (ws / "r.csv").read_text() == "a,a_2,b,c\n1,2,0.30000000000000004,3\n"


async def test_describe(box: Toolbox, ws: Path, shop: Path) -> None:
    text = (await ok(box, "describe_database", source="shop.db")).text
    assert "shop.db (SQLite): 2 tables." in text
    assert "item, 3 rows\nid (integer) | person_id (integer, of person.id) | price (real)" in text
    assert "born (text, dates as text, day.month.year)" in text
    assert "id (integer, key)" in text
    assert "name (text, required)" in text


async def test_files_that_are_in_the_way(box: Toolbox, ws: Path, shop: Path) -> None:
    other = OtherProgram(shop)
    try:
        other.run("PRAGMA journal_mode = WAL")
        other.run("INSERT INTO person VALUES (3, 'Cy', '')")
        count = {"source": "shop.db", "sql": "SELECT count(*) FROM person"}
        assert (await ok(box, "query_database", **count)).data["rows"] == [[3]]
        other.run("BEGIN IMMEDIATE")
        assert (await ok(box, "query_database", **count)).data["rows"] == [[3]]
        other.run("COMMIT")
    finally:
        other.end()
    # The log is gone with its last user; the file still says that it has one.
    assert (await ok(box, "query_database", **count)).data["rows"] == [[3]]
    other = OtherProgram(shop)
    try:
        other.run("PRAGMA journal_mode = DELETE")
        other.run("BEGIN EXCLUSIVE")
        await refused(box, "query_database", "busy", **count)
        await refused(box, "change_database", "busy", source="shop.db", sql="DELETE FROM item")
    finally:
        other.end()
    (ws / "secret.db").write_bytes(os.urandom(8192))
    (ws / "cut.db").write_bytes(shop.read_bytes()[:5000])
    (ws / "empty.db").write_bytes(b"")
    await refused(
        box, "query_database", "unsupported_content", source="secret.db", sql="SELECT * FROM t"
    )
    cut = await box.call("query_database", {"source": "cut.db", "sql": "SELECT * FROM item"})
    assert cut.error
    assert cut.error.code in ("unsupported_content", "bad_input")
    assert "0 tables" in (await ok(box, "describe_database", source="empty.db")).text
    await refused(box, "query_database", "not_found", source="none.db", sql="SELECT 1")


SUM_OF_N = "SELECT sum(n) FROM data"


async def test_files_are_read_alike_by_sql_and_without(box: Toolbox, ws: Path) -> None:
    """Groups of thousands, and digits that are no numbers."""
    pytest.importorskip("duckdb")
    (ws / "de.csv").write_text("month;sales\nJan;1.500\nFeb;2.250\nMar;980\n")
    summed = await ok(box, "query_table", path="de.csv", aggregate=["sum(sales)"])
    by_sql = await ok(box, "query_database", source="de.csv", sql="SELECT sum(sales) FROM data")
    assert summed.data["rows"] == by_sql.data["rows"] == [[4730]]
    assert "a guess: 1.500 is 1500" in by_sql.text
    assert "a guess: 1.500 is 1500" in (await ok(box, "query_table", path="de.csv")).text
    assert "a guess: 1.500 is 1500" in summed.text, "its column is not in the answer"
    filtered = {"path": "de.csv", "columns": ["month"], "filter": "sales > 1000"}
    assert "a guess: 1.500 is 1500" in (await ok(box, "query_table", **filtered)).text
    assert "a guess" not in (await ok(box, "query_table", path="de.csv", columns=["month"])).text
    drawn = await ok(box, "make_chart", path="de.csv", output="de.svg")
    assert "sales from 980 to 2250" in drawn.text
    assert "a guess" in drawn.text
    (ws / "codes.csv").write_text("zip,phone,n\n01234,+4930123456,1\n11111,+4420794609,2\n")
    codes = await ok(box, "query_database", source="codes.csv", sql="SELECT * FROM data")
    assert codes.data["rows"] == [["01234", "+4930123456", 1], ["11111", "+4420794609", 2]]
    filler = "x" * 110_000
    rows = "".join(f"{n};1.500;{filler}\n" for n in range(1000))
    (ws / "large.csv").write_text(f"n;sales;text\n{rows}")
    noted = await ok(box, "query_database", source="large.csv", sql="SELECT max(sales) FROM data")
    assert noted.data["rows"] == [[1.5]]
    assert "DuckDB reads its numbers: 1.500 is 1.5" in noted.text
    (ws / "gaps.csv").write_text("k,v\na,1\nb,n/a\nc,-\nd,3\n")
    gaps = await ok(box, "query_database", source="gaps.csv", sql="SELECT sum(v) FROM data")
    assert gaps.data["rows"] == [[4]]
    large = await ok(
        box, "query_database", source="de.csv", sql="SELECT 1735689600123456.0, 0.1::DOUBLE + 0.2"
    )
    assert large.text.endswith("1735689600123456 | 0.3")


async def test_sql_over_files(box: Toolbox, ws: Path) -> None:
    pytest.importorskip("duckdb")
    (ws / "orders.csv").write_text("id;city;amount\n1;Köln;1,5\n2;Bonn;2,5\n")
    (ws / "old.csv").write_bytes("id,city\n1,Köln\n".encode("cp1252"))
    (ws / "more.json").write_text(json.dumps([{"id": 1, "tags": ["a"]}]))
    found = await ok(
        box,
        "query_database",
        source=".",
        sql="SELECT o.city, amount, tags FROM orders o JOIN more USING (id) JOIN old USING (id)",
    )
    assert found.data["rows"] == [["Köln", 1.5, '["a"]']]
    one = await ok(box, "query_database", source="orders.csv", sql="SELECT sum(amount) FROM data")
    assert one.data["rows"] == [[4]]
    (ws / "de.csv").write_text("n;v\na;1.234,5\nb;2,75\n")
    german = {"source": "de.csv", "sql": "SELECT sum(v) FROM data"}
    assert (await ok(box, "query_database", **german)).data["rows"] == [[1237.25]]
    text = (
        await refused(box, "query_database", "bad_input", **german | {"sql": SUM_OF_N})
    ).render()
    assert "query_table" in text
    described = await ok(box, "describe_database", source="orders.csv")
    assert "amount (double)" in described.text
    broken = "id,name\n" + "".join(f'{n},"x{n}"\n' for n in range(50)) + '50,"open\n51,z,z,z\n'
    (ws / "broken.csv").write_text(broken)
    result = await ok(box, "query_database", source="broken.csv", sql="SELECT count(*) FROM data")
    assert result.data["rows"][0][0] >= 50
    plain = "".join(f"{n},plain {n}\n" for n in range(9000)).encode()
    (ws / "late.csv").write_bytes(b"id,name\n" + plain + "9000,Köln\n".encode("cp1252"))
    (ws / "long.csv").write_bytes(b"id,name\n" + plain + b"9000,a,b,c\n9001,last\n")
    for name, rows in {"late": [[9000, "Köln"]], "long": [[9000, "a"], [9001, "last"]]}.items():
        sql = "SELECT * FROM data WHERE id >= 9000"
        result = await ok(box, "query_database", source=f"{name}.csv", sql=sql)
        assert result.data["rows"] == rows, name
        assert f"{name}, " in (await ok(box, "describe_database", source=f"{name}.csv")).text
    await refused(
        box, "query_database", "denied", source="orders.csv", sql="COPY data TO 'orders.csv'"
    )
    await refused(box, "query_database", "bad_input", source="orders.csv", sql="SELECT x FROM data")


async def test_rows_of_other_lengths_are_what_query_table_reads(box: Toolbox, ws: Path) -> None:
    pytest.importorskip("duckdb")
    rows = "".join(f"{n},n{n},{n}.5\n" for n in range(20))
    late = "id,n\n" + "".join(f"{n},{n}\n" for n in range(30_000)) + "30000,word\n"
    files = {
        "longer.csv": f"id,name,amount\n{rows}20,n20,2.5,note\n",
        "shorter.csv": "id,name,city\n1,a,x\n2,b\n3,c,y\n4,d,z\n",
        "german.csv": "id;name;city\n1;a;x\n2;b\n3;c;y, z\n",
        "comma.csv": "id,name\n1,a\n2,b, and c\n3,d\n",
        "titles.csv": "Konto\nNr;123\n\nDatum;Betrag\n01.02.2026;x\n02.02.2026;y\n",
        "twice.csv": "a,a,A,,\n1,2,3,4,5\n",
        "comment.csv": "a,b\n# none\n1,2\n",
        "blanks.csv": "city, n\nBonn, x\nKassel, y\n",
        "gaps.csv": "city\nBonn\n\nKassel\n",
        "no_head.csv": "1,2\n3,4\n",
        "late.csv": late,
    }
    for name, content in files.items():
        (ws / name).write_text(content)
        plain = await ok(box, "query_table", path=name, limit=10_000)
        by_sql = await ok(
            box, "query_database", source=name, sql="SELECT * FROM data", limit=10_000
        )
        assert by_sql.data["total"] == plain.data["total"], name
        columns = [column["name"] for column in by_sql.data["columns"]]
        assert columns == [
            "A_3" if (name, column["name"]) == ("twice.csv", "A") else column["name"]
            for column in plain.data["columns"]
        ]
        texts = [["" if cell is None else str(cell) for cell in r] for r in by_sql.data["rows"]]
        assert texts == plain.data["rows"], name


def test_rows_that_do_not_fit_are_left_out_of_what_is_too_long(tmp_path: Path) -> None:
    """As of a file with more rows than are converted."""
    duckdb = pytest.importorskip("duckdb")
    csv = pytest.importorskip("toolcrib.data.duckdb_csv")
    (tmp_path / "x.csv").write_text("a;b\n1;2\nx;3\n4\n5;6;7\n")
    with (tmp_path / "x.csv").open("rb") as file:
        table = csv.sample({"fd": file.fileno(), "name": "x.csv"})
    table.columns, table.formats = table.columns[:2], table.formats[:2]  # of its first rows
    options = ", ".join([*csv.dialect(table), *csv.lenient(table)])
    found = duckdb.sql(f"SELECT * FROM read_csv('{tmp_path}/x.csv', {options})").fetchall()
    assert (4, None) in found or ("4", None) in found
    assert len(found) >= 3


async def test_sheets_of_a_workbook_are_tables(box: Toolbox, ws: Path) -> None:
    pytest.importorskip("duckdb")

    def row(*cells: str) -> str:
        texts = (f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in cells)
        return f"<row>{''.join(texts)}</row>"

    workbook(ws / "w.xlsx", row("name", "n") + row("a", "1"))
    question = {"source": "w.xlsx", "sql": "SELECT name, x FROM data JOIN more ON true"}
    both = await ok(box, "query_database", **question)
    assert both.data["rows"] == [["a", 7]]
    assert "sheet Sales is w; other sheets: More." in both.text
    described = await ok(box, "describe_database", source="w.xlsx")
    assert [table["name"] for table in described.data["tables"]] == ["w", "More"]
    workbook(ws / "blank.xlsx", "")
    rest = await ok(box, "query_database", source="blank.xlsx", sql="SELECT * FROM data")
    assert rest.data["rows"] == [[7]]
    (ws / "x.csv").write_text("name\na\n")
    question = {
        "source": ".",
        "sql": "SELECT x FROM w_More JOIN w USING (name) JOIN x USING (name)",
    }
    await refused(box, "query_database", "bad_input", **question)
    question["sql"] = "SELECT n FROM w JOIN x USING (name) JOIN w_more ON x = 7"
    assert (await ok(box, "query_database", **question)).data["rows"] == [[1]]


async def test_empty_files_of_a_folder_are_left_out(box: Toolbox, ws: Path) -> None:
    pytest.importorskip("duckdb")
    (ws / "m").mkdir()
    (ws / "m" / "jan.csv").write_text("id,v\n1,2\n")
    for name, content in {"a.csv": "", "b.csv": "\n\n", "c.json": ""}.items():
        (ws / "m" / name).write_text(content)
    by_sql = await ok(box, "query_database", source="m", sql="SELECT v FROM data")
    assert by_sql.data["rows"] == [[2]]
    described = await ok(box, "describe_database", source="m")
    plain = await ok(box, "query_table", path="m", columns=["v", "file"])
    assert plain.data["rows"] == [["2", "m/jan.csv"]]
    assert "left out: m/a.csv, m/b.csv and" not in plain.text
    for result in (by_sql, described, plain):
        assert "left out: m/a.csv, m/b.csv" in result.text
    (ws / "m" / "jan.csv").unlink()
    await refused(box, "query_table", "unsupported_content", path="m")
    await refused(box, "query_database", "unsupported_content", source="m", sql="SELECT 1")


Requested = Callable[[Question], Awaitable[bool]]


def caller(answer: bool, seen: list[Question]) -> Caller:
    async def ask(question: Question) -> bool:
        seen.append(question)
        return answer

    return Caller("test", ask=ask)


async def test_changes_are_asked_about_and_undone(box: Toolbox, ws: Path, shop: Path) -> None:
    before = shop.read_bytes()
    call = {
        "source": "shop.db",
        "sql": "UPDATE person SET name = 'Eve; x' WHERE id = 2; DELETE FROM item WHERE id < 3;",
    }
    alone = await refused(box, "change_database", "needs_approval", **call)
    assert alone.error
    displayed = await ok(box, "change_database", **call, dry_run=True)
    assert "changes 1 of person" in displayed.text
    assert "removes 2 of item" in displayed.text
    assert shop.read_bytes() == before
    seen: list[Question] = []
    no = await box.call("change_database", call, caller=caller(False, seen))
    assert no.error
    assert "update person: id=2, name=Bob" in seen[0].reason
    assert shop.read_bytes() == before
    done = await box.call("change_database", call, caller=caller(True, []))
    assert done.error is None, done.render()
    assert done.data["touched"] == 3
    rows = {
        "source": "shop.db",
        "sql": "SELECT name FROM person JOIN item ON person_id = person.id",
    }
    assert (await ok(box, "query_database", **rows)).data["rows"] == [["Eve; x"]]
    await ok(box, "undo_changes")
    assert shop.read_bytes() == before
    for sql, code in {
        "INSERT INTO person VALUES (1, 'twice', '')": "bad_input",
        "ATTACH 'x.db' AS x": "denied",
        "VACUUM INTO 'x.db'": "bad_input",
        "UPDATE person SET name = 'x'; INSERT INTO nowhere VALUES (1)": "bad_input",
        "COMMIT; DELETE FROM item": "denied",
    }.items():
        result = await box.call(
            "change_database", {"source": "shop.db", "sql": sql}, caller=caller(True, [])
        )
        assert result.error, sql
        assert result.error.code == code, (sql, result.error)
        assert code != "denied" or "one transaction" in result.error.hint
        assert shop.read_bytes() == before
    assert not (ws / "x.db").exists()


@pytest.mark.parametrize("is_empty_file", [False, True])
async def test_a_new_database_is_made_asked_about_and_undone(
    box: Toolbox, ws: Path, *, is_empty_file: bool
) -> None:
    (ws / "proj" / "shop").mkdir(parents=True)
    file = ws / "shop.db"
    if is_empty_file:
        file.write_bytes(b"")
    call = {"source": "shop.db", "sql": "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'x')"}
    dry = await ok(box, "change_database", **call, dry_run=True)
    assert "makes the table t" in dry.text and ("the database" in dry.text) != is_empty_file
    seen: list[Question] = []
    no = await box.call("change_database", call, caller=caller(False, seen))
    assert no.error and "makes the table t" in seen[0].reason
    assert file.exists() == is_empty_file
    done = await box.call("change_database", call, caller=caller(True, []))
    assert done.error is None, done.render()
    with closing(sqlite3.connect(file)) as opened:
        assert opened.execute("SELECT a, b FROM t").fetchall() == [(1, "x")]
    await ok(box, "undo_changes")
    assert (file.read_bytes() == b"") if is_empty_file else not file.exists()


async def test_only_a_name_of_sqlite_in_the_workspace_is_a_new_database(
    box: Toolbox, ws: Path
) -> None:
    (ws / "proj" / "shop").mkdir(parents=True)
    made = "CREATE TABLE t(a)"
    sources = ("shop.csv", "shop", str(ws.parent / "out.db"), ".git/x.db")
    for source, sql in [(source, made) for source in sources] + [("shop.db", "DROP TABLE t")]:
        call = {"source": source, "sql": sql}
        result = await box.call("change_database", call, caller=caller(True, []))
        assert result.error, source
    assert [path for path in ws.rglob("*") if path.is_file()] == []
    assert not (ws.parent / "out.db").exists()


async def test_what_a_table_is_called_is_told(box: Toolbox, ws: Path, shop: Path) -> None:
    wrong = {"source": "shop.db", "sql": "SELECT * FROM persons"}
    missing = await refused(box, "query_database", "bad_input", **wrong)
    assert "no such table: persons" in missing.render()
    assert "The tables are: " in missing.render()
    assert "person" in missing.render().partition("The tables are: ")[2]
    pytest.importorskip("duckdb")
    (ws / "sales.csv").write_text("a,b\n1,2\n")
    quoted = await refused(
        box, "query_database", "denied", source="sales.csv", sql="SELECT * FROM 'sales.csv'"
    )
    assert "write the name of a table and no path: sales" in quoted.render()


async def test_sql_that_only_reads_is_no_change(box: Toolbox, ws: Path, shop: Path) -> None:
    for sql in (
        "SELECT * FROM person;",
        "-- names\nselect name from person where name = 'delete'",
        "WITH p AS (SELECT * FROM person) SELECT * FROM p",
    ):
        for more in ({}, {"dry_run": True}):
            result = await box.call(
                "change_database",
                {"source": "shop.db", "sql": sql, **more},
                caller=caller(True, []),
            )
            assert result.error, sql
            assert result.error.code == "bad_input"
            assert "query_database" in result.error.hint
    written = "WITH p AS (SELECT 1 AS id) DELETE FROM item WHERE person_id IN (SELECT id FROM p)"
    await ok(box, "change_database", source="shop.db", sql=written, dry_run=True)


HIDING = {
    "DROP TABLE item; CREATE TABLE item (id)": "takes item from 3 rows to 0",
    'DELETE FROM item; DELETE FROM temp."toolcrib changes"': "denied",
    'DROP TRIGGER temp."toolcrib DELETE item"; DELETE FROM item': "denied",
    'CREATE TEMP TRIGGER x BEFORE INSERT ON temp."toolcrib changes" BEGIN SELECT RAISE(IGNORE);'
    " END; DELETE FROM item": "denied",
    'ALTER TABLE temp."toolcrib changes" RENAME TO x; DELETE FROM item': "denied",
    "ALTER TABLE item RENAME TO x; DELETE FROM x; ALTER TABLE x RENAME TO item": "removes 3",
    "DELETE FROM item WHERE NOT EXISTS (SELECT 1 FROM sqlite_temp_master)": "touches no rows",
    "DELETE FROM item WHERE (SELECT file FROM pragma_database_list) <> ''": "removes 3",
}


@pytest.mark.parametrize("sql", HIDING)
async def test_what_is_asked_is_what_is_done(box: Toolbox, shop: Path, sql: str) -> None:
    """Statements that hide from the trial what they do, or do something else in it."""
    before, seen = shop.read_bytes(), list[Question]()
    call = {"source": "shop.db", "sql": sql}
    refused = await box.call("change_database", call, caller=caller(False, seen))
    assert refused.error
    if HIDING[sql] == "denied":
        assert refused.error.code == "denied"
        assert "may not" in refused.error.message or not seen
    else:
        assert HIDING[sql] in seen[0].reason
    agreed = await box.call("change_database", call, caller=caller(True, []))
    if "no rows" in HIDING[sql] and agreed.error is None:
        rows = {"source": "shop.db", "sql": "SELECT count(*) FROM item"}
        assert (await ok(box, "query_database", **rows)).data["rows"] == [[3]]
    else:
        assert (agreed.error is None) == (HIDING[sql] != "denied") or shop.read_bytes() == before


@pytest.mark.parametrize(
    "condition",
    [
        "CASE WHEN (SELECT random()) > 0 THEN abs(-9223372036854775807 - 1) ELSE 1 END",
        "(SELECT random()) > 0",
    ],
)
async def test_what_is_random_removes_nothing_unasked(
    box: Toolbox, shop: Path, condition: str
) -> None:
    """By a person who agrees to all that removes nothing."""

    async def ask(question: Question) -> bool:
        return "removes" not in question.reason

    call = {"source": "shop.db", "sql": f"DELETE FROM item WHERE {condition}"}
    for _ in range(8):
        await box.call("change_database", call, caller=Caller("test", ask=ask))
    rows = {"source": "shop.db", "sql": "SELECT count(*) FROM item"}
    assert (await ok(box, "query_database", **rows)).data["rows"] == [[3]]


async def test_random_values_and_times_are_written(box: Toolbox, shop: Path) -> None:
    sql = "UPDATE person SET name = hex(randomblob(8)) || julianday('now')"
    call = {"source": "shop.db", "sql": sql}
    done = await box.call("change_database", call, caller=caller(True, []))
    assert done.error is None, done.render()
    assert done.data["touched"] == 2


async def test_a_table_for_full_text_search_is_changed(box: Toolbox, shop: Path) -> None:
    """Its rows cannot be shown, but counted."""
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("CREATE VIRTUAL TABLE docs USING fts5(text)")
    call = {"source": "shop.db", "sql": "INSERT INTO docs VALUES ('hello')"}
    seen: list[Question] = []
    done = await box.call("change_database", call, caller=caller(True, seen))
    assert done.error is None, done.render()
    assert "takes docs from 0 rows to 1" in seen[0].reason
    found = {"source": "shop.db", "sql": "SELECT text FROM docs WHERE docs MATCH 'hello'"}
    assert (await ok(box, "query_database", **found)).data["rows"] == [["hello"]]


OTHER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    print(connection.execute(line).fetchall(), flush=True)
"""


class OtherProgram:
    """Another process that has the database open: locks belong to processes."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, sql: str) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(sql + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def end(self) -> None:
        self._process.communicate()


async def test_a_change_beside_others(box: Toolbox, ws: Path, shop: Path) -> None:
    other = OtherProgram(shop)
    call = {"source": "shop.db", "sql": "DELETE FROM item"}
    try:
        other.run("PRAGMA journal_mode = WAL")
        other.run("INSERT INTO person VALUES (3, 'Cy', '')")
        other.run("BEGIN IMMEDIATE")
        busy = await box.call("change_database", call, caller=caller(True, []))
        assert busy.error
        assert busy.error.code == "busy"
        other.run("COMMIT")
        done = await box.call("change_database", call, caller=caller(True, []))
        assert done.error is None, done.render()
        assert "removes 3 of item" in done.text
        assert other.run("SELECT count(*) FROM item") == "[(0,)]"
        assert other.run("SELECT count(*) FROM person") == "[(3,)]"
    finally:
        other.end()
    await ok(box, "undo_changes")
    count = {"source": "shop.db", "sql": "SELECT count(*) FROM item"}
    assert (await ok(box, "query_database", **count)).data["rows"] == [[3]]
    await refused(box, "change_database", "bad_input", source=":memory:", sql="CREATE TABLE x(a)")


async def test_a_total_among_summed_rows_is_noted(box: Toolbox, ws: Path) -> None:
    (ws / "v.csv").write_text("Region,Sales\nNorth,100.5\nSouth,200\nWest,50\nTotal,350.5\n")
    source = {"source": "v.csv"}
    note = """WHERE "Region" <> 'Total' leaves it out."""
    summed = await ok(box, "query_database", **source, sql="SELECT sum(Sales) FROM v")
    assert summed.data["rows"] == [[701]] and note in summed.text
    mean = await ok(box, "query_database", **source, sql="SELECT avg(Sales) FROM data")
    assert note in mean.text
    for sql in (
        "SELECT sum(Sales) FROM v WHERE Region <> 'Total'",
        "SELECT max(Sales) FROM v",
        "SELECT * FROM v",
    ):
        assert note not in (await ok(box, "query_database", **source, sql=sql)).text
    (ws / "w.csv").write_text("name,sum\nSum,1\nTotal,2\nsum,4\n")
    words = await ok(box, "query_database", source="w.csv", sql="SELECT sum(sum) FROM w")
    assert "total of the others" not in words.text


def hot_journal(database: bytes, named: str) -> bytes:
    """One that a program left which was ended, with a second file to be removed after it."""
    sector, size, nonce = 512, 4096, 7
    magic = bytes.fromhex("d9d505f920a163d7")
    head = magic + struct.pack(">5I", 1, nonce, len(database) // size, sector, size)
    page = database[:size]
    check = nonce + sum(page[at] for at in range(size - 200, 0, -200))
    name = named.encode()
    tail = struct.pack(">I", 0x4000_0000 // size + 1) + name
    tail += struct.pack(">II", len(name), sum(name)) + magic
    return head.ljust(sector, b"\0") + struct.pack(">I", 1) + page + struct.pack(">I", check) + tail


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
async def test_a_change_beside_a_run_removes_no_file(
    box: Toolbox, ws: Path, shop: Path, mode: str
) -> None:
    if (await box.use(Sandbox).report()).level == "none":
        absent("nothing is run here")
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    (ws / "own.env").write_text("KEY=1\n")
    await ok(box, "run_command", command="sleep 60", background=True)
    call = {"source": "shop.db", "sql": "DELETE FROM item WHERE id = 1"}
    done = await box.call("change_database", call, caller=caller(True, []))
    assert done.error is None, done.render()
    assert not (ws / "shop.db-journal").exists()
    journal = ws / "shop.db-journal"

    async def ask(question: Question) -> bool:  # as a program may between the two looks
        journal.write_bytes(hot_journal(shop.read_bytes(), str(ws / "own.env")))
        return True

    call["sql"] = "DELETE FROM item"
    await box.call("change_database", call, caller=Caller("test", ask=ask))
    assert (ws / "own.env").read_text() == "KEY=1\n"
    journal.unlink(missing_ok=True)
    count = {"source": "shop.db", "sql": "SELECT count(*) FROM item"}
    assert (await ok(box, "query_database", **count)).data["rows"][0][0] in (0, 2)
    with closing(sqlite3.connect(shop)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == (mode.lower(),)


async def test_a_broken_line_of_json_lines_has_one_number(box: Toolbox, ws: Path) -> None:
    (ws / "b.jsonl").write_text('{"a": "\u2028"}\n\n{"a": 2}\n{"a": 3\n{"a": 4}\n', "utf-8")
    sql = "SELECT * FROM data"
    for tool, arguments in (
        ("query_table", {"path": "b.jsonl"}),
        ("query_json", {"path": "b.jsonl"}),
        ("convert_format", {"path": "b.jsonl", "to": "csv"}),
        ("query_database", {"source": "b.jsonl", "sql": sql}),
        ("describe_database", {"source": "b.jsonl"}),
    ):
        result = await box.call(tool, arguments)
        assert result.error is not None
        assert "line 4 column 8" in result.error.message, (tool, result.error.message)
    (ws / "whole.json").write_text('{"a": 1,\n"b": [1,\n2,}\n')
    whole = await box.call("query_table", {"path": "whole.json"})
    assert whole.error is not None
    assert "line 3 column 3" in whole.error.message


async def test_a_broken_file_of_a_folder_stops_no_other(box: Toolbox, ws: Path) -> None:
    folder = ws / "d"
    folder.mkdir()
    (folder / "good.csv").write_text("x,y\n1,2\n")
    (folder / "bad.jsonl").write_text('{"a": 1}\n{"a": 2\n{"a": 3}\n')
    (folder / "short.parquet").write_bytes(b"PAR1")
    (folder / "book.xlsx").write_bytes(b"PK\x03\x04 no archive")
    found = await ok(box, "query_database", source="d", sql="SELECT x FROM good")
    assert found.data["rows"] == [[1]]
    described = await ok(box, "describe_database", source="d")
    assert "bad: d/bad.jsonl is not valid JSON" in described.text
    assert "d/short.parquet" in described.text
    used = await box.call("query_database", {"source": "d", "sql": "SELECT * FROM bad"})
    assert used.error is not None
    assert "d/bad.jsonl is not valid JSON" in used.error.message
    used = await box.call("query_database", {"source": "d", "sql": "SELECT * FROM short"})
    assert used.error is not None
    assert "d/short.parquet" in used.error.message
