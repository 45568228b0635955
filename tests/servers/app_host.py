"""A host of MCP Apps, as small as can be: a page with a sandboxed frame, in a real Chromium.

It does what the extension asks of a host: the frame has the sandbox and the policy, the page in
it speaks first, and is given the input and the result of the tool once it has said that it is
ready. What it says is kept in `said`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Frame, Page, async_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.servers.asgi import served
from toolcrib.browser.launcher import own_sandbox
from toolcrib.browser.program import find_program

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'"
)
"""What a host has to set for a page that asks for nothing."""
HOST = """<!doctype html><title>host</title><body><script>
window.said = [];
window.begin = (html, input, result, theme) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style = "width:700px;height:500px";
  const post = (message) => frame.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
  addEventListener("message", ({source, data}) => {
    if (source !== frame.contentWindow) return;
    window.said.push(data);
    if (data.method === "ui/initialize") {
      const answer = {protocolVersion: "2026-01-26", hostInfo: {name: "test", version: "1"},
                      hostCapabilities: {openLinks: {}}, hostContext: {theme}};
      post({id: data.id, result: answer});
    } else if (data.method === "ui/notifications/initialized") {
      post({method: "ui/notifications/tool-input", params: {arguments: input}});
      post({method: "ui/notifications/tool-result", params: result});
      post({id: "ping", method: "ping"});
    } else if (data.id !== undefined && data.method) post({id: data.id, result: {}});
  });
  const meta = `<meta http-equiv="Content-Security-Policy" content="POLICY">`;
  frame.srcdoc = html.replace("<head>", "<head>" + meta);
  document.body.append(frame);
};
</script>""".replace("POLICY", POLICY)


@dataclass
class AppHost:
    """The host.

    Attributes:
        page: the host's own page.
        reached: the paths that its server was asked for, by whatever page.
        errors: what went wrong in scripts.
    """

    page: Page
    reached: list[str]
    errors: list[str]

    async def show(
        self, html: str, arguments: dict[str, Any], result: dict[str, Any], theme: str = "light"
    ) -> Frame:
        """Open the page of a tool in a frame, and give it the result; the frame."""
        await self.page.evaluate(
            "([html, input, result, theme]) => window.begin(html, input, result, theme)",
            [html, arguments, result, theme],
        )

        await self.page.wait_for_function("said.some(m => m.id === 'ping')", timeout=0)
        return self.page.frames[-1]

    async def reply(self) -> list[dict[str, Any]]:
        """What the pages in frames have said."""
        return list(json.loads(await self.page.evaluate("JSON.stringify(window.said)")))

    async def sent(self, method: str) -> list[dict[str, Any]]:
        """The parameters of all messages of one kind."""
        return [m["params"] for m in await self.reply() if m.get("method") == method]


@asynccontextmanager
async def app_host() -> AsyncIterator[AppHost]:
    """A host in a browser, while the context lasts."""

    reached: list[str] = []

    async def home(request: Request) -> HTMLResponse:
        reached.append(request.url.path)
        return HTMLResponse(HOST if request.url.path == "/" else "")

    app = Starlette(routes=[Route("/{path:path}", home, methods=["GET", "POST"])])
    async with served(app) as base, async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=find_program(""), chromium_sandbox=own_sandbox()
        )
        try:
            page = await browser.new_page()
            host = AppHost(page, reached, [])
            page.on("pageerror", lambda error: host.errors.append(str(error)))
            await page.goto(base)
            yield host
        finally:
            await browser.close()
