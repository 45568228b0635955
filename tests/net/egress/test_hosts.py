"""Limits per host: how many at once, how far apart, and what does not wait."""

from __future__ import annotations

import asyncio
import time

import pytest

from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import RateLimited
from toolcrib.net.egress.client import HostLimits
from toolcrib.net.egress.url import parse_url
from toolcrib.net.pace import Pace

pytestmark = pytest.mark.rows("A41")
ONE, OTHER = parse_url("http://one.example/a"), parse_url("http://other.example/a")


class Counter:
    """How many hold a place at once."""

    def __init__(self, limits: HostLimits) -> None:
        self.limits = limits
        self.now = self.maximum = 0
        self.starts: list[float] = []

    async def hold(self, target, seconds: float, patience: float = 20) -> None:
        async with self.limits.place(target, patience):
            self.starts.append(time.monotonic())
            self.now += 1
            self.maximum = max(self.maximum, self.now)
            await asyncio.sleep(seconds)
            self.now -= 1


@pytest.fixture
async def pace(tmp_path):
    services = Services(Config.load({"store": {"url": f"sqlite:///{tmp_path}/store.db"}}))
    yield lambda: services.use(Pace)
    await services.close()


async def test_only_so_many_at_once():
    counter = Counter(HostLimits(2, 0, None))
    await asyncio.gather(*(counter.hold(ONE, 0.02) for _ in range(9)))
    assert counter.maximum == 2


async def test_requests_to_one_host_are_a_gap_apart(pace):
    counter, began = Counter(HostLimits(4, 0.15, pace)), time.monotonic()
    await asyncio.gather(*(counter.hold(ONE, 0) for _ in range(4)))
    for number, start in enumerate(sorted(counter.starts)):
        assert start - began > number * 0.15 - 0.01, "earlier than its turn"


async def test_other_hosts_do_not_wait(pace):
    counter = Counter(HostLimits(1, 30, pace))
    targets = [parse_url(f"http://h{n}.example/") for n in range(20)]
    await asyncio.gather(*(counter.hold(target, 0.01, patience=1) for target in targets))


async def test_who_would_wait_too_long_is_told(pace):
    limits = HostLimits(1, 30, pace)
    async with limits.place(ONE, 1):
        with pytest.raises(RateLimited):
            await Counter(limits).hold(ONE, 0, patience=0.05)
    with pytest.raises(RateLimited) as caught:
        await Counter(limits).hold(ONE, 0, patience=0.05)
    assert caught.value.details["retry_after"] > 1
    await Counter(limits).hold(OTHER, 0)


async def test_a_failed_request_gives_its_place_back():
    limits = HostLimits(1, 0, None)
    for _ in range(3):
        with pytest.raises(ValueError, match="x"):
            async with limits.place(ONE, 1):
                raise ValueError("x")
    task = asyncio.create_task(Counter(limits).hold(ONE, 60))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await Counter(limits).hold(ONE, 0, patience=1)
    assert limits._hosts == {}
