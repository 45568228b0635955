"""`start_terminal`: a program behind a screen, for what asks questions or fills the screen."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, READ, WRITE, Param, tool
from toolcrib.execution.command_policy import terminal_verdict
from toolcrib.execution.interpreters.programs import shell_program, toolchains
from toolcrib.execution.network_access import NetworkRequests
from toolcrib.execution.sandbox.terms import Pty
from toolcrib.execution.terminals.terminals import Terminals
from toolcrib.files.paths import Workspace, WorkspacePath
from toolcrib.system.threads import in_thread
from toolcrib.tools.run import argument_adapters
from toolcrib.tools.run.screens import in_time, screen_result

TITLE_CHARS = 60
START_SECONDS = 5.0
"""What a program may take to show something."""


@tool(
    group="run",
    rights=READ | WRITE | EXEC,
    keywords=("tty", "pty", "interactive", "console", "repl", "session", "tmux", "screen"),
    aliases=("open_terminal", "create_terminal", "new_terminal"),
    argument_aliases={
        "cmd": "command",
        "path": "cwd",
        "cols": "columns",
        "width": "columns",
        "height": "rows",
    },
    destructive=True,
    argument_adapter=argument_adapters.terminal,
    policy_check=terminal_verdict,
)
async def start_terminal(
    command: Annotated[str, Param("Program to run; empty: a shell.")] = "",
    cwd: Annotated[WorkspacePath | None, Param("Folder to start in.")] = None,
    rows: Annotated[int, Param("Rows.", minimum=2, maximum=200)] = 24,
    columns: Annotated[int, Param("Columns.", minimum=10, maximum=500)] = 80,
    ports: Annotated[list[int] | None, Param("Ports of servers in it.")] = None,
    network: Annotated[list[str] | None, Param("Hosts, or packages.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Start a program in a terminal that keys can be sent to.

    For what is interactive: a shell that keeps its state, a debugger, an installer, an
    editor. For a plain command use run_command. Returns the id and the screen.
    """
    folder = cwd or ctx.use(Workspace).start(ctx.session.directory)
    access = await ctx.use(NetworkRequests).of(ctx, network)
    tools = await in_thread(lambda _: toolchains(ctx), ctx.deadline)
    program = shell_program(ctx)
    argv = [program, "-c", command] if command.strip() else [program, "-i"]
    title = " ".join(command.split())[:TITLE_CHARS] or program.rpartition("/")[2]
    terminal = await ctx.use(Terminals).start(
        ctx,
        argv,
        title,
        folder,
        Pty(rows, columns),
        tools,
        start_terminal.name,
        access,
        ports or (),
    )
    await terminal.settle(0, START_SECONDS, in_time(ctx, 2 * START_SECONDS))
    return await screen_result(ctx, terminal, start_terminal.name)
