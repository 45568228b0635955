from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from tests.servers.scripted import Answer, scripted
from tests.tools.web import serp
from toolcrib.core.config import Config
from toolcrib.core.context import Caller
from toolcrib.toolbox import Toolbox

EXACT = [
    "https://example.org/?a%26b%3Dc",
    "https://example.org/a%2Fb?x=1%232&y=2",
    "https://example.org/%C3%BC/%E4%F6?q=a+b%2Bc",
    "https://example.org/ünïcode/页?q=ж",
    "https://example.org/?u=https%3A%2F%2Fother.org%2F%3Fa%3Db%26c#frag%20ment",
    "https://example.org/100%25",
]


def urls(result) -> list[str]:
    return [r["url"] for r in result.data["queries"][0]["results"]]


def many(first: int, count: int) -> list[str]:
    return [
        serp.result(f"Title {n}", serp.wrapped(f"https://example.org/{n}"), f"Snippet {n}.")
        for n in range(first, first + count)
    ]


async def test_results_have_title_url_and_snippet(server, box, watcher):
    server["/html/"] = serp.page(
        serp.result(
            "Tool &amp; <b>Crib</b>\n  list",
            serp.wrapped("https://example.org/a"),
            "Issues   <b>tools</b> &lt;daily&gt;",
            "2026-01-30",
        ),
        serp.result("Plain", "https://example.org/b"),
    )
    result = await box.call("web_search", {"query": "tool crib"}, caller=watcher.caller)
    assert result.error is None
    answer = result.data["queries"][0]
    assert answer["status"] == "ok"
    assert answer["provider"] == "duckduckgo"
    assert answer["cached"] is False
    assert answer["results"] == [
        {
            "rank": 1,
            "title": "Tool & Crib list",
            "url": "https://example.org/a",
            "snippet": "Issues tools <daily>",
            "provider": "duckduckgo",
            "published": "2026-01-30",
        },
        {
            "rank": 2,
            "title": "Plain",
            "url": "https://example.org/b",
            "snippet": "",
            "provider": "duckduckgo",
        },
    ]
    assert "1. Tool & Crib list (2026-01-30)\n   https://example.org/a\n   Issues" in result.text
    assert result.text.startswith("<untrusted source=")
    assert watcher.messages == ["Searching for 'tool crib'", "Found 2 results with duckduckgo"]
    sent = server.asked[0]
    assert (sent.method, sent.form["q"], sent.form["p"]) == ("POST", "tool crib", "")


async def test_addresses_come_out_exactly_as_they_are(server, box):
    server["/html/"] = serp.page(
        *(serp.result(f"T{n}", serp.wrapped(url)) for n, url in enumerate(EXACT)),
        *(
            serp.result(f"D{n}", url + ("&" if "?" in url else "?") + "direct")
            for n, url in enumerate(EXACT)
        ),
    )
    result = await box.call("web_search", {"query": "q", "limit": 20})
    assert urls(result)[: len(EXACT)] == EXACT
    assert urls(result)[len(EXACT)] == EXACT[0] + "&direct"


async def test_ads_duplicates_and_untitled_results_are_dropped(server, box):
    ad = "//duckduckgo.com/y.js?ad_domain=shop.example&u3=https%3A%2F%2Fbing.com"
    server["/html/"] = serp.page(
        serp.result("Ad", ad, "buy", kind="result--ad"),
        serp.result("Unmarked ad", ad),
        serp.result("Wrapped ad", serp.wrapped(f"https:{ad}")),
        serp.result("  ", serp.wrapped("https://example.org/untitled")),
        serp.result("Script", "javascript:alert(1)"),
        serp.result("Good", serp.wrapped("https://example.org/good")),
        serp.result("Again", serp.wrapped("https://example.org/good")),
    )
    assert urls(await box.call("web_search", {"query": "q"})) == ["https://example.org/good"]


