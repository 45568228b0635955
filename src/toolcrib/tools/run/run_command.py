"""`run_command`: a shell command behind the boundary, to its end or in the background."""

from __future__ import annotations

from typing import Annotated, Literal

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.params import Param, Seconds
from toolcrib.core.tool import EXEC, READ, WRITE, tool
from toolcrib.execution.interpreters.programs import shell_program
from toolcrib.execution.interpreters.toolchains import toolchains
from toolcrib.execution.runs.runs import Runs
from toolcrib.execution.shell.verdicts import command_verdict
from toolcrib.files.paths import WorkspacePath
from toolcrib.files.workspace import Workspace
from toolcrib.system.threads import in_thread
from toolcrib.tools.run import argument_adapters as dialects
from toolcrib.tools.run.background import in_background
from toolcrib.tools.run.hints import hints_of, needs_screen, screens
from toolcrib.tools.run.output_stream import Follower
from toolcrib.tools.run.report import report

SECONDS = 120.0
LONGEST = 36_000
MAX_COMMAND = 100_000
"""Characters; the kernel takes 131,072 bytes in one word."""

Commit = Literal["auto", "ask", "never"]


@tool(
    group="run",
    rights=READ | WRITE | EXEC,
    profiles=("default",),
    keywords=("execute", "exec", "terminal", "bash", "shell", "git", "npm", "make", "process"),
    aliases=(
        *("execute_command", "bash", "shell", "run_terminal_cmd", "run_terminal_command", "sh"),
        *("run_shell_command", "execute_bash", "run_bash", "bash_command", "run_bash_command"),
        *("exec", "exec_command", "terminal", "shell_exec", "run_shell", "local_shell", "cmd"),
        *("shell_command", "execute_shell", "execute_shell_command", "run_background_command"),
        *("run_command_line", "system", "run_process", "execute", "command", "terminal_execute"),
    ),
    argument_aliases={
        **dict.fromkeys(("cmd", "command_line", "script", "shell_command", "commands"), "command"),
        **dict.fromkeys(("bash", "code", "bash_command"), "command"),
        **dict.fromkeys(("workdir", "working_directory", "working_dir", "dir", "path"), "cwd"),
        **dict.fromkeys(("directory", "folder", "current_directory"), "cwd"),
        **dict.fromkeys(("timeout_seconds", "timeout_sec", "seconds", "max_seconds"), "timeout"),
        **dict.fromkeys(("stdin", "std_in", "stdin_text"), "input"),
    },
    destructive=True,
    seconds=LONGEST + 60,
    verdict=command_verdict,
    dialect=dialects.command,
)
async def run_command(
    command: Annotated[str, Param("For the shell.")],
    cwd: Annotated[WorkspacePath | None, Param("Folder.")] = None,
    timeout: Annotated[Seconds, Param(maximum=LONGEST)] = 0,  # noqa: ASYNC109 - of the run
    commit: Annotated[Commit | None, Param("Changed files: keep, hold, drop.")] = None,
    background: Annotated[bool, Param("Go on as a job.")] = False,
    input: Annotated[str, Param("Its stdin.")] = "",  # noqa: A002 - the name that models use
    *,
    ctx: Ctx,
) -> Result:
    """Run a shell command in a sandbox, without network.

    Its stdin is empty unless `input` is given; for what asks questions use start_terminal.
    With `background` it goes on as a job for read_job: servers, watchers, long builds.
    """
    _check(command)
    folder = cwd or ctx.use(Workspace).start(ctx.session.directory)
    tools, screen = await in_thread(
        lambda _: (toolchains(ctx), needs_screen(command)), ctx.deadline
    )
    if screen:
        raise BadInput(f"{screen} needs a terminal, and would only wait here.", hint=screens(ctx))
    argv = [shell_program(ctx), "-c", command]
    stdin = input.encode() if input else None
    if background:
        if commit in ("ask", "never"):
            raise BadInput(
                f"A command in the background works on the files themselves: commit={commit} "
                "cannot be kept.",
                hint="Leave 'commit' out, or run it to its end without background.",
            )
        return await in_background(
            ctx, run_command.name, argv, command, folder, tools, timeout, stdin
        )
    limit = timeout or SECONDS
    async with Follower(ctx) as follower:
        ran = await ctx.use(Runs).run(
            argv,
            ctx,
            tool=run_command.name,
            cwd=folder,
            commit=commit,
            seconds=limit,
            stdin=stdin,
            env=tools.environment,
            readable=tools.readable,
            network=ctx.config.run.network,
            on_output=follower,
        )
    return await report(
        ctx,
        run_command.name,
        ran,
        follower.ring,
        limit=limit,
        notes=await in_thread(lambda _: hints_of(ctx, command, ran, fed=bool(input))),
        facts={"cwd": folder.absolute},
    )


def _check(command: str) -> None:
    if not command.strip():
        raise BadInput("The command is empty.")
    if "\0" in command:
        raise BadInput("The command holds a NUL character.", hint="Send it as plain text.")
    if len(command.encode()) > MAX_COMMAND:
        raise BadInput(
            f"The command has more than {MAX_COMMAND:,} bytes.",
            hint="Write it to a file with write_file and run that, or give data as 'input'.",
        )
