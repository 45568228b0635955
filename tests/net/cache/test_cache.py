"""Values made once, kept for a while, shared by processes."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conditions import until
from tests.services import Spawn
from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import Services
from toolcrib.core.errors import (
    Blocked,
    ConnectionFailed,
    HttpStatus,
    NotFound,
    RateLimited,
    StorageFailure,
    TimedOut,
    ToolError,
)
from toolcrib.net.cache import SCHEMA, UNCHANGED, Cache, MemoryOnly
from toolcrib.state.store import Store


class Maker:
    """Gives one value after another, and counts."""

    def __init__(self, *values: Any, hold: asyncio.Event | None = None) -> None:
        self.values = list(values)
        self.count = 0
        self.hold = hold
        self.began = asyncio.Event()

    async def __call__(self) -> Any:
        self.count += 1
        self.began.set()
        if self.hold is not None:
            await self.hold.wait()
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        if isinstance(value, BaseException):
            raise value
        return value


@pytest.fixture
def cache(services: Services) -> Cache:
    return services.use(Cache)


def sql(statement: str, *values: Any) -> list[Any]:
    store = sqlite3.connect(data_folder() / "toolcrib.db")
    rows = store.execute(statement, values).fetchall()
    store.commit()
    store.close()
    return rows


def grow_older(seconds: float) -> None:
    sql(
        "UPDATE cache SET created = created - ?1, expires = expires - ?1, "
        "stale_until = stale_until - ?1",
        seconds,
    )


@pytest.mark.rows("A08")
@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\x00\xff" * 5000,
        "text",
        "grün \udcff",
        5,
        None,
        {"a": [1, {"b": None}]},
        ["x" * 5000],
    ],
    ids=repr,
)
async def test_a_value_survives_a_restart(
    cache: Cache, other_services: Services, value: Any
) -> None:
    make = Maker(value)
    first = await cache.fetch("page", "k", make, ttl=60)
    assert (first.value, first.hit, first.stale) == (value, False, False)
    again = await other_services.use(Cache).fetch("page", "k", make, ttl=60)
    assert (again.value, again.hit, again.stale) == (value, True, False)
    assert 0 <= again.age < 10
    assert make.count == 1


async def test_a_hit_is_nobody_elses_object(cache: Cache) -> None:
    make = Maker({"list": []})
    first, second = await asyncio.gather(*(cache.fetch("p", "k", make, ttl=60) for _ in range(2)))
    first.value["list"].append(1)
    assert second.value == {"list": []}
    assert (await cache.fetch("p", "k", make, ttl=60)).value == {"list": []}


async def test_kinds_and_keys_are_apart(cache: Cache) -> None:
    make = Maker("a", "b", "c")
    assert (await cache.fetch("p", "k", make, ttl=60)).value == "a"
    assert (await cache.fetch("q", "k", make, ttl=60)).value == "b"
    assert (await cache.fetch("p", "l", make, ttl=60)).value == "c"
    assert (await cache.fetch("p", "k", make, ttl=60)).value == "a"


async def test_expiry_and_no_time_at_all(cache: Cache) -> None:
    make = Maker("a", "b", "c", "d")
    assert (await cache.fetch("p", "k", make, ttl=60)).value == "a"
    grow_older(61)
    assert (await cache.fetch("p", "k", make, ttl=60)).value == "b"
    assert (await cache.fetch("p", "k", make, ttl=0)).value == "c"
    assert (await cache.fetch("p", "k", make, ttl=60)).value == "b"


async def test_forget(cache: Cache) -> None:
    make = Maker("a", "b")
    await cache.fetch("p", "k", make, ttl=60)
    await cache.forget("p", "k")
    assert (await cache.fetch("p", "k", make, ttl=60)).value == "b"


async def test_fifty_equal_calls_are_one(cache: Cache) -> None:
    make = Maker({"n": 1}, hold=asyncio.Event())
    calls = [asyncio.create_task(cache.fetch("p", "k", make, ttl=60)) for _ in range(50)]
    await make.began.wait()
    make.hold.set()
    found = await asyncio.gather(*calls)
    assert make.count == 1
    assert [f.value for f in found] == [{"n": 1}] * 50


async def test_a_waiter_that_gives_up_harms_no_other(cache: Cache) -> None:
    make = Maker("a", hold=asyncio.Event())
    tasks = [asyncio.create_task(cache.fetch("p", "k", make, ttl=60)) for _ in range(3)]
    await make.began.wait()
    tasks[0].cancel()  # the one that began it
    await asyncio.wait(tasks[:1])
    make.hold.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(done[0], asyncio.CancelledError)
    assert [d.value for d in done[1:]] == ["a", "a"]
    assert make.count == 1


async def test_the_last_waiter_takes_the_work_along(cache: Cache) -> None:
    began, cleaned = asyncio.Event(), []

    async def make() -> str:
        began.set()
        try:
            await asyncio.sleep(3600)
        finally:
            cleaned.append(True)
        return "never"

    tasks = [asyncio.create_task(cache.fetch("p", "k", make, ttl=60)) for _ in range(2)]
    await began.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert cleaned == [True]
    assert sql("SELECT count(*) FROM cache_lease") == [(0,)]
    assert (await cache.fetch("p", "k", Maker("a"), ttl=60)).value == "a"


async def test_a_failure_is_not_kept_and_reaches_all(cache: Cache) -> None:
    make = Maker(RateLimited("slow down", retry_after=3), "a", hold=asyncio.Event())
    calls = [asyncio.create_task(cache.fetch("p", "k", make, ttl=60)) for _ in range(3)]
    await until(lambda: sum(one.waiters for one in cache._flights._running.values()) == 3)
    make.hold.set()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(o) for o in outcomes] == [RateLimited] * 3
    assert make.count == 1
    assert (await cache.fetch("p", "k", make, ttl=60)).value == "a"


async def test_a_defect_in_making_is_not_kept(cache: Cache) -> None:
    make = Maker(KeyError("x"), {1, 2}, "a")
    with pytest.raises(KeyError):
        await cache.fetch("p", "k", make, ttl=60)
    with pytest.raises(TypeError):  # a set is not JSON
        await cache.fetch("p", "k", make, ttl=60)
    assert sql("SELECT count(*) FROM cache_lease") == [(0,)]
    assert (await cache.fetch("p", "k", make, ttl=60)).value == "a"


async def test_negative_entries(cache: Cache, other_services: Services) -> None:
    make = Maker(HttpStatus("gone", hint="look elsewhere", status=404), "a")
    for used in (cache, other_services.use(Cache), cache):
        with pytest.raises(HttpStatus, match="gone") as caught:
            await used.fetch("p", "k", make, ttl=60, negative_ttl=30)
        assert (caught.value.hint, caught.value.details) == ("look elsewhere", {"status": 404})
        assert caught.value.stable_code == "http_status"
    assert make.count == 1
    grow_older(31)
    assert (await cache.fetch("p", "k", make, ttl=60, negative_ttl=30)).value == "a"


@pytest.mark.parametrize(
    "error",
    [
        TimedOut("t"),
        Blocked("b", code="blocked_host"),
        StorageFailure("s"),
        RateLimited("r"),
        HttpStatus("h", status=500),
    ],
    ids=repr,
)
async def test_errors_that_say_nothing_about_the_thing_are_not_kept(
    cache: Cache, error: ToolError
) -> None:
    make = Maker(error, "a")
    with pytest.raises(type(error)):
        await cache.fetch("p", "k", make, ttl=60, negative_ttl=30)
    assert (await cache.fetch("p", "k", make, ttl=60, negative_ttl=30)).value == "a"


@pytest.mark.parametrize(
    "error", [RateLimited("r"), TimedOut("t"), HttpStatus("h", status=503)], ids=repr
)
async def test_an_old_value_stands_in(cache: Cache, error: ToolError) -> None:
    make = Maker("old", error, "new")
    await cache.fetch("p", "k", make, ttl=60, stale=600)
    grow_older(100)
    found = await cache.fetch("p", "k", make, ttl=60, stale=600, negative_ttl=60)
    assert (found.value, found.hit, found.stale) == ("old", True, True)
    assert found.age >= 100
    assert (await cache.fetch("p", "k", make, ttl=60, stale=600)).value == "new"


@pytest.mark.parametrize("error", [NotFound("n"), HttpStatus("h", status=410), Blocked("b")])
async def test_an_old_value_does_not_hide_the_truth(cache: Cache, error: ToolError) -> None:
    make = Maker("old", error)
    await cache.fetch("p", "k", make, ttl=60, stale=600)
    grow_older(100)
    with pytest.raises(type(error)):
        await cache.fetch("p", "k", make, ttl=60, stale=600)


async def test_a_value_that_is_too_old_does_not_stand_in(cache: Cache) -> None:
    make = Maker("old", TimedOut("t"))
    await cache.fetch("p", "k", make, ttl=60, stale=600)
    grow_older(700)
    with pytest.raises(TimedOut):
        await cache.fetch("p", "k", make, ttl=60, stale=600)


async def test_values_over_the_size_are_given_and_not_kept(cache: Cache) -> None:
    make = Maker(b"x" * 2000, "small")
    assert len((await cache.fetch("p", "k", make, ttl=60, max_bytes=1000)).value) == 2000
    assert sql("SELECT (SELECT count(*) FROM cache), (SELECT count(*) FROM cache_lease)") == [
        (0, 0)
    ]
    assert (await cache.fetch("p", "k", make, ttl=60, max_bytes=1000)).value == "small"


async def fill(cache: Cache, kind: str, names: range, size: int, **bounds: Any) -> None:
    for n in names:
        await cache.fetch(kind, str(n), Maker(os.urandom(size)), ttl=600, **bounds)


async def stored(cache: Cache, kind: str, names: range) -> list[int]:
    found = []
    for n in names:
        try:
            await cache.fetch(kind, str(n), Maker(NotFound("gone")), ttl=600)
        except NotFound:
            continue
        found.append(n)
    return found


async def test_the_bytes_are_bounded_and_the_least_used_go(services: Services) -> None:
    cache = Cache(services.use(Store).area(SCHEMA), max_bytes=100_000)
    await fill(cache, "p", range(9), 10_000)
    assert await stored(cache, "p", range(9)) == list(range(9))
    await cache.fetch("p", "0", Maker("x"), ttl=600)  # used again: it stays
    await fill(cache, "p", range(9, 14), 10_000)
    assert sql("SELECT sum(size) FROM cache")[0][0] <= 100_000
    left = await stored(cache, "p", range(14))
    assert 0 in left
    assert 13 in left
    assert 1 not in left
    assert sql("SELECT sum(entries), sum(bytes) FROM cache_total") == sql(
        "SELECT count(*), sum(size) FROM cache"
    )


async def test_what_is_out_of_date_goes_first(services: Services) -> None:
    cache = Cache(services.use(Store).area(SCHEMA), max_bytes=100_000)
    await fill(cache, "old", range(5), 10_000)
    grow_older(700)
    await fill(cache, "new", range(6), 10_000)
    assert await stored(cache, "new", range(6)) == list(range(6))


async def test_entries_of_a_kind_are_bounded(cache: Cache) -> None:
    await fill(cache, "other", range(5), 10)
    await fill(cache, "search", range(130), 10, max_entries=100)
    assert sql("SELECT kind, count(*) FROM cache GROUP BY kind ORDER BY kind")[0] == ("other", 5)
    count = sql("SELECT count(*) FROM cache WHERE kind = 'search'")[0][0]
    assert 90 <= count <= 100
    assert 129 in await stored(cache, "search", range(125, 130))


async def test_a_value_larger_than_the_whole_cache(services: Services) -> None:
    cache = Cache(services.use(Store).area(SCHEMA), max_bytes=10_000)
    await fill(cache, "p", range(3), 1000)
    await cache.fetch("p", "big", Maker(os.urandom(50_000)), ttl=60)
    assert await stored(cache, "p", range(3)) == [0, 1, 2]


async def test_text_is_kept_compressed(cache: Cache) -> None:
    await cache.fetch("p", "k", Maker("the same words " * 10_000), ttl=60)
    assert sql("SELECT size FROM cache")[0][0] < 5000


async def test_a_broken_store_fails_no_call(cache: Cache) -> None:
    (data_folder() / "toolcrib.db").mkdir(parents=True)
    make = Maker("a", NotFound("n"))
    assert (await cache.fetch("p", "k", make, ttl=60)).value == "a"
    assert (await cache.fetch("p", "k", make, ttl=60)).hit
    with pytest.raises(NotFound):
        await cache.fetch("p", "other", make, ttl=60, negative_ttl=60)
    with pytest.raises(NotFound):
        await cache.fetch("p", "other", make, ttl=60, negative_ttl=60)
    assert make.count == 2
    await cache.forget("p", "k")


async def test_memory_is_bounded_too(cache: Cache) -> None:
    (data_folder() / "toolcrib.db").mkdir(parents=True)
    await fill(cache, "p", range(10), 1_000_000)
    assert await stored(cache, "p", range(10)) == list(range(3, 10))


@pytest.mark.parametrize("count", [2, 4])
async def test_processes_make_it_once(spawn: Spawn, tmp_path: Path, count: int) -> None:
    log = tmp_path / "log"
    processes = [await spawn("fetch", log, 1.0) for _ in range(count)]
    outputs = await asyncio.gather(*(p.communicate() for p in processes))
    values = [out.decode().split()[-1] for out, _ in outputs]
    assert len(log.read_text().splitlines()) == 1
    assert len(set(values)) == 1


async def test_a_killed_maker_holds_nobody_up(cache: Cache, spawn: Spawn, tmp_path: Path) -> None:
    process = await spawn("fetch", tmp_path / "log", 3600)
    assert process.stdout
    assert await process.stdout.readline() == b"making\n"
    theirs = sql("SELECT holder FROM cache_lease")
    process.kill()
    await process.wait()
    make = Maker("mine", hold=asyncio.Event())
    waiting = asyncio.create_task(cache.fetch("page", "the key", make, ttl=60))
    await make.began.wait()
    ours = sql("SELECT holder FROM cache_lease")
    assert len(theirs) == len(ours) == 1
    assert theirs != ours, "taken over, not waited for"
    make.hold.set()
    assert (await waiting).value == "mine"


async def test_a_slow_maker_is_not_waited_for_long(
    cache: Cache, spawn: Spawn, tmp_path: Path
) -> None:
    process = await spawn("fetch", tmp_path / "log", 3600)
    assert process.stdout
    await process.stdout.readline()
    assert (await cache.fetch("page", "the key", Maker("mine"), ttl=60)).value == "mine"


def test_it_works_in_one_loop_after_another() -> None:
    async def once(make: Callable[[], Awaitable[Any]]) -> bool:
        return (await services.use(Cache).fetch("p", "k", make, ttl=60)).hit

    services = Services(Config.load())
    make = Maker("a")
    assert [asyncio.run(once(make)) for _ in range(3)] == [False, True, True]
    asyncio.run(services.close())


# Asking whether an old value still holds.


@pytest.mark.parametrize(
    ("answer", "value", "hit", "stale"),
    [
        (UNCHANGED, "old", True, False),
        ("newer", "newer", False, False),
        (ConnectionFailed("no"), "old", True, True),
    ],
    ids=["it holds", "it changed", "nobody answers"],
)
async def test_an_old_value_is_asked_about(
    cache: Cache, other_services: Services, answer: Any, value: str, *, hit: bool, stale: bool
) -> None:
    make, requested = Maker("old"), []

    async def revalidate(old: Any) -> Any:
        requested.append(old)
        if isinstance(answer, Exception):
            raise answer
        return answer

    first = await cache.fetch("p", "k", make, ttl=60, stale=600, revalidate=revalidate)
    grow_older(61)
    found = await cache.fetch("p", "k", make, ttl=60, stale=600, revalidate=revalidate)
    assert (found.value, found.hit, found.stale) == (value, hit, stale)
    assert (make.count, requested) == (1, ["old"])
    if not stale:
        assert found.created > first.created - 61
        again = await other_services.use(Cache).fetch("p", "k", make, ttl=60)
        assert (again.value, again.hit, again.created) == (value, True, found.created)


async def test_many_at_once_ask_once(cache: Cache) -> None:
    requested = []

    async def revalidate(old: Any) -> Any:
        requested.append(old)
        return UNCHANGED

    await cache.fetch("p", "k", Maker("old"), ttl=60, stale=600)
    grow_older(61)
    make = Maker("never")
    await asyncio.gather(
        *(cache.fetch("p", "k", make, ttl=60, revalidate=revalidate) for _ in range(20))
    )
    assert (make.count, requested) == (0, ["old"])


async def test_a_value_for_memory_is_in_no_store(cache: Cache, other_services: Services) -> None:
    make = Maker(MemoryOnly(1), MemoryOnly(2), MemoryOnly(3))
    for _ in range(3):
        assert (await cache.fetch("p", "k", make, ttl=60)).value == 1
    assert (await other_services.use(Cache).fetch("p", "k", make, ttl=60)).value == 2
    assert (await cache.fetch("p", "other", make, ttl=0)).value == 3


async def test_when_a_value_was_made(cache: Cache, other_services: Services) -> None:
    assert await cache.created("p", "k") is None
    found = await cache.fetch("p", "k", Maker("a"), ttl=60)
    assert await cache.created("p", "k") == found.created
    assert await other_services.use(Cache).created("p", "k") == found.created
    grow_older(61)
    assert await cache.created("p", "k") is None
