"""Every tool of the groups web and http, used by a real client over stdio."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.doors import MODERN, stdio
from tests.servers.scripted import Answer, Request, Scripted, scripted
from tests.tools.web.pictures import png
from toolcrib.core.registry import Registry
from toolcrib.toolbox import installed

pytestmark = pytest.mark.timeout(120)
GROUPS = ("web", "http")
JSON = "application/json"


def reported(value: Any) -> Answer:
    return Answer(json.dumps(value), kind=JSON)


def wiki(request: Request) -> Answer:
    if "list" in request.query:
        return reported({"query": {"search": [{"pageid": 1, "title": "Moss", "snippet": "green"}]}})
    page = {"pageid": 1, "title": "Moss", "extract": "Moss is a small plant.", "fullurl": ""}
    return reported({"query": {"pages": [page]}})


def filled(server: Scripted) -> None:
    server["/page"] = Answer(
        "<title>Moss</title><h1>Moss</h1><p>Moss grows on stones.<img src=/a.png>"
    )
    server["/a.png"] = Answer(png(8, 8), kind="image/png")
    found = {"title": "Moss", "url": f"{server.url}/page", "content": "grows on stones"}
    picture = {**found, "img_src": f"{server.url}/a.png"}
    server["/search"] = lambda request: reported(
        {"results": [picture if request.query.get("categories") == "images" else found]}
    )
    server["/w/api.php"] = wiki
    server["/plants"] = reported([{"name": "Moss"}])
    operation = {"operationId": "listPlants", "responses": {"200": {"description": "all"}}}
    server["/api.json"] = reported(
        {
            "openapi": "3.0.0",
            "info": {"title": "Plants", "version": "1"},
            "servers": [{"url": server.url}],
            "paths": {"/plants": {"get": operation}},
        }
    )


CALLS: dict[str, tuple[Callable[[str], dict[str, Any]], str]] = {
    "web_search": (lambda _: {"query": "moss"}, "Moss"),
    "fetch_url": (lambda u: {"url": f"{u}/page"}, "grows on stones"),
    "web_research": (lambda _: {"question": "Where does moss grow?"}, "grows on stones"),
    "ask_url": (lambda u: {"url": f"{u}/page", "question": "Where does moss grow?"}, "stones"),
    "image_search": (lambda _: {"query": "moss"}, "/a.png"),
    "fetch_images": (lambda u: {"page_url": f"{u}/page"}, r"images/\d+-1\.png"),
    "wikipedia_search": (lambda _: {"query": "moss"}, "small plant"),
    "http_request": (lambda u: {"url": f"{u}/plants", "filter": ".[0].name"}, "Moss"),
    "list_operations": (lambda u: {"description": f"{u}/api.json"}, "listPlants"),
    "call_operation": (
        lambda u: {"description": f"{u}/api.json", "operation": "listPlants"},
        "Moss",
    ),
}


async def test_a_real_client_uses_every_tool(tmp_path):
    names = {tool.name for tool in Registry(installed()) if tool.group in GROUPS}
    assert names == set(CALLS)
    with scripted() as server:
        filled(server)
        own = {"base_url": server.url}
        config = {
            "store": {"url": f"sqlite:///{tmp_path}/store.db"},
            "workspace": {"roots": [str(tmp_path)]},
            "policy": {"rules": [{"action": "allow", "tool": "call_operation"}]},
            "egress": {"allow_hosts": [server.origin]},
            "web": {
                "search": {"providers": ["searxng"]},
                "images": {"providers": ["searxng_images"]},
                "fetch": {"host_gap_seconds": 0},
                "providers": {"searxng": own, "searxng_images": own, "wikipedia": own},
            },
        }
        async with stdio(config, tmp_path, MODERN) as send:
            for name, (arguments, wanted) in CALLS.items():
                outcome = await send(name, arguments(server.url))
                assert outcome.code is None, (name, outcome.text)
                assert re.search(wanted, outcome.text), (name, outcome.text)
