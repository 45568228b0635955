"""`run_command`: a shell command behind the boundary, to its end or in the background."""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import EXEC, READ, WRITE, Param, Seconds, other_names, tool
from toolcrib.execution.command_policy import command_verdict
from toolcrib.execution.interpreters.programs import Toolchains, shell_program, toolchains
from toolcrib.execution.jobs import JobHandle, Jobs
from toolcrib.execution.network_access import NetworkRequests
from toolcrib.execution.runs.outcome import Commit
from toolcrib.execution.runs.runs import LiveRun, Runs
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.sandbox.terms import NetworkAccess
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.system.child import run_shielded
from toolcrib.system.threads import Turns, in_thread
from toolcrib.text.cleaner import printed
from toolcrib.tools.run import argument_adapters
from toolcrib.tools.run.argument_adapters import MAX_SECONDS
from toolcrib.tools.run.report import (
    LIMITS,
    OutputFollower,
    change_lines,
    fit_to_budget,
    hints_of,
    needs_screen,
    offers,
    report,
    screen_alternative,
    served_lines,
    source_of,
)

FIRST_SECONDS = 0.5
"""How long the answer waits for first output, or for an early end."""
APART = {
    "ask": "[its changes are made apart from the files, and held at its end]",
    "never": "[its changes are made apart from the files, and dropped at its end]",
}
TO_STOP = "[to end it: run_command with the command kill {job}]"
KILL = re.compile(r"\s*kill(?:\s+-\w+)*\s+(j[a-z0-9]{6})\s*;?\s*")
"""A command that ends a job: no process has such an id, and profiles may be without stop_job."""
TITLE_CHARS = 80
MAX_UNFINISHED_CHARS = 65_536
SLICE_BYTES = 4_096
"""Bytes that are cleaned at once; in the worst of them each character is looked at."""


async def in_background(
    ctx: Ctx,
    tool: str,
    argv: Sequence[str],
    title: str,
    cwd: SafePath,
    tools: Toolchains,
    seconds: float,
    stdin: bytes | None,
    access: NetworkAccess,
    ports: Sequence[int] = (),
    commit: Commit = "auto",
) -> Result:
    """Start it, and answer with its id and what it wrote first."""
    limits = replace(ctx.use(Sandbox).limits, output_bytes=0)
    running = await ctx.use(Runs).start(
        argv,
        ctx,
        tool=tool,
        cwd=cwd,
        stdin=stdin,
        env={**tools.environment, **access.environment},
        readable=tools.readable,
        network=access,
        limits=limits,
        merge=True,
        ports=ports,
        commit=commit,
    )

    async def work(handle: JobHandle) -> None:
        handle.source = source_of(access)
        await _follow(running, handle)

    title = " ".join(title.split())[:TITLE_CHARS]
    jobs = ctx.use(Jobs)
    try:
        job = await jobs.start(
            "command", title, work, ctx.session.id, tool, READ | EXEC, seconds or None
        )
    except BaseException:
        await running.finish()
        raise
    try:
        return await _first(ctx, tool, job, title, running, commit)
    except asyncio.CancelledError:
        await run_shielded(jobs.stop(job))  # nobody knows its id
        raise


async def _first(
    ctx: Ctx, tool: str, job: str, title: str, running: LiveRun, commit: Commit
) -> Result:
    """The result for a job that has just begun."""
    view = await ctx.use(Jobs).read(job, "exit", timeout=FIRST_SECONDS)
    over = view.record.is_over
    code = view.record.exit_code
    status = f"ended already, exit code {code}" if over else f"runs in the background as job {job}"
    tail = [] if over else served_lines(ctx, running)
    tail += [] if over or commit == "auto" else [APART[commit]]
    tail += [] if running.level == "strong" else [f"[sandbox: {running.level}]"]
    if not over and not offers(ctx, "stop_job") and offers(ctx, run_command.name):
        tail.append(TO_STOP.format(job=job))
    text, _ = await fit_to_budget(
        ctx,
        tool,
        view.text.rstrip("\n"),
        "\n".join(tail),
        f"{title}: {status}.",
        source_of(running.network),
    )
    data = {
        "id": job,
        "state": view.record.state,
        "exit_code": code,
        "pid": running.confined.pid,
        "output": view.text,
        "bytes": view.record.total,
        "ports": running.addresses,
        "sandbox": {"level": running.level, "network": list(running.network.hosts)},
    }
    follow = Next("read_job", {"id": job, "wait": "exit", "offset": view.record.total})
    return Result(
        text=text,
        data=data,
        next=None if over else follow,
        source=view.record.source,
        private=True,
    )


