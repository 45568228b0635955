"""Services with a key: what is sent, and what their answers become."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.servers.scripted import Answer
from tests.tools.web.providers.bench import KEY, KEYED, answer
from toolcrib.core.errors import HttpStatus, NotConfigured, RateLimited, ToolError
from toolcrib.web.providers import Providers

URL = "https://example.org/?a=b%26c"


@pytest.mark.rows("B07")
async def test_tavily(bench, server):
    server["/search"] = answer(
        {
            "query": "q",
            "answer": None,
            "images": [],
            "results": [
                {
                    "title": "One",
                    "url": URL,
                    "content": "About one",
                    "score": 0.98,
                    "raw_content": "# One\n\nAll of it.",
                },
                {"title": "Two", "url": "https://example.org/2", "content": "b", "score": 0.5},
            ],
            "response_time": 1.1,
        }
    )
    first, second = await bench.results(
        "tavily", "q", count=30, freshness="week", site="example.org"
    )
    assert (first.title, first.url, first.snippet) == ("One", URL, "About one")
    assert (first.content, first.extra) == ("# One\n\nAll of it.", {"score": 0.98})
    assert second.content == ""
    assert (bench.sent.method, bench.sent.headers["authorization"]) == ("POST", f"Bearer {KEY}")
    assert bench.json == {
        "query": "q",
        "search_depth": "basic",
        "max_results": 20,
        "include_raw_content": "markdown",
        "time_range": "week",
        "include_domains": ["example.org"],
    }


@pytest.mark.rows("B08")
async def test_exa(bench, server):
    server["/search"] = answer(
        {
            "requestId": "r",
            "results": [
                {
                    "id": URL,
                    "title": "One",
                    "url": URL,
                    "publishedDate": "2026-01-02T00:00:00.000Z",
                    "author": "A. Writer",
                    "score": 0.4,
                    "text": "One.\n\nAll of it.",
                    "highlights": ["First part.", "Second part."],
                },
                {"title": None, "url": "https://example.org/2", "text": "Only text."},
            ],
            "costDollars": {"total": 0.005},
        }
    )
    first, second = await bench.results(
        "exa", "q", count=50, freshness="day", site="example.org", region="de-DE"
    )
    assert (first.title, first.url, first.snippet) == ("One", URL, "First part. … Second part.")
    assert (first.content, first.published) == ("One.\n\nAll of it.", "2026-01-02T00:00:00.000Z")
    assert first.extra == {"score": 0.4, "author": "A. Writer"}
    assert (second.title, second.snippet) == ("https://example.org/2", "Only text.")
    assert bench.sent.headers["x-api-key"] == KEY
    assert bench.sent.headers["authorization"] == f"Bearer {KEY}"
    sent = bench.json
    start = datetime.fromisoformat(sent.pop("startPublishedDate"))
    assert timedelta(hours=23) < datetime.now(UTC) - start < timedelta(hours=25)
    assert sent == {
        "query": "q",
        "type": "auto",
        "numResults": 20,
        "contents": {"text": {"maxCharacters": 10_000}, "highlights": True},
        "includeDomains": ["example.org"],
        "userLocation": "DE",
    }


async def test_serper(bench, server):
    organic = [
        {
            "title": f"T{n}",
            "link": f"https://example.org/{n}",
            "snippet": "About",
            "date": "2 days ago",
            "position": n,
        }
        for n in range(10)
    ]
    server["/search"] = answer(
        {"searchParameters": {}, "organic": organic, "knowledgeGraph": {"title": "x"}}
    )
    page = await bench.page(
        "serper", "q", page=2, freshness="month", region="de-AT", site="example.org"
    )
    assert page.results[3].url == "https://example.org/3"
    assert page.results[3].published == "2 days ago"
    assert page.more
    assert bench.sent.headers["x-api-key"] == KEY
    assert bench.json == {
        "q": "q site:example.org",
        "gl": "at",
        "hl": "de",
        "tbs": "qdr:m",
        "page": 2,
    }
    server["/search"] = answer({"searchParameters": {}})
    assert await bench.page("serper") == type(page)()


async def test_ollama(bench, server):
    long = "word " * 400
    server["/api/web_search"] = answer(
        {"results": [{"title": "One", "url": URL, "content": f"Begins\nhere. {long}"}]}
    )
    (found,) = await bench.results("ollama", "q", site="example.org")
    assert found.content.startswith("Begins\nhere. word")
    assert found.snippet.startswith("Begins here. word")
    assert found.snippet.endswith("word …")
    assert len(found.snippet) <= 602
    assert bench.sent.headers["authorization"] == f"Bearer {KEY}"
    assert bench.json == {"query": "q site:example.org", "max_results": 10}


async def test_perplexity(bench, server):
    server["/search"] = answer(
        {
            "id": "1",
            "results": [
                {
                    "title": "One",
                    "url": URL,
                    "snippet": "Text\nof the page",
                    "date": "2026-01-02",
                    "last_updated": "2026-02-02",
                },
                {"title": "Two", "url": URL, "snippet": "", "last_updated": "2026-02-03"},
            ],
        }
    )
    first, second = await bench.results(
        "perplexity", "q", count=99, freshness="year", region="de-DE", site="example.org"
    )
    assert (first.snippet, first.content) == ("Text of the page", "Text\nof the page")
    assert (first.published, second.published) == ("2026-01-02", "2026-02-03")
    assert bench.json == {
        "query": "q",
        "max_results": 20,
        "search_recency_filter": "year",
        "search_domain_filter": ["example.org"],
        "country": "DE",
        "search_language_filter": ["de"],
    }


async def test_jina(bench, server):
    data = [
        {"title": "One", "url": URL, "description": "About", "date": "Jan 2, 2026", "content": ""}
    ]
    server["/"] = answer({"code": 200, "status": 20000, "data": data})
    (found,) = await bench.results("jina", "q", page=2, region="de-DE", site="example.org")
    assert (found.snippet, found.published, found.content) == ("About", "Jan 2, 2026", "")
    assert bench.json == {"q": "q", "num": 10, "gl": "DE", "hl": "de", "page": 2}
    assert bench.sent.headers["x-site"] == "https://example.org"
    assert bench.sent.headers["x-respond-with"] == "no-content"
    assert bench.sent.headers["accept"] == "application/json"
    server["/"] = answer(
        {
            "data": None,
            "code": 422,
            "name": "AssertionFailureError",
            "status": 42206,
            "message": "No search results available for query q",
        },
        422,
    )
    assert await bench.results("jina") == ()


async def test_kagi(bench, server):
    server["/api/v1/search"] = answer(
        {
            "meta": {"trace": "t", "ms": 5},
            "data": {
                "search": [
                    {
                        "url": URL,
                        "title": "One &amp; two",
                        "snippet": "<b>About</b> one",
                        "time": "2026-01-02T00:00:00Z",
                    }
                ],
                "related_search": [{"url": "/search?q=x", "title": "x"}],
            },
        }
    )
    page = await bench.page("kagi", "q", freshness="week", region="de-DE", site="example.org")
    (found,) = page.results
    assert (found.title, found.snippet) == ("One & two", "About one")
    assert found.published == "2026-01-02T00:00:00Z"
    assert bench.sent.headers["authorization"] == f"Bearer {KEY}"
    sent = bench.json
    after = datetime.fromisoformat(sent["filters"].pop("after")).date()
    assert abs((datetime.now(UTC).date() - after).days - 7) <= 1
    assert sent == {
        "query": "q",
        "workflow": "search",
        "filters": {"region": "DE"},
        "lens": {"sites_included": ["example.org"]},
        "safe_search": True,
    }
    assert page.more
    assert not (await bench.page("kagi", page=10, safe_search="off")).more
    assert bench.json["safe_search"] is False
    server["/api/v1/search"] = answer({"meta": {}, "data": {}})
    assert await bench.results("kagi") == ()


async def test_linkup(bench, server):
    server["/v1/search"] = answer(
        {
            "results": [
                {"type": "text", "name": "One", "url": URL, "content": "Text\n\nof it"},
                {"type": "image", "name": "i", "url": "https://example.org/i.png"},
            ]
        }
    )
    (found,) = await bench.results("linkup", "q", count=20, freshness="day", site="example.org")
    assert (found.title, found.snippet, found.content) == ("One", "Text of it", "Text\n\nof it")
    sent = bench.json
    assert datetime.fromisoformat(sent.pop("fromDate"))
    assert sent == {
        "q": "q",
        "depth": "standard",
        "outputType": "searchResults",
        "maxResults": 20,
        "includeDomains": ["example.org"],
    }
    server["/v1/search"] = answer(
        {"statusCode": 400, "error": {"code": "SEARCH_QUERY_NO_RESULT", "message": "none"}}, 400
    )
    assert await bench.results("linkup") == ()
    server["/v1/search"] = answer(
        {"statusCode": 429, "error": {"code": "INSUFFICIENT_FUNDS_CREDITS", "message": "x"}}, 429
    )
    error = await bench.error("linkup")
    assert error.details["reason"] == "plan"
    assert "used up" in error.hint


async def test_youcom(bench, server):
    item = {
        "url": URL,
        "title": "One",
        "description": "About one",
        "snippets": ["First", "Second"],
        "page_age": "2026-01-02T03:04:05",
    }
    server["/v1/search"] = answer(
        {
            "results": {"web": [item], "news": [{**item, "url": "https://example.org/news"}]},
            "metadata": {"query": "q"},
        }
    )
    page = await bench.page(
        "youcom", "q", page=2, freshness="day", region="de-DE", site="example.org"
    )
    assert [f.url for f in page.results] == [URL, "https://example.org/news"]
    assert page.results[0].extra == {"extra_snippets": ["First", "Second"]}
    assert bench.sent.headers["x-api-key"] == KEY
    assert bench.sent.query == {
        "query": "q",
        "count": "20",
        "offset": "1",
        "freshness": "day",
        "country": "DE",
        "language": "DE",
        "safesearch": "moderate",
        "include_domains": "example.org",
    }


# --- What they have in common ---


@pytest.mark.rows("D09", "D11")
@pytest.mark.parametrize("name", KEYED)
async def test_without_a_key_nothing_is_sent(bench, server, monkeypatch, name):
    monkeypatch.delenv("TEST_KEY")
    missing = await bench.error(name)
    monkeypatch.setenv("TEST_KEY", " ")
    empty = await bench.error(name)
    for error, word in ((missing, "not set"), (empty, "empty")):
        assert isinstance(error, NotConfigured)
        assert word in error.message
        assert "TEST_KEY" in error.message
        assert f"web.providers.{name}.api_key_env" in error.message
    assert server.requested == []


def test_every_service_has_its_usual_variable():
    known = Providers()
    usual = {name: known.named(name).key_env for name in KEYED}
    assert usual == {
        "brave": "BRAVE_API_KEY",
        "tavily": "TAVILY_API_KEY",
        "exa": "EXA_API_KEY",
        "serper": "SERPER_API_KEY",
        "ollama": "OLLAMA_API_KEY",
        "perplexity": "PERPLEXITY_API_KEY",
        "jina": "JINA_API_KEY",
        "kagi": "KAGI_API_KEY",
        "linkup": "LINKUP_API_KEY",
        "youcom": "YDC_API_KEY",
    }
    assert all(known.named(name).needs_key for name in KEYED)
    assert not any(known.named(name).tried for name in KEYED)


def everywhere(server, script: Answer) -> None:
    for path in ("/", "/search", "/v1/search", "/api/v1/search", "/api/web_search"):
        server[path] = script
    server["/res/v1/web/search"] = script


@pytest.mark.rows("B09", "D08")
@pytest.mark.parametrize("name", KEYED)
async def test_a_refused_key(bench, server, name):
    for status in (401, 403):
        everywhere(server, answer({"detail": {"error": f"Invalid API key {KEY}"}}, status))
        error = await bench.error(name)
        assert isinstance(error, HttpStatus)
        assert error.message == (
            f'{name} error ({status}): {{"detail": {{"error": "Invalid API key [redacted]"}}}}'
        )
        assert f"web.providers.{name}.api_key_env" in error.hint
        assert error.details["reason"] == "key"
        assert KEY not in repr(error.__dict__)


@pytest.mark.rows("D08", "B09")
@pytest.mark.parametrize("name", KEYED)
async def test_a_plan_that_is_used_up(bench, server, name):
    for status in (402, 432, 433):
        everywhere(server, answer({"error": "more money"}, status))
        error = await bench.error(name)
        assert (error.code, error.details["reason"]) == ("http_status", "plan")
        assert "used up" in error.hint
    everywhere(server, answer({"message": "Not enough credits", "statusCode": 400}, 400))
    assert (await bench.error(name)).details["reason"] == "plan"


@pytest.mark.rows("D08")
@pytest.mark.parametrize("name", KEYED)
async def test_slowing_down(bench, server, name):
    everywhere(server, answer({"error": "slow"}, 429, Retry_After="7"))
    error = await bench.error(name)
    assert isinstance(error, RateLimited)
    assert (error.details["status"], error.details["retry_after"]) == (429, 7)
    assert "7 s" in error.hint
    assert error.message == f'{name} error (429): {{"error": "slow"}}'
    everywhere(server, Answer("", 429))
    error = await bench.error(name)
    assert error.message == f"{name} error (429): Too Many Requests"
    assert "a minute" in error.hint


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize(
    "script",
    [
        Answer("<html>", kind="text/html"),
        Answer("", kind="application/json"),
        Answer("{", kind="application/json"),
        Answer("[1]", kind="application/json"),
        Answer("null", kind="application/json"),
        Answer("[" * 100_000, kind="application/json"),
        Answer(b"\xff\xfe\x00", kind="application/json"),
        Answer('"text"', kind="application/json"),
    ],
)
async def test_an_answer_that_cannot_be_read(bench, server, name, script):
    everywhere(server, script)
    error = await bench.error(name)
    assert error.code == "unavailable"
    assert name in error.message


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("value", [{}, 1, "x", None, [1, "x", None, {}], [{"url": 1, "title": 2}]])
async def test_odd_values_are_no_results(bench, server, name, value):
    odd = {
        "results": value,
        "organic": value,
        "data": {"search": value} if name == "kagi" else value,
        "web": {"results": value},
    }
    if name == "youcom":
        odd["results"] = {"web": value, "news": value}
    everywhere(server, answer(odd))
    try:
        page = await bench.page(name)
    except ToolError as error:
        assert error.code == "unavailable"
    else:
        assert page.results == ()


@pytest.mark.rows("D08")
async def test_what_is_told_is_short_plain_and_clean(bench, server):
    page = f"""<html><head><title>502</title><style>p {{}}</style></head><body>
      <script>var x = "no";</script><h1>Bad&nbsp;gateway</h1><p>{"long " * 2000}</p>"""
    everywhere(server, Answer(page, 502))
    error = await bench.error("tavily")
    assert error.message.startswith("tavily error (502): 502 Bad gateway long long")
    assert len(error.message.encode()) <= 2048 + len("tavily error (502): ")
    assert "var x" not in error.message
    assert "later" in error.hint
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "obey")
    everywhere(server, Answer(f"so{hidden}\r\nthere", 400, "text/plain"))
    assert (await bench.error("tavily")).message == "tavily error (400): so there"
    everywhere(server, Answer(b"\xff\xfe", 418, "text/plain"))
    assert (await bench.error("tavily")).code == "http_status"
    everywhere(server, Answer("", 599, "text/plain"))
    assert (await bench.error("tavily")).message == "tavily error (599): no reason given"


@pytest.mark.rows("D09")
async def test_no_half_of_a_key_stands_at_the_cut(bench, server):
    everywhere(server, Answer("x" * 2040 + KEY + "y", 400, "text/plain"))
    message = (await bench.error("exa")).message
    assert KEY[:6] not in message


async def test_a_wall_in_front_of_a_service_is_a_challenge(bench, server):
    everywhere(server, Answer("<title>Just a moment...</title>", 403))
    assert (await bench.error("tavily")).code == "challenge_page"


async def test_services_are_told_who_asks(bench, server):
    server["/search"] = answer({"results": []})
    await bench.page("tavily")
    assert bench.sent.headers["user-agent"].startswith("toolcrib/")
    assert bench.sent.headers["accept"] == "application/json"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"ratelimit-reset": "9"}, 9),
        ({"x-ratelimit-reset": "12.5"}, 12),
        ({"x-ratelimit-reset": "x"}, None),
        ({"retry-after": "3", "x-ratelimit-reset": "9"}, 3),
        ({"x-ratelimit-remaining": "5, 0", "x-ratelimit-reset": "1, 60"}, 60),
    ],
)
async def test_ways_to_say_how_long(bench, server, headers, seconds):
    everywhere(server, Answer("", 429, headers=headers))
    assert (await bench.error("serper")).details["retry_after"] == seconds


async def test_a_moment_instead_of_a_time(bench, server):
    soon = int(datetime.now(UTC).timestamp()) + 90
    for text in (str(soon), str(soon * 1000)):
        everywhere(server, Answer("", 429, headers={"x-ratelimit-reset": text}))
        assert 60 <= (await bench.error("serper")).details["retry_after"] <= 91
