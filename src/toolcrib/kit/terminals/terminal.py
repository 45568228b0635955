"""One session at a terminal: a program behind a screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from toolcrib.kit.terminals.screen import Screen

if TYPE_CHECKING:
    from toolcrib.kit.jobs import JobHandle
    from toolcrib.kit.runs import Outcome, Running

Wait = Literal["idle", "text", "exit", "none"]

IDLE_SECONDS = 0.3
"""A program that wrote nothing for so long waits for something."""
BETWEEN_LINES = 0.3
"""What a program may take to react to a line before the next is typed."""
PAUSE = 0.05
SLICE = 2_048
"""Bytes shown at once, so that a flood leaves time for everything else."""


class Terminal:
    """A running program, and what a person would see of it.

    Attributes:
        id: that of its job.
        title: what was started.
        screen: what it shows.
        read_to: how many of the lines that scrolled away were already read.
        shown: bytes of output so far.
        exit_code: None while it runs.
        outcome: what became of the files that it changed, once it is over.
    """

    def __init__(self, running: Running, screen: Screen, title: str) -> None:
        self.id = ""
        self.title = title
        self.screen = screen
        self.read_to = 0
        self.exit_code: int | None = None
        self.outcome: Outcome | None = None
        self._running = running
        self.shown = 0
        self._logged = 0
        self._written = time.monotonic()
        self._changed = asyncio.Condition()

    @property
    def level(self) -> str:
        """The boundary around it."""
        return self._running.level

    @property
    def stopped(self) -> str:
        """Why the boundary ended it; empty if it did not."""
        return self._running.confined.stopped

    async def follow(self, handle: JobHandle) -> None:
        """Show what the program writes until its end; the work of its job.

        What scrolls away, and the last screen, are the output of the job.
        """
        try:
            async for data in self._running.confined.read("stdout"):
                for start in range(0, len(data), SLICE):
                    await self._show(data[start : start + SLICE], handle)
            handle.exit_code = await self._running.confined.wait()
        finally:
            self.outcome = await self._running.finish()
            code = self._running.confined.exit_code
            self.exit_code = code if code is not None else -9
            handle.exit_code = self.exit_code
            handle.write("\n".join(self.screen.grid.lines()).rstrip() + "\n")
            await self._tell()

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
        end = time.monotonic() + seconds
        lines = data.split(b"\r")
        for line in lines[:-1]:
            old = self.shown
            await self._running.confined.write(line + b"\r")
            if time.monotonic() < end:
                await self._until(lambda old=old: self.shown > old, BETWEEN_LINES)  # type: ignore[misc]
                await asyncio.sleep(PAUSE)
        if lines[-1]:
            await self._running.confined.write(lines[-1])

    def mark(self) -> int:
        """The number of the line after the one that the cursor is in; see `lines_from`."""
        return self.screen.grid.scrolled + self.screen.grid.row + 1

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
        return await self._until(
            lambda: self._has_come(wait, text, since), seconds, pauses=wait == "idle"
        )

    async def settle(self, shown: int, first: float, seconds: float) -> bool:
        """Wait for new output and then for a pause in it.

        Args:
            shown: the output that counts as old.
            first: seconds that the first of it may take; without any, that is an answer too.
            seconds: how long at most, all in all.
        """
        end = time.monotonic() + seconds
        await self._until(lambda: self.shown > shown, min(first, seconds))
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
        return has_come()

    def _has_come(self, wait: Wait, text: str, since: int) -> bool:
        if wait == "text":
            lines = self.lines_from(0 if self.screen.grid.full_screen else since)
            return text in "\n".join(lines)
        if wait == "idle" and self.outcome is None:
            return time.monotonic() - self._written >= IDLE_SECONDS
        return wait != "exit" or self.outcome is not None

    async def _show(self, data: bytes, handle: JobHandle) -> None:
        self.screen.feed(data)
        self.shown += len(data)
        self._written = time.monotonic()
        grid = self.screen.grid
        if grid.scrolled > self._logged:
            handle.write("".join(f"{line}\n" for line in grid.history(self._logged)))
            self._logged = grid.scrolled
        if self.screen.replies:
            answer = bytes(self.screen.replies)
            self.screen.replies.clear()
            await self._running.confined.write(answer)
        await self._tell()
        await asyncio.sleep(0)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()