async def _follow(running: LiveRun, handle: JobHandle) -> None:
    """Write the output of a process to its job until it ends; then nothing of it is left."""
    lines = _Lines()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    turns = Turns()
    sweeping = asyncio.ensure_future(running.sweep())
    try:
        async for data in running.confined.read("stdout"):
            for start in range(0, len(data), SLICE_BYTES):
                handle.write(lines.feed(decoder.decode(data[start : start + SLICE_BYTES])))
                await turns.rest()
        handle.exit_code = await running.confined.wait()
    finally:
        sweeping.cancel()
        handle.write(lines.rest())
        outcome = await running.finish()
        if running.confined.stopped:
            _, why = LIMITS.get(running.confined.stopped, ("", running.confined.stopped))
            handle.write(f"\n[stopped: {why}]\n")
        lines_of_changes = change_lines(outcome)
        if lines_of_changes:
            handle.write("\n".join(["", *lines_of_changes, ""]))


class _Lines:
    """Output as it comes, cleaned line by line; what may still be written over waits."""

    def __init__(self) -> None:
        self._unfinished = ""

    def feed(self, text: str) -> str:
        whole, end, rest = (self._unfinished + text).rpartition("\n")
        self._unfinished = ""
        done = f"{printed(whole)}\n" if end else ""
        if ("\r" in rest or "\x1b" in rest) and len(rest) < MAX_UNFINISHED_CHARS:
            self._unfinished = rest
            return done
        return done + printed(rest)

    def rest(self) -> str:
        unfinished, self._unfinished = self._unfinished, ""
        return printed(unfinished)


DEFAULT_SECONDS = 120.0
MAX_COMMAND = 100_000
"""Characters; the kernel takes 131,072 bytes in one word."""


@tool(
    group="run",
    rights=READ | WRITE | EXEC,
    profiles=("default",),
    keywords=("execute", "exec", "terminal", "bash", "shell", "git", "npm", "make", "process"),
    aliases=("run_bash", "bash_command", "run_bash_command", "terminal"),
    argument_aliases=other_names(
        command=("cmd", "command_line", "script", "shell_command", "commands", "bash")
    ),
    destructive=True,
    seconds=MAX_SECONDS + 60,
    policy_check=command_verdict,
    argument_adapter=argument_adapters.command,
)
async def run_command(
    command: str,
    cwd: WorkspacePath | None = None,
    timeout: Annotated[Seconds, Param(maximum=MAX_SECONDS)] = 0,  # noqa: ASYNC109 - of the run
    commit: Annotated[Commit | None, Param("Changed files: keep, hold, drop.")] = None,
    background: Annotated[bool, Param("As a job.", plain=True)] = False,
    input: str = "",  # noqa: A002 - the name that models use
    ports: Annotated[list[int] | None, Param("Of its server.")] = None,
    network: Annotated[list[str] | None, Param("Hosts, or packages.")] = None,
    name: Annotated[str, Param("Of the job.", unlisted=True)] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Run a shell command in a sandbox.

    Its stdin is empty unless `input` is given; for what asks questions use start_terminal.
    With `background` it goes on as a job for read_job: servers, watchers, long builds. A
    server that is started with `ports=[8000]` can be fetched at the address in the answer.
    It has no network but for the hosts in `network`, about which the user is asked;
    "packages" stands for those that pip, npm, uv, cargo and go install from.
    """
    _check(command)
    if killed := KILL.fullmatch(command):
        return await ctx.invoke("stop_job", {"id": killed[1]})
    folder = cwd or ctx.use(Workspace).start(ctx.session.directory)
    tools, screen = await in_thread(
        lambda _: (toolchains(ctx), needs_screen(command)), ctx.deadline
    )
    if screen:
        raise BadInput(
            f"{screen} needs a terminal, and would only wait here.", hint=screen_alternative(ctx)
        )
    access = await ctx.use(NetworkRequests).of(ctx, network)
    argv = [shell_program(ctx), "-c", command]
    stdin = input.encode() if input else None
    if background or ports:
        return await in_background(
            ctx,
            run_command.name,
            argv,
            name or command,
            folder,
            tools,
            timeout,
            stdin,
            access,
            ports or (),
            commit or "auto",
        )
    limit = timeout or DEFAULT_SECONDS
    async with OutputFollower(ctx) as follower:
        ran = await ctx.use(Runs).run(
            argv,
            ctx,
            tool=run_command.name,
            cwd=folder,
            commit=commit,
            seconds=limit,
            stdin=stdin,
            env={**tools.environment, **access.environment},
            readable=tools.readable,
            network=access,
            on_output=follower,
        )
    return await report(
        ctx,
        run_command.name,
        ran,
        follower.ring,
        limit=limit,
        notes=await in_thread(lambda _: hints_of(ctx, command, ran, folder, fed=bool(input))),
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
