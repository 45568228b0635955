"""A command that goes on after the call, as a job."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Sequence
from dataclasses import replace

from toolcrib.core.call import Next, Result
from toolcrib.core.context import Ctx
from toolcrib.core.tool import EXEC, READ
from toolcrib.execution.interpreters.toolchains import Toolchains
from toolcrib.execution.jobs.handle import JobHandle
from toolcrib.execution.jobs.jobs import Jobs
from toolcrib.execution.runs.background_run import Running
from toolcrib.execution.runs.runs import Runs
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.files.paths import SafePath
from toolcrib.system.child import to_the_end
from toolcrib.system.turns import Turns
from toolcrib.text.program_output import printed
from toolcrib.tools.run.report import NETWORKED, changes, fitted

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


async def _first(ctx: Ctx, tool: str, job: str, title: str, running: Running) -> Result:
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


async def _follow(running: Running, handle: JobHandle) -> None:
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
