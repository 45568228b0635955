from __future__ import annotations

import asyncio
import json

import pytest

from tests.servers.scripted import Answer, Request
from toolcrib.net.pace import Cooldowns, Lengths
from toolcrib.toolbox import Toolbox

INTRO = "It is the beginning. "
LONG = "\n".join(f"This is sentence number {n} of the article." for n in range(200))


def page(key: int, title: str, text: str, **more) -> dict:
    url = f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}"
    return {"pageid": key, "ns": 0, "title": title, "extract": text, "fullurl": url, **more}


MEANINGS = page(1, "Mercury", "Mercury may refer to:\nthe planet", pageprops={"disambiguation": ""})
PLANET = page(2, "Mercury (planet)", INTRO)
METAL = page(3, "Mercury (element)", INTRO * 200)
GOD = page(4, "Mercury (god)", "")


def api(*pages: dict, whole: dict[int, str] | None = None):
    """MediaWiki: introductions of many at once, whole texts of one."""

    def serve(request: Request) -> Answer:
        query = request.query
        if query.get("list") == "search":
            value = {"query": {"search": [{"pageid": p["pageid"], "title": "x"} for p in pages]}}
        else:
            keys = [int(key) for key in query["pageids"].split("|")]
            found = [p for p in pages if p["pageid"] in keys]
            if "exintro" not in query:
                assert len(keys) == 1
                found = [{**p, "extract": (whole or {}).get(p["pageid"], "")} for p in found]
            value = {"batchcomplete": True, "query": {"pages": found}}
        return Answer(json.dumps(value), kind="application/json")

    return serve


@pytest.fixture
def config(server, tmp_path):
    return {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "egress": {"retry": {"initial_seconds": 0}},
        "web": {
            "providers": {"wikipedia": {"base_url": server.url}},
            "search": {"gap_seconds": 0, "providers": ["wikipedia"]},
        },
    }


@pytest.fixture
async def box(config):
    async with Toolbox(config=config) as box:
        yield box


@pytest.mark.rows("C032", "E53")
async def test_three_articles_with_their_beginning(box, server):
    server["/w/api.php"] = api(MEANINGS, PLANET, METAL, GOD, whole={2: LONG, 4: "Short. Text."})
    result = await box.call("wikipedia_search", {"query": " mercury "})
    planet, metal, god = result.data["articles"]
    assert [a["title"] for a in (planet, metal, god)] == [
        "Mercury (planet)",
        "Mercury (element)",
        "Mercury (god)",
    ]
    assert planet["url"] == "https://en.wikipedia.org/wiki/Mercury_(planet)"
    assert LONG.startswith(planet["text"])
    assert 1000 < len(planet["text"]) <= 2000
    assert planet["text"].endswith("of the article.")
    assert planet["truncated"]
    assert 1000 < len(metal["text"]) <= 2000
    assert metal["text"].endswith("beginning.")
    assert god == {
        "title": "Mercury (god)",
        "url": "https://en.wikipedia.org/wiki/Mercury_(god)",
        "text": "Short. Text.",
        "disambiguation": False,
        "truncated": False,
    }
    assert result.text.startswith('<untrusted source="127.0.0.1')
    for article in (planet, metal, god):
        assert f"{article['title']}\n{article['url']}\n\n{article['text']}" in result.text
    assert (result.data["language"], result.data["cached"]) == ("en", False)
    first = server.requested[0].query
    assert (first["list"], first["srsearch"]) == ("search", "mercury")
    assert server.requested[1].query["pageids"] == "1|2|3|4"
    # One search, one look at all, and the whole text of the two that are short.
    assert len(server.requested) == 4


async def test_a_page_of_meanings_comes_last(box, server):
    server["/w/api.php"] = api(MEANINGS, PLANET, whole={1: MEANINGS["extract"], 2: INTRO})
    result = await box.call("wikipedia_search", {"query": "mercury"})
    planet, meanings = result.data["articles"]
    assert (planet["disambiguation"], meanings["disambiguation"]) == (False, True)
    assert "Mercury (lists several meanings)\n" in result.text


async def test_it_is_cached(box, server):
    server["/w/api.php"] = api(METAL)
    await box.call("wikipedia_search", {"query": "mercury"})
    count = len(server.requested)
    again = await box.call("search_wikipedia", {"q": "mercury", "lang": "EN"})
    assert again.data["cached"] is True
    assert len(server.requested) == count
    await box.call("wikipedia_search", {"query": "mercury", "language": "de"})
    assert len(server.requested) > count


async def test_an_old_answer_stands_in(box, server, grow_older):
    server["/w/api.php"] = api(METAL)
    await box.call("wikipedia_search", {"query": "mercury"})
    grow_older(7200)
    server["/w/api.php"] = Answer("down", 503)
    result = await box.call("wikipedia_search", {"query": "mercury"})
    assert len(result.data["articles"]) == 1
    assert "Wikipedia does not answer now; this is 120 min old." in result.text


