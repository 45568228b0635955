"""One download for every way of reading a page; asking anew; what may not be kept."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.conditions import until
from tests.servers.scripted import Answer
from toolcrib.state.approvals import Approvals
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("A26")
PAGE = "<title>T</title><h1>Head</h1><p>Text, <a href=/x>link</a>.</p><nav><a href=/n>N</a></nav>"


def first(result):
    assert result.error is None, result.error
    return result.data["pages"][0]


async def test_every_form_is_made_of_one_download(server, box):
    server["/page"] = Answer(PAGE)
    url = f"{server.url}/page"
    for arguments in (
        {},
        {"format": "text"},
        {"format": "raw"},
        {"links": True},
        {"navigation": True},
        {"find": ["text"]},
        {"section": "head"},
    ):
        first(await box.call("fetch_url", {"url": url, **arguments}))
    assert server.count("/page") == 1


async def test_forms_at_the_same_time_are_made_of_one_download(server, box):
    hold = threading.Event()
    server["/page"] = Answer(PAGE, hold=hold)
    calls = [
        asyncio.create_task(box.call("fetch_url", {"url": f"{server.url}/page", "format": form}))
        for form in ("markdown", "text", "raw") * 17
    ]
    await until(lambda: server.requested)
    await asyncio.sleep(0.05)  # who comes later finds it cached; either way it is one download
    hold.set()
    for result in await asyncio.gather(*calls):
        first(result)
    assert server.count("/page") == 1


async def test_another_process_reads_the_kept_body(server, box, settings):
    server["/page"] = Answer(PAGE)
    url = f"{server.url}/page"
    first(await box.call("fetch_url", {"url": url}))
    async with Toolbox(config=settings()) as other:
        page = first(await other.call("fetch_url", {"url": url, "format": "text"}))
    assert page["cached"] is True
    assert server.count("/page") == 1


def revalidating(body: str, **marks: str):
    def answer(request):
        requested = request.headers
        same = (
            requested.get("if-none-match") == marks.get("ETag")
            if "ETag" in marks
            else (requested.get("if-modified-since") == marks.get("Last-Modified"))
        )
        given = {name.replace("_", "-"): value for name, value in marks.items()}
        if same and ("if-none-match" in requested or "if-modified-since" in requested):
            return Answer(b"", 304, kind=None, headers=given)
        return Answer(body, headers=given)

    return answer


@pytest.mark.parametrize(
    "marks",
    [{"ETag": '"abc"'}, {"ETag": 'W/"abc"'}, {"Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"}],
)
async def test_a_page_that_did_not_change_is_not_sent_again(server, box, grow_older, marks):
    server["/page"] = revalidating(PAGE, **marks)
    url = f"{server.url}/page"
    before = first(await box.call("fetch_url", {"url": url}))
    grow_older(700)
    after = first(await box.call("fetch_url", {"url": url}))
    assert server.count("/page") == 2
    requested = server.requested[1].headers
    assert requested.get("if-none-match", "") == marks.get("ETag", "")
    assert after["content"] == before["content"]
    assert (after["cached"], after["stale"]) == (True, False)
    assert after["fetched_at"] >= before["fetched_at"]
    first(await box.call("fetch_url", {"url": url}))
    assert server.count("/page") == 2  # renewed: good for its time again


async def test_a_page_that_changed_is_read_anew(server, box, grow_older):
    server["/page"] = revalidating(PAGE, ETag='"one"')
    url = f"{server.url}/page"
    first(await box.call("fetch_url", {"url": url}))
    grow_older(700)
    server["/page"] = revalidating("<p>new words</p>", ETag='"two"')
    page = first(await box.call("fetch_url", {"url": url}))
    assert (page["content"], page["cached"]) == ("new words", False)
    assert server.requested[1].headers["if-none-match"] == '"one"'


async def test_a_mark_of_a_page_behind_another_redirect_does_not_count(server, box, grow_older):
    server["/go"] = Answer("", 302, headers={"Location": "/one"})
    server["/one"] = revalidating("<p>one</p>", ETag='"same"')
    server["/two"] = revalidating("<p>two</p>", ETag='"same"')
    assert first(await box.call("fetch_url", {"url": f"{server.url}/go"}))["content"] == "one"
    grow_older(700)
    server["/go"] = Answer("", 302, headers={"Location": "/two"})
    assert first(await box.call("fetch_url", {"url": f"{server.url}/go"}))["content"] == "two"


async def test_a_server_that_claims_no_change_to_nobody(server, box):
    server["/page"] = Answer(b"", 304, kind=None)
    result = await box.call("fetch_url", {"url": f"{server.url}/page"})
    assert result.error.code == "connection_failed"


async def test_an_old_page_stands_in_for_a_broken_server(server, box, grow_older):
    server["/page"] = revalidating(PAGE, ETag='"abc"')
    first(await box.call("fetch_url", {"url": f"{server.url}/page"}))
    grow_older(3600)
    server["/page"] = Answer("", 503)
    page = first(await box.call("fetch_url", {"url": f"{server.url}/page"}))
    assert (page["stale"], page["cached"]) == (True, True)


async def test_what_may_not_be_stored_is_read_on_from_memory_only(server, box, settings):
    body = "<title>Private</title>" + "".join(f"<p>word {n} {'and ' * 50}</p>" for n in range(200))
    server["/page"] = Answer(body, headers={"Cache-Control": "private, No-Store"})
    result = await box.call("fetch_url", {"url": f"{server.url}/page"})
    first(await box.call(result.next.tool, result.next.arguments))
    assert server.count("/page") == 1
    async with Toolbox(config=settings()) as other:
        first(await other.call("fetch_url", {"url": f"{server.url}/page"}))
    assert server.count("/page") == 2


async def test_only_so_many_pages_are_kept(server, settings):
    for n in range(12):
        server[f"/{n}"] = Answer(f"<p>{n}")
    async with Toolbox(config=settings(fetch={"cache_entries": 5})) as box:
        for n in range(12):
            first(await box.call("fetch_url", {"url": f"{server.url}/{n}"}))
        first(await box.call("fetch_url", {"url": f"{server.url}/11"}))
        assert server.count("/11") == 1
        first(await box.call("fetch_url", {"url": f"{server.url}/0"}))
        assert server.count("/0") == 2


async def test_a_kept_page_is_judged_by_the_rules_of_now(server, settings):
    server["/a"] = Answer("", 302, headers={"Location": "/secret"})
    server["/secret"] = Answer("<p>words")
    async with Toolbox(config=settings()) as box:
        first(await box.call("fetch_url", {"url": f"{server.url}/a"}))
    rules = [{"action": "deny", "target": f"{server.url}/secret"}]
    async with Toolbox(config={**settings(), "policy": {"rules": rules}}) as box:
        for _ in range(2):
            result = await box.call("fetch_url", {"url": f"{server.url}/a"})
            assert result.error.code == "denied"
    assert server.count("/secret") == 1


async def approved(box, url):
    requested = await box.call("fetch_url", {"url": url})
    assert requested.error.code == "needs_approval"
    await box.use(Approvals).grant(requested.error.details["id"])
    return await box.call("fetch_url", {"url": url})


async def test_an_approved_page_may_lead_on_to_its_like(server, settings):
    server["/a"] = Answer("", 302, headers={"Location": "/b"})
    server["/b"] = Answer("<p>words")
    rules = [{"action": "ask", "tool": "fetch_url", "target": "http://*"}]
    async with Toolbox(config={**settings(), "policy": {"rules": rules}}) as box:
        for _ in range(2):  # from the server, and from what is kept
            assert "words" in first(await approved(box, f"{server.url}/a"))["content"]


@pytest.mark.parametrize(
    ("action", "says", "hint"),
    [
        ("ask", "needs the approval of a person: rule 1 of", "Open that URL itself with fetch_url"),
        ("deny", "which rule 1 of policy.rules forbids.", "Only the user can change the policy"),
    ],
)
async def test_an_approval_is_none_for_another_reason(server, settings, action, says, hint):
    server["/a"] = Answer("", 302, headers={"Location": "/b"})
    server["/b"] = Answer("<p>words")
    rules = [{"action": action, "target": "*/b"}, {"action": "ask", "target": "http://*"}]
    async with Toolbox(config={**settings(), "policy": {"rules": rules}}) as box:
        result = await approved(box, f"{server.url}/a")
        assert result.error.code == "denied"
        assert f"This leads on to {server.url}/b, " in result.error.message
        assert says in result.error.message
        assert hint in result.error.hint
        if action == "ask":
            assert "words" in first(await approved(box, f"{server.url}/b"))["content"]


@pytest.mark.rows("S8.12")
async def test_two_million_characters_are_read_to_their_end(server, box):
    lines = [f"Line {n}: häuser, 東京, and plain words to fill it up.\n" for n in range(40_000)]
    text = "".join(lines)[:2_000_000]
    server["/book.txt"] = Answer(text, kind="text/plain; charset=utf-8")
    given = {"url": f"{server.url}/book.txt", "max_tokens": 25_000}
    result, parts = await box.call("fetch_url", given), []
    while True:
        page = first(result)
        assert page["offset"] == sum(map(len, parts))
        parts.append(page["content"])
        if result.next is None:
            break
        result = await box.call(result.next.tool, result.next.arguments)
    assert "".join(parts) == text
    assert server.count("/book.txt") == 1
    assert len(parts) > 10
