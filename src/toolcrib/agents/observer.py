"""Events of an agent run: one method an event; the recorder keeps them as the run's trace."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from toolcrib.agents.outcome import Outcome
from toolcrib.agents.reply import ParsedReply, RequestedCall
from toolcrib.agents.runs import AgentRuns, RunMessage
from toolcrib.agents.tool_executor import ExecutedCall
from toolcrib.memory.plans import progress_of
from toolcrib.net.models.client import ChatRequest
from toolcrib.net.models.completion import Completion


class RunObserver:
    """Receives what happens in one agent run. Override what you need."""

    async def pending_messages(self) -> list[str]:
        """Messages for the model that arrived since the last step, oldest first."""
        return []

    async def on_step(self, number: int, max_steps: int) -> None:
        """The model is about to be asked for its answer of this number."""

    async def on_request(self, request: ChatRequest) -> None:
        """A request goes out."""

    async def on_delta(self, content: str, reasoning: str) -> None:
        """A piece of an answer came."""

    async def on_retry(self, reason: str) -> None:
        """The answer that was coming is asked for anew; its pieces come from the start."""

    async def on_completion(self, completion: Completion, reply: ParsedReply) -> None:
        """A whole answer came, and was understood like this."""

    async def on_tool_call(self, call: RequestedCall) -> None:
        """A call is about to be made. Calls that only read are made at once."""

    async def on_tool_result(self, call: RequestedCall, performed: ExecutedCall) -> None:
        """A call gave this."""

    async def on_error(self, message: str) -> None:
        """The model could not be asked."""

    async def on_notice(self, text: str) -> None:
        """Something was done to the prompt that the person should know."""


POLL_SECONDS = 0.3
MAX_LOG_LINES = 200
Progress = Callable[[str, float | None, float | None], Awaitable[None]]


class Recorder(RunObserver):
    """Writes the trace of a run, reports its progress and takes the messages sent to it.

    Args:
        runs: where both are.
        run_id: the run.
        progress: reports what goes on.
        read: called with each message, before its text goes to the model.
        after_result: called after each result, so that what was read is known at once.
    """

    def __init__(
        self,
        runs: AgentRuns,
        run_id: str,
        progress: Progress,
        read: Callable[[RunMessage], None],
        after_result: Callable[[], Awaitable[None]],
    ) -> None:
        self.stopped = asyncio.Event()
        self.log: list[str] = []
        self._runs = runs
        self._id = run_id
        self._progress = progress
        self._on_message = read
        self._after_result = after_result
        self._words: list[str] = []
        self._seq = 0
        self._known = 0
        self._step = (0, 0)
        self.role = ""

    async def poll(self) -> None:
        """Look for messages until cancelled; a cancel takes effect at once."""
        while True:
            await self._collect()
            await asyncio.sleep(POLL_SECONDS)

    async def pending_messages(self) -> list[str]:
        """The texts of all messages since the last step."""
        await self._collect()
        words, self._words = self._words, []
        return words

    async def on_step(self, number: int, max_steps: int) -> None:
        """Tell which step begins."""
        self._step = (number, max_steps)
        await self._say(f"{self.role}: step {number} of {max_steps}", number, max_steps)

    async def on_request(self, request: ChatRequest) -> None:
        """Note what the model is asked, and what of it is new."""
        messages = list(request.messages)
        if len(messages) <= self._known:
            self._known = 0
        fresh, self._known = messages[self._known :], len(messages)
        summary = {
            "model": request.model,
            "messages": len(messages),
            "tools": [tool["function"]["name"] for tool in request.tools],
            "new": fresh,
        }
        await self.note("request", json.dumps(summary, ensure_ascii=False, default=str))

    async def on_retry(self, reason: str) -> None:
        """Note that the server failed and is asked again."""
        self._log(f"model server: {_line(reason)}")
        await self.note("failure", reason)

    async def on_completion(self, completion: Completion, reply: ParsedReply) -> None:
        """Note what it said, and how that was understood."""
        await self.note("answer", completion.text)
        if reply.calls or reply.problem:
            calls = [{"name": c.name, "arguments": c.arguments} for c in reply.calls]
            summary = {"calls": calls, "problem": reply.problem}
            await self.note("calls", json.dumps(summary, ensure_ascii=False, default=str))
        if reply.text and not reply.calls:
            self._log(f"said: {_line(reply.text)}")

    async def on_tool_call(self, call: RequestedCall) -> None:
        """Tell which call is made."""
        given = " ".join(f"{k}={_line(v, 60)}" for k, v in (call.arguments or {}).items())
        number, max_steps = self._step
        self._log(f"{call.name} {given}".rstrip())
        await self._say(f"{self.role}: {call.name} {given}".rstrip()[:200], number, max_steps)

    async def on_tool_result(self, call: RequestedCall, performed: ExecutedCall) -> None:
        """Note what the call gave, and pass on what was read."""
        await self._after_result()
        if performed.error:
            self._log(f"  failed: {_line(performed.error)}")
        plan = progress_of(performed.result.data) if performed.result else None
        if plan is not None:
            self._log(plan[0])
            await self._say(f"{self.role}: {plan[0]}", plan[1], plan[2])
        await self.note("result", f"{call.name}\n{performed.text}")

    async def on_error(self, message: str) -> None:
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
        for message in await self._runs.take_messages(self._id):
            self._on_message(message)
            await self.note("mail", f"{'cancel ' if message.cancel else ''}{message.text}")
            if message.text:
                self._words.append(message.text)
            if message.cancel:
                self.stopped.set()

    async def _say(self, text: str, done: float | None, total: float | None) -> None:
        await self._progress(text, done, total)

    def _log(self, line: str) -> None:
        if len(self.log) < MAX_LOG_LINES:
            self.log.append(line)


def _line(value: Any, max_chars: int = 160) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    flat = " ".join(text.split())
    return flat if len(flat) <= max_chars else f"{flat[: max_chars - 3]}..."
