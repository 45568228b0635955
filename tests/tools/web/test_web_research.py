"""`web_research` against a real search instance and real pages on loopback."""

from __future__ import annotations

import asyncio
import json
import re
import threading

import pytest

from tests.conditions import until
from tests.servers.scripted import Answer
from toolcrib.core.context import Caller
from toolcrib.core.result import Result
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

FERRY = """<!doctype html><html><head><title>Ferry guide</title>
<meta property="article:modified_time" content="2026-03-04T10:00:00Z"></head><body><main>
<h1>Ferry guide</h1>{filler}
<h2>Animals</h2><p>Dogs travel free on every ferry but have to be on a lead.</p>
<h2>Fares</h2><p>A bicycle costs 2.50 each way on the ferry to Holm.</p></main></body></html>"""
FILLER = "".join(
    f"<p>Note {n}. The harbour was dredged in the year {1800 + n}, at the town's own cost, "
    "and the stone went into the new wall beside the fish market.</p>"
    for n in range(40)
)
DOGS = """<!doctype html><title>Dogs at sea</title><h1>Dogs at sea</h1>
<p>On the Skarn ferry dogs may not enter the lower saloon. {more}</p>"""
WEATHER = "<!doctype html><title>Weather</title><h1>Weather</h1><p>Rain is likely in autumn.</p>"


def found(server, *results, **more) -> Answer:
    """The answer of a search instance: (path, title, snippet) each."""
    listed = [
        {"url": path if "://" in path else server.url + path, "title": title, "content": snippet}
        | more
        for path, title, snippet in results
    ]
    return Answer(json.dumps({"query": "", "results": listed}), kind="application/json")


@pytest.fixture
def searched(server):
    """Three pages that a search gives."""
    server["/search"] = found(
        server,
        ("/ferry", "Ferry", "All about the ferry."),
        ("/dogs", "Dogs", "Dogs on board."),
        ("/weather", "Weather", "Rain."),
    )
    server["/ferry"] = Answer(FERRY.format(filler=FILLER))
    server["/dogs"] = Answer(DOGS.format(more=""))
    server["/weather"] = Answer(WEATHER)
    return server


@pytest.fixture
async def box(settings):
    fetch = {"host_gap_seconds": 0, "host_concurrency": 8}
    async with Toolbox(config=settings(providers=["searxng"], fetch=fetch)) as box:
        yield box


def code(result: Result) -> str | None:
    return result.error.code if result.error else None


async def ask(box: Toolbox, question: str, **more) -> Result:
    return await box.call("web_research", {"question": question, **more})


async def test_passages_of_several_pages_with_their_sources(box, searched):
    result = await ask(box, "Are dogs allowed on the ferry?")
    assert code(result) is None
    first, second = result.data["sources"][:2]
    assert {first["url"], second["url"]} == {f"{searched.url}/ferry", f"{searched.url}/dogs"}
    assert [source["number"] for source in result.data["sources"][:2]] == [1, 2]
    ferry = next(s for s in result.data["sources"] if s["url"].endswith("/ferry"))
    assert ferry["title"] == "Ferry guide"
    assert ferry["published"].startswith("2026-03-04")
    passage = ferry["passages"][0]
    assert "Dogs travel free" in passage["text"]
    assert passage["headings"] == ["Ferry guide", "Animals"]
    assert f"[{ferry['number']}] Ferry guide (2026-03-04)\n{searched.url}/ferry\n" in result.text
    assert f"[offset {passage['offset']}, Ferry guide > Animals]\nDogs travel free" in result.text
    assert "dredged" not in result.text
    assert "Rain" not in result.text


async def test_the_place_of_a_passage_is_where_fetch_url_reads_on(box, searched):
    result = await ask(box, "Are dogs allowed on the ferry?")
    for source in result.data["sources"]:
        for passage in source["passages"]:
            assert passage["next"]["tool"] == "fetch_url"
            read = await box.call("fetch_url", passage["next"]["arguments"])
            assert read.data["pages"][0]["content"].startswith(passage["text"])
            assert read.data["pages"][0]["cached"] is True
    following = await box.call(result.next.tool, result.next.arguments)
    assert following.error is None
    assert searched.count("/ferry") == 1


