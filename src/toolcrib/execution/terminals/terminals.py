"""Terminals: programs behind a screen, and the service that holds those of this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Self

from toolcrib.core.context import Ctx, Services
from toolcrib.core.errors import Busy, Conflict, Denied, NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, READ
from toolcrib.execution.jobs import JobHandle, Jobs
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.sandbox.terms import NetworkAccess, Pty
from toolcrib.execution.terminals.screen import Screen
from toolcrib.system.threads import Turns

if TYPE_CHECKING:
    from toolcrib.execution.interpreters.programs import Toolchains
    from toolcrib.execution.jobs import JobHandle
    from toolcrib.execution.runs.outcome import RunOutcome
    from toolcrib.execution.runs.runs import LiveRun
    from toolcrib.files.paths import SafePath


Wait = Literal["idle", "text", "exit", "none"]

IDLE_SECONDS = 0.3
"""A program that wrote nothing for so long waits for something."""
LINE_SECONDS = 0.3
"""What a program may take to react to a line before the next is typed."""
PAUSE_SECONDS = 0.05
SLICE_BYTES = 2_048
"""Bytes put on the screen before those who wait are notified."""
REPLY_SECONDS = 0.5
"""A program that asks its terminal and then does not read the answers misses them."""
SETTLE_SECONDS = 0.01
"""Whoever waits for output looks again after so long, not for each piece of it."""


class Terminal:
    """A running program, and what a person would see of it.

    Attributes:
        id: that of its job.
        title: what was started.
        screen: what it shows.
        read_to: how many of the lines that scrolled away were already read.
        typed_to: the line after the one in which the last keys were typed.
        old_bytes: bytes of output so far.
        exit_code: None while it runs.
        outcome: what became of the files that it changed, once it is over.
    """

    def __init__(self, running: LiveRun, screen: Screen, title: str) -> None:
        self.id = ""
        self.title = title
        self.screen = screen
        self.read_to = 0
        self.typed_to = 0
        self.exit_code: int | None = None
        self.outcome: RunOutcome | None = None
        self._running = running
        self.output_bytes = 0
        self._logged = 0
        self._written = time.monotonic()
        self._changed = asyncio.Condition()
        self._turns = Turns()

    @property
    def level(self) -> str:
        """The boundary around it."""
        return self._running.level

    @property
    def running(self) -> LiveRun:
        """The program."""
        return self._running

    @property
    def stopped(self) -> str:
        """Why the boundary ended it; empty if it did not."""
        return self._running.confined.stopped

    async def follow(self, handle: JobHandle) -> None:
        """Show what the program writes until its end; the work of its job.

        What scrolls away, and the last screen, are the output of the job.
        """
        sweeping = asyncio.ensure_future(self._running.sweep())
        try:
            async for data in self._running.confined.read("stdout"):
                for start in range(0, len(data), SLICE_BYTES):
                    await self._show(data[start : start + SLICE_BYTES], handle)
            handle.exit_code = await self._running.confined.wait()
        finally:
            sweeping.cancel()
            self.outcome = await self._running.finish()
            code = self._running.confined.exit_code
            self.exit_code = code if code is not None else -9
            handle.exit_code = self.exit_code
            handle.write("\n".join(self.screen.grid.lines()).rstrip() + "\n")
            await self._notify()

    async def send(self, data: bytes, seconds: float) -> None:
        """Type, a line after the other.

        What is typed before the program of the line before reads it would get lost, since
        each sets the terminal as it needs it; so after a line its output is waited for.

        Args:
            data: the bytes of the keys.
            seconds: for all of the waiting; then the rest is sent at once.

        Raises:
            BrokenPipeError, ConnectionResetError: the program no longer reads.
        """
        self.typed_to = self.mark()
        end = time.monotonic() + seconds
        lines = data.split(b"\r")
        for line in lines[:-1]:
            old = self.output_bytes
            await self._running.confined.write(line + b"\r")
            if time.monotonic() < end:
                await self._until(lambda old=old: self.output_bytes > old, LINE_SECONDS)  # type: ignore[misc]
                await asyncio.sleep(PAUSE_SECONDS)
        if lines[-1]:
            await self._running.confined.write(lines[-1])

    def mark(self) -> int:
        """The number of the line after the one that the cursor is in; see `lines_from`."""
        return self.screen.grid.scrolled + self.screen.grid.row + 1

    def unread(self) -> int:
        """The line from which on output is new that came after the last keys.

        Where the program has cleared the screen since, it may stand anywhere.
        """
        return max(self.read_to, self.typed_to) if self.mark() >= self.typed_to else self.read_to

    def lines_from(self, number: int) -> list[str]:
        """The lines from a number on, those that scrolled away included, as far as kept."""
        grid = self.screen.grid
        return [*grid.history(number), *grid.lines()[max(number - grid.scrolled, 0) :]]

    async def wait(self, wait: Wait, text: str, seconds: float, since: int) -> bool:
        """Wait until the program has written what is waited for, or is over.

        Args:
            wait: `idle` for a pause in its output, `text` for `text` on the screen or in
                what scrolled away, `exit` for its end.
            text: what to wait for, as it stands.
            seconds: how long at most.
            since: the line from which on `text` counts; a program that uses the whole
                screen may write it anywhere.

        Returns:
            Whether it came; False when the time was up.
        """
        if wait == "text":
            return await self._until(_Search(self, text, since), seconds)
        return await self._until(lambda: self._has_come(wait), seconds, pauses=wait == "idle")

    async def settle(self, old_bytes: int, first: float, seconds: float) -> bool:
        """Wait for new output and then for a pause in it.

        Args:
            old_bytes: the output that counts as old.
            first: seconds that the first of it may take; without any, that is an answer too.
            seconds: how long at most, all in all.
        """
        end = time.monotonic() + seconds
        await self._until(lambda: self.output_bytes > old_bytes, min(first, seconds))
        self._written = max(self._written, time.monotonic() - IDLE_SECONDS / 2)
        return await self.wait("idle", "", end - time.monotonic(), 0)

    async def _until(
        self, has_come: Callable[[], bool], seconds: float, *, pauses: bool = False
    ) -> bool:
        """Wait for something, or the end of the program; whether it came in time."""
        end = time.monotonic() + seconds
        while self.outcome is None and not has_come():
            left = end - time.monotonic()
            if left <= 0:
                return False
            if pauses:
                left = min(left, max(self._written + IDLE_SECONDS - time.monotonic(), 0.01))
            async with self._changed:
                try:
                    await asyncio.wait_for(self._changed.wait(), left)
                except TimeoutError:
                    continue
            await asyncio.sleep(SETTLE_SECONDS)
        return has_come()

    def _has_come(self, wait: Wait) -> bool:
        if wait == "idle" and self.outcome is None:
            return time.monotonic() - self._written >= IDLE_SECONDS
        return wait != "exit" or self.outcome is not None

    async def _show(self, data: bytes, handle: JobHandle) -> None:
        for _ in self.screen.steps(data):
            await self._turns.rest()
        self.output_bytes += len(data)
        self._written = time.monotonic()
        grid = self.screen.grid
        if grid.scrolled > self._logged:
            handle.write("".join(f"{line}\n" for line in grid.history(self._logged)))
            self._logged = grid.scrolled
        if self.screen.replies:
            answer = bytes(self.screen.replies)
            self.screen.replies.clear()
            with suppress(TimeoutError, BrokenPipeError, ConnectionResetError):
                async with asyncio.timeout(REPLY_SECONDS):
                    await self._running.confined.write(answer)
        await self._notify()

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()


class _Search:
    """Whether a text has come. What has scrolled away is looked through once."""

    def __init__(self, terminal: Terminal, text: str, since: int) -> None:
        self._terminal = terminal
        self._text = text
        self._since = since
        self._over = 0

    def __call__(self) -> bool:
        grid = self._terminal.screen.grid
        start = max(0 if grid.full_screen else self._since, self._over)
        if self._text in "\n".join(self._terminal.lines_from(start)):
            return True
        # It may begin in the last lines that scrolled away, and end on the screen.
        self._over = grid.scrolled - self._text.count("\n")
        return False


MAX_RUNNING = 16
MAX_ENDED = 16
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
        access: NetworkAccess,
        ports: Sequence[int] = (),
    ) -> Terminal:
        """Start a program on the real workspace; its end makes one step of the undo log.

        Raises:
            Busy: too many run already.
            Unavailable: the program or the boundary is not there.
        """
        from toolcrib.execution.runs.runs import Runs

        running_now = [t for t in self._terminals.values() if t.outcome is None]
        if len(running_now) >= MAX_RUNNING:
            raise Busy(
                f"{MAX_RUNNING} terminals run already.",
                hint="End one with stop_job; list_jobs shows them.",
            )
        running = await ctx.use(Runs).start(
            argv,
            ctx,
            tool=tool,
            cwd=cwd,
            env={**tools.environment, **access.environment, "TERM": "xterm-256color"},
            readable=tools.readable,
            network=access,
            pty=pty,
            ports=ports,
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
        if not ctx.session.includes(job.session) and ctx.caller.surface != "cli":
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
        for terminal in ended[: max(len(ended) - MAX_ENDED, 0)]:
            del self._terminals[terminal.id]
