from __future__ import annotations

import asyncio
import time

import pytest

from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import RateLimited
from toolcrib.net.pace import Pace


@pytest.fixture
async def services(tmp_path):
    opened = Services(Config.load({"store": {"url": f"sqlite:///{tmp_path}/store.db"}}))
    yield opened
    await opened.close()


async def test_turns_are_a_gap_apart(services):
    pace, times, began = services.use(Pace), [], time.monotonic()

    async def one():
        await pace.turn("engine", 0.2, 5)
        times.append(time.monotonic())

    await asyncio.gather(*(one() for _ in range(3)))
    for number, turn in enumerate(sorted(times)):
        assert turn - began > number * 0.2 - 0.01, "earlier than its turn"


async def test_places_do_not_wait_for_each_other(services):
    pace = services.use(Pace)
    await pace.turn("one", 100, 5)
    await pace.turn("two", 100, 5)
    await pace.turn("one", 0, 5)


async def test_who_waits_learns_that_it_is_in_vain(services):
    pace = services.use(Pace)
    await pace.turn("engine", 100, 5)
    looks = []

    async def look():
        looks.append(1)
        if len(looks) > 1:
            raise LookupError

    with pytest.raises(LookupError):
        await pace.turn("engine", 100, 200, look)


async def test_a_turn_that_was_not_used_is_given_back(services):
    pace = services.use(Pace)
    taken = await pace.turn("engine", 100, 5)
    await pace.give_back("engine", 100, taken)
    first = await pace.turn("engine", 100, 5)
    await pace.give_back("other", 100, first)
    with pytest.raises(RateLimited):
        await pace.turn("engine", 100, 5)


async def test_a_turn_is_not_given_back_over_those_who_wait(services):
    pace = services.use(Pace)
    taken = await pace.turn("engine", 0.1, 5)
    await pace.turn("engine", 100, 5)
    await pace.give_back("engine", 0.1, taken)
    with pytest.raises(RateLimited):
        await pace.turn("engine", 100, 5)


async def test_who_would_wait_too_long_is_told_how_long(services):
    pace = services.use(Pace)
    await pace.turn("engine", 100, 5)
    with pytest.raises(RateLimited) as caught:
        await pace.turn("engine", 100, 5)
    assert 90 < caught.value.details["retry_after"] <= 100
    with pytest.raises(RateLimited) as caught:
        await pace.turn("engine", 100, 5)
    assert caught.value.details["retry_after"] <= 100


async def test_two_processes_share_the_turns(services, tmp_path):
    other = Services(Config.load({"store": {"url": f"sqlite:///{tmp_path}/store.db"}}))
    await services.use(Pace).turn("engine", 100, 5)
    with pytest.raises(RateLimited):
        await other.use(Pace).turn("engine", 100, 5)
    await other.close()


async def test_without_a_store_the_turns_of_this_process_are_kept(tmp_path):
    (tmp_path / "file").write_text("")
    broken = Services(Config.load({"store": {"url": f"sqlite:///{tmp_path}/file/store.db"}}))
    pace = broken.use(Pace)
    await pace.turn("engine", 100, 5)
    with pytest.raises(RateLimited):
        await pace.turn("engine", 100, 5)
    await pace.give_back("one", 100, await pace.turn("one", 100, 5))
    await pace.turn("one", 100, 5)
    await broken.close()
