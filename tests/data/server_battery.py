"""SQL for servers that must not get through, and its twins that must work."""

POSTGRESQL_ATTACKS = """
DELETE FROM item
INSERT INTO item VALUES (9, 'x', 1)
UPDATE item SET price = 0
TRUNCATE item
DROP TABLE item
CREATE TABLE z (a int)
CREATE TEMP TABLE z AS SELECT 1
ALTER TABLE item ADD COLUMN z int
GRANT ALL ON item TO PUBLIC
SELECT 1; DELETE FROM item
SELECT 1; COMMIT; DROP TABLE item
SELECT 1;; COMMIT
COMMIT
ROLLBACK; DELETE FROM item
SET ROLE owner
SET statement_timeout = 0
RESET ALL
DO $$ BEGIN DELETE FROM item; END $$
CALL pg_sleep(1)
PREPARE p AS DELETE FROM item
EXECUTE p
LOCK TABLE item
LISTEN x
NOTIFY x
VACUUM item
COPY item TO '/tmp/out.csv'
COPY item FROM '/etc/passwd'
COPY item TO PROGRAM 'touch /tmp/out'
COPY (SELECT 1) TO STDOUT
EXPLAIN ANALYZE DELETE FROM item
WITH d AS (DELETE FROM item RETURNING *) SELECT * FROM d
WITH d AS (INSERT INTO item VALUES (9, 'x', 1) RETURNING *) SELECT * FROM d
SELECT * INTO z FROM item
SELECT * FROM item FOR UPDATE
SELECT pg_sleep(30)
SELECT pg_catalog.pg_sleep(30)
SELECT "pg_sleep"(30)
SELECT PG_SLEEP (30)
SELECT pg_sleep/* x */(30)
SELECT pg_sleep -- x
SELECT * FROM pg_sleep(30)
SELECT U&"pg\\005fsleep"(30)
SELECT pg_sleep_for('30 seconds')
SELECT pg_read_file('/etc/passwd')
SELECT pg_read_binary_file('/etc/passwd')
SELECT pg_ls_dir('/')
SELECT pg_stat_file('/etc/passwd')
SELECT lo_export(1, '/tmp/out')
SELECT lo_import('/etc/passwd')
SELECT lo_create(77)
SELECT lo_from_bytea(78, 'x')
SELECT lo_unlink(1)
SELECT nextval('numbers')
SELECT setval('numbers', 99)
SELECT set_config('transaction_read_only', 'off', true)
SELECT set_config('statement_timeout', '0', false)
SELECT query_to_xml('DELETE FROM item', true, false, '')
SELECT ts_stat('SELECT 1')
SELECT pg_advisory_lock(1)
SELECT pg_notify('x', 'y')
SELECT pg_terminate_backend(pg_backend_pid())
SELECT pg_cancel_backend(pg_backend_pid())
SELECT pg_reload_conf()
SELECT pg_switch_wal()
SELECT pg_logical_emit_message(true, 'a', 'b')
SELECT pg_export_snapshot()
SELECT pg_stat_reset()
SELECT dblink('host=127.0.0.1', 'SELECT 1')
SELECT spend(1)
SELECT grab(item) FROM item
SELECT item.grab FROM item
SELECT E'\\'', pg_sleep(30), '
SELECT $x$ $x$, pg_sleep(30)
SELECT /* /* */ ' */ pg_sleep(30)
SELECT 1 UNION SELECT pg_sleep(30)::text::int
SELECT count(*) FROM generate_series(1, 1000000000000) a, generate_series(1, 1000000000) b
"""
POSTGRESQL_TWINS = """
SELECT 'DELETE FROM item'
SELECT 'pg_sleep(30)'
SELECT '; DROP TABLE item'
SELECT 1;
SELECT 1 -- ; DELETE FROM item
SELECT $$; DROP TABLE item$$
SELECT E'it\\'s; fine'
SELECT 'it''s; fine'
SELECT 1 AS "pg_sleep"
SELECT 1 /* ; /* nested */ pg_sleep(1) */
(SELECT 1) UNION (SELECT 2)
VALUES (1), (2)
TABLE item
WITH x(a) AS (SELECT 1) SELECT a FROM x
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT max(i) FROM n
SELECT name, rank() OVER (ORDER BY price) FROM item
SELECT i.name, count(*) FROM sale s JOIN item i ON i.id = s.item GROUP BY i.name
SELECT date_trunc('month', day), extract(year FROM day) FROM sale
SELECT coalesce(null, 1), now(), random(), clock_timestamp()
SELECT jsonb_build_object('a', 1)->>'a', string_agg(name, ',') FROM item
SELECT * FROM generate_series(1, 3)
SELECT version(), current_setting('server_version'), pg_size_pretty(pg_total_relation_size('item'))
SELECT name FROM item WHERE name LIKE '%mp%' AND price BETWEEN 1 AND 10 AND id IN (1, 2)
SELECT * FROM cheap
SELECT cast(price AS integer), 10 % 3 FROM item
SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'
"""
MARIADB_ATTACKS = """
DELETE FROM item
INSERT INTO item VALUES (9, 'x', 1)
REPLACE INTO item VALUES (1, 'x', 1)
UPDATE item SET price = 0
TRUNCATE item
DROP TABLE item
CREATE TABLE z (a int)
CREATE TEMPORARY TABLE z (a int)
ALTER TABLE item ADD COLUMN z int
SELECT 1; DELETE FROM item
SELECT 1; COMMIT; DROP TABLE item
COMMIT
SET SESSION TRANSACTION READ WRITE
SET @@max_statement_time = 0
SET GLOBAL general_log = 1
CALL p()
DO sleep(30)
PREPARE p FROM 'DELETE FROM item'
EXECUTE IMMEDIATE 'DELETE FROM item'
HANDLER item OPEN
LOCK TABLES item WRITE
FLUSH TABLES
KILL 1
LOAD DATA INFILE '/etc/passwd' INTO TABLE item
LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE item
INSTALL SONAME 'x'
GRANT ALL ON *.* TO reader
SELECT LOAD_FILE('/etc/passwd')
SELECT `load_file`('/etc/passwd')
SELECT LOAD_FILE/* x */('/etc/passwd')
SELECT * FROM item INTO OUTFILE '/tmp/out.csv'
SELECT * INTO OUTFILE '/tmp/out.csv' FROM item
SELECT 'x' INTO DUMPFILE '/tmp/out'
SELECT 1 INTO @x
SELECT 1 UNION SELECT 2 INTO OUTFILE '/tmp/out'
SELECT sleep(30)
SELECT SLEEP (30)
SELECT `sleep`(30)
SELECT benchmark(1000000000, sha2('x', 512))
SELECT get_lock('x', 10)
SELECT release_all_locks()
SELECT master_pos_wait('x', 1, 30)
SELECT last_insert_id(9)
SELECT nextval(numbers)
SELECT setval(numbers, 99)
SELECT NEXT VALUE FOR numbers
SELECT PREVIOUS VALUE FOR numbers
SELECT @a := 1
SELECT spend(1)
SELECT shop.spend(1)
SELECT sys_exec('id')
SELECT /*!50000 sleep(30) */
SELECT 1 /*M! , sleep(30) */
SELECT 1 --sleep(30)
SELECT '\\'', sleep(30), '
SELECT "a", sleep(30), "
SELECT * FROM item FOR UPDATE
SELECT * FROM item LOCK IN SHARE MODE
SELECT * FROM item PROCEDURE ANALYSE()
SELECT extractvalue(1, concat(0x7e, version()))
SELECT count(*) FROM seq_1_to_1000000000 a, seq_1_to_1000000000 b
"""
MARIADB_TWINS = """
SELECT 'DELETE FROM item'
SELECT "sleep(30)"
SELECT '; DROP TABLE item'
SELECT 1;
SELECT 1 -- ; DELETE FROM item
SELECT 1 # ; sleep(30)
SELECT 'it\\'s; fine', "it""s"
SELECT 1 AS `sleep`
SELECT 1 /* ; sleep(1) */
SELECT 5--1
(SELECT 1) UNION (SELECT 2)
VALUES (1), (2)
WITH x AS (SELECT 1 AS a) SELECT a FROM x
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT max(i) FROM n
SELECT name, rank() OVER (ORDER BY price) FROM item
SELECT i.name, count(*) FROM sale s JOIN item i ON i.id = s.item GROUP BY i.name
SELECT date_format(day, '%Y-%m'), year(day) FROM sale
SELECT coalesce(null, 1), now(), rand(), version(), database()
SELECT json_extract('{"a": 1}', '$.a'), group_concat(name SEPARATOR ',') FROM item
SELECT name FROM item WHERE name LIKE '%mp%' AND price BETWEEN 1 AND 10 AND id IN (1, 2)
SELECT * FROM cheap
SELECT cast(price AS signed), 10 % 3, if(price > 10, 'a', 'b') FROM item
SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop'
SELECT replace(name, 'a', 'b'), substring(name, 1, 2) FROM item
"""
