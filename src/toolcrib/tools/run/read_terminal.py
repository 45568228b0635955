"""`read_terminal`: the screen of a terminal, now or once something is there."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, Seconds, tool
from toolcrib.execution.terminals.terminals import Terminals
from toolcrib.tools.run.screens import WaitFor, check_wait, screen_result, wait_for


@tool(
    group="run",
    rights=READ,
    keywords=("screen", "output", "wait", "show", "console", "tty"),
    aliases=("read_screen", "terminal_output", "capture_terminal"),
    argument_aliases={"terminal_id": "id", "session_id": "id", "wait_for": "text"},
)
async def read_terminal(
    id: Annotated[str, Param("Terminal.")],  # noqa: A002 - the name that models use
    wait: WaitFor = "none",
    text: Annotated[str, Param("Output to wait for.")] = "",
    timeout: Annotated[Seconds, Param(maximum=40)] = 30,  # noqa: ASYNC109 - bounds the wait
    lines: Annotated[int, Param("Lines above the screen to show again.", minimum=0)] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Show the screen of a terminal, at once or after a wait.

    `wait` is idle for a pause in the output, text for `text`, exit for the end of the program.
    What scrolled away since the last look stands above.
    """
    check_wait(wait, text)
    terminal = await ctx.use(Terminals).find(id, ctx)
    came = await wait_for(ctx, terminal, wait, text, timeout, terminal.unread(), -1)
    return await screen_result(ctx, terminal, read_terminal.name, came=came, lines=lines)
