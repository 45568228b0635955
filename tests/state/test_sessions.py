"""Sessions, shared by several processes."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest

from tests.services import Spawn
from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import MAX_REMEMBERED, Services
from toolcrib.state.sessions import EXPIRY_SECONDS, Sessions


@pytest.fixture
def sessions(services: Services) -> Sessions:
    return services.use(Sessions)


@pytest.fixture
def others(other_services: Services) -> Sessions:
    return other_services.use(Sessions)


async def test_an_unknown_session_is_fresh_and_not_written(sessions: Sessions) -> None:
    state = await sessions.load("x")
    await sessions.save(state)
    assert (state.untrusted, state.private, state.reads) == (False, False, {})
    check = sqlite3.connect(data_folder() / "toolcrib.db")
    assert check.execute("SELECT count(*) FROM session").fetchone() == (0,)
    check.close()


async def test_all_calls_of_a_session_share_one_object(sessions: Sessions) -> None:
    first, second = await asyncio.gather(sessions.load("x"), sessions.load("x"))
    assert first is second
    assert await sessions.load("x") is first


async def test_own_sessions_need_no_store(sessions: Sessions) -> None:
    name = sessions.new_id()
    state = await sessions.load(name)
    state.taint(private=True)
    assert (await sessions.load(name)).private
    assert not data_folder().exists()
    await sessions.save(state)
    assert data_folder().exists()
    assert sessions.new_id() != name


async def test_it_is_there_after_a_restart(sessions: Sessions, others: Sessions) -> None:
    state = await sessions.load("x")
    state.directory = "/work"
    state.taint(untrusted=True)
    state.remember_read("/a", "1")
    state.remember_link("https://example.com/")
    await sessions.save(state)
    assert not state.changed
    again = await others.load("x")
    assert (again.directory, again.untrusted, again.private) == ("/work", True, False)
    assert again.reads == {"/a": "1"}
    assert again.has_seen("https://example.com/")
    assert not again.changed


async def test_what_two_processes_note_is_merged(sessions: Sessions, others: Sessions) -> None:
    mine, theirs = await sessions.load("x"), await others.load("x")
    mine.taint(private=True)
    mine.remember_read("/mine", "m1")
    mine.remember_read("/both", "old")
    theirs.taint(untrusted=True)
    theirs.remember_read("/theirs", "t1")
    theirs.remember_link("https://theirs.example/")
    theirs.directory = "/theirs"
    theirs.changed = True
    await sessions.save(mine)
    await others.save(theirs)
    theirs.remember_read("/both", "new")
    await others.save(theirs)

    merged = await sessions.load("x")
    assert merged is mine
    assert merged.tainted
    assert merged.directory == "/theirs"
    assert merged.reads == {"/mine": "m1", "/both": "new", "/theirs": "t1"}
    assert merged.has_seen("https://theirs.example/")
    assert (await others.load("x")).tainted


async def test_what_is_not_saved_yet_survives_a_merge(sessions: Sessions, others: Sessions) -> None:
    mine, theirs = await sessions.load("x"), await others.load("x")
    theirs.remember_read("/both", "theirs")
    theirs.directory = "/theirs"
    await others.save(theirs)
    mine.remember_read("/both", "mine")
    mine.directory = "/mine"
    await sessions.load("x")
    assert (mine.reads["/both"], mine.directory) == ("mine", "/mine")
    await sessions.save(mine)
    assert (await others.load("x")).reads["/both"] == "mine"
    assert theirs.directory == "/mine"


async def test_taint_of_another_process_shows_at_the_next_call(
    sessions: Sessions, spawn: Spawn
) -> None:
    state = await sessions.load("shared")
    state.taint(private=True)
    await sessions.save(state)
    process = await spawn("session", "shared")
    await process.communicate()
    assert (await sessions.load("shared")).tainted
    assert state.reads == {"/theirs": "t1"}


async def test_sessions_expire(sessions: Sessions, others: Sessions) -> None:
    state = await sessions.load("x")
    state.taint(untrusted=True)
    state.remember_read("/a", "1")
    await sessions.save(state)
    check = sqlite3.connect(data_folder() / "toolcrib.db")
    check.execute("UPDATE session SET used = used - ?", (EXPIRY_SECONDS + 1,))
    check.commit()
    fresh = await others.load("x")
    assert not fresh.untrusted
    fresh.directory = "/new"
    fresh.changed = True
    await others.save(fresh)
    assert check.execute("SELECT untrusted, directory FROM session").fetchall() == [(0, "/new")]
    count = "SELECT count(*) FROM session_map WHERE kind != 'began'"
    assert check.execute(count).fetchone() == (0,)
    check.close()


async def test_maps_are_bounded(sessions: Sessions, others: Sessions) -> None:
    state = await sessions.load("x")
    for n in range(MAX_REMEMBERED + 500):
        state.remember_link(f"https://example.com/{n}")
    await sessions.save(state)
    for n in range(100):
        state.remember_link(f"https://example.org/{n}")
    await sessions.save(state)
    again = await others.load("x")
    assert len(again.links) <= MAX_REMEMBERED
    assert again.has_seen("https://example.org/99")
    check = sqlite3.connect(data_folder() / "toolcrib.db")
    count = "SELECT count(*) FROM session_map WHERE kind = 'link'"
    assert check.execute(count).fetchone()[0] <= MAX_REMEMBERED
    check.close()


async def test_a_broken_store_keeps_sessions_in_memory(sessions: Sessions) -> None:
    file = data_folder() / "toolcrib.db"
    file.mkdir(parents=True)
    state = await sessions.load("x")
    state.taint(untrusted=True)
    await sessions.save(state)
    assert "toolcrib.db" in sessions.warning
    assert (await sessions.load("x")).untrusted
    file.rmdir()
    await sessions.save(state)
    assert sessions.warning == ""
    again = Services(Config.load())
    assert (await again.use(Sessions).load("x")).untrusted
    await again.close()


async def test_taint_noted_before_the_store_came_back_is_merged(
    sessions: Sessions, others: Sessions
) -> None:
    theirs = await others.load("x")
    theirs.taint(untrusted=True)
    await others.save(theirs)
    await others._rows.store.close()
    file = data_folder() / "toolcrib.db"
    file.rename(f"{file}.away")
    file.mkdir()
    mine = await sessions.load("x")
    assert not mine.untrusted
    file.rmdir()
    file.with_name("toolcrib.db.away").rename(file)
    assert (await sessions.load("x")) is mine
    assert mine.untrusted
