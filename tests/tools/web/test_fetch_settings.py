"""Every setting of `web.fetch` holds, and a batch shares its budget."""

from __future__ import annotations

import asyncio
import base64
import threading
import time
from collections.abc import Callable

import pytest

from tests.servers.scripted import Answer, Crowd, Request
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def pages(result):
    assert result.error is None, result.error
    return result.data["pages"]


@pytest.mark.rows("A15", "A46")
async def test_the_usual_format_is_the_users(server, settings):
    server["/page"] = Answer("<p>See <a href=/x>this</a>.")
    async with Toolbox(config=settings(fetch={"format": "text"})) as box:
        [page] = pages(await box.call("fetch_url", {"url": f"{server.url}/page"}))
    assert page["content"] == "See this."


@pytest.mark.rows("A16", "A46")
async def test_the_usual_budget_is_the_users(server, settings):
    server["/page"] = Answer("<p>words and more " * 3000)
    async with Toolbox(config=settings(fetch={"max_tokens": 500})) as box:
        result = await box.call("fetch_url", {"url": f"{server.url}/page"})
    [page] = pages(result)
    assert 200 < estimate(result.text) <= 500
    assert page["length"] > page["end"]
    assert f"of {page['length']:,}" in result.text
    assert result.data["limits"] == {"max_tokens": 500, "max_bytes": 5_000_000, "timeout": 20.0}


@pytest.mark.rows("A45")
async def test_pages_are_kept_where_the_user_says(server, tmp_path, monkeypatch):
    server["/page"] = Answer("<p>Kept.")
    config = {"egress": {"allow_hosts": [server.origin]}}
    for folder in ("one", "two", "one"):
        monkeypatch.setenv("TOOLCRIB_DATA", str(tmp_path / folder))
        async with Toolbox(config=config) as box:
            [page] = pages(await box.call("fetch_url", {"url": f"{server.url}/page"}))
        assert (tmp_path / folder / "toolcrib.db").is_file()
    assert page["cached"]
    assert server.count("/page") == 2


@pytest.mark.rows("B17", "D21")
async def test_the_time_is_bounded(server, settings):
    hold = threading.Event()
    server["/page"] = Answer("<p>late", hold=hold)
    config = settings(fetch={"timeout": 0.3})
    config["egress"]["retry"]["retries"] = 0
    async with Toolbox(config=config) as box:
        result = await box.call("fetch_url", {"url": f"{server.url}/page"})
    hold.set()
    assert result.error.code == "timeout"
    assert "0.3 s" in result.error.message


@pytest.mark.rows("B17", "D21")
async def test_the_time_bounds_all_tries_of_a_page(server, settings):
    hold = threading.Event()
    server["/silent"] = Answer("<p>late", hold=hold)
    server["/busy"] = Answer("<p>later", 503, headers={"Retry-After": "4"})
    config = settings(fetch={"timeout": 0.8})
    config["egress"]["retry"]["retries"] = 4
    async with Toolbox(config=config) as box:
        silent = await box.call("fetch_url", {"url": f"{server.url}/silent"})
    config["web"]["fetch"]["timeout"] = 3.0
    async with Toolbox(config=config) as box:
        busy = await box.call("fetch_url", {"url": f"{server.url}/busy"})
    hold.set()
    assert silent.error.code == "timeout"
    assert "within 0.8 s" in silent.error.message
    assert busy.error.details["status"] == 503
    assert server.count("/silent") == server.count("/busy") == 1


@pytest.mark.rows("B17", "D21")
async def test_a_second_try_has_the_time_that_is_left(server, settings):
    hold, tries = threading.Event(), []

    def answer(request) -> Answer:
        tries.append(time.monotonic())
        return Answer("<p>later", 503) if len(tries) == 1 else Answer("<p>late", hold=hold)

    server["/page"] = answer
    config = settings(fetch={"timeout": 2.0})
    config["egress"]["retry"]["retries"] = 4
    async with Toolbox(config=config) as box:
        result = await box.call("fetch_url", {"url": f"{server.url}/page"})
    hold.set()
    assert result.error.code == "timeout"
    assert len(tries) == 2


