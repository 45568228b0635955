"""The ddgs package behind the guard: its own engines, sent to the scripted server."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

import pytest

from tests.conftest import absent
from tests.servers.scripted import Answer
from toolcrib.core.errors import Blocked, HttpStatus, RateLimited, Unavailable
from toolcrib.toolbox import Toolbox
from toolcrib.web.providers import Providers, ddgs

try:
    from ddgs.engines import ENGINES
except ImportError:
    ENGINES = {}

URL = "https://example.org/?a=b%26c%3Dd&e=%C3%A4+f%20g#h%2Fi"


@pytest.fixture
async def box(server, tmp_path, monkeypatch):
    if not ENGINES:
        absent("the package ddgs is not installed")
    # The package has its addresses built in; only these are other ones here.
    for name, kind in ENGINES["text"].items():
        monkeypatch.setattr(kind, "search_url", f"{server.url}/{name}")
    ddgs._engines.cache_clear()
    config = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        # Two engines build their own addresses: nothing of a test goes there.
        "egress": {
            "allow_hosts": [server.origin],
            "deny_hosts": ["www.startpage.com", "search.yahoo.com"],
        },
        "web": {"search": {"gap_seconds": 0, "cooldown_seconds": 0, "providers": ["ddgs"]}},
    }
    monkeypatch.setenv("NO_PROXY", "*")
    async with Toolbox(config=config) as box:
        yield box
    ddgs._engines.cache_clear()


def duck(*urls: str) -> Answer:
    found = "".join(
        f"""<div class="links_main result__body"><h2><a href="{escape(u)}">T{n}</a></h2>
        <a href="{escape(u)}">About {n}</a></div>"""
        for n, u in enumerate(urls)
    )
    return Answer(f"<html><body>{found}</body></html>")


def mojeek(url: str) -> Answer:
    item = f'<li><h2><a href="{escape(url)}">M</a></h2><p class="s">About</p></li>'
    return Answer(f"<html><body><ul class='results-standard'>{item}</ul></body></html>")


def nothing(server, *names: str) -> None:
    for name in names:
        server[f"/{name}"] = Answer("<html><body>none</body></html>")


async def first(box, query="q", **more):
    return await box.call("web_search", {"query": query, "provider": "ddgs", **more})


async def test_addresses_keep_their_percent_encoding(box, server):
    wrapped = f"//duckduckgo.com/l/?uddg={quote(URL, safe='')}&rut=1"
    server["/duckduckgo"] = duck(URL, wrapped.replace("rut=1", "rut=2"), "ftp://example.org/")
    result = await first(box)
    found = result.data["queries"][0]["results"]
    assert {item["url"] for item in found} == {URL}
    assert server.requested[0].form["q"] == "q"


async def test_the_next_engine_is_asked_where_one_has_nothing(box, server):
    nothing(server, "duckduckgo", "brave")
    server["/mojeek"] = mojeek(URL)
    result = await first(box)
    (found,) = result.data["queries"][0]["results"]
    assert (found["url"], found["engines"]) == (URL, ["mojeek"])
    assert [r.path for r in server.requested[:3]] == ["/duckduckgo", "/brave", "/mojeek"]


async def test_nothing_is_told_apart_from_a_refusal(box, server, monkeypatch):
    for name in ("startpage", "yahoo"):
        monkeypatch.delitem(ENGINES["text"], name)
    ddgs._engines.cache_clear()
    nothing(server, "duckduckgo", "brave", "mojeek")
    assert (await first(box)).error.code == "no_results"
    server["/brave"] = Answer("slow", 429)
    assert (await first(box, "r")).error.code == "rate_limited"
    server["/brave"] = Answer("no", 403)
    result = await first(box, "s")
    assert result.error.code == "http_status"
    assert "brave answered ddgs with HTTP 403" in result.error.message


def test_a_refusal_has_its_own_error():
    class Engine:
        name = "brave"

        def __init__(self, status):
            answer = type("Answer", (), {"status_code": status, "text": "page"})
            self.http_client = type("Client", (), {"request": lambda *_, **__: answer})()

    assert ddgs._request(Engine(200)) == "page"
    for status, kind in ((429, RateLimited), (202, RateLimited), (403, HttpStatus)):
        with pytest.raises(kind) as caught:
            ddgs._request(Engine(status))
        assert "brave" in caught.value.message
        assert caught.value.details["status"] == status


async def test_its_connections_are_judged_too(box, server, tmp_path):
    server["/duckduckgo"] = duck(URL)
    config = {
        "store": {"url": f"sqlite:///{tmp_path}/other.db"},
        "egress": {"deny_hosts": ["www.startpage.com", "search.yahoo.com"]},
        "web": {"search": {"gap_seconds": 0, "providers": ["ddgs"]}},
    }
    async with Toolbox(config=config) as guarded:
        result = await first(guarded)
    assert result.error.code == Blocked.code
    assert server.requested == []


async def test_its_time_is_bounded(box, server, tmp_path):
    import threading

    hold = threading.Event()
    server["/duckduckgo"] = Answer("late", hold=hold)
    config = {
        "store": {"url": f"sqlite:///{tmp_path}/other.db"},
        "egress": {"allow_hosts": [server.origin]},
        "web": {"search": {"gap_seconds": 0, "timeout": 1.5, "providers": ["ddgs"]}},
    }
    async with Toolbox(config=config) as hurried:
        result = await first(hurried)
    hold.set()
    assert result.error.code == "timeout"


async def test_its_parsers_may_fail(box, server, monkeypatch):
    for name in ("brave", "mojeek", "startpage", "yahoo"):
        monkeypatch.delitem(ENGINES["text"], name)
    monkeypatch.setattr(ENGINES["text"]["duckduckgo"], "items_xpath", "//[")
    ddgs._engines.cache_clear()
    server["/duckduckgo"] = duck(URL)
    result = await first(box)
    assert result.error.code == Unavailable.code
    assert "cannot read the answer of duckduckgo" in result.error.message


async def test_it_is_off_until_it_is_named():
    from toolcrib.core.config import Config

    assert "ddgs" not in Config().web.search.providers
    assert "Only where it is named" in Providers().named("ddgs").about
