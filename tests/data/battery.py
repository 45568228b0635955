"""SQL that must not get through, and its twins that must work. A worker's child runs it."""

from __future__ import annotations

from typing import Any

from toolcrib.core.errors import ToolError
from toolcrib.data import sqlite_child

# In the places of OUT, OWN and NEW stand a file with a secret outside of the workspace, the
# database or table itself, and a file that does not exist.

SQLITE_ATTACKS = """
INSERT INTO t VALUES (9, 'x', '')
UPDATE t SET name = 'x'
DELETE FROM t
REPLACE INTO t VALUES (1, 'x', '')
DROP TABLE t
ALTER TABLE t RENAME TO u
ALTER TABLE t ADD COLUMN z
CREATE TABLE z(a)
CREATE TEMP TABLE z(a)
CREATE TABLE z AS SELECT * FROM t
CREATE VIEW z AS SELECT 1
CREATE TEMP VIEW z AS SELECT 1
CREATE INDEX z ON t(name)
CREATE TRIGGER z AFTER INSERT ON t BEGIN SELECT 1; END
CREATE TEMP TRIGGER z AFTER INSERT ON t BEGIN SELECT 1; END
CREATE VIRTUAL TABLE z USING fts5(a)
CREATE VIRTUAL TABLE temp.z USING fts5(a)
DROP INDEX IF EXISTS z
ATTACH 'OUT' AS o
ATTACH 'NEW' AS o
ATTACH ':memory:' AS o
ATTACH 'file:NEW?mode=rwc' AS o
DETACH main
VACUUM
VACUUM INTO 'NEW'
VACUUM main INTO 'OWN'
REINDEX
ANALYZE
BEGIN IMMEDIATE
BEGIN EXCLUSIVE
COMMIT
SAVEPOINT a
RELEASE a
PRAGMA writable_schema = ON
PRAGMA journal_mode = DELETE
PRAGMA journal_mode = WAL
PRAGMA journal_mode(OFF)
PRAGMA wal_checkpoint(TRUNCATE)
PRAGMA user_version = 7
PRAGMA application_id = 7
PRAGMA temp_store_directory = '/tmp'
PRAGMA data_store_directory = '/tmp'
PRAGMA mmap_size = 1000000000
PRAGMA trusted_schema = ON
PRAGMA query_only = OFF
PRAGMA optimize
PRAGMA incremental_vacuum
PRAGMA hard_heap_limit = 1
PRAGMA locking_mode = EXCLUSIVE
PRAGMA synchronous = OFF
PRAGMA encoding = 'UTF-16'
PRAGMA module_list
PRAGMA OWN
SELECT load_extension('OUT')
SELECT load_extension('/lib/x86_64-linux-gnu/libc.so.6', 'system')
SELECT fts3_tokenizer('simple')
SELECT fts3_tokenizer('simple', x'4141414141414141')
SELECT writefile('NEW', 'x')
SELECT readfile('OUT')
SELECT edit('x')
SELECT * FROM fsdir('/')
SELECT * FROM OUT
SELECT * FROM csv('OUT')
SELECT 1; DELETE FROM t
SELECT 1; ATTACH 'OUT' AS o
/* SELECT */ DELETE FROM t
WITH a AS (SELECT 1) DELETE FROM t
WITH a AS (SELECT 1) INSERT INTO t SELECT 5, 'x', ''
WITH a AS (SELECT 1) UPDATE t SET name = 'x'
DELETE FROM t RETURNING *
UPDATE t SET name = 'x' RETURNING id
INSERT INTO t VALUES (8, 'x', '') RETURNING id
SELECT zeroblob(1000000000)
SELECT randomblob(1000000000)
SELECT hex(zeroblob(40000000))
SELECT replace(hex(zeroblob(1000000)), '0', hex(zeroblob(1000000)))
SELECT group_concat(a.sql || hex(zeroblob(20000000))) FROM sqlite_master a, sqlite_master b
;
--
"""
SQLITE_TWINS = """
SELECT * FROM t
select count(*) from t where name like '%DELETE%'
SELECT 'DROP TABLE t; DELETE FROM t' AS text
SELECT replace(name, 'a', 'b') FROM t
SELECT "update" FROM (SELECT 1 AS "update")
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT sum(i) FROM n
SELECT id, row_number() OVER (ORDER BY name) FROM t
SELECT json_extract('{"a": [1, 2]}', '$.a[1]')
SELECT value FROM json_each('[1, 2]')
SELECT date('2026-01-01', '+1 day'), strftime('%Y', '2026-01-01')
SELECT name FROM sqlite_master
SELECT * FROM pragma_table_info('t')
PRAGMA table_info(t)
PRAGMA table_list
PRAGMA foreign_key_list(t)
PRAGMA index_list('t')
PRAGMA user_version
PRAGMA journal_mode
PRAGMA integrity_check
EXPLAIN QUERY PLAN SELECT * FROM t
EXPLAIN SELECT * FROM t
VALUES (1, 2), (3, 4)
SELECT * FROM v
SELECT snippet(f, 0, '[', ']', '', 5) FROM f WHERE f MATCH 'moss'
SELECT 1 -- a comment; DROP TABLE t
SELECT /* ; */ 1;
SELECT hex(zeroblob(1000))
"""
DUCKDB_ATTACKS = """
COPY (SELECT 1) TO 'NEW'
COPY (SELECT 1) TO 'OWN' (USE_TMP_FILE false)
COPY data TO 'OWN'
COPY (SELECT 1) TO '/proc/self/fd/FD' (USE_TMP_FILE false)
COPY (SELECT 1) TO '/dev/shm/toolcrib-x.csv'
COPY t FROM 'OUT'
EXPORT DATABASE 'NEW'
IMPORT DATABASE 'OUT'
ATTACH 'NEW' AS n
ATTACH 'OUT' AS o (READ_ONLY)
ATTACH ':memory:' AS o
ATTACH 'host=127.0.0.1' AS p (TYPE postgres)
DETACH memory
INSTALL httpfs
FORCE INSTALL httpfs
LOAD httpfs
LOAD 'OUT'
INSTALL sqlite FROM 'http://127.0.0.1/'
UPDATE EXTENSIONS
CREATE TABLE z(a INTEGER)
CREATE TABLE z AS SELECT 1
CREATE TEMP TABLE z AS SELECT 1
CREATE VIEW z AS SELECT 1
CREATE OR REPLACE VIEW data AS SELECT 1
CREATE MACRO z() AS 1
CREATE SCHEMA z
CREATE SEQUENCE z
CREATE TYPE z AS ENUM ('a')
CREATE SECRET z (TYPE s3, KEY_ID 'a', SECRET 'b')
CREATE PERSISTENT SECRET z (TYPE s3, KEY_ID 'a', SECRET 'b')
DROP VIEW data
ALTER VIEW data RENAME TO z
INSERT INTO data VALUES (1)
UPDATE data SET id = 1
DELETE FROM data
TRUNCATE data
MERGE INTO data USING data AS d ON true WHEN MATCHED THEN DELETE
SET enable_external_access = true
SET allowed_paths = ['OUT']
SET allowed_directories = ['/']
SET lock_configuration = false
SET temp_directory = '/tmp'
SET memory_limit = '100GB'
SET threads = 100
SET autoload_known_extensions = true
SET home_directory = '/'
SET python_enable_replacements = true
SET GLOBAL enable_external_access = true
RESET enable_external_access
PRAGMA enable_external_access
PRAGMA database_list
PRAGMA enable_profiling
PRAGMA profiling_output = 'NEW'
CALL pragma_version()
CALL force_checkpoint()
CHECKPOINT
BEGIN
COMMIT
VACUUM
ANALYZE
PREPARE z AS SELECT 1
EXECUTE z
DEALLOCATE z
USE memory
SELECT 1; COPY (SELECT 1) TO 'NEW'
SELECT 1; SELECT 2
EXPLAIN ANALYZE COPY (SELECT 1) TO 'NEW'
EXPLAIN COPY (SELECT 1) TO 'NEW'
SELECT * FROM read_csv('OUT')
SELECT * FROM read_csv_auto('OUT', header = false)
SELECT * FROM 'OUT'
SELECT * FROM read_text('OUT')
SELECT * FROM read_blob('OUT')
SELECT * FROM read_json_objects('OUT')
SELECT * FROM read_parquet('OUT')
SELECT * FROM parquet_metadata('OUT')
SELECT * FROM parquet_schema('OUT')
SELECT * FROM sniff_csv('OUT')
SELECT * FROM glob('/**')
SELECT * FROM glob('/etc/*')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_text('/proc/self/environ')
SELECT * FROM read_text('/proc/self/maps')
SELECT * FROM read_blob('/proc/self/fd/0')
SELECT * FROM read_csv('http://127.0.0.1/x.csv')
SELECT * FROM 'https://example.org/x.parquet'
SELECT * FROM read_csv('s3://bucket/x.csv')
SELECT * FROM sqlite_scan('OUT', 't')
SELECT * FROM postgres_scan('host=127.0.0.1', 'public', 't')
SELECT * FROM pandas_frame
SELECT * FROM python_map_function(1)
SELECT getenv('HOME')
SELECT * FROM query('COPY (SELECT 1) TO ''NEW''')
SELECT * FROM query_table('OUT')
FROM read_text('OUT')
SELECT * FROM data, read_text('OUT')
SELECT (SELECT content FROM read_text('OUT'))
SELECT repeat('x', 100000000000)
SELECT * FROM nowhere
"""
DUCKDB_TWINS = """
SELECT * FROM data
SELECT count(*) FROM orders WHERE city LIKE '%COPY%'
FROM data
SELECT 'COPY x TO y; ATTACH z' AS text
WITH a AS (SELECT * FROM data) SELECT sum(id) FROM a
SELECT city, sum(amount) FROM data GROUP BY ALL ORDER BY ALL
SELECT * FROM data PIVOT (sum(amount) FOR city IN ('Bonn'))
SELECT row_number() OVER (ORDER BY id) FROM data
SELECT list_transform([1, 2], lambda x: x + 1)
SELECT {'a': 1}.a, [1, 2][1], MAP {'k': 2}
SELECT TIMESTAMPTZ '2026-01-01 00:00:00+01', DATE '2026-01-01', INTERVAL 3 DAY
SELECT regexp_replace('abc', 'b', 'x'), json_extract('{"a": 1}', '$.a')
SELECT * FROM generate_series(1, 5)
SELECT * FROM range(3)
SELECT unnest([1, 2])
VALUES (1), (2)
DESCRIBE data
SUMMARIZE data
SHOW TABLES
SELECT * FROM duckdb_columns()
SELECT version()
SELECT * FROM information_schema.tables
SELECT 1::DECIMAL(18, 3), 1::HUGEINT, uuid(), 'x'::BLOB
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT max(i) FROM n
SELECT quantile_cont(amount, 0.5) FROM data
SELECT 1; -- the end
"""


