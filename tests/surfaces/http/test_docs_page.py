"""The page at /docs."""

from __future__ import annotations

import re
import shlex
from html.parser import HTMLParser

import httpx2

from tests.contract.doors import serving
from tests.servers.asgi import served
from toolcrib.core.result import Result
from toolcrib.core.tool import tool
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox

LOADING = {"src", "srcset", "href", "action", "data", "poster", "background", "style"}


class Page(HTMLParser):
    """What a page loads, leads to, runs, and shows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in LOADING]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


async def test_it_shows_every_tool_and_loads_nothing() -> None:
    async with serving({"profile": "all"}) as base, httpx2.AsyncClient(base_url=base) as client:
        answer = await client.get("/docs")
        document = (await client.get("/openapi.json")).json()
    page = Page(answer.text)
    assert page.links == ["openapi.json"]
    assert not {"script", "img", "iframe", "link", "object", "form"} & set(page.tags)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert page.ids == list(dict.fromkeys(page.ids))
    operations = [item["post"] for item in document["paths"].values()]
    assert {operation["operationId"] for operation in operations} == set(page.ids)
    for operation in operations:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        for argument in schema["properties"]:
            assert argument in page.text


@tool(group="test")
async def show(text: str, *, ctx: object) -> Result:
    """Show <script>alert('`x`')</script> & "more"."""
    del ctx
    return Result(text=f"shown: {text}")


async def test_nothing_in_a_declaration_becomes_markup() -> None:
    async with served(create_app(Toolbox(tools=[show]))) as base, httpx2.AsyncClient() as client:
        answer = await client.get(f"{base}/docs")
    page = Page(answer.text)
    assert "script" not in page.tags
    assert "<script>alert('x')</script> & \"more\"." in page.text


async def test_an_example_runs_as_it_stands() -> None:
    async with served(create_app(Toolbox(tools=[show]))) as base, httpx2.AsyncClient() as client:
        displayed = Page((await client.get(f"{base}/docs")).text).text
        found = re.search(r"curl .*", displayed)
        assert found
        assert f" {base}/tools/show" in found[0], "the address at which the page is read"
        words = shlex.split(found[0])
        sent = words[words.index("-d") + 1]
        headers = dict([words[words.index("-H") + 1].split(": ")])
        answer = await client.post(words[-1], content=sent, headers=headers)
    assert answer.json()["text"] == "shown: ..."