@pytest.mark.rows("A41", "X21")
async def test_one_host_gets_so_many_requests_at_once(server, settings):
    crowd = Crowd(expected=2)
    for n in range(8):
        server[f"/{n}"] = crowd.answer
    async with Toolbox(config=settings(fetch={"host_concurrency": 2})) as box:
        pages(await box.call("fetch_url", {"urls": [f"{server.url}/{n}" for n in range(8)]}))
    assert crowd.peak == 2


@pytest.mark.rows("A41", "X21")
async def test_requests_to_one_host_keep_a_gap_between_processes_and_hops(server, settings):
    times: list[float] = []

    def noted(answer: Answer) -> Callable[[Request], Answer]:
        return lambda _: times.append(time.monotonic()) or answer

    for n in range(3):
        server[f"/{n}"] = noted(Answer("<p>words"))
    server["/go"] = noted(Answer("", 302, headers={"Location": "/2"}))
    config = settings(fetch={"host_gap_seconds": 0.2})
    async with Toolbox(config=config) as one, Toolbox(config=config) as two:
        began = time.monotonic()
        await asyncio.gather(
            one.call("fetch_url", {"urls": [f"{server.url}/0", f"{server.url}/go"]}),
            two.call("fetch_url", {"url": f"{server.url}/1"}),
        )
    assert len(times) == 4
    for number, came in enumerate(sorted(times)):
        assert came - began > number * 0.2 - 0.01, "earlier than its turn"


@pytest.mark.rows("A41")
async def test_waiting_for_a_turn_takes_none_of_the_time_of_a_page(server, settings):
    for n in range(4):
        server[f"/{n}"] = Answer("<p>words")
    config = settings(fetch={"host_gap_seconds": 1.0, "timeout": 2.5})
    async with Toolbox(config=config) as box:
        result = await box.call("fetch_url", {"urls": [f"{server.url}/{n}" for n in range(4)]})
    assert [page["status"] for page in pages(result)] == ["ok"] * 4


async def test_so_many_pages_of_a_call_are_fetched_at_once(server, settings):
    crowd = Crowd(expected=3)
    for n in range(8):
        server[f"/{n}"] = crowd.answer
    config = settings(fetch={"host_concurrency": 8, "concurrency": 3})
    async with Toolbox(config=config) as box:
        pages(await box.call("fetch_url", {"urls": [f"{server.url}/{n}" for n in range(8)]}))
    assert crowd.peak == 3


@pytest.mark.rows("B13", "B14")
async def test_what_short_pages_leave_goes_to_long_ones(server, box):
    server["/long"] = Answer("<title>Long</title>" + "<p>words and more of them</p>" * 3000)
    server["/a"] = server["/b"] = Answer("<title>Short</title><p>short")
    urls = [f"{server.url}/{name}" for name in ("a", "long", "b")]
    result = await box.call("fetch_url", {"urls": urls, "max_tokens": 3000})
    first, long, last = pages(result)
    assert first["content"] == last["content"] == "short"
    assert estimate(long["content"]) > 1800
    assert estimate(result.text) <= 3000
    assert result.text.index("Title: Short") < result.text.index("Title: Long")


@pytest.mark.rows("B14")
@pytest.mark.parametrize("more", [{}, {"section": "Growth"}])
async def test_what_failed_leaves_its_share_to_the_others(server, box, more):
    words = "<h1>Growth</h1>" + "<p>words and more of them</p>" * 3000
    server["/long"] = Answer(words)
    server["/none"] = Answer("<p>flat words" * 3000 if more else "gone", 200 if more else 404)
    urls = [f"{server.url}/none", f"{server.url}/long"]
    result = await box.call("fetch_url", {"urls": urls, "max_tokens": 400, **more})
    none, long = pages(result)
    assert none["status"] == "error"
    assert estimate(long["content"]) > 130
    assert estimate(result.text) <= 400