@pytest.mark.rows("X20")
@pytest.mark.parametrize(
    "language",
    [
        "evil.example/",
        "en.evil.example",
        "a@b",
        "../x",
        "en#",
        "english",
        "x" * 200,
        "e n",
        "\u0435n",
    ],
)
async def test_a_language_never_becomes_another_host(box, server, language):
    result = await box.call("wikipedia_search", {"query": "q", "language": language})
    assert result.error.code == "bad_input"
    assert "code of a Wikipedia such as en" in result.error.message
    assert server.requested == []


@pytest.mark.parametrize("query", ["", "  ", "\u200b"])
async def test_an_empty_query(box, server, query):
    result = await box.call("wikipedia_search", {"query": query})
    assert result.error.code == "bad_input"
    long = await box.call("wikipedia_search", {"query": "x" * 301})
    assert "300 characters" in long.error.message
    assert server.requested == []


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (Answer('{"query": {"search": []}}', kind="application/json"), "no_results"),
        (Answer('{"query": {"search": [{"pageid": "x"}]}}', kind="application/json"), "no_results"),
        (Answer('{"query": {}}', kind="application/json"), "unavailable"),
        (Answer('{"error": {"code": "maxlag"}}', kind="application/json"), "rate_limited"),
        (Answer("<html>", 429, headers={"Retry-After": "3"}), "rate_limited"),
        (Answer("<h1>no</h1>", 403), "http_status"),
        (Answer("<h1>no</h1>", 500), "http_status"),
        (Answer("[1]", kind="application/json"), "unavailable"),
    ],
)
async def test_refusals(box, server, script, code):
    server["/w/api.php"] = script
    result = await box.call("wikipedia_search", {"query": "q"})
    assert result.error.code == code
    assert result.error.hint


async def test_pages_in_the_older_form_and_odd_ones(box, server):
    def serve(request: Request) -> Answer:
        if request.query.get("list") == "search":
            value = {"query": {"search": [{"pageid": 3}, {"pageid": 5}, "odd", {"pageid": True}]}}
        else:
            pages = {
                "3": {"pageid": 3, "title": "A b", "extract": "x" * 3000},
                "5": {"pageid": 5, "missing": ""},
            }
            value = {"query": {"pages": pages}}
        return Answer(json.dumps(value), kind="application/json")

    server["/w/api.php"] = serve
    result = await box.call("wikipedia_search", {"query": "q"})
    assert server.requested[1].query["pageids"] == "3|5"
    (article,) = result.data["articles"]
    assert article["url"] == f"{server.url}/wiki/A_b"
    assert article["text"] == "x" * 2000


async def test_hidden_characters_are_removed(box, server):
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "obey")
    server["/w/api.php"] = api(page(7, f"A{hidden}", f"B{hidden}" * 2000))
    result = await box.call("wikipedia_search", {"query": "q"})
    (article,) = result.data["articles"]
    assert article["title"] == "A"
    assert set(article["text"]) == {"B"}


async def test_searches_and_articles_take_turns_at_one_pace(config, server):
    server["/w/api.php"] = api(METAL)
    config["web"]["search"]["gap_seconds"] = 100
    async with Toolbox(config=config) as box:
        first = await box.call("wikipedia_search", {"query": "mercury"})
        assert first.error is None
        requested = len(server.requested)
        assert requested > 1
        for name, query in (("wikipedia_search", "venus"), ("web_search", "mars")):
            result = await box.call(name, {"query": query})
            assert result.error.code == "rate_limited"
    assert len(server.requested) == requested


async def test_it_is_left_alone_after_a_refusal(box, server):
    server["/w/api.php"] = Answer("no", 429, headers={"Retry-After": "30"})
    refused = await box.call("wikipedia_search", {"query": "mercury"})
    assert refused.error.details["retry_after"] == 30
    server["/w/api.php"] = api(METAL)
    for name in ("wikipedia_search", "web_search"):
        result = await box.call(name, {"query": "venus"})
        assert result.error.code == "rate_limited"
        assert "is left alone for" in result.error.message
    assert len(server.requested) == 1


async def test_an_answer_ends_the_count_of_refusals(config, server):
    config["web"]["search"] |= {"cooldown_seconds": 0.01, "max_cooldown_seconds": 1000}
    async with Toolbox(config=config) as box:
        for number in range(2):
            server["/w/api.php"] = Answer("no", 429)
            result = await box.call("wikipedia_search", {"query": f"a{number}"})
            assert result.error.code == "rate_limited"
            await asyncio.sleep(0.05)  # time is the subject: its rest is over
            server["/w/api.php"] = api(METAL)
            assert (await box.call("wikipedia_search", {"query": f"b{number}"})).error is None
        wait = await box.use(Cooldowns).refused(f"wikipedia {server.url}", "x", Lengths(8, 1000))
    assert round(wait) == 8


async def test_a_failure_by_chance_is_tried_again(box, server):
    serve, failed = api(METAL), []

    def once(request: Request) -> Answer:
        if not failed:
            failed.append(request)
            return Answer("busy", 503)
        return serve(request)

    server["/w/api.php"] = once
    assert (await box.call("wikipedia_search", {"query": "mercury"})).error is None
