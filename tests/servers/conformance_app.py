"""The fixtures that the official conformance suite asks for, on toolcrib's own server factory.

What a toolcrib tool can express is declared with `@tool` and goes through the whole
pipeline. What it cannot (prompts, resources, sampling, sound) is grafted on the same
server, so gate, transports and middleware are the product's.

Run as `python -m tests.servers.conformance_app PORT`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from starlette.applications import Starlette

from tests.servers import conformance_content as content
from tests.servers import conformance_tools as grafted
from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import Tool, tool
from toolcrib.surfaces.http.app import assemble
from toolcrib.surfaces.mcp.server import create_server
from toolcrib.toolbox import Toolbox

Context = ServerRequestContext[Any, Any]
Answer = types.CallToolResult | types.InputRequiredResult


@tool(group="conformance")
async def test_simple_text(*, ctx: Ctx) -> Result:
    """Answer with text."""
    del ctx
    return Result(text="This is a simple text response for testing.")


@tool(group="conformance")
async def test_image_content(*, ctx: Ctx) -> Result:
    """Answer with a picture."""
    del ctx
    return Result(images=(Image(content.PNG, "image/png"),))


@tool(group="conformance")
async def test_error_handling(*, ctx: Ctx) -> Result:
    """Fail."""
    del ctx
    raise ToolError("This tool intentionally returns an error for testing")


@tool(group="conformance")
async def test_tool_with_progress(*, ctx: Ctx) -> Result:
    """Tell three steps."""
    for done in (0, 50, 100):
        await ctx.progress(f"{done} of 100", done, 100)
        await asyncio.sleep(0.05)
    return Result(text="Done.")


TOOLS: list[Tool] = [
    test_simple_text,
    test_image_content,
    test_error_handling,
    test_tool_with_progress,
]


def create_fixture_server(toolbox: Toolbox) -> Server[Any]:
    """The product's server for a toolbox, with the rest of the fixtures grafted on."""
    server = create_server(toolbox)
    own_list = _handler(server, "tools/list")
    own_call = _handler(server, "tools/call")
    own_schema = server.get_tool_input_schema

    async def list_tools(
        ctx: Context, params: types.PaginatedRequestParams
    ) -> types.ListToolsResult:
        listed: types.ListToolsResult = await own_list(ctx, params)
        return types.ListToolsResult(tools=[*listed.tools, *grafted.LISTED])

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        handler = grafted.HANDLERS.get(params.name)
        found: Answer = await (handler or own_call)(ctx, params)
        return found

    def schema(name: str) -> Any:
        known = {t.name: t.input_schema for t in grafted.LISTED}
        return known.get(name) or (own_schema(name) if own_schema else None)

    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.get_tool_input_schema = schema
    content.graft(server)
    return server


def _handler(server: Server[Any], method: str) -> Callable[..., Awaitable[Any]]:
    entry = server.get_request_handler(method)
    assert entry is not None
    return entry.handler


def create_fixture_app() -> Starlette:
    """The application: the product's gate and transports around the fixture server."""
    toolbox = Toolbox(tools=TOOLS)
    return assemble(create_fixture_server(toolbox), toolbox.config.http, (), toolbox.close)


if __name__ == "__main__":
    uvicorn.run(create_fixture_app(), port=int(sys.argv[1]), log_level="warning")
