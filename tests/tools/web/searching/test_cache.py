"""What is kept of a search, and that equal searches are made once."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

from tests.servers.scripted import Answer
from tests.tools.web import serp
from tests.tools.web.made_up import EMPTY, LIMITED, answer, results, service
from toolcrib.toolbox import Toolbox

PROCESS = Path(__file__).parents[3] / "servers" / "search_process.py"
ROOT = Path(__file__).parents[4]
FULL = serp.searxng(*((f"T{n}", f"https://example.org/{n}", "") for n in range(10)))


def reported(result):
    return result.data["queries"][0]


@pytest.mark.rows("A08", "C036")
async def test_fifty_equal_calls_make_one_request(server, made_up):
    server["/alpha/find"] = answer(*results("ab"))
    box = await made_up(gap_seconds=5)
    calls = (box.call("web_search", {"query": "q"}) for _ in range(50))
    done = await asyncio.gather(*calls)
    assert all(not r.error for r in done)
    assert len(server.requested) == 1
    assert len({json.dumps(reported(r)["results"]) for r in done}) == 1


async def test_fifty_equal_calls_that_are_refused_make_one_request(server, made_up):
    server["/alpha/find"] = LIMITED
    box = await made_up(service("alpha"))
    done = await asyncio.gather(*(box.call("web_search", {"query": "q"}) for _ in range(50)))
    assert {r.error.code for r in done} == {"rate_limited"}
    # One is told by the server, the others by the seconds that are left.
    assert len({re.sub(r"\d+ s more", "", r.error.message) for r in done}) <= 2
    assert len(server.requested) == 1


async def _run(settings: dict, count: int) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    words = (sys.executable, str(PROCESS), json.dumps(settings), str(count))
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, cwd=ROOT)
    assert process.stdout
    assert await process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.rows("A08")
async def test_two_processes_make_one_request(server, settings):
    server["/search"] = FULL
    config = settings(providers=["searxng"])
    processes = await asyncio.gather(_run(config, 25), _run(config, 25))
    reply = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    assert [out.split() for out, _ in reply] == [[b"25"], [b"25"]]
    assert server.count("/search") == 1


async def test_two_processes_share_a_rest(server, settings):
    server["/search"] = Answer("", 429)
    config = settings(providers=["searxng"])
    for _ in range(2):
        process = await _run(config, 3)
        out, _ = await process.communicate(b"go\n")
        assert out.split() == [b"0", b"rate_limited"]
    assert server.count("/search") == 1


@pytest.mark.rows("A08", "A09")
async def test_results_are_kept_by_all_that_matters(server, made_up, watcher):
    server["/alpha/find"] = answer(*results("abc"))
    box = await made_up()
    first = await box.call("web_search", {"query": "q"}, caller=watcher.caller)
    again = await box.call("web_search", {"query": "q", "limit": 2}, caller=watcher.caller)
    assert (reported(first)["cached"], reported(again)["cached"]) == (False, True)
    assert reported(again)["providers"][0]["cached"] is True
    assert "(cached)" not in first.text
    assert "2 results (cached)" in again.text
    assert "Found 3 web pages with alpha" in watcher.messages
    assert "Found 2 web pages (cached) with alpha" in watcher.messages
    others = [
        {"freshness": "day"},
        {"safe_search": "off"},
        {"region": "de-DE"},
        {"site": "example.org"},
        {"query": "Q"},
    ]
    for number, other in enumerate(others, 2):
        await box.call("web_search", {"query": "q", **other})
        assert len(server.requested) == number


async def test_the_count_matters_where_it_changes_the_answer(server, made_up):
    server["/alpha/find"] = answer(*results(range(30)))
    box = await made_up(service("alpha", counted=True))
    for limit, requests in ((3, 1), (10, 1), (20, 2)):
        await box.call("web_search", {"query": "q", "limit": limit})
        assert len(server.requested) == requests
    assert [request.query["count"] for request in server.requested] == ["10", "20"]


@pytest.mark.rows("A08")
async def test_what_is_kept_outlives_the_process_and_ends(server, made_up, grow_older):
    server["/alpha/find"] = answer(*results("abc"))
    await (await made_up()).call("web_search", {"query": "q"})
    box = await made_up()
    assert reported(await box.call("web_search", {"query": "q"}))["cached"]
    grow_older(901)
    assert not reported(await box.call("web_search", {"query": "q"}))["cached"]


@pytest.mark.rows("A08")
async def test_nothing_is_kept_when_that_is_switched_off(server, made_up):
    server["/alpha/find"] = answer(*results("abc"))
    box = await made_up(cache_seconds=0)
    for _ in range(3):
        assert not reported(await box.call("web_search", {"query": "q"}))["cached"]
    assert len(server.requested) == 3


@pytest.mark.rows("A08")
async def test_only_so_many_are_kept(server, made_up):
    server["/alpha/find"] = answer(*results("abc"))
    box = await made_up(cache_entries=2)
    for query in "abca":
        await box.call("web_search", {"query": query})
    assert len(server.requested) == 4


async def test_that_there_is_nothing_is_kept_briefly(server, made_up, grow_older):
    server["/alpha/find"] = EMPTY
    box = await made_up(service("alpha"))
    for _ in range(3):
        assert (await box.call("web_search", {"query": "q"})).error.code == "no_results"
    assert len(server.requested) == 1
    grow_older(121)
    server["/alpha/find"] = answer(*results("a"))
    assert (await box.call("web_search", {"query": "q"})).error is None


async def test_failures_are_not_kept(server, made_up):
    server["/alpha/find"] = Answer("", 500)
    box = await made_up(cooldown_seconds=0)
    assert (await box.call("web_search", {"query": "q", "provider": "alpha"})).error
    server["/alpha/find"] = answer(*results("a"))
    assert not (await box.call("web_search", {"query": "q", "provider": "alpha"})).error


async def test_old_results_stand_in_when_no_provider_answers(server, made_up, grow_older):
    server["/alpha/find"] = answer(*results("ab"))
    box = await made_up(service("alpha"), service("beta"))
    await box.call("web_search", {"query": "q"})
    grow_older(7200)
    server["/alpha/find"] = LIMITED
    server["/beta/find"] = answer(*results("c"))
    fresh = await box.call("web_search", {"query": "q"})
    server["/beta/find"] = Answer("no", 500)
    grow_older(7200)
    old = await box.call("web_search", {"query": "q"})
    assert [r["url"] for r in reported(fresh)["results"]] == ["https://example.org/c"]
    assert reported(fresh)["stale"] is False
    assert [r["title"] for r in reported(old)["results"]] == ["Title a", "Title b"]
    assert reported(old)["stale"] is True
    assert [p["status"] for p in reported(old)["providers"]] == ["stale", "stale"]
    assert "Note: No provider answers now; these results are 240 min old." in old.text


async def test_a_store_that_is_broken_costs_nothing_but_the_keeping(server, settings, tmp_path):
    (tmp_path / "file").write_text("")
    server["/search"] = FULL
    config = settings(providers=["searxng"])
    config["store"]["url"] = f"sqlite:///{tmp_path}/file/store.db"
    async with Toolbox(config=config) as box:
        assert not (await box.call("web_search", {"query": "q"})).error
        server["/search"] = Answer("", 429)
        for _ in range(2):
            failed = await box.call("web_search", {"query": "other"})
            assert failed.error.code == "rate_limited"
    assert server.count("/search") == 2
