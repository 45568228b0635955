"""Results with what their pages say of themselves."""

from __future__ import annotations

import threading

import pytest

from tests.servers.scripted import Answer
from tests.tools.web.made_up import answer, service

pytestmark = pytest.mark.rows("A07", "X21")

PAGE = """<!doctype html><html><head><title>A page</title>
<meta property="article:modified_time" content="2026-03-04T05:06:07Z">
<meta property="og:type" content="article">
<meta property="og:description" content="{}">
</head><body><main><p>Words of the page, enough of them to be a text.</p></main></body></html>"""


def page(description: str = "What the page is about.") -> Answer:
    return Answer(PAGE.format(description))


@pytest.fixture
def found(server):
    """Let the service find these pages of the server."""

    def script(**pages: Answer) -> None:
        for path, reported in pages.items():
            server[f"/{path}"] = reported
        results = [
            {"title": name, "url": f"{server.url}/{name}", "snippet": "A snippet."}
            for name in pages
        ]
        server["/alpha/find"] = answer(*results)

    return script


def results(result):
    return result.data["queries"][0]["results"]


@pytest.mark.rows("A44")
async def test_date_type_and_description_are_added(found, made_up, watcher):
    found(one=page(), two=page("A snippet."), three=page("x" * 900))
    box = await made_up(service("alpha"))
    result = await box.call("web_search", {"query": "q", "enrich": True}, caller=watcher.caller)
    one, two, three = results(result)
    assert one["date"].startswith("2026-03-04")
    assert one["type"] == "article"
    assert one["description"] == "What the page is about."
    assert "description" not in two
    assert len(three["description"]) <= 500
    assert "[1] one (2026-03-04, article)\n" in result.text
    assert "A snippet.\nWhat the page is about." in result.text
    assert "Found 3 web pages. Enriching metadata…" in watcher.messages


async def test_it_is_off_unless_asked_for(found, made_up, server):
    found(one=page())
    box = await made_up(service("alpha"))
    result = await box.call("web_search", {"query": "q"})
    assert "date" not in results(result)[0]
    assert server.count("/one") == 0


async def test_the_setting_asks_for_it_and_a_call_can_refuse(found, made_up, server):
    found(one=page())
    box = await made_up(service("alpha"), enrich=True)
    plain = await box.call("web_search", {"query": "q", "enrich": False})
    assert "date" not in results(plain)[0]
    assert server.count("/one") == 0
    rich = await box.call("web_search", {"query": "q"})
    assert results(rich)[0]["type"] == "article"


async def test_what_fails_leaves_the_plain_result(found, made_up, server):
    found(
        good=page(),
        gone=Answer("", 404),
        broken=Answer("", 503),
        other=Answer(b"%PDF-1.7\n", kind="application/pdf"),
        data=Answer('{"date": "2026-01-01"}', kind="application/json"),
        blocked=Answer("", 302, headers={"Location": "http://10.0.0.1/"}),
    )
    box = await made_up(service("alpha"))
    result = await box.call("web_search", {"query": "q", "enrich": True})
    assert result.error is None
    first, *others = results(result)
    assert first["type"] == "article"
    for one in others:
        assert set(one) == {"rank", "title", "url", "snippet", "provider"}
    assert server.count("/broken") == 1
    assert "Enriched 2 of 6" in result.render()


async def test_pages_that_hang_do_not_hold_the_answer(found, made_up):
    hold = threading.Event()
    found(slow=Answer("", hold=hold), good=page())
    box = await made_up(service("alpha"))
    result = await box.call("web_search", {"query": "q", "enrich": True})
    assert not hold.is_set()
    slow, good = results(result)
    assert "date" not in slow
    assert good["type"] == "article"
    hold.set()


async def test_only_so_many_pages_are_opened(found, made_up, server):
    found(**{f"p{n}": page() for n in range(40)})
    box = await made_up(service("alpha"), fetch={"host_gap_seconds": 0, "host_concurrency": 20})
    result = await box.call("web_search", {"query": "q", "enrich": True, "limit": 40})
    assert len(results(result)) == 40
    assert sum(request.path.startswith("/p") for request in server.requested) <= 30


async def test_addresses_that_are_not_public_are_not_opened(found, made_up, server, settings):
    found(one=page())
    server["/alpha/find"] = answer({"title": "inside", "url": "http://169.254.169.254/latest"})
    box = await made_up(service("alpha"))
    result = await box.call("web_search", {"query": "q", "enrich": True})
    assert set(results(result)[0]) == {"rank", "title", "url", "snippet", "provider"}
