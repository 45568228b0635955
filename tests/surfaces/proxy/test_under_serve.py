"""The proxy beside MCP and OpenAPI, on the same port and behind the same gate."""

from __future__ import annotations

import httpx2
import pytest

from tests.servers.asgi import served
from tests.servers.mcp_tools import TOOLS
from tests.servers.model import Turn, model_server
from tests.surfaces.proxy.proxies import ask, settings
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox


async def test_all_three_on_one_port(monkeypatch: pytest.MonkeyPatch) -> None:
    token = "t" * 20
    monkeypatch.setenv("SERVE_TOKEN", token)
    with model_server(Turn("hello")) as server:
        tree = settings([server.url], serve=True) | {"http": {"token_env": "SERVE_TOKEN"}}
        async with (
            served(create_app(Toolbox(tree, tools=TOOLS))) as base,
            httpx2.AsyncClient(base_url=base, timeout=30) as client,
        ):
            refused = await client.post("/v1/messages", json=ask())
            tool = await client.post("/tools/echo", json={"text": "x"})
            client.headers["authorization"] = f"Bearer {token}"
            answer = await client.post("/v1/chat/completions", json=ask())
            called = await client.post("/tools/echo", json={"text": "x"})
            other = await client.get("/elsewhere")
            health = await client.get("/health")
    assert (refused.status_code, refused.json()["type"]) == (401, "error")
    assert tool.json()["error"]["code"] == "denied"
    assert answer.json()["choices"][0]["message"]["content"] == "hello"
    assert called.json()["text"] == "x"
    assert (other.status_code, health.json()["name"]) == (404, "toolcrib")
    assert "authorization" not in server.headers[-1]