@pytest.mark.parametrize(
    ("answer", "code", "details"),
    [
        (serp.NOTHING, "no_results", {}),
        (serp.page(), "no_results", {}),
        (Answer(serp.CHALLENGE, 202), "challenge_page", {"status": 202}),
        (Answer(serp.CHALLENGE), "challenge_page", {"status": 200}),
        (Answer("<html></html>", 202), "challenge_page", {"status": 202}),
        (
            Answer("slow down", 429, headers={"Retry-After": "37"}),
            "rate_limited",
            {"retry_after": 37},
        ),
        (Answer("slow down", 429), "rate_limited", {"retry_after": None}),
        (Answer("no", 500), "http_status", {"status": 500}),
        (Answer("<html><body>Hello</body></html>"), "unavailable", {"provider": "duckduckgo"}),
        (serp.page('<div class="result"><h3>New form</h3></div>'), "unavailable", {}),
        (Answer(b"\xff\x00\x01" * 100, kind="image/png"), "unavailable", {}),
    ],
)
async def test_each_way_to_fail_has_its_code(server, box, answer, code, details):
    server["/html/"] = answer
    result = await box.call("web_search", {"query": "zzz"})
    assert result.error.code == code
    assert "duckduckgo" in result.error.message
    assert result.error.details.items() >= details.items()
    assert result.error.details["providers"][0]["code"] == code


async def test_a_redirect_to_elsewhere_is_not_taken_for_results(server, box):
    with scripted() as other:
        other["/"] = serp.page(*many(0, 3))
        server["/html/"] = Answer("", 303, headers={"Location": f"{other.url}/"})
        result = await box.call("web_search", {"query": "q"})
    assert result.error.code == "blocked_address"
    assert other.asked == []


async def test_a_redirect_to_an_allowed_place_is_not_taken_for_results(server, settings):
    with scripted() as other:
        other["/"] = serp.page(*many(0, 3))
        server["/html/"] = Answer("", 303, headers={"Location": f"{other.url}/"})
        config = settings()
        config["egress"]["allow_hosts"].append(other.origin)
        async with Toolbox(config=config) as box:
            result = await box.call("web_search", {"query": "q"})
    assert result.error.code == "unavailable"
    assert "redirects" in result.error.message


async def test_words_with_a_bang_are_quoted(server, box):
    server["/html/"] = serp.page(*many(0, 1))
    await box.call("web_search", {"query": "!w python hello! a!b"})
    assert server.asked[0].form["q"] == '"!w" python "hello!" a!b'


async def test_options_reach_duckduckgo(server, box):
    server["/html/"] = serp.page(*many(0, 1))
    arguments = {"query": "q", "freshness": "week", "site": "https://example.org/x"}
    await box.call("web_search", {**arguments, "safe_search": "strict"})
    await box.call("web_search", {**arguments, "safe_search": "off"})
    strict, off = (request.form for request in server.asked)
    assert (strict["q"], strict["df"], strict["p"]) == ("q site:example.org", "w", "1")
    assert off["p"] == "-1"


async def test_pages_follow_the_form_of_the_page_before(server, box):
    following = {"q": "q", "s": "10", "vqd": "4-12345", "dc": "11"}

    def serve(request):
        if request.form.get("vqd") == "4-12345":
            return serp.page(*many(10, 15))
        return serp.page(*many(0, 10), following=following)

    server["/html/"] = serve
    first = await box.call("web_search", {"query": "q"})
    assert urls(first) == [f"https://example.org/{n}" for n in range(10)]
    assert first.truncated
    second = await box.call(first.next.tool, first.next.arguments)
    assert urls(second) == [f"https://example.org/{n}" for n in range(10, 20)]
    assert [r["rank"] for r in second.data["queries"][0]["results"]] == list(range(11, 21))
    third = await box.call(second.next.tool, second.next.arguments)
    assert urls(third) == [f"https://example.org/{n}" for n in range(20, 25)]
    assert third.next is None
    assert len(server.asked) == 2
    assert server.asked[1].form["s"] == "10"


async def test_next_repeats_what_was_asked(server, box):
    server["/html/"] = serp.page(*many(0, 10))
    given = {"query": "q", "limit": 3, "freshness": "day", "provider": "duckduckgo"}
    result = await box.call("web_search", given)
    assert result.next.tool == "web_search"
    assert dict(result.next.arguments) == {**given, "page": 2}
    assert len(urls(result)) == 3


async def test_searxng(server, settings):
    server["/search"] = serp.searxng(
        ("One", "https://example.org/?q=a%26b", "About  one"),
        ("", "https://example.org/untitled", ""),
        ("Two", "ftp://example.org/", "not the web"),
    )
    async with Toolbox(config=settings(providers=["searxng"], allow=False)) as box:
        result = await box.call("web_search", {"query": "q & a", "freshness": "month"})
    assert urls(result) == ["https://example.org/?q=a%26b"]
    sent = server.asked[0]
    assert sent.method == "GET"
    wanted = {"q": "q & a", "format": "json", "time_range": "month", "safesearch": "1"}
    assert sent.query.items() >= wanted.items()


