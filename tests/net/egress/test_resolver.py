"""Every answer counts, whenever it is given."""

from __future__ import annotations

import asyncio

import pytest

from tests.cases import each_case
from toolcrib.core.errors import Blocked, DnsFailure, TimedOut
from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.policy import EgressPolicy
from toolcrib.net.egress.resolver import Resolver, SystemLookup
from toolcrib.net.egress.url import parse_url

TARGET = parse_url("http://name.test/")


class Answers:
    """One answer for each look-up, the last one again and again."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.requested = 0

    async def __call__(self, host: str) -> list[str]:
        self.requested += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def resolver(*answers: list[str], cache: float = 0) -> tuple[Resolver, Answers]:
    given = Answers(*answers)
    return Resolver(given, cache_seconds=cache, timeout=0.2), given


@pytest.mark.rows("D18", "X4", "X5")
@each_case(
    "answer",
    [
        ["127.0.0.1"],
        ["1.1.1.1", "127.0.0.1"],
        ["10.0.0.1", "1.1.1.1"],
        ["1.1.1.1", "::1"],
        ["2606:4700::1", "fe80::1%eth0"],
        ["::ffff:192.168.0.1"],
        ["1.1.1.1", "169.254.169.254"],
    ],
)
async def test_a_single_refused_answer_refuses_the_name(answer: list[str]) -> None:
    with pytest.raises(Blocked) as caught:
        await resolver(answer)[0].approved(TARGET, EgressPolicy())
    assert caught.value.details["host"] == "name.test"


async def test_all_answers_are_kept_and_mapped_ones_unwrapped() -> None:
    found = await resolver(["1.1.1.1", "::ffff:8.8.8.8", "1.1.1.1"])[0].approved(
        TARGET, EgressPolicy()
    )
    assert [str(address) for address in found] == ["1.1.1.1", "8.8.8.8"]


@pytest.mark.rows("D18")
@pytest.mark.parametrize("answer", [[], ["not an address"]])
async def test_no_address_is_a_failure(answer: list[str]) -> None:
    with pytest.raises(DnsFailure):
        await resolver(answer)[0].approved(TARGET, EgressPolicy())


async def test_a_flipping_name_is_judged_each_time() -> None:
    work, _ = resolver(["1.1.1.1"], ["127.0.0.1"], ["1.1.1.1"], ["127.0.0.1"])
    outcomes = []
    for _ in range(4):
        try:
            await work.approved(TARGET, EgressPolicy())
            outcomes.append("open")
        except Blocked:
            outcomes.append("blocked")
    assert outcomes == ["open", "blocked", "open", "blocked"]


async def test_a_cached_answer_is_judged_by_each_policy() -> None:
    work, given = resolver(["10.0.0.1"], cache=60)
    rules = EgressPolicy().widened(allow_hosts=["name.test"])
    assert [str(a) for a in await work.approved(TARGET, rules)] == ["10.0.0.1"]
    with pytest.raises(Blocked):
        await work.approved(TARGET, EgressPolicy())
    assert given.requested == 1


async def test_the_cache_is_bounded_and_ends() -> None:
    work, given = resolver(["1.1.1.1"], cache=60)
    for n in range(400):
        await work.addresses(f"{n}.test")
    assert len(work._cache) <= 256
    await work.addresses("399.test")
    assert given.requested == 400
    work, given = resolver(["1.1.1.1"], cache=0.01)
    for _ in range(2):
        await work.addresses("name.test")
        await asyncio.sleep(0.02)  # time is the subject
    assert given.requested == 2


async def test_literals_and_refused_names_are_not_looked_up() -> None:
    work, given = resolver(["1.1.1.1"])
    await work.approved(parse_url("http://1.1.1.1/"), EgressPolicy())
    for url in ("http://127.1/", "http://localhost/", "http://a.test:22/"):
        with pytest.raises(Blocked):
            await work.approved(parse_url(url), EgressPolicy())
    assert given.requested == 0


async def test_a_name_server_that_is_silent() -> None:
    async def silent(host: str) -> list[str]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(TimedOut) as caught:
        await Resolver(silent, timeout=0.05).addresses("name.test")
    assert caught.value.details["retryable"]


async def test_a_name_server_that_fails() -> None:
    async def failing(host: str) -> list[str]:
        raise OSError("no")

    with pytest.raises(DnsFailure):
        await Resolver(failing).addresses("name.test")


async def test_the_system_resolves_the_names_of_this_machine() -> None:
    assert set(await SystemLookup()("localhost")) <= {"127.0.0.1", "::1"}


@each_case("host", ["no-such-name.invalid", "xn--", "a" * 63 + "." + "b" * 63 + ".x"])
async def test_the_system_does_not_know_a_name(host: str) -> None:
    with pytest.raises((DnsFailure, TimedOut)):
        await Resolver(timeout=10).addresses(host)


async def test_a_cancelled_look_up_ends_at_once() -> None:
    lookup = SystemLookup()
    task = asyncio.create_task(lookup("no-such-name.invalid"))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert task.cancelled()


async def test_localhost_is_the_loopback_that_the_networks_open() -> None:
    """Whatever a name server or a file says of it: nothing else is connected to."""
    work, given = resolver(["10.0.0.1", "127.0.0.1", "::1"])
    both = EgressPolicy().widened(allow_networks=["127.0.0.0/8", "::1/128", "10.0.0.0/8"])
    four = EgressPolicy().widened(allow_networks=["127.0.0.0/8"])
    for url in ("http://localhost:3000/", "http://LOCALHOST./", "http://app.localhost/"):
        found = [await work.approved(parse_url(url), rules) for rules in (four, both)]
        assert [[str(a) for a in each] for each in found] == [["127.0.0.1"], ["127.0.0.1", "::1"]]
    assert given.requested == 0
    forbidden = EgressPolicy.of(
        EgressConfig(allow_networks=["127.0.0.0/8"], deny_hosts=["127.0.0.1"])
    )
    near = EgressPolicy().widened(allow_networks=["127.0.0.2/32", "10.0.0.0/8"])
    for url, rules in (
        ("http://localhost/", forbidden),
        ("http://localhost:22/", four),
        ("http://localhost/", near),
        ("http://localhost.localdomain/", both),
        ("http://x.docker.internal/", both),
    ):
        with pytest.raises(Blocked):
            await work.approved(parse_url(url), rules)
    assert given.requested == 0
