"""A bare server on the SDK's low level with as many tools as wanted; the first is `echo`.

Over stdio, or over HTTP where a second argument names a port of loopback.
"""

from __future__ import annotations

import asyncio
import sys

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "integer"},
        "deep": {"type": "boolean"},
    },
    "required": ["path"],
}
ECHO = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


async def list_tools(_ctx, _params):
    count = int(sys.argv[1]) - 1
    tools = [types.Tool(name="echo", description="Say it again.", input_schema=ECHO)]
    tools += [
        types.Tool(name=f"tool_{n}", description="Do one thing of many.", input_schema=SCHEMA)
        for n in range(count)
    ]
    return types.ListToolsResult(tools=tools)


async def call_tool(_ctx, params):
    return types.CallToolResult(content=[types.TextContent(text=params.arguments["text"])])


async def over_stdio(server):
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


bare = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
if len(sys.argv) > 2:
    uvicorn.run(bare.streamable_http_app(), port=int(sys.argv[2]), log_level="warning")
else:
    asyncio.run(over_stdio(bare))