async def test_searxng_asks_for_more_pages_until_nothing_new_comes(server, settings):
    def serve(request):
        first = (min(int(request.query["pageno"]), 3) - 1) * 4
        return serp.searxng(*((f"T{n}", f"https://e.org/{n}", "") for n in range(first, first + 4)))

    server["/search"] = serve
    async with Toolbox(config=settings(providers=["searxng"])) as box:
        result = await box.call("web_search", {"query": "q", "limit": 50})
    assert len(urls(result)) == 12
    assert result.next is None
    assert server.count("/search") == 4


@pytest.mark.parametrize(
    ("answer", "code", "word"),
    [
        (Answer("Forbidden", 403), "not_configured", "json"),
        (Answer("<html>", kind="text/html"), "unavailable", "searxng"),
        (Answer("[1]", kind="application/json"), "unavailable", "searxng"),
        (Answer("{}", kind="application/json"), "unavailable", "searxng"),
        (Answer("[" * 100_000, kind="application/json"), "unavailable", "searxng"),
        (serp.searxng(), "no_results", "searxng"),
        (Answer("limited", 429, headers={"Retry-After": "5"}), "rate_limited", "searxng"),
    ],
)
async def test_searxng_errors(server, settings, answer, code, word):
    server["/search"] = answer
    async with Toolbox(config=settings(providers=["searxng"])) as box:
        result = await box.call("web_search", {"query": "q"})
    assert result.error.code == code
    assert word in f"{result.error.message} {result.error.hint}"


async def test_searxng_without_an_address_names_the_setting():
    async with Toolbox(config={"web": {"search": {"providers": ["searxng"]}}}) as box:
        result = await box.call("web_search", {"query": "q"})
    assert result.error.code == "not_configured"
    assert "web.providers.searxng.base_url" in result.error.hint


async def test_brave(server, settings, monkeypatch):
    monkeypatch.setenv("TEST_BRAVE_KEY", "sesame")
    server["/res/v1/web/search"] = serp.brave(
        {
            "title": "One &amp; <strong>only</strong>",
            "url": "https://example.org/1",
            "description": "A <strong>bold</strong> word",
            "extra_snippets": ["More &quot;text&quot;"],
            "page_age": "2026-02-03T04:05:06",
            "language": "en",
            "family_friendly": True,
        },
        more=False,
    )
    async with Toolbox(config=settings(providers=["brave"], allow=False)) as box:
        result = await box.call("web_search", {"query": "q", "freshness": "year"})
    assert result.data["queries"][0]["results"] == [
        {
            "rank": 1,
            "title": "One & only",
            "url": "https://example.org/1",
            "snippet": "A bold word",
            "provider": "brave",
            "published": "2026-02-03T04:05:06",
            "extra_snippets": ['More "text"'],
            "language": "en",
            "family_friendly": True,
        }
    ]
    sent = server.asked[0]
    assert sent.headers["x-subscription-token"] == "sesame"
    wanted = {"q": "q", "count": "20", "offset": "0", "freshness": "py", "safesearch": "moderate"}
    assert sent.query.items() >= wanted.items()


@pytest.mark.parametrize("value", [None, "", "  "])
async def test_brave_without_a_key_sends_nothing(server, settings, monkeypatch, value):
    if value is not None:
        monkeypatch.setenv("TEST_BRAVE_KEY", value)
    async with Toolbox(config=settings(providers=["brave"])) as box:
        result = await box.call("web_search", {"query": "q"})
    assert result.error.code == "not_configured"
    assert "TEST_BRAVE_KEY" in result.error.message
    assert server.asked == []


async def test_a_refused_key_is_never_shown(server, settings, monkeypatch):
    monkeypatch.setenv("TEST_BRAVE_KEY", "sesame")
    server["/res/v1/web/search"] = Answer('{"error": "bad token"}', 401, "application/json")
    async with Toolbox(config=settings(providers=["brave"])) as box:
        result = await box.call("web_search", {"query": "q"})
    assert result.error.code == "http_status"
    assert result.error.details["status"] == 401
    assert "api_key_env" in result.error.hint
    assert "sesame" not in str(result.to_json())


@pytest.mark.parametrize("query", ["x" * 401, "word " * 51])
async def test_brave_takes_no_long_query(server, settings, monkeypatch, query):
    monkeypatch.setenv("TEST_BRAVE_KEY", "sesame")
    async with Toolbox(config=settings(providers=["brave"])) as box:
        result = await box.call("web_search", {"query": query})
    assert result.error.code == "bad_input"
    assert "brave takes at most" in result.error.message
    assert server.asked == []


