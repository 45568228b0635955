"""`send_terminal`: keys for a terminal, and what it shows then."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Conflict
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, READ, WRITE, Param, Seconds, tool
from toolcrib.execution.command_policy import code_verdict
from toolcrib.execution.terminals.keys import encode
from toolcrib.execution.terminals.terminals import Terminals
from toolcrib.tools.run import argument_adapters
from toolcrib.tools.run.screens import WaitFor, check_wait, screen_result, wait_for

TYPING_SECONDS = 10.0


@tool(
    group="run",
    rights=READ | WRITE | EXEC,
    keywords=("type", "press", "input", "keys", "stdin", "interact", "answer", "terminal"),
    aliases=("send_keys", "write_terminal", "send_input"),
    argument_aliases={"terminal_id": "id", "input": "keys", "data": "keys", "wait_for": "text"},
    destructive=True,
    policy_check=code_verdict,
    argument_adapter=argument_adapters.typed_keys,
)
async def send_terminal(
    id: Annotated[str, Param("Terminal.")],  # noqa: A002 - the name that models use
    keys: Annotated[str, Param("Text, and keys like <Enter>, <Ctrl+C>, <Up>, <Esc>.")],
    wait: WaitFor = "idle",
    text: Annotated[str, Param("Output to wait for.")] = "",
    timeout: Annotated[Seconds, Param(maximum=40)] = 10,  # noqa: ASYNC109 - bounds the wait
    *,
    ctx: Ctx,
) -> Result:
    """Type into a terminal and see what it shows then.

    End a command with <Enter>. What looks like a key and is none is typed as it is; <lt> is
    the sign itself. The answer comes when the output pauses, or with `text`, or at the end.
    """
    check_wait(wait, text)
    terminal = await ctx.use(Terminals).find(id, ctx)
    typed = encode(keys, application=terminal.screen.application_keys)
    old = terminal.output_bytes
    try:
        await terminal.send(typed, ctx.remaining(TYPING_SECONDS))
    except (BrokenPipeError, ConnectionResetError, OSError):
        if terminal.outcome is None:
            await terminal.wait("exit", "", ctx.remaining(1.0), 0)
        raise Conflict(
            f"Terminal {terminal.id} takes no more keys: its program is over.",
            hint=f"read_terminal id={terminal.id} shows its end; start_terminal starts another.",
        ) from None
    came = await wait_for(ctx, terminal, wait, text, timeout, terminal.typed_to, old)
    return await screen_result(ctx, terminal, send_terminal.name, came=came)
