"""Tools that do what a server must survive.

`python -m tests.servers.mcp_tools` serves them over stdio, with a port over HTTP.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, SEND, Tool, tool
from toolcrib.system.processes import Processes
from toolcrib.toolbox import Toolbox


@tool(group="test")
async def echo(text: str, *, ctx: Ctx) -> Result:
    """Say it again."""
    del ctx
    return Result(text=text)


@tool(group="test")
async def lose(*, ctx: Ctx) -> Result:
    """Fail as tools do."""
    del ctx
    raise NotFound("There is nothing here.", hint="Look elsewhere.")


@tool(group="test")
async def crash(*, ctx: Ctx) -> Result:
    """Fail as tools should not."""
    del ctx
    raise ZeroDivisionError("by zero")


@tool(group="test", rights=SEND)
async def post(text: str, *, ctx: Ctx) -> Result:
    """Send it away, which asks a person first."""
    del ctx
    return Result(text=f"posted {text}")


@tool(group="test")
async def wait(seconds: float, note: str = "", *, ctx: Ctx) -> Result:
    """Sleep, and leave a line in the file `note` at either end."""
    del ctx
    _write(note, "began")
    try:
        await asyncio.sleep(seconds)
    finally:
        # As real clean-up does: it needs the loop, and must not be cut short.
        await asyncio.sleep(0.05)
        _write(note, "cleaned up")
    return Result(text="slept")


@tool(group="test")
async def burn(note: str, *, ctx: Ctx) -> Result:
    """Compute without end, and never let the event loop run."""
    del ctx
    _write(note, "began")
    while True:
        pass


@tool(group="test", rights=EXEC)
async def spawn(note: str, *, ctx: Ctx) -> Result:
    """Run a program that starts another and goes on for long."""
    script = f"sleep 600 & echo $! >> {note}; echo $$ >> {note}; wait"
    await ctx.use(Processes).run(["sh", "-c", script], cwd="/", timeout=None)
    return Result(text="ran")


@tool(group="test")
async def shout(*, ctx: Ctx) -> Result:
    """Write where only the protocol may."""
    del ctx
    print("printed")  # noqa: T201
    sys.stdout.flush()
    os.write(1, b"written\n")
    return Result(text="shouted")


@tool(group="test")
async def steps(count: int, *, ctx: Ctx) -> Result:
    """Report each step."""
    for done in range(1, count + 1):
        await ctx.progress(f"step {done}", done, count)
        await asyncio.sleep(0.01)
    return Result(text="done")


def _write(note: str, line: str) -> None:
    if note:
        with Path(note).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


TOOLS: list[Tool] = [echo, lose, crash, post, wait, burn, spawn, shout, steps]


def main() -> None:
    if len(sys.argv) > 1:
        from toolcrib.surfaces.http.app import run as serve

        serve(Toolbox({"http": {"port": int(sys.argv[1])}}, tools=TOOLS))
    else:
        from toolcrib.surfaces.mcp.stdio import run

        run(Toolbox(tools=TOOLS))


if __name__ == "__main__":
    main()
