from __future__ import annotations

import pytest

from tests.servers.scripted import Answer
from tests.tools.web.providers.bench import KEY, answer
from toolcrib.core.errors import BadInput, HttpStatus, RateLimited, TooLarge

WEB, NEWS = "/res/v1/web/search", "/res/v1/news/search"
IMAGES, CONTEXT = "/res/v1/images/search", "/res/v1/llm/context"
RESULT = {
    "title": "A &amp; <strong>B</strong>",
    "url": "https://example.org/?a=b%26c#d",
    "description": " About <strong>it</strong> ",
    "extra_snippets": ["One <strong>more</strong>", "", 3],
    "page_age": "2026-03-04T05:06:07",
    "age": "March 4, 2026",
    "language": "en",
    "family_friendly": True,
}


def web(*results, more=False):
    return answer({"query": {"more_results_available": more}, "web": {"results": list(results)}})


@pytest.mark.rows("D04", "D05", "D10")
async def test_web(bench, server):
    server[WEB] = web(RESULT, {"url": "https://example.org/untitled"}, {"title": "no address"})
    (found,) = await bench.results(
        "brave", "what is it", page=3, freshness="month", safe_search="strict", region="de-DE"
    )
    assert (found.title, found.url) == ("A & B", "https://example.org/?a=b%26c#d")
    assert (found.snippet, found.published) == ("About it", "2026-03-04T05:06:07")
    assert found.extra == {
        "extra_snippets": ["One more"],
        "language": "en",
        "family_friendly": True,
    }
    assert (bench.sent.method, bench.sent.headers["x-subscription-token"]) == ("GET", KEY)
    assert bench.sent.query == {
        "q": "what is it",
        "count": "20",
        "offset": "2",
        "freshness": "pm",
        "safesearch": "strict",
        "country": "DE",
        "search_lang": "de",
        "ui_lang": "de-DE",
        "extra_snippets": "true",
    }


@pytest.mark.parametrize(
    ("region", "wanted"),
    [
        ("", (None, None, None)),
        ("pt-BR", ("BR", "pt-br", "pt-BR")),
        ("ja-JP", ("JP", "jp", "ja-JP")),
        ("en-GB", ("GB", "en-gb", "en-GB")),
        ("fr-ZZ", (None, "fr", None)),
        ("xx-DE", ("DE", None, None)),
        ("en", (None, "en", None)),
    ],
)
async def test_a_region_that_it_does_not_know_is_left_out(bench, server, region, wanted):
    server[WEB] = web(RESULT)
    await bench.page("brave", region=region)
    names = ("country", "search_lang", "ui_lang")
    assert tuple(bench.sent.query.get(name) for name in names) == wanted


async def test_there_are_ten_pages_at_most(bench, server):
    server[WEB] = web(RESULT, more=True)
    assert (await bench.page("brave", page=9)).more
    assert not (await bench.page("brave", page=10)).more
    server[WEB] = answer({"query": {}, "mixed": {}})
    assert await bench.results("brave") == ()


@pytest.mark.rows("D02")
@pytest.mark.parametrize(
    ("query", "reported"), [("x" * 401, "400 characters"), ("a " * 51, "50 words")]
)
@pytest.mark.parametrize("name", ["brave", "brave_news", "brave_images", "brave_context"])
async def test_a_long_query_never_leaves(bench, server, query, reported, name, monkeypatch):
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    error = await bench.error(name, query)
    assert isinstance(error, BadInput)
    assert reported in error.message
    assert server.requested == []


async def test_the_operator_for_a_site_counts(bench, server):
    assert isinstance(await bench.error("brave", "x" * 395, site="example.org"), BadInput)
    server[WEB] = web(RESULT)
    await bench.page("brave", "words", site="example.org")
    assert bench.sent.query["q"] == "words site:example.org"


@pytest.mark.rows("D07", "D22")
async def test_more_than_a_mebibyte_is_an_error(bench, server):
    server[WEB] = Answer(b" " * 1_048_577, kind="application/json")
    error = await bench.error("brave")
    assert isinstance(error, TooLarge)
    assert "1,048,57" in error.message
    server[WEB] = Answer(b" " * (1_048_576 - 2) + b"{}", kind="application/json")
    assert await bench.results("brave") == ()


