"""Watching a run for the others: its trace, its progress, and the words sent to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolcrib.agents.call_requests import Asked
from toolcrib.agents.observer import Watch
from toolcrib.agents.outcome import Outcome
from toolcrib.agents.runs import Letter, Runs
from toolcrib.agents.tool_executor import Performed
from toolcrib.net.models.answer import Answer
from toolcrib.net.models.client import Request

POLL_SECONDS = 0.3
MOST_LOG = 200
Progress = Callable[[str, float | None, float | None], Awaitable[None]]


class Recorder(Watch):
    """Writes the trace of a run and reads its letters.

    Args:
        runs: where both are.
        run_id: the run.
        progress: told what goes on.
        read: told of each letter that came, before its words go to the model.
        told: called after each result, so that what was read is known at once.
    """

    def __init__(
        self,
        runs: Runs,
        run_id: str,
        progress: Progress,
        read: Callable[[Letter], None],
        told: Callable[[], Awaitable[None]],
    ) -> None:
        self.stopped = asyncio.Event()
        self.log: list[str] = []
        self._runs = runs
        self._id = run_id
        self._progress = progress
        self._read = read
        self._told = told
        self._words: list[str] = []
        self._seq = 0
        self._known = 0
        self._step = (0, 0)
        self.role = ""

    async def poll(self) -> None:
        """Look for letters until cancelled; a cancel takes effect at once."""
        while True:
            await self._collect()
            await asyncio.sleep(POLL_SECONDS)

    async def mail(self) -> list[str]:
        """The words of all letters since the last step."""
        await self._collect()
        words, self._words = self._words, []
        return words

    async def step(self, number: int, most: int) -> None:
        """Tell which step begins."""
        self._step = (number, most)
        await self._say(f"{self.role}: step {number} of {most}", number, most)

    async def asking(self, request: Request) -> None:
        """Note what the model is asked, and what of it is new."""
        messages = list(request.messages)
        if len(messages) <= self._known:
            self._known = 0
        fresh, self._known = messages[self._known :], len(messages)
        shown = {
            "model": request.model,
            "messages": len(messages),
            "tools": [tool["function"]["name"] for tool in request.tools],
            "new": fresh,
        }
        await self.note("request", json.dumps(shown, ensure_ascii=False, default=str))

    async def again(self, why: str) -> None:
        """Note that the server failed and is asked again."""
        self._log(f"model server: {_line(why)}")
        await self.note("failure", why)

    async def answered(self, answer: Answer, asked: Asked) -> None:
        """Note what it said, and how that was understood."""
        await self.note("answer", answer.text)
        if asked.calls or asked.problem:
            calls = [{"name": c.name, "arguments": c.arguments} for c in asked.calls]
            shown = {"calls": calls, "problem": asked.problem}
            await self.note("calls", json.dumps(shown, ensure_ascii=False, default=str))
        if asked.text and not asked.calls:
            self._log(f"said: {_line(asked.text)}")

    async def calling(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Tell which call is made."""
        given = " ".join(f"{k}={_line(v, 60)}" for k, v in arguments.items())
        number, most = self._step
        self._log(f"{name} {given}".rstrip())
        await self._say(f"{self.role}: {name} {given}".rstrip()[:200], number, most)

    async def called(self, name: str, performed: Performed) -> None:
        """Note what the call gave, and pass on what was read."""
        await self._told()
        if performed.error:
            self._log(f"  failed: {_line(performed.error)}")
        await self.note("result", f"{name}\n{performed.text}")

    async def failed(self, message: str) -> None:
        """Note that the model could not be asked."""
        self._log(f"model server: {_line(message)}")
        await self.note("failure", message)

    async def note(self, kind: str, text: str) -> None:
        """Write an event of the trace."""
        self._seq += 1
        await self._runs.note(self._id, self._seq, kind, text)

    async def end(self, outcome: Outcome) -> None:
        """Write the last event."""
        await self.note("end", json.dumps(outcome.to_json(), ensure_ascii=False))

    async def _collect(self) -> None:
        for letter in await self._runs.letters(self._id):
            self._read(letter)
            await self.note("mail", f"{'cancel ' if letter.cancel else ''}{letter.text}")
            if letter.text:
                self._words.append(letter.text)
            if letter.cancel:
                self.stopped.set()

    async def _say(self, text: str, done: float | None, total: float | None) -> None:
        await self._progress(text, done, total)

    def _log(self, line: str) -> None:
        if len(self.log) < MOST_LOG:
            self.log.append(line)


def _line(value: Any, most: int = 160) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 3]}..."