async def test_the_next_provider_is_tried(server, settings):
    server["/html/"] = Answer(serp.CHALLENGE, 202)
    server["/search"] = serp.searxng(("One", "https://example.org/1", ""))
    async with Toolbox(config=settings(providers=["duckduckgo", "searxng"])) as box:
        result = await box.call("web_search", {"query": "q"})
        alone = await box.call("web_search", {"query": "q", "provider": "DuckDuckGo"})
    answer = result.data["queries"][0]
    assert answer["provider"] == "searxng"
    assert answer["failed"] == [{"provider": "duckduckgo", "code": "challenge_page"}]
    assert alone.error.code == "challenge_page"


async def test_when_all_fail_the_most_telling_error_is_raised(server, settings):
    server["/html/"] = Answer("", 500)
    server["/search"] = Answer("", 429, headers={"Retry-After": "9"})
    async with Toolbox(config=settings(providers=["brave", "duckduckgo", "searxng"])) as box:
        result = await box.call("web_search", {"query": "q"})
    assert result.error.code == "rate_limited"
    assert result.error.details["retry_after"] == 9
    codes = {p["provider"]: p["code"] for p in result.error.details["providers"]}
    assert codes == {
        "brave": "not_configured",
        "duckduckgo": "http_status",
        "searxng": "rate_limited",
    }
    assert all(name in result.error.message for name in codes)


async def test_no_and_unknown_providers(settings):
    async with Toolbox(config=settings(providers=[])) as box:
        none = await box.call("web_search", {"query": "q"})
        unknown = await box.call("web_search", {"query": "q", "provider": "altavista"})
    assert none.error.code == "not_configured"
    assert "web.search.providers" in none.error.hint
    assert unknown.error.code == "bad_input"
    assert "searxng" in unknown.error.hint


async def test_results_are_cached_by_what_was_asked(server, box):
    server["/html/"] = serp.page(*many(0, 3))
    first = await box.call("web_search", {"query": "q"})
    again = await box.call("web_search", {"query": "q", "limit": 2})
    assert server.count("/html/") == 1
    assert first.data["queries"][0]["cached"] is False
    assert again.data["queries"][0]["cached"] is True
    await box.call("web_search", {"query": "q", "freshness": "day"})
    assert server.count("/html/") == 2


async def test_failures_are_not_cached(server, box):
    server["/html/"] = Answer(serp.CHALLENGE, 202)
    assert (await box.call("web_search", {"query": "q"})).error
    server["/html/"] = serp.page(*many(0, 1))
    assert (await box.call("web_search", {"query": "q"})).error is None


async def test_several_queries_have_a_status_each(server, box):
    def serve(request):
        if request.form["q"] == "zzz":
            return serp.NOTHING
        return serp.page(serp.result(request.form["q"], "https://example.org/"))

    server["/html/"] = serve
    result = await box.call("web_search", {"queries": ["one", "zzz", "", "two"]})
    answers = result.data["queries"]
    assert [a["status"] for a in answers] == ["ok", "error", "error", "ok"]
    assert [a["query"] for a in answers] == ["one", "zzz", "", "two"]
    assert answers[1]["error"]["code"] == "no_results"
    assert answers[2]["error"]["code"] == "bad_input"
    assert answers[2]["error"]["message"] == "Query must be a non-empty string."
    assert "Results for 'one':\n1. one" in result.text
    assert "Results for '':\nError (bad_input): Query must" in result.text


async def test_when_every_query_fails_the_call_fails(server, box):
    server["/html/"] = serp.NOTHING
    result = await box.call("web_search", {"queries": ["zzz", " "]})
    assert result.error.code == "no_results"
    assert [q["error"]["code"] for q in result.error.details["queries"]] == [
        "no_results",
        "bad_input",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "'queries' as a non-empty array"),
        ({"queries": []}, "'queries' as a non-empty array"),
        ({"query": "q", "limit": 51}, "'limit' must be from 1 to 50"),
        ({"query": "q", "limit": 0}, "'limit' must be from 1 to 50"),
        ({"query": "q", "page": 101}, "'page' must be from 1 to 100"),
        ({"query": "q", "site": "a b"}, "'site' must be a domain"),
        ({"query": "q", "freshness": "hour"}, "one of"),
        ({"queries": [str(n) for n in range(11)]}, "At most 10 queries"),
        ({"query": "x" * 501}, "at most 500 characters"),
    ],
)
async def test_wrong_arguments_are_refused_before_anything_is_sent(server, box, arguments, message):
    result = await box.call("web_search", arguments)
    assert result.error.code == "bad_input"
    assert message in result.error.message
    assert server.asked == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("WebSearch", {"q": "crib", "count": "2"}),
        ("search_web", {"query": "crib", "num_results": 2}),
        ("duckduckgo-search", {"search_query": "crib", "max_results": 2}),
        ("web_search", {"queries": "crib", "n": 2}),
        ("web_search", {"queries": '["crib"]', "limit": 2.0}),
    ],
)
async def test_other_names_work(server, box, name, arguments):
    server["/html/"] = serp.page(*many(0, 5))
    result = await box.call(name, arguments)
    assert result.error is None
    assert len(urls(result)) == 2
    assert server.asked[0].form["q"] == "crib"