async def test_the_place_holds_where_pages_are_read_as_text(settings, searched):
    fetch = {"format": "text", "host_gap_seconds": 0}
    async with Toolbox(config=settings(providers=["searxng"], fetch=fetch)) as box:
        result = await ask(box, "bicycle fares")
        passage = result.data["sources"][0]["passages"][0]
        read = await box.call("fetch_url", passage["next"]["arguments"])
    assert passage["offset"] > 0
    assert read.data["pages"][0]["content"].startswith(passage["text"])


@pytest.mark.parametrize("budget", [300, 500, 1500])
async def test_the_answer_keeps_its_budget(box, searched, budget):
    body = "".join(f"<p>Dogs on the ferry, remark {n}: {'bark ' * 40}{n}</p>" for n in range(60))
    searched["/dogs"] = Answer(DOGS.format(more=body))
    result = await ask(box, "dogs on the ferry", max_tokens=budget)
    assert code(result) is None
    assert estimate(result.render()) <= budget
    assert "read_more" not in result.render()
    assert result.data["sources"]


async def test_the_configured_budget_and_number_of_pages(settings, searched):
    config = settings(providers=["searxng"])
    config["web"]["research"] = {"max_tokens": 250, "pages": 1}
    async with Toolbox(config=config) as box:
        result = await ask(box, "dogs on the ferry")
        assert estimate(result.render()) <= 250
        assert [searched.count(path) for path in ("/ferry", "/dogs", "/weather")] == [1, 0, 0]
        await ask(box, "dogs on the ferry", limit=2)
        assert [searched.count(path) for path in ("/ferry", "/dogs", "/weather")] == [1, 1, 0]


async def test_a_failed_page_is_named_and_replaced(box, searched):
    searched["/ferry"] = Answer("gone", 404, "text/plain")
    result = await ask(box, "dogs on the ferry", limit=2)
    assert code(result) is None
    (failed,) = result.data["failed"]
    assert (failed["url"], failed["code"]) == (f"{searched.url}/ferry", "http_status")
    assert f"Not read: {searched.url}/ferry (http_status)" in result.text
    assert searched.count("/weather") == 1


async def test_a_slow_page_holds_nothing_up(settings, searched):
    hold = threading.Event()
    searched["/weather"] = Answer(WEATHER, hold=hold)
    config = settings(providers=["searxng"], fetch={"host_gap_seconds": 0, "host_concurrency": 8})
    config["limits"] = {"answer_within": 30}
    async with Toolbox(config=config) as box:
        result = await ask(box, "dogs on the ferry")
        assert code(result) is None
        assert {s["url"] for s in result.data["sources"]} == {
            f"{searched.url}/ferry",
            f"{searched.url}/dogs",
        }
        assert [(f["url"], f["code"]) for f in result.data["failed"]] == [
            (f"{searched.url}/weather", "timeout")
        ]
        assert not hold.is_set()


async def test_what_is_there_is_given_before_the_caller_gives_up(settings, searched):
    searched["/weather"] = Answer(WEATHER, hold=threading.Event())
    searched["/dogs"] = Answer(WEATHER, hold=threading.Event())
    caller = Caller("test", answer_within=8.0)
    async with Toolbox(config=settings(providers=["searxng"])) as box:
        result = await box.call("web_research", {"question": "dogs on a ferry"}, caller=caller)
    assert result.job == "", "an answer, not a job"
    assert [s["url"] for s in result.data["sources"]] == [f"{searched.url}/ferry"]


async def test_all_pages_failed_leaves_the_snippets(box, searched):
    for path in ("/ferry", "/dogs", "/weather"):
        searched[path] = Answer("no", 403, "text/plain")
    result = await ask(box, "dogs on the ferry")
    assert code(result) is None
    assert "No page could be read; these are snippets of the search." in result.text
    assert "Dogs on board." in result.text
    assert all(s["kind"] == "snippet" for s in result.data["sources"])
    assert all("offset" not in p for s in result.data["sources"] for p in s["passages"])
    assert len(result.data["failed"]) == 3


