"""The service that holds the terminals of this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import Busy, Conflict, Denied, NotFound
from toolcrib.core.services import Services
from toolcrib.core.tool import EXEC, READ
from toolcrib.execution.jobs.handle import JobHandle
from toolcrib.execution.jobs.jobs import Jobs
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.sandbox.terms import Pty
from toolcrib.execution.terminals.screen import Screen
from toolcrib.execution.terminals.terminal import Terminal

if TYPE_CHECKING:
    from toolcrib.execution.interpreters.toolchains import Toolchains
    from toolcrib.files.paths import SafePath

MOST_RUNNING = 16
MOST_ENDED = 16
"""Screens of programs that are over; what they wrote stays with their jobs."""


class Terminals:
    """Starts programs at a terminal, each as a job, and finds them again."""

    def __init__(self) -> None:
        self._terminals: dict[str, Terminal] = {}

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing runs before the first one is started."""
        del services
        return cls()

    async def start(
        self,
        ctx: Ctx,
        argv: Sequence[str],
        title: str,
        cwd: SafePath,
        pty: Pty,
        tools: Toolchains,
        tool: str,
    ) -> Terminal:
        """Start a program on the real workspace; its end makes one step of the undo log.

        Raises:
            Busy: too many run already.
            Unavailable: the program or the boundary is not there.
        """
        from toolcrib.execution.runs.runs import Runs

        running_now = [t for t in self._terminals.values() if t.outcome is None]
        if len(running_now) >= MOST_RUNNING:
            raise Busy(
                f"{MOST_RUNNING} terminals run already.",
                hint="End one with stop_job; list_jobs shows them.",
            )
        running = await ctx.use(Runs).start(
            argv,
            ctx,
            tool=tool,
            cwd=cwd,
            env={**tools.environment, "TERM": "xterm-256color"},
            readable=tools.readable,
            network=ctx.config.run.network,
            pty=pty,
            limits=replace(ctx.use(Sandbox).limits, output_bytes=0),
        )
        terminal = Terminal(running, Screen(pty.rows, pty.columns), title)

        async def work(handle: JobHandle) -> Result | None:
            await terminal.follow(handle)
            return None

        try:
            terminal.id = await ctx.use(Jobs).start(
                "terminal", title, work, ctx.session.id, tool, READ | EXEC
            )
        except BaseException:
            await running.finish()
            raise
        self._terminals[terminal.id] = terminal
        self._forget_old()
        return terminal

    async def find(self, terminal_id: str, ctx: Ctx) -> Terminal:
        """A terminal of this conversation.

        Raises:
            NotFound: there is no such job.
            Conflict: it is no terminal, or one whose screen is gone.
            Denied: it belongs to another conversation.
        """
        jobs = ctx.use(Jobs)
        job = (await jobs.read(terminal_id)).record
        if job.session != ctx.session.id and ctx.caller.surface != "cli":
            raise Denied(
                f"Terminal {job.id} belongs to another conversation.",
                hint=f"Start one with start_terminal; read_job id={job.id} shows what it wrote.",
            )
        terminal = self._terminals.get(job.id)
        if terminal is not None:
            return terminal
        if job.kind != "terminal":
            raise Conflict(
                f"Job {job.id} ({job.title}) is no terminal.",
                hint=f"Read it with read_job id={job.id}.",
            )
        if job.is_over:
            raise NotFound(
                f"Terminal {job.id} ({job.title}) is over and its screen is gone.",
                hint=f"read_job id={job.id} shows what it wrote.",
            )
        raise Conflict(
            f"Terminal {job.id} runs in another process of toolcrib.",
            hint=f"read_job id={job.id} shows what it writes; stop_job ends it.",
        )

    def close(self) -> None:
        """Let go of the screens; the jobs end the programs."""
        self._terminals.clear()

    def _forget_old(self) -> None:
        ended = [t for t in self._terminals.values() if t.outcome is not None]
        for terminal in ended[: max(len(ended) - MOST_ENDED, 0)]:
            del self._terminals[terminal.id]
