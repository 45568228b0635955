"""One file, many areas, several processes."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from tests.cases import each_case
from toolcrib.core.config import data_folder, store_file
from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, StorageFailure
from toolcrib.state.store import Area, Schema, Store

NOTES = Schema("notes", ("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);",))


def add(text: str):
    return lambda c: c.execute("INSERT INTO note (text) VALUES (?)", (text,)).lastrowid


def texts(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT text FROM note ORDER BY id")]


@pytest.fixture
def notes(services: Services) -> Area:
    return services.use(Store).area(NOTES)


@pytest.fixture
def file() -> Path:
    return data_folder() / "toolcrib.db"


async def test_nothing_is_touched_before_the_first_use(notes: Area, file: Path) -> None:
    assert not file.exists()
    await notes.read(texts)
    assert file.exists()


async def test_file_and_folder_are_private(notes: Area, file: Path) -> None:
    before = os.umask(0)
    try:
        await notes.write(add("a"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    for path in file.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


async def test_a_write_is_there_for_others_at_once(notes: Area, other_services: Services) -> None:
    await notes.write(add("a"))
    await notes.write(add("b"), quick=True)
    assert await other_services.use(Store).area(NOTES).read(texts) == ["a", "b"]
    assert await notes.read(texts, quick=True) == ["a", "b"]


async def test_quick_work_stays_on_the_loop_and_the_rest_does_not(notes: Area) -> None:
    def where(connection: sqlite3.Connection) -> str:
        return threading.current_thread().name

    assert await notes.write(where) == "toolcrib-store"
    # The thread makes the quick way ready after its answer: at some time it is.
    while await notes.write(where, quick=True) != threading.current_thread().name:
        await asyncio.sleep(0.01)
    assert await notes.read(where) == "toolcrib-store"


async def test_quick_work_does_not_wait_for_a_writer(notes: Area, file: Path) -> None:
    await notes.write(add("a"))
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.create_task(notes.write(add("b"), quick=True))
    await asyncio.sleep(0.2)  # time is the subject: the loop is free all the while
    assert not waiting.done()
    other.execute("COMMIT")
    other.close()
    await waiting
    assert await notes.read(texts) == ["a", "b"]


async def test_reading_work_cannot_write(notes: Area) -> None:
    await notes.write(add("a"))
    await notes.read(add("b"))
    await notes.read(add("c"), quick=True)
    assert await notes.read(texts) == ["a"]


async def test_work_that_fails_leaves_nothing_and_harms_nobody(notes: Area) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO note (text) VALUES ('half')")
        raise KeyError("mine")

    outcomes = await asyncio.gather(
        *(notes.write(fail if n == 3 else add(str(n))) for n in range(6)), return_exceptions=True
    )
    assert [type(o) for o in outcomes] == [int, int, int, KeyError, int, int]
    with pytest.raises(KeyError):
        await notes.write(fail, quick=True)
    assert sorted(await notes.read(texts)) == ["0", "1", "2", "4", "5"]


async def test_a_cancelled_waiter_does_not_undo_the_write(notes: Area) -> None:
    await notes.write(add("a"))
    task = asyncio.create_task(notes.write(add("b")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await notes.read(texts) == ["a", "b"]


async def test_migrations_run_once_and_in_order(services: Services) -> None:
    store = services.use(Store)
    later = Schema(
        "notes",
        (
            *NOTES.migrations,
            """
            ALTER TABLE note ADD COLUMN tag TEXT NOT NULL DEFAULT 'none';
            CREATE TRIGGER tagged AFTER INSERT ON note BEGIN
                UPDATE note SET tag = 'a;b' WHERE id = new.id;
            END;
            """,
        ),
    )
    await store.write(NOTES, add("old"))
    await store.close()
    again = Store(store.path)
    await again.write(later, add("new"))
    tags = await again.read(later, lambda c: c.execute("SELECT tag FROM note").fetchall())
    await again.close()
    assert tags == [("none",), ("a;b",)]


async def test_a_newer_store_is_refused_and_left_alone(services: Services, file: Path) -> None:
    newer = Schema("notes", (*NOTES.migrations, "CREATE TABLE extra (id);"))
    first = Store(file)
    await first.write(newer, add("precious"))
    await first.close()
    content = file.read_bytes()
    notes = services.use(Store).area(NOTES)
    with pytest.raises(ConfigError, match="newer toolcrib") as caught:
        await notes.write(add("x"))
    assert "Upgrade" in caught.value.hint
    with pytest.raises(ConfigError):
        await notes.read(texts)
    await services.close()
    assert file.read_bytes() == content


async def test_a_failed_migration_leaves_the_version(services: Services) -> None:
    broken = Schema("notes", ("CREATE TABLE note (id); CREATE TABLE note (id);",))
    store = services.use(Store)
    with pytest.raises(sqlite3.OperationalError):
        await store.write(broken, add("x"))
    await store.write(NOTES, add("y"))
    assert await store.read(NOTES, texts) == ["y"]


async def test_another_programs_database_is_not_touched(services: Services, file: Path) -> None:
    file.parent.mkdir(parents=True)
    theirs = sqlite3.connect(file)
    theirs.execute("CREATE TABLE contacts (name)")
    theirs.commit()
    theirs.close()
    with pytest.raises(ConfigError, match="another program"):
        await services.use(Store).write(NOTES, add("x"))
    assert [p.name for p in file.parent.iterdir() if "corrupt" in p.name] == []


async def test_no_permission_is_a_clear_failure(services: Services, file: Path) -> None:
    file.mkdir(parents=True)  # a folder where the file should be: also root cannot open that
    with pytest.raises(StorageFailure, match=r"toolcrib\.db") as caught:
        await services.use(Store).write(NOTES, add("x"))
    assert "store.url" in caught.value.hint
    file.rmdir()
    await services.use(Store).write(NOTES, add("x"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_read_only_folder_is_a_clear_failure(notes: Area, file: Path) -> None:
    await notes.write(add("a"))
    await notes.store.close()
    file.parent.chmod(0o500)
    again = Store(file)
    with pytest.raises(StorageFailure, match="cannot be used") as caught:
        await again.write(NOTES, add("b"))
    file.parent.chmod(0o700)
    assert "writable" in caught.value.hint
    await again.write(NOTES, add("c"))
    assert await again.read(NOTES, texts) == ["a", "c"]
    await again.close()


async def test_a_deleted_file_is_started_anew(notes: Area, file: Path) -> None:
    await notes.write(add("a"))
    await notes.write(add("b"), quick=True)
    for path in file.parent.iterdir():
        path.unlink()
    await notes.write(add("c"), quick=True)
    await notes.write(add("d"))
    assert await notes.read(texts) == ["c", "d"]
    assert await notes.read(texts, quick=True) == ["c", "d"]


async def test_a_store_in_memory() -> None:
    store = Store(None)
    await asyncio.gather(*(store.area(NOTES).write(add(str(n)), quick=True) for n in range(5)))
    assert len(await store.read(NOTES, texts)) == 5
    await store.close()


async def test_a_closed_store_says_so(notes: Area) -> None:
    await notes.write(add("a"))
    await notes.store.close()
    with pytest.raises(StorageFailure, match="closed"):
        await notes.write(add("b"))
    with pytest.raises(StorageFailure, match="closed"):
        await notes.write(add("b"), quick=True)


async def test_the_log_is_moved_into_the_file_now_and_then(notes: Area, file: Path) -> None:
    await notes.write(add("a"))
    for _ in range(450):
        await notes.write(add("x" * 2000), quick=True)
    await notes.write(add("end"))
    log = Path(f"{file}-wal")
    assert log.stat().st_size < 4_000_000
    assert file.stat().st_size > 500_000


@each_case(
    ("url", "path"),
    [
        ("sqlite:///some/notes.db", Path("some/notes.db")),
        ("sqlite:////var/lib/t.db", Path("/var/lib/t.db")),
        ("sqlite:///~/t.db", Path.home() / "t.db"),
        ("sqlite://", None),
    ],
)
def test_urls(url: str, path: Path | None) -> None:
    assert store_file(url) == path


def test_no_url_is_the_data_folder() -> None:
    assert store_file("") == data_folder() / "toolcrib.db"


@each_case("url", ["postgresql://me:secret@host/db", "/tmp/x.db", "sqlite://x.db"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"store\.url") as caught:
        store_file(url)
    assert "secret@" not in caught.value.message
