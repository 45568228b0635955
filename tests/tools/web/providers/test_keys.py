"""Keys and addresses over the whole tool."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from tests.servers.scripted import Answer
from tests.tools.web.providers.bench import KEY, answer
from toolcrib.core.config import Config
from toolcrib.toolbox import Toolbox
from toolcrib.web.provider import ProviderClient
from toolcrib.web.providers import Providers

FOUND = {"title": "One", "url": "https://example.org/?a=b%26c", "content": "About"}


def config(tmp_path, server, *names: str) -> dict:
    return {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "egress": {"retry": {"initial_seconds": 0}},
        "web": {
            "search": {"gap_seconds": 0, "providers": list(names)},
            "providers": {n: {"base_url": server.url, "api_key_env": "TEST_KEY"} for n in names},
        },
    }


@pytest.mark.rows("D09")
@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
async def test_a_key_is_seen_by_nobody(server, tmp_path, monkeypatch, capfd, status):
    monkeypatch.setenv("TEST_KEY", KEY)
    echo = {"results": [FOUND]} if status == 200 else {"message": f"Bad key {KEY}"}
    server["/search"] = answer(echo, status)
    async with Toolbox(config=config(tmp_path, server, "tavily", "exa")) as box:
        for name in ("tavily", "exa"):
            result = await box.call("web_search", {"query": "q", "provider": name})
            assert (result.error is None) == (status == 200)
            assert KEY not in f"{result!r} {result.to_json()!r} {result.render()}"
            if result.error:
                assert "[redacted]" in result.error.message
    assert server.requested[-1].headers["x-api-key"] == KEY
    stored = b"".join(p.read_bytes() for p in Path(tmp_path).rglob("*") if p.is_file())
    assert b"web_search" in stored
    assert KEY.encode() not in stored
    out = capfd.readouterr()
    assert KEY not in out.out + out.err


@pytest.mark.rows("D09")
async def test_a_key_is_not_in_what_debuggers_print(bench):
    provider = bench.services.use(Providers).named("tavily")
    reach = ProviderClient(provider, bench.services.config.web.providers["tavily"], bench.ctx)
    assert reach.key == KEY
    for displayed in (repr(reach), str(reach), repr(bench.services.config)):
        assert KEY not in displayed


@pytest.mark.rows("D09", "D11")
async def test_a_missing_key_names_the_setting_and_the_variable(server, tmp_path, monkeypatch):
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    bare = {"store": {"url": f"sqlite:///{tmp_path}/store.db"}}
    async with Toolbox(config=bare) as box:
        result = await box.call("web_search", {"query": "q", "provider": "tavily"})
    assert result.error.code == "not_configured"
    assert "web.providers.tavily.api_key_env" in result.error.message
    assert "TAVILY_API_KEY" in result.error.message
    assert "TAVILY_API_KEY" in result.error.hint
    with pytest.raises(Exception, match=r"api_key"):
        Config.load({"web": {"providers": {"tavily": {"api_key": KEY}}}})


async def test_the_usual_variable_is_enough(server, tmp_path, monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    server["/search"] = answer({"results": [FOUND]})
    given = config(tmp_path, server, "tavily")
    given["web"]["providers"]["tavily"].pop("api_key_env")
    async with Toolbox(config=given) as box:
        result = await box.call("web_search", {"query": "q"})
    assert server.requested[0].headers["authorization"] == f"Bearer {KEY}"
    (found,) = result.data["queries"][0]["results"]
    assert found["url"] == "https://example.org/?a=b%26c"


@pytest.mark.rows("D12")
async def test_nothing_else_is_asked_where_only_one_service_is_named(server, tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)
    server["/res/v1/web/search"] = Answer("no", 500)
    async with Toolbox(config=config(tmp_path, server, "brave")) as box:
        result = await box.call("web_search", {"query": "q"})
    assert result.error.code == "http_status"
    assert {request.path for request in server.requested} == {"/res/v1/web/search"}


@pytest.mark.rows("D10")
@pytest.mark.parametrize(
    ("name", "under", "path"),
    [
        ("kagi", "", "/api/v1/search"),
        ("kagi", "/api/v1", "/api/v1/search"),
        ("kagi", "/api/v1/", "/api/v1/search"),
        ("kagi", "/api/v1/search", "/api/v1/search"),
        ("kagi", "/proxy", "/proxy/api/v1/search"),
        ("jina", "", "/"),
        ("jina", "/proxy/", "/proxy/"),
    ],
)
async def test_an_address_may_have_a_part_of_the_path(
    server, tmp_path, monkeypatch, name, under, path
):
    monkeypatch.setenv("TEST_KEY", KEY)
    given = config(tmp_path, server, name)
    given["web"]["providers"][name]["base_url"] += under
    async with Toolbox(config=given) as box:
        await box.call("web_search", {"query": "q"})
    assert server.requested[0].path == path


async def test_a_key_does_not_follow_to_another_server(server, tmp_path, monkeypatch):
    from tests.servers.scripted import scripted

    monkeypatch.setenv("TEST_KEY", KEY)
    with scripted() as other:
        other["/search"] = answer({"results": [FOUND]})
        away = {"Location": f"{other.url}/search"}
        server["/search"] = Answer("", 307, headers=away)
        given = config(tmp_path, server, "exa")
        given["egress"]["allow_hosts"] = [other.origin]
        async with Toolbox(config=given) as box:
            await box.call("web_search", {"query": "q"})
        assert other.requested
        assert all(KEY not in repr(request.headers) for request in other.requested)


@pytest.mark.parametrize(
    "written",
    [
        KEY.upper(),
        b64encode(KEY.encode()).decode().rstrip("="),
        KEY[:5] + "\u200b" + KEY[5:],
    ],
)
async def test_a_service_that_writes_the_key_otherwise(server, tmp_path, monkeypatch, written):
    monkeypatch.setenv("TEST_KEY", KEY)
    server["/res/v1/web/search"] = Answer(f"Bad key {written}!", 422)
    async with Toolbox(config=config(tmp_path, server, "brave")) as box:
        result = await box.call("web_search", {"query": "q"})
    assert "Bad key [redacted]!" in result.error.message
