"""Asking whether an old value still holds, and values that stay in memory."""

from __future__ import annotations

import asyncio

import pytest

from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import ConnectionFailed
from toolcrib.net.cache import UNCHANGED, Cache, MemoryOnly

TTL = 0.2


@pytest.fixture
async def open_cache(tmp_path):
    opened = []

    def build() -> Cache:
        services = Services(Config.load({"store": {"url": f"sqlite:///{tmp_path}/store.db"}}))
        opened.append(services)
        return services.use(Cache)

    yield build
    for services in opened:
        await services.close()


async def made() -> str:
    return "first"


async def fetch(cache: Cache, again, ttl: float = TTL):
    return await cache.fetch("kind", "key", made, ttl=ttl, stale=60, revalidate=again)


async def test_a_value_that_still_holds_is_renewed(open_cache):
    cache, asked = open_cache(), []

    async def again(old):
        asked.append(old)
        return UNCHANGED

    first = await fetch(cache, again)
    await asyncio.sleep(TTL + 0.05)
    renewed = await fetch(cache, again, ttl=60)
    assert (renewed.value, renewed.hit, renewed.stale) == ("first", True, False)
    assert renewed.created > first.created
    assert (await fetch(cache, again)).hit
    assert (await fetch(open_cache(), again)).created == renewed.created
    assert asked == ["first"]


async def test_a_value_that_changed_takes_its_place(open_cache):
    cache = open_cache()

    async def again(old):
        return f"after {old}"

    await fetch(cache, again)
    await asyncio.sleep(TTL + 0.05)
    found = await fetch(cache, again)
    assert (found.value, found.hit) == ("after first", False)


async def test_the_old_one_stands_in_when_asking_fails(open_cache):
    cache = open_cache()

    async def again(old):
        raise ConnectionFailed("no")

    await fetch(cache, again)
    await asyncio.sleep(TTL + 0.05)
    found = await fetch(cache, again)
    assert (found.value, found.stale) == ("first", True)


async def test_many_at_once_ask_once(open_cache):
    cache, asked = open_cache(), []

    async def again(old):
        asked.append(old)
        await asyncio.sleep(0.05)
        return UNCHANGED

    await fetch(cache, again)
    await asyncio.sleep(TTL + 0.05)
    await asyncio.gather(*(fetch(cache, again, ttl=60) for _ in range(20)))
    assert asked == ["first"]


async def test_a_fleeting_value_is_in_no_store(open_cache):
    cache, count = open_cache(), 0

    async def make():
        nonlocal count
        count += 1
        return MemoryOnly({"n": count})

    for _ in range(3):
        assert (await cache.fetch("kind", "key", make, ttl=60)).value == {"n": 1}
    assert (await open_cache().fetch("kind", "key", make, ttl=60)).value == {"n": 2}
    assert (await cache.fetch("kind", "other", make, ttl=0)).value == {"n": 3}


async def test_when_a_value_was_made(open_cache):
    cache = open_cache()
    assert await cache.created("kind", "key") is None
    found = await cache.fetch("kind", "key", made, ttl=TTL)
    assert await cache.created("kind", "key") == found.created
    assert await open_cache().created("kind", "key") == found.created
    await asyncio.sleep(TTL + 0.05)
    assert await cache.created("kind", "key") is None
