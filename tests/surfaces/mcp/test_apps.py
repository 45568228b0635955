"""`show` in hosts with MCP Apps and without: the wire in both revisions, and a real Chromium."""

from __future__ import annotations

import os
import re
import sys
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.extension import advertise
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from tests.conditions import until
from tests.contract.test_compat_calls import has_browser
from tests.servers.asgi import served
from tests.servers.mcp_wire import MODERN, ROOT
from toolcrib.surfaces.http.app import create_app
from toolcrib.surfaces.mcp.apps import EXTENSION, MIME_TYPE, PAGE_KEY, URI, app_page
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.timeout(120)
NEWEST = "auto"
"""Asks the server what it has, and speaks 2026-07-28."""
WAYS = [("legacy", "stdio"), (NEWEST, "stdio"), ("legacy", "http"), (NEWEST, "http")]
every_method = pytest.mark.parametrize(
    ("mode", "transport"), WAYS, ids=[f"{transport}, {mode}" for mode, transport in WAYS]
)
APPS = (advertise(EXTENSION, {"mimeTypes": [MIME_TYPE]}),)
ROWS = [{"name": "Moss", "height": 3}, {"name": "Fern", "height": 40}]


@asynccontextmanager
async def connected(
    mode: str, transport: str, ws: Path, *, apps: bool = True, setting: str = "auto"
) -> AsyncIterator[Client]:
    """A host with or without apps, and a server with the tools of `ui`."""
    options: dict[str, Any] = {"mode": mode, "extensions": APPS if apps else None}
    if transport == "stdio":
        words = ["mcp", "--profile", "ui", "--workspace", str(ws), "--set", f"ui.apps={setting}"]
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "toolcrib", *words], env=dict(os.environ), cwd=ROOT
        )
        async with Client(stdio_client(parameters), **options) as client:
            yield client
    else:
        box = Toolbox({"ui": {"apps": setting}}, workspace=ws, profile="ui")
        async with served(create_app(box)) as base, Client(f"{base}/mcp", **options) as client:
            yield client


