from __future__ import annotations

import pytest

from tests.servers.scripted import Answer
from tests.tools.web.providers.bench import answer
from toolcrib.core.errors import NotConfigured, Unavailable

RESULT = {
    "url": "https://example.org/?a=b%26c",
    "title": "One",
    "content": "About  one",
    "engine": "brave",
    "engines": ["brave", "mojeek"],
    "score": 3.5,
    "publishedDate": "2026-01-02T00:00:00",
    "category": "general",
}


def given(*results, silent=(), **more):
    return answer(
        {"query": "q", "results": list(results), "unresponsive_engines": list(silent), **more}
    )


async def test_pages(bench, server):
    server["/search"] = given(
        RESULT,
        {"title": "no address"},
        answers=[{"answer": "42"}],
        infoboxes=[{"infobox": "x"}],
        suggestions=["y"],
    )
    page = await bench.page(
        "searxng", "q", page=2, freshness="week", safe_search="off", region="de-AT"
    )
    (found,) = page.results
    assert (found.title, found.url) == ("One", "https://example.org/?a=b%26c")
    assert (found.snippet, found.published) == ("About one", "2026-01-02T00:00:00")
    assert found.extra == {"engines": ["brave", "mojeek"], "score": 3.5}
    assert page.more
    assert bench.sent.query == {
        "q": "q",
        "format": "json",
        "pageno": "2",
        "language": "de-AT",
        "time_range": "week",
        "safesearch": "0",
    }


async def test_engines_that_did_not_answer_are_told(bench, server):
    silent = [["google", "CAPTCHA"], ["brave", "too many requests"], "qwant", None]
    server["/search"] = given(RESULT, silent=silent)
    assert len(await bench.results("searxng")) == 1
    reported = "searxng had no answer from brave (too many requests), google (CAPTCHA), qwant."
    assert bench.ctx.warnings == [reported]


async def test_nothing_because_no_engine_answered_is_not_nothing(bench, server):
    server["/search"] = given(silent=[["google", "timeout"]])
    error = await bench.error("searxng")
    assert isinstance(error, Unavailable)
    assert "google (timeout)" in error.message
    server["/search"] = given()
    page = await bench.page("searxng")
    assert (page.results, page.more) == ((), False)


async def test_news(bench, server):
    server["/search"] = given({**RESULT, "category": "news"})
    assert len(await bench.results("searxng_news")) == 1
    assert bench.sent.query["categories"] == "news"


async def test_images(bench, server):
    server["/search"] = given(
        {
            "url": "https://example.org/page",
            "title": "A cat",
            "img_src": "//cdn.example.org/cat.jpg",
            "thumbnail_src": "https://cdn.example.org/t.jpg",
            "resolution": "800 x 600",
            "source": "example.org",
            "engine": "bing images",
        },
        {"url": "https://example.org/", "title": "none", "img_src": ""},
    )
    (found,) = await bench.results("searxng_images")
    assert found.url == "http://cdn.example.org/cat.jpg"
    assert found.extra == {
        "page": "https://example.org/page",
        "thumbnail": "https://cdn.example.org/t.jpg",
        "width": 800,
        "height": 600,
        "source": "example.org",
        "engines": ["bing images"],
    }
    assert bench.sent.query["categories"] == "images"


@pytest.mark.parametrize("name", ["searxng", "searxng_news", "searxng_images"])
async def test_an_instance_without_json_says_what_to_set(bench, server, name):
    server["/search"] = Answer("<h1>Forbidden</h1>", 403)
    error = await bench.error(name)
    assert isinstance(error, NotConfigured)
    assert "search.formats" in error.hint


async def test_an_instance_behind_a_key(bench, server):
    server["/search"] = given(RESULT)
    await bench.page("searxng")
    assert "authorization" not in bench.sent.headers


@pytest.mark.parametrize(("name", "kind"), [("searxng", "url"), ("searxng_images", "img_src")])
async def test_an_address_that_cannot_be_read_spoils_nothing(bench, server, name, kind):
    addresses = ["http://[b", "https://a.example/", f"https://c.example/{'c' * 9000}"]
    server["/search"] = given(*({"title": "a", "url": "x", kind: url} for url in addresses))
    assert [found.url for found in await bench.results(name)] == ["https://a.example/"]
