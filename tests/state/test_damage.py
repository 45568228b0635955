"""A broken file is set aside, never deleted, by exactly one of several processes."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from tests.services import Spawn
from tests.state.test_store import NOTES, add, texts
from toolcrib.core.config import data_folder
from toolcrib.core.context import Services
from toolcrib.state.history import History
from toolcrib.state.store import Owner, Store, quarantine


@pytest.fixture
def file() -> Path:
    path = data_folder() / "toolcrib.db"
    path.parent.mkdir(parents=True)
    return path


def quarantined(file: Path) -> list[Path]:
    return sorted(file.parent.glob("toolcrib.db.corrupt-*Z"))


async def test_no_database_at_all(services: Services, file: Path) -> None:
    file.write_bytes(b"this was never a database " * 1000)
    store = services.use(Store)
    await store.write(NOTES, add("new"))
    (stored,) = quarantined(file)
    assert stored.read_bytes() == b"this was never a database " * 1000
    assert stored.name in store.warnings[0]
    assert await store.read(NOTES, texts) == ["new"]


async def test_side_files_go_along(services: Services, file: Path) -> None:
    file.write_bytes(b"broken " * 1000)
    Path(f"{file}-wal").write_bytes(b"log")
    Path(f"{file}-shm").write_bytes(b"index")
    await services.use(Store).write(NOTES, add("new"))
    (main,) = quarantined(file)
    assert Path(f"{main}-wal").read_bytes() == b"log"
    assert Path(f"{main}-shm").exists()


async def filled(file: Path, rows: int) -> None:
    store = Store(file)
    await store.write(NOTES, lambda c: [add("x" * 500)(c) for _ in range(rows)])
    await store.close()


async def test_damage_in_the_middle_of_a_file(services: Services, file: Path) -> None:
    await filled(file, 500)
    content = bytearray(file.read_bytes())
    content[8192:-8192] = b"\xff" * (len(content) - 16384)
    file.write_bytes(content)
    store = services.use(Store)
    assert await store.read(NOTES, texts) == []
    assert quarantined(file)[0].read_bytes() == content
    await store.write(NOTES, add("new"))
    assert await store.read(NOTES, texts) == ["new"]


async def test_damage_while_the_store_is_open(services: Services, file: Path) -> None:
    store = services.use(Store)
    notes = store.area(NOTES)
    await notes.write(lambda c: [add("x" * 500)(c) for _ in range(500)])
    await notes.write(add("y"), quick=True)
    other = sqlite3.connect(file)
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    with file.open("r+b") as broken:
        broken.write(b"\xff" * 16384)
    assert await notes.read(texts) == []
    await notes.write(add("new"), quick=True)
    assert await notes.read(texts) == ["new"]
    assert len(quarantined(file)) == 1
    assert "set aside" in " ".join(store.warnings)


async def test_a_truncated_file(services: Services, file: Path) -> None:
    await filled(file, 500)
    file.write_bytes(file.read_bytes()[:-40_000])
    await services.use(Store).write(NOTES, add("new"))
    rows = await services.use(Store).read(NOTES, texts)
    assert rows[-1] == "new"
    assert len(quarantined(file)) <= 1


async def test_two_processes_find_it_at_once(file: Path, spawn: Spawn, services: Services) -> None:
    file.write_bytes(b"broken " * 1000)
    processes = [await spawn("history", name, 20) for name in "abcd"]
    outputs = await asyncio.gather(*(p.communicate() for p in processes))
    assert [p.returncode for p in processes] == [0] * 4
    reply = [line for out, _ in outputs for line in out.decode().split()]
    assert len(quarantined(file)) == 1
    entries = await services.use(History).query(limit=1000)
    assert sorted(e.id for e in entries) == sorted(reply)
    assert len(reply) == 80


async def test_a_process_that_had_it_open_moves_on(
    file: Path, spawn: Spawn, services: Services, other_services: Services
) -> None:
    """What is acknowledged after the file was set aside must stand in the new one."""
    first = await spawn("gated", "a")
    assert first.stdin
    assert first.stdout
    for _ in range(3):
        first.stdin.write(b"go\n")
        await first.stdout.readline()
    quarantine(file)
    await services.use(Store).write(NOTES, add("new"))
    for _ in range(3):
        first.stdin.write(b"go\n")
        assert await first.stdout.readline()
    first.stdin.close()
    assert await first.wait() == 0
    assert {e.id for e in await services.use(History).query()} == {"a-3", "a-4", "a-5"}
    assert await services.use(Store).read(NOTES, texts) == ["new"]
    await services.close()
    # Neither process took the other's log away when it closed.
    assert {e.id for e in await other_services.use(History).query()} == {"a-3", "a-4", "a-5"}


async def test_owners(spawn: Spawn) -> None:
    me = Owner.current()
    assert me.is_alive()
    assert Owner.parse(str(me)) == me
    assert Owner(me.place, me.pid, "1").is_alive() is False
    assert Owner("another machine", me.pid, me.started).is_alive() is None
    process = await spawn("gated", "a")
    other = Owner(me.place, process.pid, "")
    assert other.is_alive() is False  # started at another time