def text_of(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


def pictures_of(result: types.CallToolResult) -> list[bytes]:
    return [b64decode(block.data) for block in result.content if block.type == "image"]


def is_whole(result: types.CallToolResult) -> None:
    """Whether text and picture say it all, whatever the host shows beside them."""
    assert not result.is_error
    text = text_of(result)
    assert "| Moss | 3 |" in text
    assert "| Fern | 40 |" in text
    assert "Saved to garden" in text
    (picture,) = pictures_of(result)
    assert picture.startswith(b"\x89PNG")
    assert result.structured_content is None


@every_method
@pytest.mark.rows("E84")
async def test_a_host_with_apps_gets_text_and_picture_and_the_page(
    mode: str, transport: str, tmp_path: Path
) -> None:
    async with connected(mode, transport, tmp_path) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert (tools["show"].meta or {})["ui"] == {"resourceUri": URI, "visibility": ["model"]}
        assert all(not tool.meta for name, tool in tools.items() if name != "show")
        listed = {str(r.uri): r for r in (await client.list_resources()).resources}
        assert listed[URI].mime_type == MIME_TYPE
        (page,) = (await client.read_resource(URI)).contents
        assert isinstance(page, types.TextResourceContents)
        assert page.mime_type == MIME_TYPE
        assert page.text == app_page()
        csp = (page.meta or {})["ui"]["csp"]
        assert all(domains == [] for domains in csp.values())
        assert (page.meta or {})["ui"]["permissions"] == {}
        displayed = {"content": ROWS, "kind": "table", "title": "Garden"}
        result = await client.call_tool("show", displayed)
        is_whole(result)
        assert "<td>Moss</td>" in (result.meta or {})[PAGE_KEY]
        assert PAGE_KEY not in ((await client.call_tool("show", {"content": ""})).meta or {})
        if client.protocol_version == MODERN:
            assert EXTENSION in (client.server_capabilities.extensions or {})
    assert "<td>Moss</td>" in (tmp_path / "garden.html").read_text()


@pytest.mark.parametrize("mode", ["legacy", NEWEST])
async def test_a_host_without_apps_gets_text_and_picture(mode: str, tmp_path: Path) -> None:
    async with connected(mode, "http", tmp_path, apps=False) as client:
        result = await client.call_tool(
            "show", {"content": ROWS, "kind": "table", "title": "Garden"}
        )
        is_whole(result)
        assert PAGE_KEY not in (result.meta or {})


@pytest.mark.parametrize("mode", ["legacy", NEWEST])
async def test_apps_are_switched_off(mode: str, tmp_path: Path) -> None:
    async with connected(mode, "http", tmp_path, setting="off") as client:
        assert all(not tool.meta for tool in (await client.list_tools()).tools)
        assert URI not in {str(r.uri) for r in (await client.list_resources()).resources}
        with pytest.raises(MCPError):
            await client.read_resource(URI)
        result = await client.call_tool(
            "show", {"content": ROWS, "kind": "table", "title": "Garden"}
        )
        is_whole(result)
        assert PAGE_KEY not in (result.meta or {})


def test_the_page_is_small_and_strict() -> None:
    page = app_page()
    assert len(page) < 10_000
    assert "default-src 'none'; script-src 'sha256-" in page
    assert page.index("Content-Security-Policy") < page.index("<script>")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    for word in ("eval(", "innerHTML", "Function(", "fetch(", "XMLHttpRequest", "WebSocket"):
        assert word not in page


WITHOUT_A_PAGE = {
    "content": [
        {"type": "text", "text": "<b>plain</b>"},
        {
            "type": "image",
            "mimeType": "image/gif",
            "data": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
        },
    ]
}
HOSTILE = """<html><head><style>h1 { background: url("{url}/style") } </style>
<link rel=stylesheet href="{url}/link"><meta http-equiv=refresh content="0;url={url}/refresh">
<base href="{url}/"><script>fetch("{url}/script")</script></head>
<body onload="fetch('{url}/load')"><h1 onclick="top.bad = 1">Title</h1>
<img src="{url}/picture" onerror="fetch('{url}/error')"><img src=x onerror="document.title='bad'">
<meta http-equiv=refresh content="0;url={url}/refresh2">
<iframe src="{url}/frame"></iframe><object data="{url}/object"></object><embed src="{url}/embed">
<svg><script>fetch("{url}/svg")</script><image href="{url}/image"/><rect id=box width=9 height=9 />
<foreignObject><img src="{url}/foreign"></foreignObject><a href="{url}/svglink"><text>t</text></a>
</svg><form action="{url}/form"><input name=n value=v><button>Send</button></form>
<p style="background-image:url('{url}/inline')">Words</p><a href="javascript:alert(1)">No</a>
<a href="{url}/opened" target=_top ping="{url}/ping">Yes</a><video src="{url}/video"></video>
<table background="{url}/old"><tr><td>cell</td></tr></table><template><img src="{url}/t"></template>
<math><mtext><img src="{url}/math"></mtext></math></body></html>"""


@pytest.mark.skipif(not has_browser(), reason="needs a browser and the extra browser")
async def test_pages_in_a_real_browser(tmp_path: Path) -> None:
    from tests.servers.app_host import app_host

    async with (
        connected(NEWEST, "http", tmp_path) as client,
        app_host() as host,
    ):
        (page,) = (await client.read_resource(URI)).contents
        assert isinstance(page, types.TextResourceContents)

        async def show(arguments: dict[str, Any], theme: str = "light") -> Any:
            await host.page.reload()
            result = await client.call_tool("show", arguments)
            assert not result.is_error, text_of(result)
            given = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            return await host.show(page.text, arguments, given, theme)

        frame = await show({"content": ROWS, "kind": "table"}, theme="dark")
        assert await frame.locator("td").all_inner_texts() == ["Moss", "3", "Fern", "40"]
        assert await frame.locator("html").get_attribute("data-theme") == "dark"
        (first, *_) = await host.reply()
        assert first["method"] == "ui/initialize"
        assert first["params"]["protocolVersion"] == "2026-01-26"
        sizes = await host.sent("ui/notifications/size-changed")
        assert sizes[-1]["height"] > 50

        frame = await show({"content": {"May": 3, "June": 5}, "kind": "chart"})
        assert await frame.locator("svg rect").count() >= 2
        assert (await frame.locator("svg").bounding_box() or {})["height"] > 100
        frame = await show(
            {"content": "# Head\n\n- [x](https://example.org/a)", "kind": "markdown"}
        )
        assert await frame.locator("h1").inner_text() == "Head"
        await frame.get_by_text("x", exact=True).click()
        await host.page.wait_for_function("said.some(m => m.method === 'ui/open-link')")
        assert await host.sent("ui/open-link") == [{"url": "https://example.org/a"}]
        frame = await show({"content": "-old\n+new <b>", "kind": "diff"})
        assert "+new <b>" in await frame.locator("pre").inner_text()
        assert await frame.locator("b").count() == 0
        await host.page.reload()
        frame = await host.show(page.text, {}, WITHOUT_A_PAGE)
        assert await frame.locator("pre").inner_text() == "<b>plain</b>"
        assert await frame.locator("img").count() == 1
        assert host.errors == []


@pytest.mark.skipif(not has_browser(), reason="needs a browser and the extra browser")
async def test_a_hostile_page_reaches_nothing(tmp_path: Path) -> None:
    from tests.servers.app_host import app_host

    async with connected(NEWEST, "http", tmp_path) as client, app_host() as host:
        elsewhere = host.page.url.rstrip("/").replace("127.0.0.1", "localhost")
        hostile = HOSTILE.replace("{url}", elsewhere)
        result = await client.call_tool("show", {"content": hostile, "kind": "html"})
        assert hostile in text_of(result)
        given = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        host.reached.clear()
        frame = await host.show(app_page(), {"kind": "html"}, given)
        assert await frame.locator("h1").inner_text() == "Title"
        assert await frame.locator("rect").count() == 1
        assert await frame.locator("td").inner_text() == "cell"
        assert (
            await frame.locator("form, iframe, object, embed, meta[http-equiv=refresh]").count()
            == 0
        )
        await frame.get_by_text("Title").click()
        await frame.get_by_text("Send").click()
        await frame.get_by_text("No", exact=True).click()
        await frame.get_by_text("Yes", exact=True).click()
        await host.page.wait_for_function("said.some(m => m.method === 'ui/open-link')")
        assert await host.sent("ui/open-link") == [{"url": f"{elsewhere}/opened"}]
        assert host.reached == []
        assert await host.page.evaluate("window.bad") is None
        assert await frame.title() == "toolcrib"
        # The same markup as it stands does reach out, so the server of this test sees it.
        await host.page.set_content(hostile, wait_until="commit")
        await until(lambda: "/picture" in host.reached)
