"""toolcrib's own server with the tools that the measurements call: stdio, or `http`."""

from __future__ import annotations

import asyncio
import sys

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, READ, tool
from toolcrib.surfaces.http.app import run as run_http
from toolcrib.surfaces.mcp.stdio import run
from toolcrib.system.processes import Processes
from toolcrib.toolbox import Toolbox, installed


@tool(group="bench", rights=READ)
async def echo(text: str, *, ctx: Ctx) -> Result:
    """Say it again."""
    del ctx
    return Result(text=text)


@tool(group="bench")
async def sleep(*, ctx: Ctx) -> Result:
    """Wait for long."""
    del ctx
    await asyncio.sleep(600)
    return Result()


@tool(group="bench")
async def burn(*, ctx: Ctx) -> Result:
    """Compute without end."""
    del ctx
    while True:
        pass


@tool(group="bench", rights=EXEC)
async def spawn(*, ctx: Ctx) -> Result:
    """Run a program for long."""
    await ctx.use(Processes).run(["sleep", "600"], cwd="/", timeout=None)
    return Result()


if __name__ == "__main__":
    serve = run_http if sys.argv[1:2] == ["http"] else run
    serve(Toolbox(tools=[*installed(), echo, sleep, burn, spawn]))
