"""`run_command`: a shell command behind the boundary, to its end or in the background."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from toolcrib.core.call import Next, Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.params import Param, Seconds
from toolcrib.core.tool import EXEC, READ, WRITE, tool
from toolcrib.execution.command_policy import command_verdict
from toolcrib.execution.interpreters.programs import Toolchains, shell_program, toolchains
from toolcrib.execution.jobs import JobHandle, Jobs
from toolcrib.execution.runs.runs import BackgroundRun, Runs
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.system.child import to_the_end
from toolcrib.system.threads import in_thread
from toolcrib.system.turns import Turns
from toolcrib.text.program_output import printed
from toolcrib.tools.run import argument_adapters as dialects
from toolcrib.tools.run.hints import hints_of, needs_screen, screens
from toolcrib.tools.run.report import NETWORKED, Follower, changes, fitted, report

# A command that goes on after the call, as a job.

FIRST_SECONDS = 0.5
"""How long the answer waits for first output, or for an early end."""
TITLE_CHARS = 80
MOST_HELD = 65_536
SLICE = 4_096
"""Bytes that are cleaned at once; in the worst of them each character is looked at."""


async def in_background(
    ctx: Ctx,
    tool: str,
    argv: Sequence[str],
    command: str,
    cwd: SafePath,
    tools: Toolchains,
    seconds: float,
    stdin: bytes | None,
) -> Result:
    """Start it, and answer with its id and what it wrote first."""
    limits = replace(ctx.use(Sandbox).limits, output_bytes=0)
    running = await ctx.use(Runs).start(
        argv,
        ctx,
        tool=tool,
        cwd=cwd,
        stdin=stdin,
        env=tools.environment,
        readable=tools.readable,
        network=ctx.config.run.network,
        limits=limits,
        merge=True,
    )

    async def work(handle: JobHandle) -> None:
        handle.source = NETWORKED if ctx.config.run.network else ""
        await _follow(running, handle)

    title = " ".join(command.split())[:TITLE_CHARS]
    jobs = ctx.use(Jobs)
    try:
        job = await jobs.start(
            "command", title, work, ctx.session.id, tool, READ | EXEC, seconds or None
        )
    except BaseException:
        await running.finish()
        raise
    try:
        return await _first(ctx, tool, job, title, running)
    except asyncio.CancelledError:
        await to_the_end(jobs.stop(job))  # nobody was told its id
        raise


async def _first(ctx: Ctx, tool: str, job: str, title: str, running: BackgroundRun) -> Result:
    """What there is to say of a job that has just begun."""
    view = await ctx.use(Jobs).read(job, "exit", timeout=FIRST_SECONDS)
    over = view.record.is_over
    code = view.record.exit_code
    said = f"ended already, exit code {code}" if over else f"runs in the background as job {job}"
    level = "" if running.level == "strong" else f"\n[sandbox: {running.level}]"
    text, _ = await fitted(ctx, tool, view.text.rstrip("\n"), level.strip(), f"{title}: {said}.")
    data = {
        "id": job,
        "state": view.record.state,
        "exit_code": code,
        "pid": running.confined.pid,
        "output": view.text,
        "bytes": view.record.total,
        "sandbox": {"level": running.level, "network": list(ctx.config.run.network)},
    }
    follow = Next("read_job", {"id": job, "wait": "exit", "offset": view.record.total})
    return Result(
        text=text,
        data=data,
        next=None if over else follow,
        source=view.record.source,
        private=True,
    )


async def _follow(running: BackgroundRun, handle: JobHandle) -> None:
    """Write the output of a process to its job until it ends; then nothing of it is left."""
    lines = _Lines()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    turns = Turns()
    sweeping = asyncio.ensure_future(running.sweep())
    try:
        async for data in running.confined.read("stdout"):
            for start in range(0, len(data), SLICE):
                handle.write(lines.feed(decoder.decode(data[start : start + SLICE])))
                await turns.rest()
        handle.exit_code = await running.confined.wait()
    finally:
        sweeping.cancel()
        handle.write(lines.rest())
        outcome = await running.finish()
        if running.confined.stopped:
            handle.write(f"\n[stopped: too much {running.confined.stopped}]\n")
        told = changes(outcome)
        if told:
            handle.write("\n".join(["", *told, ""]))


class _Lines:
    """Output as it comes, cleaned line by line; what may still be written over is held."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        whole, end, rest = (self._held + text).rpartition("\n")
        self._held = ""
        done = f"{printed(whole)}\n" if end else ""
        if ("\r" in rest or "\x1b" in rest) and len(rest) < MOST_HELD:
            self._held = rest
            return done
        return done + printed(rest)

    def rest(self) -> str:
        held, self._held = self._held, ""
        return printed(held)


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