@pytest.mark.rows("D08")
async def test_its_refusals(bench, server):
    server[WEB] = answer(
        {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": f"no {KEY}"}}, 422
    )
    error = await bench.error("brave")
    assert isinstance(error, HttpStatus)
    assert error.message.startswith('brave error (422): {"error": {"code": "SUBSCRIPTION_TOKEN')
    assert "web.providers.brave.api_key_env" in error.hint
    assert "TEST_KEY" in error.hint
    assert KEY not in repr(error.__dict__)
    server[WEB] = answer(
        {"error": {"code": "RATE_LIMITED"}},
        429,
        x_ratelimit_limit="1, 2000",
        x_ratelimit_remaining="0, 1990",
        x_ratelimit_reset="1, 1419704",
    )
    error = await bench.error("brave")
    assert isinstance(error, RateLimited)
    assert error.details["retry_after"] == 1
    server[WEB] = answer(
        {"error": {"code": "QUOTA_LIMITED"}},
        429,
        x_ratelimit_remaining="1, 0",
        x_ratelimit_reset="1, 1419704",
    )
    error = await bench.error("brave")
    assert (error.details["retry_after"], error.details["reason"]) == (1_419_704, "plan")


async def test_news(bench, server):
    server[NEWS] = answer(
        {
            "type": "news",
            "results": [
                {
                    **RESULT,
                    "breaking": True,
                    "meta_url": {"hostname": "example.org"},
                    "thumbnail": {"src": "https://imgs.example/1"},
                }
            ],
        }
    )
    (found,) = await bench.results("brave_news", "storm", freshness="day", region="en-US")
    assert (found.title, found.published) == ("A & B", "2026-03-04T05:06:07")
    assert (found.extra["source"], found.extra["breaking"]) == ("example.org", True)
    assert bench.sent.query["freshness"] == "pd"
    assert bench.sent.query["country"] == "US"


async def test_images(bench, server):
    server[IMAGES] = answer(
        {
            "type": "images",
            "results": [
                {
                    "title": "A cat",
                    "url": "https://example.org/cats",
                    "source": "example.org",
                    "thumbnail": {"src": "https://imgs.search.brave.com/t", "width": 500},
                    "properties": {
                        "url": "https://example.org/cat%20one.jpg",
                        "width": 800,
                        "height": 600,
                    },
                },
                {"title": "no image", "url": "https://example.org/"},
            ],
        }
    )
    (found,) = await bench.results("brave_images", "cat", safe_search="moderate")
    assert (found.title, found.url) == ("A cat", "https://example.org/cat%20one.jpg")
    assert found.extra == {
        "page": "https://example.org/cats",
        "thumbnail": "https://imgs.search.brave.com/t",
        "width": 800,
        "height": 600,
        "source": "example.org",
    }
    assert bench.sent.query["safesearch"] == "strict"
    assert not {"freshness", "offset", "ui_lang"} & set(bench.sent.query)
    await bench.page("brave_images", safe_search="off")
    assert bench.sent.query["safesearch"] == "off"


async def test_context(bench, server):
    url = "https://example.org/mountains"
    server[CONTEXT] = answer(
        {
            "grounding": {
                "generic": [
                    {"url": url, "title": "Mountains", "snippets": ["Everest is high.", "K2 too."]},
                    {"url": "https://example.org/x", "title": "X", "snippets": None},
                ],
                "map": [],
            },
            "sources": {
                url: {
                    "title": "Mountains",
                    "hostname": "example.org",
                    "age": ["Monday, January 15, 2024", "2024-01-15", "380 days ago"],
                }
            },
        }
    )
    first, second = await bench.results("brave_context", "tallest", freshness="year")
    assert first.content == "Everest is high.\n\nK2 too."
    assert first.snippet == "Everest is high. K2 too."
    assert (first.published, first.extra) == ("2024-01-15", {"source": "example.org"})
    assert (second.content, second.snippet) == ("", "")
    assert bench.sent.query["freshness"] == "py"
    assert bench.sent.query["maximum_number_of_tokens"] == "16384"


async def test_the_settings_of_brave_hold_for_its_sisters(bench, server):
    server[NEWS] = answer({"results": []})
    assert await bench.results("brave_news") == ()
    assert bench.sent.headers["x-subscription-token"] == KEY


@pytest.mark.rows("F07")
@pytest.mark.parametrize(
    ("left", "reported"),
    [("0, 1990", False), ("0, 200", True), ("0, 0", True), ("1", False), ("x, y", False)],
)
async def test_the_requests_of_the_month_are_told_before_they_are_used_up(
    bench, server, left, reported
):
    headers = {"x_ratelimit_limit": "1, 2000", "x_ratelimit_reset": "1, 864000"}
    found = {"web": {"results": [RESULT]}}
    server[WEB] = answer(found, x_ratelimit_remaining=left, **headers)
    await bench.results("brave")
    number = left.rpartition(" ")[2]
    line = f"Brave's key has {number} of 2,000 requests of this month left, for 10 days more."
    assert bench.ctx.warnings == ([line] if reported else [])