@pytest.mark.rows("B13")
@pytest.mark.parametrize("arguments", [{}, {"find": ["words"]}, {"section": "Growth"}])
@pytest.mark.parametrize("budget", [60, 120, 200])
async def test_a_small_budget_has_a_small_header(server, box, budget, arguments):
    words = "<nav><a href=/>menu</a></nav>" + "<p>words and more of them</p>" * 3000
    server["/long"] = Answer(f"<title>A long title of a page</title><h1>Growth</h1>{words}")
    given = {"url": f"{server.url}/long", "max_tokens": budget, **arguments}
    result = await box.call("fetch_url", given)
    [page] = pages(result)
    assert "words and more" in page["content"]
    assert estimate(result.text) <= max(budget, 120)
    assert result.next.tool == "fetch_url"
    assert "left out here" not in result.text


async def test_two_long_pages_share_alike(server, box):
    server["/a"] = server["/b"] = Answer("<p>words and more of them</p>" * 3000)
    urls = [f"{server.url}/a", f"{server.url}/b"]
    result = await box.call("fetch_url", {"urls": urls, "max_tokens": 2000})
    sizes = [estimate(page["content"]) for page in pages(result)]
    assert all(600 < size < 1000 for size in sizes)
    assert estimate(result.text) <= 2000


async def test_a_picture_is_shown_to_hosts_that_can(server, box):
    server["/dot.png"] = Answer(PIXEL, kind="image/png")
    result = await box.call("fetch_url", {"url": f"{server.url}/dot.png"})
    [page] = pages(result)
    assert page["kind"] == "image"
    assert "1 x 1 pixels" in page["content"]
    assert [(image.data, image.mime_type) for image in result.images] == [(PIXEL, "image/png")]
    assert server.count("/dot.png") == 1


@pytest.mark.rows("A36", "D31")
async def test_provenance_comes_first(server, box):
    server["/go"] = Answer("", 301, headers={"Location": "/page"})
    server["/page"] = Answer(
        "<html lang=en><title>T</title><meta name=author content=Ada><nav><a href=/>menu</a></nav>"
        "<p>words</p><p hidden>secret</p>"
    )
    result = await box.call("fetch_url", {"url": f"{server.url}/go"})
    lines = result.text.splitlines()
    assert lines[1:3] == ["Title: T", f"URL: {server.url}/page"]
    assert lines[3].startswith("HTTP 200, text/html, fetched ")
    assert lines[3].endswith(f", redirected from {server.url}/go")
    assert lines[4] == "Left out: menus (navigation=true), 1 hidden part"
    [page] = pages(result)
    expected = {
        "final_url": f"{server.url}/page",
        "http_status": 200,
        "content_type": "text/html",
        "kind": "html",
        "bytes_cut": False,
        "truncated": False,
        "hidden": 1,
        "unrendered": False,
    }
    assert page.items() >= expected.items()
    assert page["about"]["author"] == "Ada"
    assert page["bytes"] > 100


@pytest.mark.rows("B30")
async def test_the_users_headers_go_along(server, settings):
    server["/page"] = Answer("<p>words")
    config = settings()
    config["egress"] |= {"user_agent": "mine/1.0", "headers": {"Accept-Language": "de"}}
    async with Toolbox(config=config) as box:
        pages(await box.call("fetch_url", {"url": f"{server.url}/page"}))
    [requested] = server.requested
    assert requested.headers["user-agent"] == "mine/1.0"
    assert requested.headers["accept-language"] == "de"


async def test_an_explicit_format_goes_before_the_setting(server, settings):
    server["/page"] = Answer("<p>See <a href=/x>this</a>." + "<p>More of it." * 900)
    given = {"url": f"{server.url}/page", "format": "markdown", "max_tokens": 300}
    async with Toolbox(config=settings(fetch={"format": "text"})) as box:
        result = await box.call("fetch_url", given)
    [page] = pages(result)
    assert page["content"].startswith(f"See [this]({server.url}/x).")
    assert result.next.arguments["format"] == "markdown"
