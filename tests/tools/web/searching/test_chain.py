"""Which provider is asked, when it is left alone, and what is said of each."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading

import pytest

from tests.conditions import until
from tests.servers.scripted import Answer
from tests.tools.web.made_up import (
    CHALLENGE,
    EMPTY,
    LIMITED,
    UNREADABLE,
    answer,
    results,
    service,
)
from toolcrib.core.context import Caller
from toolcrib.toolbox import Toolbox
from toolcrib.web.providers import Providers
from toolcrib.web.search.chain import OFFLINE_HINT, OFFLINE_MESSAGE

pytestmark = pytest.mark.rows("C030", "E50")


def urls(result) -> list[str]:
    return [r["url"] for r in result.data["queries"][0]["results"]]


def statuses(result) -> dict[str, str]:
    listed = result.error.details if result.error else result.data["queries"][0]
    return {p["provider"]: p["status"] for p in listed["providers"]}


@pytest.fixture
def earlier(tmp_path):
    """Let all rests have begun so many seconds earlier."""

    def shift(seconds: float) -> None:
        with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as store, store:
            store.execute("UPDATE cooldown SET until = until - ?", (seconds,))

    return shift


PAIR = ("alpha", "beta")
REFUSALS = [
    (CHALLENGE, "challenge_page"),
    (LIMITED, "rate_limited"),
    (Answer("", 503, headers={"Retry-After": "60"}), "http_status"),
    (UNREADABLE, "unavailable"),
]


@pytest.mark.rows("S8.7")
@pytest.mark.parametrize(("refusal", "code"), REFUSALS)
async def test_who_refused_is_left_alone(server, made_up, refusal, code):
    server["/alpha/find"] = refusal
    server["/beta/find"] = answer(*results("ab"))
    box = await made_up()
    first = await box.call("web_search", {"query": "one"})
    second = await box.call("web_search", {"query": "two"})
    assert (server.count("/alpha/find"), server.count("/beta/find")) == (1, 2)
    for result in (first, second):
        assert result.data["queries"][0]["provider"] == "beta"
        assert statuses(result) == {"alpha": code, "beta": "ok"}
        assert f"Note: No answer from alpha ({code})." in result.text
    status = second.data["queries"][0]["providers"][0]
    assert 55 <= status["retry_after"] <= 60
    assert "left alone" in status["message"]


@pytest.mark.parametrize(("refusal", "code"), REFUSALS)
async def test_a_named_provider_that_rests_fails_at_once(server, made_up, refusal, code):
    server["/alpha/find"] = refusal
    box = await made_up()
    await box.call("web_search", {"query": "one", "provider": "alpha"})
    again = await box.call("web_search", {"query": "two", "provider": "alpha"})
    assert server.count("/alpha/find") == 1
    assert again.error.code == code
    assert 55 <= again.error.details["retry_after"] <= 60
    assert " s more" in again.error.message
    assert again.error.hint


async def test_after_the_rest_it_is_asked_again_and_a_success_ends_all(server, made_up, earlier):
    server["/alpha/find"] = LIMITED
    box = await made_up(service("alpha"))
    lengths = []
    for query in "abc":
        failed = await box.call("web_search", {"query": query})
        lengths.append(failed.error.details["retry_after"])
        earlier(10_000)
    assert lengths == [60, 120, 240]
    server["/alpha/find"] = answer(*results("ab"))
    assert not (await box.call("web_search", {"query": "d"})).error
    server["/alpha/find"] = LIMITED
    failed = await box.call("web_search", {"query": "e"})
    assert failed.error.details["retry_after"] == 60


async def test_retry_after_is_kept_to(server, made_up, earlier):
    server["/alpha/find"] = Answer("", 429, headers={"Retry-After": "300"})
    box = await made_up(service("alpha"))
    failed = await box.call("web_search", {"query": "a"})
    assert failed.error.details["retry_after"] == 300
    earlier(200)
    failed = await box.call("web_search", {"query": "a"})
    assert 95 <= failed.error.details["retry_after"] <= 100
    assert server.count("/alpha/find") == 1


async def test_the_settings_of_rests_are_honoured(server, made_up, earlier):
    server["/alpha/find"] = LIMITED
    box = await made_up(service("alpha"), cooldown_seconds=7, max_cooldown_seconds=10)
    assert (await box.call("web_search", {"query": "a"})).error.details["retry_after"] == 7
    earlier(100)
    assert (await box.call("web_search", {"query": "a"})).error.details["retry_after"] == 10


async def test_without_rests_all_are_asked_each_time(server, made_up):
    server["/alpha/find"] = LIMITED
    box = await made_up(service("alpha"), cooldown_seconds=0)
    for _ in range(2):
        assert (await box.call("web_search", {"query": "a"})).error.code == "rate_limited"
    assert server.count("/alpha/find") == 2


async def test_a_rest_outlives_the_process_and_is_shared(server, made_up):
    server["/alpha/find"] = CHALLENGE
    server["/beta/find"] = answer(*results("ab"))
    first, second = await made_up(), await made_up()
    await first.call("web_search", {"query": "a"})
    await second.call("web_search", {"query": "b"})
    assert server.count("/alpha/find") == 1


async def test_a_timeout_begins_a_short_rest(server, made_up, earlier):
    hold = threading.Event()
    server["/alpha/find"] = Answer("", hold=hold)
    server["/beta/find"] = answer(*results("ab"))
    box = await made_up(timeout=2)  # in which the other one answers on a busy machine too
    for query in "abc":
        assert statuses(await box.call("web_search", {"query": query})) == {
            "alpha": "timeout",
            "beta": "ok",
        }
    assert server.count("/alpha/find") == 1
    earlier(20)
    await box.call("web_search", {"query": "d"})
    assert server.count("/alpha/find") == 2
    hold.set()


async def test_kept_results_of_a_resting_provider_are_still_given(server, made_up):
    server["/alpha/find"] = answer(*results("ab"))
    box = await made_up()
    await box.call("web_search", {"query": "a"})
    server["/alpha/find"] = LIMITED
    server["/beta/find"] = answer(*results("c"))
    await box.call("web_search", {"query": "b"})
    again = await box.call("web_search", {"query": "a"})
    assert again.data["queries"][0]["provider"] == "alpha"
    assert again.data["queries"][0]["cached"]


@pytest.mark.rows("A42")
async def test_when_all_rest_the_error_says_who_and_when_the_first_is_free(server, made_up):
    server["/alpha/find"] = LIMITED
    server["/beta/find"] = Answer("", 429, headers={"Retry-After": "20"})
    server["/gamma/find"] = CHALLENGE
    box = await made_up()
    for query in "ab":
        failed = await box.call("web_search", {"query": query})
        assert failed.error.code == "rate_limited"
        assert failed.error.details["retry_after"] <= 20
        assert "beta may be asked again in" in failed.error.hint
        assert all(name in failed.error.message for name in ("alpha", "beta", "gamma"))
        assert statuses(failed) == {
            "alpha": "rate_limited",
            "beta": "rate_limited",
            "gamma": "challenge_page",
        }
    assert len(server.requested) == 3


async def test_a_server_that_fails_rests_shortly(server, made_up, earlier):
    box = await made_up()
    server["/alpha/find"] = Answer("", 500)
    server["/beta/find"] = answer(*results("ab"))
    lengths = []
    for query in "abc":
        await box.call("web_search", {"query": query})
        again = await box.call("web_search", {"query": f"{query} again"})
        lengths.append(again.data["queries"][0]["providers"][0]["retry_after"])
        earlier(1 + lengths[-1])
    assert server.count("/alpha/find") == 3
    assert lengths == [20, 40, 80]


async def test_the_only_provider_is_asked_again_after_an_error_of_its_server(server, made_up):
    box = await made_up(service("alpha"))
    server["/alpha/find"] = Answer("", 500)
    assert (await box.call("web_search", {"query": "a"})).error.code == "http_status"
    server["/alpha/find"] = answer(*results("ab"))
    assert not (await box.call("web_search", {"query": "b"})).error


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://nosuch-{}.invalid", "dns_failure"),
        ("http://127.0.0.1:9/{}", "connection_failed"),
    ],
)
async def test_who_is_not_reached_rests_a_minute_at_most(settings, earlier, address, code):
    tree = settings(providers=list(PAIR), gap_seconds=1000)
    tree["egress"]["allow_hosts"] = ["127.0.0.1:9"]
    for name in PAIR:
        tree["web"]["providers"][name] = {"base_url": address.format(name)}
    lengths = []
    async with Toolbox(config=tree) as box:
        for name in PAIR:
            box.use(Providers).add(service(name))
        for query in "abcd":
            # Turns that led nowhere were given back, so that none is waited for.
            failed = await box.call("web_search", {"query": query})
            assert statuses(failed) == dict.fromkeys(PAIR, code)
            lengths.append(failed.error.details["retry_after"])
            again = await box.call("web_search", {"query": f"{query} again"})
            assert "left alone" in again.error.details["providers"][0]["message"]
            assert statuses(again) == dict.fromkeys(PAIR, code)
            earlier(61)
    assert lengths == [20, 40, 60, 60]


async def test_queries_at_once_do_not_wait_for_who_rests(settings):
    tree = settings(providers=list(PAIR), gap_seconds=12)
    async with Toolbox(config=tree) as box:
        for name in PAIR:
            box.use(Providers).add(service(name, base_url=f"http://nosuch-{name}.invalid"))
        failed = await box.call("web_search", {"queries": ["a", "b", "c"]})
    assert failed.error.message == OFFLINE_MESSAGE
    assert failed.error.hint == OFFLINE_HINT


@pytest.mark.parametrize("names", [PAIR, ("alpha",)])
async def test_where_no_name_resolves_one_line_says_so(settings, names):
    tree = settings(providers=[*names, "brave"])
    tree["web"]["providers"] = {
        "alpha": {},
        "beta": {"base_url": "http://nosuch.invalid"},
        "brave": {"api_key_env": "NOT_SET_KEY"},
    }
    async with Toolbox(config=tree) as box:
        for name in names:
            box.use(Providers).add(service(name, base_url="http://made-up.invalid"))
        for query in "ab":
            failed = await box.call("web_search", {"query": query})
            assert failed.error.code == "dns_failure"
            assert failed.error.message == OFFLINE_MESSAGE
            assert failed.error.hint == OFFLINE_HINT
            assert statuses(failed) == {
                **dict.fromkeys(names, "dns_failure"),
                "brave": "not_configured",
            }


async def test_one_wrong_address_is_not_taken_for_being_offline(settings):
    tree = settings(providers=["alpha"])
    tree["web"]["providers"]["alpha"] = {"base_url": "http://nosuch.invalid"}
    async with Toolbox(config=tree) as box:
        box.use(Providers).add(service("alpha"))
        failed = await box.call("web_search", {"query": "a"})
    assert failed.error.code == "dns_failure"
    assert "nosuch.invalid" in failed.error.message


async def test_who_lacks_its_key_is_no_matter_for_the_reader(server, made_up, monkeypatch):
    monkeypatch.delenv("TEST_BRAVE_KEY", raising=False)
    server["/alpha/find"] = answer(*results("a"))
    box = await made_up(providers=["brave", "alpha"])
    found = await box.call("web_search", {"query": "a"})
    assert "Note:" not in found.text
    assert statuses(found) == {"brave": "not_configured", "alpha": "ok"}
    server["/alpha/find"] = EMPTY
    nothing = await box.call("web_search", {"query": "b"})
    assert "brave" not in f"{nothing.error.message} {nothing.error.hint}"
    assert statuses(nothing)["brave"] == "not_configured"


@pytest.mark.parametrize(
    ("changed", "message", "hint"),
    [
        (
            {"providers": ["altavista", "mojek"]},
            "'mojek', and there is no such search provider. Did you mean mojeek?",
            "The user corrects web.search.providers",
        ),
        (
            {"region": "germany"},
            "web.search.region must be a language and a country like de-DE, not 'germany'.",
            "web.search.region",
        ),
    ],
)
@pytest.mark.parametrize("tool", ["web_search", "web_research"])
async def test_a_wrong_setting_is_no_fault_of_the_call(settings, changed, message, hint, tool):
    name = "question" if tool == "web_research" else "query"
    async with Toolbox(config=settings(**changed)) as box:
        failed = await box.call(tool, {name: "colour of the sky"})
    assert failed.error.code == "config_error"
    assert message in failed.error.message
    assert hint in failed.error.hint
    assert "Providers:" not in failed.error.hint
    assert "bing_images" not in failed.error.hint


@pytest.mark.parametrize("address", ["127.0.0.1:8888", "localhost:8888", "me:s3cret@host"])
async def test_an_address_without_a_scheme_is_named_with_its_setting(settings, address):
    tree = settings(providers=["searxng_news"])
    tree["web"]["providers"]["searxng"] = {"base_url": address}
    async with Toolbox(config=tree) as box:
        failed = await box.call("web_search", {"query": "a"})
    host = address.rpartition("@")[2]
    assert failed.error.code == "config_error"
    assert failed.error.message.startswith("web.providers.searxng.base_url must be an address")
    assert f'like "http://{host}"' in failed.error.hint
    assert "s3cret" not in f"{failed.error.message} {failed.error.hint}"


async def test_a_page_too_far_says_so(server, made_up):
    server["/alpha/find"] = answer(*results("abc"))
    box = await made_up(service("alpha"))
    far = await box.call("web_search", {"query": "a", "page": 9})
    assert far.error.code == "no_results"
    assert far.error.message == "There are no results on page 9."
    assert far.error.hint == "Ask for an earlier page."


async def test_only_the_domain_and_what_is_below_it_is_given(server, made_up):
    def serve(request):
        page = int(request.query["page"])
        if page > 3:
            return answer(*results("xyz", "other.example"), more=True)
        hosts = ("example.org", "docs.example.org", "other.example", "notexample.org")
        found = [r for host in hosts for r in results([page], host)]
        return answer(*found, more=True)

    server["/alpha/find"] = serve
    box = await made_up(service("alpha"))
    result = await box.call("web_search", {"query": "a", "site": "Example.org", "limit": 4})
    assert urls(result) == [
        f"https://{host}/{page}" for page in (1, 2) for host in ("example.org", "docs.example.org")
    ]
    assert server.count("/alpha/find") == 2
    rest = await box.call(result.next.tool, dict(result.next.arguments))
    assert urls(rest) == ["https://example.org/3", "https://docs.example.org/3"]
    assert rest.next is None
    assert not rest.data["queries"][0]["more"]


@pytest.mark.rows("A38")
async def test_a_passing_failure_is_tried_again_only_where_nothing_else_is_left(server, made_up):
    server["/alpha/find"] = server["/beta/find"] = Answer("", 503)
    box = await made_up(service("alpha"), service("beta"))
    failed = await box.call("web_search", {"query": "a"})
    assert failed.error.code == "http_status"
    assert (server.count("/alpha/find"), server.count("/beta/find")) == (1, 3)


@pytest.mark.rows("A38", "A39")
async def test_a_passing_failure_passes(server, made_up, watcher):
    tries = [Answer("", 503), Answer("", 500), answer(*results("a"))]
    server["/alpha/find"] = lambda _: tries.pop(0)
    box = await made_up(service("alpha"))
    result = await box.call("web_search", {"query": "a"}, caller=watcher.caller)
    assert urls(result) == ["https://example.org/a"]
    assert [m for m in watcher.messages if m.startswith("Retrying")] == [
        "Retrying 127.0.0.1 (attempt 2 of 3) in 0.0 s",
        "Retrying 127.0.0.1 (attempt 3 of 3) in 0.0 s",
    ]


@pytest.mark.rows("A42")
async def test_an_honest_nothing_is_checked_with_one_more(server, made_up):
    server["/alpha/find"] = server["/beta/find"] = server["/gamma/find"] = EMPTY
    box = await made_up()
    result = await box.call("web_search", {"query": "zz"})
    assert result.error.code == "no_results"
    assert result.error.message.startswith('No web pages found for your search: "zz"')
    assert statuses(result) == {"alpha": "empty", "beta": "empty"}
    assert [request.path for request in server.requested] == ["/alpha/find", "/beta/find"]


async def test_what_the_second_finds_is_given(server, made_up):
    server["/alpha/find"] = EMPTY
    server["/beta/find"] = answer(*results("b"))
    box = await made_up()
    result = await box.call("web_search", {"query": "zz"})
    assert urls(result) == ["https://example.org/b"]
    assert statuses(result) == {"alpha": "empty", "beta": "ok"}
    assert "Note:" not in result.text


@pytest.mark.parametrize(
    ("first", "second", "code", "reported"),
    [
        (EMPTY, LIMITED, "no_results", {"alpha": "empty", "beta": "rate_limited"}),
        (LIMITED, EMPTY, "no_results", {"alpha": "rate_limited", "beta": "empty"}),
        (CHALLENGE, EMPTY, "no_results", {"alpha": "challenge_page", "beta": "empty"}),
        (CHALLENGE, LIMITED, "rate_limited", {"alpha": "challenge_page", "beta": "rate_limited"}),
        (
            CHALLENGE,
            CHALLENGE,
            "challenge_page",
            dict.fromkeys(PAIR, "challenge_page"),
        ),
    ],
)
async def test_nothing_blocked_and_limited_are_kept_apart(
    server, made_up, first, second, code, reported
):
    server["/alpha/find"], server["/beta/find"] = first, second
    box = await made_up(service("alpha"), service("beta"))
    result = await box.call("web_search", {"query": "zz"})
    assert result.error.code == code
    assert statuses(result) == reported
    failed = [name for name, status in reported.items() if status != "empty"]
    assert all(name in f"{result.error.message} {result.error.hint}" for name in failed)


@pytest.mark.rows("D02", "D12")
async def test_a_provider_that_does_not_take_the_query_is_passed_over(server, made_up):
    server["/beta/find"] = answer(*results("b"))
    box = await made_up(service("alpha", max_chars=400, max_words=50), service("beta"))
    long = await box.call("web_search", {"query": "x" * 401})
    wordy = await box.call("web_search", {"query": "word " * 51})
    alone = await box.call("web_search", {"query": "x" * 401, "provider": "alpha"})
    assert urls(long) == urls(wordy) == ["https://example.org/b"]
    assert alone.error.code == "bad_input"
    assert "alpha takes at most 400 characters" in alone.error.message
    assert server.count("/alpha/find") == 0


@pytest.mark.rows("D12")
async def test_only_the_named_providers_are_asked(server, made_up):
    server["/alpha/find"] = server["/beta/find"] = Answer("", 500)
    box = await made_up()
    result = await box.call("web_search", {"query": "q", "provider": "alpha"})
    assert result.error.code == "http_status"
    assert {request.path for request in server.requested} == {"/alpha/find"}


async def test_a_provider_of_another_package_that_breaks_is_one_that_failed(server, made_up):
    class Broken(type(service("alpha"))):
        async def search(self, ask, reach):
            raise KeyError("results")

    server["/beta/find"] = answer(*results("b"))
    box = await made_up(Broken(), service("beta"))
    result = await box.call("web_search", {"query": "q"})
    assert urls(result) == ["https://example.org/b"]
    assert statuses(result) == {"alpha": "internal", "beta": "ok"}


@pytest.mark.rows("A41")
async def test_requests_keep_their_distance_and_others_help_out(server, made_up):
    for name in ("alpha", "beta", "gamma"):
        server[f"/{name}/find"] = lambda r: answer(*results([r.query["q"]]))
    box = await made_up(gap_seconds=60)
    result = await box.call("web_search", {"queries": ["a", "b", "c"]})
    assert [a["status"] for a in result.data["queries"]] == ["ok"] * 3
    assert sorted(a["provider"] for a in result.data["queries"]) == ["alpha", "beta", "gamma"]


@pytest.mark.rows("A41")
async def test_nothing_waits_for_what_is_kept(server, made_up):
    server["/alpha/find"] = answer(*results("a"))
    box = await made_up(service("alpha"), gap_seconds=1000)
    for _ in range(3):
        assert not (await box.call("web_search", {"query": "a"})).error
    other = await box.call("web_search", {"query": "b"})
    assert other.error.code == "rate_limited"
    assert other.error.details["retry_after"] > 900
    server["/alpha/find"] = LIMITED
    assert server.count("/alpha/find") == 1


@pytest.mark.rows("B12")
async def test_the_caller_is_answered_in_time(server, made_up):
    hold = threading.Event()
    for name in ("alpha", "beta", "gamma"):
        server[f"/{name}/find"] = Answer("", hold=hold)
    box = await made_up(timeout=9)
    result = await box.call("web_search", {"query": "q"}, caller=Caller("test", answer_within=14.5))
    assert result.job == "", "an answer, not a job"
    assert result.error.code == "timeout"
    assert statuses(result) == {"alpha": "timeout", "beta": "timeout", "gamma": "timeout"}
    assert server.count("/gamma/find") == 0
    hold.set()


@pytest.mark.rows("A43")
async def test_cancelling_stops_the_request(server, made_up):
    hold = threading.Event()
    server["/alpha/find"] = Answer("", hold=hold)
    box = await made_up(service("alpha"))
    task = asyncio.create_task(box.call("web_search", {"query": "q"}))
    await until(lambda: server.requested)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    hold.set()
    server["/alpha/find"] = answer(*results("a"))
    assert (await box.call("web_search", {"query": "q"})).error is None


@pytest.mark.rows("F05")
async def test_a_provider_has_a_time_limit_of_its_own(server, settings):
    over = threading.Event()

    def never(_) -> Answer:
        over.wait()
        return answer()

    server["/alpha/find"] = never
    server["/beta/find"] = answer(*results("ab"))
    tree = settings(providers=list(PAIR), timeout=1000)
    tree["web"]["providers"] = {name: {"base_url": f"{server.url}/{name}"} for name in PAIR}
    tree["web"]["providers"]["alpha"]["timeout"] = 0.2
    try:
        async with Toolbox(config=tree) as box:
            # One of a program's own has it on its class, under the settings.
            box.use(Providers).add(service("alpha", timeout=1000.0))
            box.use(Providers).add(service("beta", timeout=900.0))
            found = await box.call("web_search", {"query": "one"})
    finally:
        over.set()
    assert statuses(found) == {"alpha": "timeout", "beta": "ok"}