async def test_nothing_at_all_is_an_error_that_tells_most(box, server):
    server["/search"] = found(server, ("/a", "A", ""), ("/b", "B", ""))
    server["/a"] = Answer("slow down", 429, "text/plain", {"Retry-After": "3600"})
    server["/b"] = Answer("no", 404, "text/plain")
    result = await ask(box, "dogs")
    assert code(result) == "rate_limited"
    assert result.error.hint
    assert {p["code"] for p in result.error.details["pages"]} == {"rate_limited", "http_status"}


async def test_a_search_that_finds_nothing_says_so(box, server):
    server["/search"] = found(server)
    result = await ask(box, "What is the zxqv of a flurb?")
    assert code(result) == "no_results"
    assert result.error.hint


async def test_a_question_that_finds_nothing_is_asked_again_in_its_words(box, searched):
    full, words = "Are dogs allowed on the ferry", "dogs allowed ferry"
    results = searched.script["/search"]
    nothing = found(searched)
    searched["/search"] = lambda request: results if request.query["q"] == words else nothing
    result = await ask(box, f"{full}?")
    assert code(result) is None
    requested = [r.query["q"] for r in searched.requested if r.path == "/search"]
    assert list(dict.fromkeys(requested)) == [full, words]


@pytest.mark.parametrize("question", ["", "   ", "\u200b"])
async def test_an_empty_question_is_refused(box, question):
    assert code(await ask(box, question)) == "bad_input"


async def test_a_question_longer_than_a_query_is_still_asked(box, searched):
    question = "I would like to know " + "whether dogs may travel on the ferry " * 40 + "?"
    assert code(await ask(box, question)) is None
    sent = next(r.query["q"] for r in searched.requested if r.path == "/search")
    assert len(sent) <= 300
    assert "ferry" in sent


async def test_repeated_passages_are_shown_once(box, searched):
    searched["/weather"] = Answer(DOGS.format(more=""))
    result = await ask(box, "dogs lower saloon")
    assert result.text.count("lower saloon") == 1
    assert "1 of 3 sources, best first (2 others said the same or nothing on it)" in result.text


async def test_a_search_service_that_sends_the_text_is_believed(settings, server, monkeypatch):
    monkeypatch.setenv("TEST_TAVILY_KEY", "k")
    text = "Dogs travel free on the ferry. " + "The quay is long and made of granite blocks. " * 20
    answer = {
        "results": [
            {"title": "Ferry", "url": f"{server.url}/ferry", "content": "s", "raw_content": text}
        ]
    }
    server["/search"] = Answer(json.dumps(answer), kind="application/json")
    config = settings(providers=["tavily"])
    config["web"]["providers"]["tavily"] = {
        "base_url": server.url,
        "api_key_env": "TEST_TAVILY_KEY",
    }
    async with Toolbox(config=config) as box:
        result = await ask(box, "dogs on the ferry")
    assert code(result) is None
    (source,) = result.data["sources"]
    assert source["kind"] == "extract"
    assert server.count("/ferry") == 0
    assert source["passages"][0]["next"]["arguments"] == {"url": f"{server.url}/ferry"}


async def test_a_page_in_other_words_shows_its_opening(box, server):
    server["/search"] = found(server, ("/weather", "W", "Rain."))
    server["/weather"] = Answer(WEATHER)
    result = await ask(box, "quantum chromodynamics")
    assert code(result) is None
    head = result.text.split("\n")[1]
    assert head.startswith("No passage of the pages that were read (1) answers that")
    assert "'quantum'" in head
    assert "Rain is likely" in result.text
    assert result.data["answered"] is False


