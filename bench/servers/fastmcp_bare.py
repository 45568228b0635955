"""A bare fastmcp server with as many tools as asked for; the first is `echo`."""

from __future__ import annotations

import sys

from fastmcp import FastMCP

server = FastMCP("bare")


@server.tool
async def echo(text: str) -> str:
    """Say it again."""
    return text


def another(number: int):
    async def tool(path: str, limit: int = 10, deep: bool = False) -> str:
        """Do one thing of many."""
        return f"{path} {limit} {deep}"

    tool.__name__ = f"tool_{number}"
    return tool


for number in range(int(sys.argv[1]) - 1):
    server.tool(another(number))
server.run(show_banner=False)
