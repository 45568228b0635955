"""A proxy on loopback in front of a scripted server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from tests.servers.asgi import served
from toolcrib.surfaces.proxy.server import create_proxy
from toolcrib.toolbox import Toolbox

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


def ask(text: str = "hi", **more: Any) -> dict[str, Any]:
    """The body of a request of the chat API."""
    return {"model": "scripted", "messages": [{"role": "user", "content": text}], **more}


def settings(urls: Sequence[str], **proxy: Any) -> dict[str, Any]:
    """A configuration with these servers."""
    listed = [{"base_url": url} for url in urls]
    return {"proxy": {"upstreams": listed, **proxy}, "http": {"token_env": ""}}


@asynccontextmanager
async def proxied(
    *urls: str, config: dict[str, Any] | None = None, **proxy: Any
) -> AsyncIterator[str]:
    """The base URL of a proxy before these servers."""
    tree = settings(urls, **proxy)
    for name, branch in (config or {}).items():
        tree[name] = {**tree.get(name, {}), **branch}
    async with proxied_box(tree) as (base, _):
        yield base


@asynccontextmanager
async def proxied_box(tree: dict[str, Any]) -> AsyncIterator[tuple[str, Toolbox]]:
    """The base URL of a proxy, and its toolbox."""
    toolbox = Toolbox(tree, profile=tree["proxy"].get("tools") or "default")
    async with served(create_proxy(toolbox)) as base:
        yield base, toolbox


@asynccontextmanager
async def asking(*urls: str, **proxy: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """A bare client of such a proxy."""
    async with (
        proxied(*urls, **proxy) as base,
        httpx2.AsyncClient(base_url=base, timeout=30) as client,
    ):
        yield client