async def test_requests_to_one_provider_keep_their_distance(server, settings):
    times: list[float] = []
    loop = asyncio.get_running_loop()

    def serve(request):
        times.append(loop.time())
        return serp.page(serp.result(request.form["q"], "https://example.org/"))

    server["/html/"] = serve
    async with Toolbox(config=settings(gap_seconds=0.3)) as box:
        await box.call("web_search", {"queries": ["a", "b", "c"]})
    times.sort()
    assert len(times) == 3
    assert all(later - earlier > 0.2 for earlier, later in pairwise(times))


async def test_cancelling_stops_the_request(server, box):
    import threading

    hold = threading.Event()
    server["/html/"] = Answer("", hold=hold)
    task = asyncio.create_task(box.call("web_search", {"query": "q"}))
    while not server.asked:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    hold.set()
    server["/html/"] = serp.page(*many(0, 1))
    assert (await box.call("web_search", {"query": "q"})).error is None


async def test_only_the_configured_origin_is_opened(server, settings):
    with scripted() as inner:
        server["/search"] = Answer("", 302, headers={"Location": f"{inner.url}/secret"})
        config = settings(providers=["searxng"], allow=False)
        async with Toolbox(config=config) as box:
            result = await box.call("web_search", {"query": "q"})
    assert result.error.code == "blocked_address"
    assert inner.asked == []


async def test_a_large_answer_is_refused(server, box):
    server["/html/"] = Answer(b"<p>" * 1_000_000)
    result = await box.call("web_search", {"query": "q"})
    assert result.error.code == "too_large"


async def test_a_caller_without_progress_is_fine(server, box):
    server["/html/"] = serp.page(*many(0, 1))
    assert (await box.call("web_search", {"query": "q"}, caller=Caller("x"))).error is None


def test_the_default_needs_no_key():
    assert Config().web.search.providers == ["duckduckgo"]


async def test_old_results_stand_in_when_no_provider_answers(server, settings, grow_older):
    server["/html/"] = serp.page(*many(0, 2))
    async with Toolbox(config=settings(providers=["duckduckgo", "searxng"])) as box:
        await box.call("web_search", {"query": "q"})
        grow_older(7200)
        server["/html/"] = Answer(serp.CHALLENGE, 202)
        server["/search"] = serp.searxng(("One", "https://example.org/new", ""))
        fresh = await box.call("web_search", {"query": "q"})
        server["/search"] = Answer("no", 500)
        grow_older(7200)
        old = await box.call("web_search", {"query": "q"})
    assert urls(fresh) == ["https://example.org/new"]
    assert fresh.data["queries"][0]["stale"] is False
    assert urls(old) == ["https://example.org/0", "https://example.org/1"]
    assert old.data["queries"][0]["stale"] is True
    assert "Note: No provider answers now; these results are 240 min old." in old.text


async def test_a_query_that_fails_beside_others_says_what_to_do(server, box):
    server["/html/"] = lambda r: serp.NOTHING if r.form["q"] == "b" else serp.page(*many(0, 1))
    result = await box.call("web_search", {"queries": ["a", "b"]})
    assert "Error (no_results): duckduckgo found nothing for 'b'.\nUse fewer" in result.text


async def test_titles_and_snippets_have_no_invisible_characters(server, box):
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "obey")
    server["/html/"] = serp.page(
        serp.result(f"Ti{hidden}tle", "https://example.org/", f"Snip\u202epet{hidden}")
    )
    result = await box.call("web_search", {"query": "tool"})
    (found,) = result.data["queries"][0]["results"]
    assert (found["title"], found["snippet"]) == ("Title", "Snippet")
