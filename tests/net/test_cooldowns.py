from __future__ import annotations

import asyncio
import contextlib
import sqlite3

import pytest

from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.net.pace import Cooldowns, Lengths

USUAL = Lengths(60, 3600)


@pytest.fixture
def open_services(tmp_path):
    opened: list[Services] = []

    def build(url: str = "") -> Services:
        url = url or f"sqlite:///{tmp_path}/store.db"
        opened.append(Services(Config.load({"store": {"url": url}})))
        return opened[-1]

    yield build
    for services in opened:
        asyncio.run(services.close())


@pytest.fixture
def earlier(tmp_path):
    """Let everything have happened so many seconds earlier."""

    def shift(seconds: float) -> None:
        with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as store, store:
            store.execute("UPDATE cooldown SET until = until - ?", (seconds,))

    return shift


async def test_who_never_failed_does_not_rest(open_services):
    rests = open_services().use(Cooldowns)
    assert await rests.resting("engine") is None
    await rests.answered("engine")


async def test_a_refusal_begins_a_rest_that_knows_why(open_services):
    rests = open_services().use(Cooldowns)
    assert round(await rests.refused("engine", "challenge_page", USUAL)) == 60
    rest = await rests.resting("engine")
    assert rest
    assert 55 < rest.seconds <= 60
    assert rest.code == "challenge_page"
    assert await rests.resting("other") is None


async def test_rests_double_up_to_the_longest(open_services, earlier):
    rests, lengths = open_services().use(Cooldowns), []
    for _ in range(9):
        lengths.append(round(await rests.refused("engine", "rate_limited", USUAL)))
        earlier(4000)
    assert lengths == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]


async def test_refusals_on_their_way_count_once(open_services, earlier):
    rests = open_services().use(Cooldowns)
    await asyncio.gather(*(rests.refused("engine", "rate_limited", USUAL) for _ in range(5)))
    earlier(61)
    assert await rests.resting("engine") is None
    assert round(await rests.refused("engine", "rate_limited", USUAL)) == 120


async def test_a_success_forgets(open_services, earlier):
    rests = open_services().use(Cooldowns)
    for _ in range(4):
        await rests.refused("engine", "rate_limited", USUAL)
        earlier(4000)
    await rests.answered("engine")
    assert round(await rests.refused("engine", "rate_limited", USUAL)) == 60


@pytest.mark.parametrize("requested", [3, 9000])
async def test_what_the_server_asks_for_counts_exactly(open_services, requested):
    rests = open_services().use(Cooldowns)
    assert round(await rests.refused("engine", "rate_limited", USUAL, requested)) == requested
    rest = await rests.resting("engine")
    assert rest
    assert requested - 2 < rest.seconds <= requested


async def test_a_server_cannot_ask_for_ever(open_services):
    rests = open_services().use(Cooldowns)
    assert round(await rests.refused("engine", "rate_limited", USUAL, 1e9)) == 86_400


async def test_rests_of_passing_failures_double_among_themselves(open_services, earlier):
    rests, short, lengths = open_services().use(Cooldowns), Lengths(20, 60), []
    for _ in range(4):
        lengths.append(round(await rests.slipped("engine", "timeout", short)))
        rest = await rests.resting("engine")
        assert rest
        assert rest.passing
        earlier(100)
    assert lengths == [20, 40, 60, 60]
    assert round(await rests.refused("engine", "rate_limited", USUAL)) == 60
    rest = await rests.resting("engine")
    assert rest
    assert not rest.passing
    earlier(100)
    assert round(await rests.slipped("engine", "timeout", short)) == 20
    earlier(100)
    assert round(await rests.refused("engine", "rate_limited", USUAL)) == 120


async def test_passing_failures_far_apart_or_with_a_success_between_do_not_add_up(
    open_services, earlier
):
    rests = open_services().use(Cooldowns)
    await rests.slipped("engine", "timeout", USUAL)
    earlier(2000)
    assert round(await rests.slipped("engine", "timeout", USUAL)) == 60
    await rests.answered("engine")
    assert round(await rests.slipped("engine", "timeout", USUAL)) == 60


async def test_switched_off_nothing_rests(open_services):
    rests, never = open_services().use(Cooldowns), Lengths(0, 3600)
    assert await rests.refused("engine", "rate_limited", never, 100) == 0
    assert await rests.slipped("engine", "timeout", never) == 0
    assert await rests.resting("engine") is None


async def test_it_outlives_the_process_and_is_shared(open_services):
    first, second = open_services(), open_services()
    await first.use(Cooldowns).refused("engine", "rate_limited", USUAL)
    assert await second.use(Cooldowns).resting("engine")
    await first.close()
    assert await open_services().use(Cooldowns).resting("engine")
    await second.use(Cooldowns).answered("engine")
    assert await open_services().use(Cooldowns).resting("engine") is None


async def test_a_clock_that_was_set_back_holds_nobody_for_ever(open_services, earlier):
    rests = open_services().use(Cooldowns)
    await rests.refused("engine", "rate_limited", USUAL)
    earlier(-1_000_000)
    rest = await rests.resting("engine")
    assert rest
    assert rest.seconds <= 86_400


async def test_without_a_store_this_process_remembers(open_services, tmp_path):
    (tmp_path / "file").write_text("")
    rests = open_services(f"sqlite:///{tmp_path}/file/store.db").use(Cooldowns)
    assert round(await rests.refused("engine", "rate_limited", USUAL)) == 60
    assert await rests.resting("engine")
    await rests.answered("engine")
    assert await rests.resting("engine") is None
    assert await rests.slipped("engine", "timeout", USUAL) > 0


async def test_a_store_that_cannot_be_written_loses_nothing_of_this_process(
    open_services, tmp_path
):
    services = open_services()
    rests = services.use(Cooldowns)
    await rests.refused("other", "rate_limited", USUAL)
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as store:
        store.execute("BEGIN IMMEDIATE")
        await rests.refused("engine", "rate_limited", USUAL)
    assert await rests.resting("engine")
    assert await rests.resting("other")
