"""Short references for long URLs: shown, taken back, judged like the URL itself."""

from __future__ import annotations

import re

import pytest

from tests.servers.scripted import Answer
from toolcrib.core.context import Caller, Session
from toolcrib.net.egress.public_url import References
from toolcrib.state.sessions import Sessions
from toolcrib.toolbox import Toolbox

LONG = "/item?" + "&".join(f"parameter{n}=value%2F{n}" for n in range(12))
REFERENCE = re.compile(r"ref://[0-9a-z]{8}")


@pytest.fixture
def listing(server):
    server["/list"] = Answer(f"<p>Words</p><a href='{LONG}#part'>the item</a>")
    server["/item"] = Answer("<p>the item itself</p>")
    return f"{server.url}/list"


async def test_a_long_link_is_listed_by_reference_and_opens(server, box, listing):
    result = await box.call("fetch_url", {"url": listing, "links": True, "format": "text"})
    [link] = result.data["pages"][0]["links"]
    assert REFERENCE.fullmatch(link["url"])
    assert LONG not in result.text
    for arguments in ({"url": link["url"]}, {"urls": [link["url"]]}, {"url": link["url"].upper()}):
        opened = await box.call("fetch_url", arguments)
        assert opened.error is None
        page = opened.data["pages"][0]
        assert page["content"] == "the item itself"
        assert page["final_url"] == f"{server.url}{LONG}"
    assert server.count("/item") == 1


async def test_where_each_call_stands_alone_urls_are_whole(server, box, listing):
    shell = Caller("cli", typed_by_user=True, single=True)
    given = {"url": listing, "links": True, "format": "text"}
    result = await box.call("fetch_url", given, session="cli:1", caller=shell)
    [link] = result.data["pages"][0]["links"]
    assert link["url"] == f"{server.url}{LONG}#part"
    named = Caller("cli", typed_by_user=True)
    result = await box.call("fetch_url", given, session="cli:1", caller=named)
    assert REFERENCE.fullmatch(result.data["pages"][0]["links"][0]["url"])


async def test_other_tools_take_references_too(server, box, listing):
    result = await box.call("fetch_url", {"url": listing, "links": True, "format": "text"})
    [link] = result.data["pages"][0]["links"]
    requested = await box.call("ask_url", {"url": link["url"], "question": "which item"})
    assert requested.error is None
    assert "the item itself" in requested.text


async def test_a_reference_belongs_to_its_conversation(box, listing):
    result = await box.call("fetch_url", {"url": listing, "links": True}, session="one")
    reference = result.data["pages"][0]["links"][0]["url"]
    other = await box.call("fetch_url", {"url": reference}, session="two")
    assert other.error.code in ("bad_input", "not_found")
    assert other.error.hint
    assert (await box.call("fetch_url", {"url": reference}, session="one")).error is None


async def test_another_process_knows_them(box, listing, settings):
    result = await box.call("fetch_url", {"url": listing, "links": True}, session="one")
    reference = result.data["pages"][0]["links"][0]["url"]
    async with Toolbox(config=settings()) as other:
        assert (await other.call("fetch_url", {"url": reference}, session="one")).error is None


async def test_an_unknown_one_harms_no_other_page(server, box, listing):
    result = await box.call("fetch_url", {"urls": ["ref://abcd1234", listing]})
    bad, good = result.data["pages"]
    assert bad["status"] == "error"
    assert bad["error"]["code"] == "not_found"
    assert good["status"] == "ok"


async def test_the_next_part_of_a_long_url_is_called_by_reference(server, box):
    server["/item"] = Answer("word " * 20_000, kind="text/plain")
    result = await box.call("fetch_url", {"url": server.url + LONG})
    assert REFERENCE.fullmatch(result.next.arguments["url"])
    more = await box.call(result.next.tool, result.next.arguments)
    assert more.data["pages"][0]["offset"] == result.data["pages"][0]["end"]
    assert server.count("/item") == 1


async def test_rules_on_targets_see_the_url_behind(server, settings, listing):
    rules = [{"action": "deny", "target": f"{server.url}/item*"}]
    async with Toolbox(config={**settings(), "policy": {"rules": rules}}) as box:
        result = await box.call("fetch_url", {"url": listing, "links": True, "format": "text"})
        reference = result.data["pages"][0]["links"][0]["url"]
        for arguments in ({"url": reference}, {"urls": [reference]}):
            refused = await box.call("fetch_url", arguments)
            assert refused.error.code == "denied"
    assert server.count("/item") == 0


async def test_taint_treats_a_reference_as_its_url(server, box, listing, settings):
    """A link that was shown opens unasked, by reference as by its URL; another one does not."""
    caller = Caller("test")
    result = await box.call("fetch_url", {"url": listing, "links": True}, session="s")
    reference = result.data["pages"][0]["links"][0]["url"]
    state = await box.use(Sessions).load("s")
    state.taint(untrusted=True, private=True)
    assert (
        await box.call("fetch_url", {"url": reference}, session="s", caller=caller)
    ).error is None
    # A reference that this conversation was shown no URL for is no way around the question.
    stranger = Session("other")
    foreign = await box.use(References).shorten(f"{server.url}/x?{'y' * 300}", stranger)
    for url in (foreign, f"{server.url}/x?{'y' * 300}"):
        requested = await box.call("fetch_url", {"urls": [url]}, session="s", caller=caller)
        assert requested.error.code in ("needs_approval", "not_found", "bad_input")
    assert server.count("/x") == 0


async def test_short_urls_stay_as_they_are(box):
    session = Session("s")
    references = box.use(References)
    assert await references.shorten("https://example.org/", session) == "https://example.org/"
    name = await references.shorten("https://example.org/" + "x" * 200, session)
    assert await references.shorten("https://example.org/" + "x" * 200, session) == name
    assert await references.expand(name, session) == "https://example.org/" + "x" * 200
    assert await references.expand("https://example.org/", session) == "https://example.org/"


async def test_without_a_store_this_process_still_knows_them(tmp_path):
    (tmp_path / "file").write_text("")
    config = {"store": {"url": f"sqlite:///{tmp_path}/file/store.db"}}
    async with Toolbox(config=config) as box:
        session = Session("s")
        name = await box.use(References).shorten("https://example.org/" + "x" * 200, session)
        assert (await box.use(References).expand(name, session)).endswith("xxx")
