"""Every call leaves one record."""

from __future__ import annotations

import json
import sqlite3
import time

import pytest

from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import Services
from toolcrib.state.history import SCHEMA, History, HistoryEntry
from toolcrib.state.store import Store


def entry(name: str, when: float | None = None, **changes: object) -> HistoryEntry:
    values = {
        "id": name,
        "time": time.time() if when is None else when,
        "surface": "mcp",
        "client": "editor",
        "session": "s1",
        "tool": "echo",
        "arguments": '{"text": "hello"}',
        "outcome": "ok",
        "ms": 1.5,
        "tokens": 3,
        "bytes_": 12,
        "note": "",
    }
    return HistoryEntry(**(values | changes))


@pytest.fixture
def history(services: Services) -> History:
    return services.use(History)


async def test_a_record_is_there_for_others_when_it_returns(
    history: History, other_services: Services
) -> None:
    record = entry("a")
    await history.record(record)
    assert await other_services.use(History).query() == [record]


async def test_query(history: History) -> None:
    for n in range(6):
        await history.record(
            entry(
                f"e{n}",
                when=100.0 + n,
                tool="echo" if n % 2 else "fetch_url",
                outcome="ok" if n < 4 else "timeout",
                session="s1" if n < 3 else "s2",
            )
        )

    async def ids(**wanted: object) -> list[str]:
        return [e.id for e in await history.query(**wanted)]

    assert await ids() == ["e5", "e4", "e3", "e2", "e1", "e0"]
    assert await ids(limit=2) == ["e5", "e4"]
    assert await ids(tool="echo") == ["e5", "e3", "e1"]
    assert await ids(outcome="timeout") == ["e5", "e4"]
    assert await ids(outcome="error") == ["e5", "e4"]
    assert await ids(outcome="ok", tool="echo") == ["e3", "e1"]


@pytest.mark.rows("E94")
async def test_stats(history: History) -> None:
    for n in range(1, 101):
        await history.record(entry(f"a{n}", when=float(n), ms=float(n), tokens=2))
    await history.record(entry("b", when=500.0, tool="slow", ms=900.0, outcome="timeout", tokens=0))
    first, second = await history.stats()
    assert (first.tool, first.calls, first.errors, first.tokens) == ("echo", 100, 0, 200)
    assert (first.p50_ms, first.p95_ms, first.last_used) == (50.0, 95.0, 100.0)
    assert (second.tool, second.errors, second.p50_ms) == ("slow", 1, 900.0)
    assert [s.tool for s in await history.stats(sort_by="last_used")] == ["slow", "echo"]
    assert [s.tool for s in await history.stats(limit=1, sort_by="errors")] == ["slow"]


@pytest.mark.rows("E134")
async def test_export_gives_one_json_line_a_call(history: History) -> None:
    for n in range(1203):
        await history.record(entry(f"e{n:04}", when=float(n // 3)))
    await history.record(entry("last", when=9e8, outcome="internal", note="trace\nline"))
    lines = [json.loads(line) async for line in history.export()]
    assert len(lines) == 1204
    assert [line["id"] for line in lines[:3]] == ["e0000", "e0001", "e0002"]
    assert lines[0]["status"] == "ok"
    assert lines[-1] == lines[-1] | {
        "id": "last",
        "time": "1998-07-09T16:00:00.000+00:00",
        "status": "throw",
        "outcome": "internal",
        "bytes": 12,
        "note": "trace\nline",
    }


async def test_old_records_go(services: Services) -> None:
    history = History(services.use(Store).area(SCHEMA), keep=250)
    for n in range(600):
        await history.record(entry(f"e{n}", when=float(n)))
    stored = await history.query(limit=1000)
    assert 250 <= len(stored) < 350
    assert stored[0].id == "e599"


async def test_the_same_record_twice_is_one(history: History) -> None:
    record = entry("a")
    await history.record(record)
    await history.record(record)
    assert len(await history.query()) == 1


async def test_a_broken_store_loses_nothing(history: History, other_services: Services) -> None:
    """A folder where the file should be: nothing can be written, by any user."""
    file = data_folder() / "toolcrib.db"
    file.mkdir(parents=True)
    assert history.warning == ""
    for n in range(5):
        await history.record(entry(f"e{n}", when=float(n)))
    assert "5 records wait" in history.warning
    assert "toolcrib.db" in history.warning
    file.rmdir()
    await history.record(entry("e5", when=5.0))
    found = await history.query()
    assert [e.id for e in found] == ["e5", "e4", "e3", "e2", "e1", "e0"]
    assert history.warning == ""


async def test_what_waits_is_written_at_the_end(services: Services) -> None:
    file = data_folder() / "toolcrib.db"
    file.mkdir(parents=True)
    await services.use(History).record(entry("a"))
    file.rmdir()
    await services.close()
    again = Services(Config.load())
    assert [e.id for e in await again.use(History).query()] == ["a"]
    await again.close()


async def test_what_waits_is_bounded_and_what_goes_is_counted(history: History) -> None:
    file = data_folder() / "toolcrib.db"
    file.mkdir(parents=True)
    for n in range(1010):
        await history.record(entry(f"e{n}", when=float(n)))
    assert "1000 records wait" in history.warning
    assert "10 older ones were dropped" in history.warning
    file.rmdir()
    assert len(await history.query(limit=2000)) == 1000
    assert (await history.query(limit=2000))[-1].id == "e10"


async def test_a_newer_store_fails_no_call(history: History, services: Services) -> None:
    store = Store(data_folder() / "toolcrib.db")
    await store.write(SCHEMA, lambda c: c.execute("UPDATE area SET version = 99"))
    await store.close()
    await history.record(entry("a"))
    assert "newer toolcrib" in history.warning
    await services.close()
    check = sqlite3.connect(data_folder() / "toolcrib.db")
    assert check.execute("SELECT count(*) FROM history").fetchone() == (0,)
    check.close()
