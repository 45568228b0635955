"""Tools that make the command line show each thing it can show."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NotFound
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import EXEC, READ, SEND, Count, JsonObject, Param, tool
from toolcrib.system.processes import Processes


@tool(group="samples", profiles=("default",))
async def join_words(
    words: Annotated[list[str], Param("The words.")],
    times: Count = 1,
    *,
    loud: bool = False,
    extra: JsonObject | None = None,
    ctx: Ctx,
) -> Result:
    """Join words to a line.

    Use it to see what arrived.
    """
    await ctx.progress("joining", 1, 2)
    line = " ".join(words * times)
    text = line.upper() if loud else line
    return Result(text=text, data={"words": words, "times": times, "extra": extra})


@tool(group="samples", rights=READ)
async def find_nothing(*, ctx: Ctx) -> Result:
    """Fail as tools fail."""
    del ctx
    raise NotFound("Nothing is there.", hint="Look elsewhere.")


@tool(group="samples", rights=READ)
async def break_down(*, ctx: Ctx) -> Result:
    """Fail as no tool should."""
    del ctx
    raise RuntimeError("a defect")


@tool(group="samples", rights=SEND)
async def send_note(text: str, *, ctx: Ctx) -> Result:
    """Send a note to the outside."""
    del ctx
    return Result(text=f"sent: {text}")


@tool(group="samples", rights=READ)
async def tell_much(lines: Count = 5000, *, ctx: Ctx) -> Result:
    """Say more than fits into a result."""
    del ctx
    return Result(text="\n".join(f"line {n} of what there is to say" for n in range(lines)))


@tool(group="samples", rights=READ)
async def draw_dot(*, ctx: Ctx) -> Result:
    """Draw a picture, and print what a terminal should not get."""
    del ctx
    return Result(text="a \x1b[31mred\x1b[0m dot", images=(Image(b"\x89PNG", "image/png"),))


@tool(group="samples", rights=EXEC)
async def wait_long(*, ctx: Ctx) -> Result:
    """Start a child process and wait for it."""
    await ctx.progress("waiting")
    code = "import time\nprint('ready', flush=True)\ntime.sleep(600)"
    async with await ctx.use(Processes).spawn([sys.executable, "-c", code], cwd="/") as child:
        async for chunk in child.output():
            sys.stderr.write(f"child {child.pid} {chunk.data.decode()}")
            sys.stderr.flush()
    await asyncio.sleep(600)
    return Result(text="over")
