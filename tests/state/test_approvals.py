"""Requests, grants, and each grant used once."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.services import Spawn
from toolcrib.core.config import data_folder
from toolcrib.core.context import Services
from toolcrib.core.errors import NotFound, StorageFailure
from toolcrib.state.approvals import (
    MAX_OPEN,
    OPEN_SECONDS,
    SUMMARY_CHARS,
    TARGET_CHARS,
    Approvals,
    fingerprint,
)

MARK = fingerprint("push", {"branch": "main"})


@pytest.fixture
def approvals(services: Services) -> Approvals:
    return services.use(Approvals)


def age(seconds: float) -> None:
    store = sqlite3.connect(data_folder() / "toolcrib.db")
    store.execute("UPDATE approval_request SET created = created - ?", (seconds,))
    store.execute("UPDATE approval_grant SET created = created - ?", (seconds,))
    store.commit()
    store.close()


async def ask(approvals: Approvals, mark: str = MARK, session: str = "s1", targets=()) -> str:
    return await approvals.request(mark, "push", "branch=main", session, "it sends", targets)


async def test_an_open_request_keeps_its_id(approvals: Approvals) -> None:
    first = await ask(approvals)
    assert len(first) == 6
    assert await ask(approvals) == first
    assert await ask(approvals, session="s2") != first
    assert await ask(approvals, mark="other") != first
    (request, *_) = await approvals.list_open()
    assert (request.id, request.tool, request.summary) == (first, "push", "branch=main")
    assert (request.session, request.reason) == ("s1", "it sends")


async def test_a_cut_of_what_is_shown_is_told(approvals: Approvals) -> None:
    await approvals.request(MARK, "push", "x" * (SUMMARY_CHARS + 1_234), "s1", "it sends")
    (request,) = await approvals.list_open()
    assert request.summary.endswith("xxx… (1,234 more characters)")


async def test_a_request_is_kept_in_part_and_without_secrets(approvals: Approvals) -> None:
    long = ["https://example.com/" + "x" * 1_900_000] + [f"https://{n}.test/" for n in range(24)]
    summary = f"command=tool --key ghp_{'a1' * 12}"
    await approvals.request(MARK, "push", summary, "s1", "it sends", long)
    (request,) = await approvals.list_open()
    assert len(request.targets[0]) == TARGET_CHARS + 1
    assert len(request.targets) == 21
    assert request.targets[20] == "… 5 more"
    assert "a1a1" not in request.summary
    assert "command=tool" in request.summary


async def test_a_session_has_fifty_open_requests(approvals: Approvals) -> None:
    other = await ask(approvals, session="s2")
    ids = [await ask(approvals, mark=f"call {n}") for n in range(MAX_OPEN + 3)]
    still = [request.id for request in await approvals.list_open()]
    assert sorted(still) == sorted([other, *ids[3:]])


async def test_once_is_once_and_for_any_session(
    approvals: Approvals, other_services: Services
) -> None:
    others = other_services.use(Approvals)
    request = await ask(approvals)
    assert not await approvals.is_granted(MARK, "push", "s1")
    granted = await others.grant(f" {request.upper()} ")
    assert granted.id == request
    assert not await approvals.is_granted(fingerprint("push", {"branch": "x"}), "push", "s1")
    assert await approvals.is_granted(MARK, "push", "another")
    assert not await approvals.is_granted(MARK, "push", "s1")
    assert await approvals.list_open() == []


async def test_once_is_not_for_the_agents_of_others(approvals: Approvals) -> None:
    await approvals.grant(await ask(approvals))
    assert not await approvals.is_granted(MARK, "push", "s2/agent:1")
    assert await approvals.is_granted(MARK, "push", "s1")
    await approvals.grant(await ask(approvals, session="s2/agent:1"))
    assert await approvals.is_granted(MARK, "push", "s2/agent:1")


async def test_a_grant_is_used_by_exactly_one_process(approvals: Approvals, spawn: Spawn) -> None:
    for n in range(5):
        await approvals.grant(await ask(approvals, session=f"s{n}"))
    processes = [await spawn("grant", MARK, 10) for _ in range(3)]
    for process in processes:
        assert process.stdin
        assert process.stdout
        await process.stdout.readline()
    for process in processes:
        process.stdin.write(b"go\n")
    outputs = await asyncio.gather(*(p.communicate() for p in processes))
    assert sum(int(out) for out, _ in outputs) == 5


async def test_for_the_session(approvals: Approvals) -> None:
    await approvals.grant(await ask(approvals), "session")
    other = fingerprint("push", {"branch": "other"})
    assert await approvals.is_granted(MARK, "push", "s1")
    assert await approvals.is_granted(other, "push", "s1")
    assert not await approvals.is_granted(MARK, "push", "s2")
    assert not await approvals.is_granted(MARK, "send_mail", "s1")


async def test_a_rule_for_the_same_arguments(approvals: Approvals) -> None:
    await approvals.grant(await ask(approvals), "rule")
    assert await approvals.is_granted(MARK, "push", "any")
    assert await approvals.is_granted(MARK, "push", "any")
    assert not await approvals.is_granted(fingerprint("push", {}), "push", "any")
    age(400 * 86_400)
    assert await approvals.is_granted(MARK, "push", "any")
    (rule,) = await approvals.list_rules()
    assert (rule.tool, rule.target) == ("push", "")
    await approvals.withdraw(rule.id)
    assert not await approvals.is_granted(MARK, "push", "any")
    with pytest.raises(NotFound):
        await approvals.withdraw(rule.id)


async def test_a_rule_for_a_target(approvals: Approvals) -> None:
    request = await ask(approvals, targets=["https://git.example/a"])
    await approvals.grant(request, "rule", "https://git.example/*")

    async def granted(*targets: str) -> bool:
        return await approvals.is_granted("other", "push", "any", targets)

    assert await granted("https://git.example/b")
    assert await granted("HTTPS://Git.example/B")
    assert await granted("https://git.example/b", "https://git.example/c")
    assert not await granted("https://git.example/b", "https://evil.example/")
    assert not await granted()
    assert not await approvals.is_granted(MARK, "pull", "any", ["https://git.example/b"])


async def test_a_rule_for_every_call(approvals: Approvals) -> None:
    await approvals.grant(await ask(approvals), "rule", "*")
    assert await approvals.is_granted("other", "push", "any")
    assert await approvals.is_granted("other", "push", "any", ["/x"])


async def test_refuse(approvals: Approvals) -> None:
    request = await ask(approvals)
    await approvals.refuse(request)
    assert not await approvals.is_granted(MARK, "push", "s1")
    with pytest.raises(NotFound):
        await approvals.grant(request)
    assert await ask(approvals) != request


async def test_requests_and_grants_expire(approvals: Approvals) -> None:
    request = await ask(approvals)
    age(OPEN_SECONDS + 1)
    assert await approvals.list_open() == []
    with pytest.raises(NotFound, match=request):
        await approvals.grant(request)
    again = await ask(approvals)
    assert again != request
    await approvals.grant(again)
    age(OPEN_SECONDS + 1)
    assert not await approvals.is_granted(MARK, "push", "s1")


async def test_what_a_rule_allowed_is_not_given_back(approvals: Approvals) -> None:
    """Else it would be allowed once more when the rule is withdrawn."""
    await approvals.restore(MARK, "push", "s1")
    assert await approvals.is_granted(MARK, "push", "any")
    await approvals.grant(await approvals.request(MARK, "push", "", "s1", ""), "rule")
    await approvals.restore(MARK, "push", "s1")
    await approvals.withdraw((await approvals.list_rules())[0].id)
    assert not await approvals.is_granted(MARK, "push", "any")


async def test_without_a_store_nothing_is_granted(approvals: Approvals) -> None:
    (data_folder() / "toolcrib.db").mkdir(parents=True)
    with pytest.raises(StorageFailure):
        await approvals.is_granted(MARK, "push", "s1")


Arguments = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()), max_size=6)


@given(Arguments, st.randoms())
def test_the_order_of_arguments_does_not_matter(arguments: dict, random) -> None:
    shuffled = list(arguments.items())
    random.shuffle(shuffled)
    assert fingerprint("t", dict(shuffled)) == fingerprint("t", arguments)


@given(Arguments, Arguments)
def test_other_arguments_have_another_fingerprint(a: dict, b: dict) -> None:
    assert (fingerprint("t", a) == fingerprint("t", b)) == (a == b)
    assert fingerprint("t", a) != fingerprint("u", a)