def lines(table: str, places: dict[str, str]) -> list[str]:
    """The statements of a table, with paths in their places."""
    found = []
    for line in table.strip().split("\n"):
        filled = line
        for name, path in places.items():
            filled = filled.replace(name, path)
        found.append(filled)
    return found


def prepare() -> None:
    sqlite_child.prepare()


def run(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What each statement gives: its rows as text, or the code of its error."""
    found = []
    for sql in request["statements"]:
        requested = {**request["source"], "sql": sql, "limit": 50, "save_as": ""}
        try:
            if request["engine"] == "sqlite":
                answer, _ = sqlite_child.query(requested, b"")
            else:
                from toolcrib.data import duckdb_child

                answer, _ = duckdb_child.query(requested, b"")
            found.append(["", repr(answer["rows"])])
        except ToolError as error:
            found.append([error.stable_code, error.message])
        except MemoryError:
            found.append(["memory", ""])
    return {"found": found}, b""


def reach(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """What the system lets a child do that obeys nothing: the names of what worked."""
    import os
    import socket

    own, outside, new = request["own"], request["outside"], request["new"]
    tries = {
        "read own": lambda: os.close(os.open(own, os.O_RDONLY)),
        "read own again": lambda: os.close(os.open(f"/proc/self/fd/{request['fd']}", os.O_RDONLY)),
        "write own": lambda: os.open(own, os.O_RDWR),
        "write by number": lambda: os.open(f"/proc/self/fd/{request['fd']}", os.O_WRONLY),
        "cut own": lambda: os.truncate(own, 0),
        "read outside": lambda: os.open(outside, os.O_RDONLY),
        "list": lambda: os.listdir("/"),
        "make": lambda: os.open(new, os.O_RDWR | os.O_CREAT),
        "remove": lambda: os.unlink(own),
        "rename": lambda: os.rename(own, new),
        "link": lambda: os.link(own, new),
        "make a folder": lambda: os.mkdir(new),
        "connect": lambda: socket.socket(socket.AF_INET),
        "connect here": lambda: socket.socket(socket.AF_UNIX),
        "run": lambda: os.posix_spawn("/bin/true", ["true"], {}),
        "read the environment": lambda: os.open("/proc/self/environ", os.O_RDONLY),
    }
    worked = []
    for name, attempt in tries.items():
        try:
            attempt()
            worked.append(name)
        except OSError:
            pass
    return {"worked": worked}, data
