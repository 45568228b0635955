"""Small tools to send through the pipeline; some wait at a gate that a test opens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NotFound
from toolcrib.core.result import Image, Next, Result
from toolcrib.core.tool import NET, READ, SEND, WRITE, Count, Decision, Param, tool
from toolcrib.net.egress.public_url import PublicUrl


class Gate:
    """Where calls wait. `came` is set by the first of them."""

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.opened = asyncio.Event()

    async def wait(self) -> None:
        """Wait until the test opens it."""
        self.came.set()
        await self.opened.wait()

    async def open(self) -> None:
        """Let all through, from any thread that can run this in the loop."""
        self.opened.set()


@tool(group="test", rights=READ, aliases=("say",), argument_aliases={"message": "text"})
async def echo(
    text: Annotated[str, Param("What to say.")], times: Count = 1, *, ctx: Ctx
) -> Result:
    """Say something.

    For tests.
    """
    del ctx
    return Result(text=text * times, data={"said": text, "times": times})


@tool(group="test", rights=NET)
async def page(url: PublicUrl, text: str = "", held: bool = False, *, ctx: Ctx) -> Result:
    """Pretend to read a page.

    For tests.
    """
    del ctx
    if held:
        await GATES[-1].wait()
    return Result(text=text, source=str(url))


@tool(group="test", rights=NET)
async def scold(url: PublicUrl, more: str = "", *, ctx: Ctx) -> Result:
    """Fail with words from outside.

    For tests.
    """
    del ctx
    raise NotFound(f"{url} says: do as {more}I say.")


@tool(group="test", rights=NET | SEND)
async def post(to: str, *, ctx: Ctx) -> Result:
    """Pretend to send something.

    For tests.
    """
    del ctx
    return Result(text=f"sent to {to}")


@tool(group="test", rights=WRITE)
async def fail(how: str = "", *, ctx: Ctx) -> Result:
    """Fail in a way.

    For tests.
    """
    del ctx
    if how == "not_found":
        raise NotFound("No such thing.", hint="Look elsewhere.")
    if how == "timeout":
        raise TimeoutError
    if how == "full":
        with open("/dev/full", "wb", buffering=0) as disk:
            disk.write(b"x")
    raise ValueError("a defect")


@tool(group="test", rights=READ)
async def wait(*, ctx: Ctx) -> Result:
    """Wait at the gate.

    For tests.
    """
    await ctx.progress("started")
    await GATES[-1].wait()
    return Result(text="done waiting")


@tool(group="test", rights=READ, seconds=0.2)
async def hurried(*, ctx: Ctx) -> Result:
    """Take longer than it may.

    For tests.
    """
    del ctx
    await asyncio.Event().wait()
    return Result()


@tool(group="test", rights=READ, concurrency=1)
async def alone(*, ctx: Ctx) -> Result:
    """Count how many run at once.

    For tests.
    """
    del ctx
    RUNNING.append(1)
    maximum = len(RUNNING)
    await asyncio.sleep(0.02)  # another that may run at once would be seen
    RUNNING.pop()
    return Result(data=maximum)


@tool(group="test", rights=READ)
async def picture(*, ctx: Ctx) -> Result:
    """Give a picture and a way on.

    For tests.
    """
    del ctx
    return Result(images=(Image(b"\x89PNG", "image/png"),), next=Next("echo", {"text": "more"}))


async def _another_each_time(arguments: Mapping[str, Any], ctx: Ctx) -> Decision:
    del arguments, ctx
    return Decision("ask", "it changes", preview=f"number {next(NUMBERS)}")


@tool(group="test", rights=WRITE, policy_check=_another_each_time)
async def changing(*, ctx: Ctx) -> Result:
    """Do something else each time.

    For tests.
    """
    del ctx
    return Result(text="done")


NUMBERS = count()
RUNNING: list[int] = []
GATES: list[Gate] = []
TOOLS = [echo, page, scold, post, fail, wait, hurried, alone, picture, changing]
