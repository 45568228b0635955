"""Who may speak to the HTTP server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.cases import each_case
from tests.servers.asgi import served
from tests.servers.mcp_tools import TOOLS
from toolcrib.core.errors import ConfigError
from toolcrib.core.settings import HttpConfig
from toolcrib.surfaces.http.app import create_app, gate_rules
from toolcrib.toolbox import Toolbox

PAGE = "https://chat.example"
ASK = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}
BEARER = {"Authorization": "Bearer s3:cret"}
PATHS = ["/mcp", "/docs", "/openapi.json", "/tools/echo", "/health"]


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    config = {"http": {"allow_origins": [PAGE], "allow_hosts": ["crib.example"]}}
    async with (
        served(create_app(Toolbox(config, tools=TOOLS))) as base,
        httpx2.AsyncClient(base_url=base, timeout=30) as found,
    ):
        yield found


@each_case("path", PATHS)
@each_case(
    "host",
    [
        *("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "0.0.0.0"),
        *("", "evil.example:8722", "crib.example.evil.example", "127.0.0.1:80@evil.example"),
    ],
)
async def test_an_unknown_host_name_is_refused(
    client: httpx2.AsyncClient, path: str, host: str
) -> None:
    answer = await client.post(path, json=ASK, headers={**ACCEPT, "Host": host})
    assert answer.status_code == 421


@each_case("host", ["localhost", "127.0.0.1:1", "[::1]:8722", "crib.example:443"])
async def test_a_known_host_name_is_served(client: httpx2.AsyncClient, host: str) -> None:
    answer = await client.get("/openapi.json", headers={"Host": host})
    assert answer.status_code == 200


@each_case("path", PATHS)
@each_case(
    "origin",
    [
        *("https://evil.example", "null", "", "http://localhost.evil.example"),
        *("https://chat.example.evil.example", "http://chat.example", "file://"),
        *("http://localhost:8000", "http://127.0.0.1:8000", "https://[::1]", "http://127.0.0.1"),
    ],
)
async def test_an_unknown_origin_is_refused(
    client: httpx2.AsyncClient, path: str, origin: str
) -> None:
    answer = await client.post(path, json=ASK, headers={**ACCEPT, "Origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@each_case("path", PATHS)
@each_case("site", ["cross-site", "same-site", "x"])
async def test_a_picture_or_link_of_another_page_is_refused(
    client: httpx2.AsyncClient, path: str, site: str
) -> None:
    """They come without an Origin."""
    for mode in ("no-cors", "navigate"):
        sent = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
        assert (await client.get(path, headers=sent)).status_code == 403
    allowed = await client.get(path, headers={"Sec-Fetch-Site": site, "Origin": PAGE})
    assert allowed.status_code != 403


@each_case("site", ["same-origin", "none"])
async def test_what_a_person_opens_is_shown(client: httpx2.AsyncClient, site: str) -> None:
    sent = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
    assert (await client.get("/docs", headers=sent)).status_code == 200


@each_case("path", PATHS)
async def test_a_page_that_is_allowed_may_ask_and_read(
    client: httpx2.AsyncClient, path: str
) -> None:
    before = await client.options(
        path,
        headers={
            "Origin": PAGE,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type, mcp-protocol-version, authorization",
        },
    )
    assert before.status_code == 200
    assert before.headers["access-control-allow-origin"] == PAGE
    assert "mcp-protocol-version" in before.headers["access-control-allow-headers"].lower()
    answer = await client.get("/openapi.json", headers={"Origin": PAGE})
    assert answer.headers["access-control-allow-origin"] == PAGE


@each_case("path", PATHS)
async def test_a_page_that_is_not_allowed_may_not(client: httpx2.AsyncClient, path: str) -> None:
    requested = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = await client.options(path, headers=requested)
    assert answer.status_code in (400, 403)
    assert "access-control-allow-origin" not in answer.headers


async def test_a_page_of_the_server_itself_may_call(client: httpx2.AsyncClient) -> None:
    own = str(client.base_url).rstrip("/")
    answer = await client.post("/tools/echo", json={"text": "hello"}, headers={"Origin": own})
    assert answer.status_code == 200
    moved = {"Host": "localhost:8722", "Origin": own}
    assert (await client.post("/tools/echo", json={}, headers=moved)).status_code == 403


@each_case("path", PATHS)
async def test_only_a_preflight_needs_no_token(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setenv("TOOLCRIB_TOKEN", "s3cret")
    async with (
        served(create_app(Toolbox(tools=TOOLS))) as base,
        httpx2.AsyncClient(base_url=base) as client,
    ):
        answer = await client.request("OPTIONS", path, json=ASK)
        assert answer.status_code == (401 if path != "/health" else 405)


async def test_a_preflight_needs_no_token_and_a_call_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOOLCRIB_TOKEN", "s3cret")
    config = {"http": {"allow_origins": [PAGE]}}
    async with (
        served(create_app(Toolbox(config, tools=TOOLS))) as base,
        httpx2.AsyncClient(base_url=base) as client,
    ):
        requested = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
        assert (await client.options("/mcp", headers=requested)).status_code == 200
        refused = await client.post("/mcp", json=ASK, headers={"Origin": PAGE})
        assert refused.status_code == 401
        # Without this the page could not read why.
        assert refused.headers["access-control-allow-origin"] == PAGE


async def test_health_needs_no_token_and_nothing_else_goes_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOOLCRIB_TOKEN", "s3cret")
    async with (
        served(create_app(Toolbox(tools=TOOLS))) as base,
        httpx2.AsyncClient(base_url=base) as client,
    ):
        health = await client.get("/health")
        assert (health.status_code, health.json()["status"]) == (200, "ok")
        assert (await client.get("/health", headers={"Host": "evil.example"})).status_code == 421
        for path in ("/", "/docs", "/openapi.json", "/mcp", "/health/", "/tools/echo", "//health"):
            assert (await client.get(path)).status_code == 401, path


async def test_a_browser_gives_the_token_for_the_docs_as_a_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOOLCRIB_TOKEN", "s3:cret")
    async with (
        served(create_app(Toolbox(tools=TOOLS))) as base,
        httpx2.AsyncClient(base_url=base) as client,
    ):
        requested = await client.get("/docs")
        assert requested.headers["www-authenticate"].startswith("Basic ")
        assert (await client.get("/docs", auth=("anybody", "s3:cret"))).status_code == 200
        assert (await client.get("/docs", headers=BEARER)).status_code == 200
        for wrong in (("s3:cret", ""), ("anybody", "s3"), ("", "")):
            assert (await client.get("/docs", auth=wrong)).status_code == 401
        for header in ("Basic", "Basic %%%", "Basic /w==", "Basic s3:cret"):
            answer = await client.get("/docs", headers={"Authorization": header})
            assert answer.status_code == 401, header
        # A browser sends it along by itself, so it counts nowhere else.
        for path in ("/openapi.json", "/tools/echo"):
            assert (await client.get(path, auth=("anybody", "s3:cret"))).status_code == 401


def test_a_token_that_can_be_guessed_serves_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOOLCRIB_TOKEN", "s3cret")
    assert gate_rules(HttpConfig()).token == "s3cret"
    for config in (HttpConfig(host="0.0.0.0"), HttpConfig(allow_hosts=["crib.example"])):
        with pytest.raises(ConfigError, match="at least 16"):
            gate_rules(config)


def test_off_loopback_a_token_is_a_must(monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5", "crib.example"):
        with pytest.raises(ConfigError, match="token"):
            gate_rules(HttpConfig(host=host))
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        assert gate_rules(HttpConfig(host=host)).token == ""
    monkeypatch.setenv("TOOLCRIB_TOKEN", "x" * 16)
    assert gate_rules(HttpConfig(host="0.0.0.0")).token == "x" * 16


def test_an_empty_token_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_TOKEN", "  ")
    with pytest.raises(ConfigError):
        gate_rules(HttpConfig(host="0.0.0.0"))


def test_no_configuration_opens_it_to_every_page() -> None:
    with pytest.raises(ConfigError, match="every web page"):
        gate_rules(HttpConfig(allow_origins=["*"]))


async def test_white_space_around_a_value_is_no_part_of_it() -> None:
    config = {"http": {"allow_origins": [PAGE]}}
    async with served(create_app(Toolbox(config, tools=TOOLS))) as base:
        port = int(base.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = b'{"text": "hello"}'
        writer.write(
            b"POST /tools/echo HTTP/1.1\r\nHost: \t127.0.0.1 \t\r\n"
            b"Origin:   https://chat.example \r\n"
            b"Content-Type: application/json \r\nConnection: close\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"hello" in answer