@pytest.mark.rows("A44")
async def test_what_answers_nothing_costs_little_and_keeps_titles_with_their_text(box, server):
    paths = [f"/weather{n}" for n in range(5)]
    server["/search"] = found(server, *((path, "W", "Rain.") for path in paths))
    for number, path in enumerate(paths):
        server[path] = Answer(
            f"<title>Weather of {number}</title><h1>Weather of {number}</h1>"
            + f"<p>Rain is likely on day {number}, with some wind from the sea.</p>" * 60
        )
    result = await ask(box, "quantum chromodynamics", limit=5)
    assert code(result) is None
    assert estimate(result.text) < 700
    blocks = result.text.split("\n\n")[1:]
    assert len(blocks) == 5
    for block in blocks:
        number = re.search(r"Weather of (\d)", block)
        assert number is not None
        assert f"on day {number[1]}" in block
    assert result.next is not None
    assert result.next.tool == "fetch_url"


async def test_words_that_no_page_has_are_told(box, searched):
    result = await ask(box, "dogs ferry zeppelin")
    assert "No page has the words 'zeppelin'." in result.text
    assert result.data["missing"] == ["zeppelin"]


@pytest.mark.rows("A44")
async def test_it_tells_what_it_is_doing(box, searched, watcher):
    await box.call("web_research", {"question": "dogs on the ferry"}, caller=watcher.caller)
    reported = "\n".join(watcher.messages)
    assert re.search(
        r"Searching for 'dogs on the ferry'\n(.*\n)*Reading 3 pages\n(.*\n)*Read 1 of", reported
    )


async def test_a_result_that_leads_inside_is_not_fetched(box, searched):
    searched["/search"] = found(
        searched,
        ("http://169.254.169.254/latest", "Inside", ""),
        ("/ferry", "Ferry", ""),
    )
    result = await ask(box, "dogs on the ferry")
    assert code(result) is None
    assert [f["code"] for f in result.data["failed"]] == ["blocked_address"]


async def test_pages_that_are_all_blocked_give_the_hint_once(box, searched):
    inside = [(f"http://10.0.0.{n}/page", f"Inside {n}", "Dogs on the ferry.") for n in range(1, 6)]
    searched["/search"] = found(searched, *inside)
    result = await ask(box, "dogs on the ferry")
    assert code(result) is None
    assert result.text.count("(blocked_address)") == 1
    assert result.text.count("allow_hosts") == 1
    assert result.next is None
    assert "fetch_url" not in result.text


async def test_a_rule_of_the_user_holds_for_what_the_search_found(settings, searched):
    config = settings(providers=["searxng"])
    rule = {"action": "deny", "target": f"{searched.url}/ferry"}
    config["policy"] = {"rules": [rule]}
    async with Toolbox(config=config) as box:
        result = await ask(box, "dogs on the ferry")
    assert [(f["url"], f["code"]) for f in result.data["failed"]] == [
        (f"{searched.url}/ferry", "denied")
    ]
    assert searched.count("/ferry") == 0


async def test_cancelling_stops_the_reading(box, searched):
    hold = threading.Event()
    for path in ("/ferry", "/dogs", "/weather"):
        searched[path] = Answer(WEATHER, hold=hold)
    task = asyncio.create_task(ask(box, "dogs on the ferry"))
    await until(lambda: searched.count("/ferry"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not [t for t in asyncio.all_tasks() if "gather" in repr(t.get_coro())])
    hold.set()


async def test_equal_questions_give_the_same(box, searched):
    first = await ask(box, "dogs on the ferry")
    requested = len(searched.requested)
    second = await ask(box, "dogs on the ferry")
    assert first.text == second.text
    assert len(searched.requested) == requested, "the second one came from the caches"


async def test_a_very_long_url_is_shown_as_a_reference(box, server):
    path = "/ferry/" + "x" * 400
    server["/search"] = found(server, (path, "Ferry", ""))
    server[path] = Answer(FERRY.format(filler=FILLER))
    result = await ask(box, "dogs on the ferry")
    (source,) = result.data["sources"]
    assert source["url"] == server.url + path
    assert "ref://" in result.text
    assert path not in result.text
    passage = source["passages"][0]
    read = await box.call("fetch_url", passage["next"]["arguments"])
    assert read.data["pages"][0]["content"].startswith(passage["text"])
