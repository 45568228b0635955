"""The person's side of a chat: what is typed, shown and asked."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolcrib.agents.chat_session import ChatSession
from toolcrib.agents.observer import RunObserver
from toolcrib.agents.outcome import Outcome, Reason
from toolcrib.agents.reply import ParsedReply
from toolcrib.agents.tool_executor import ExecutedCall
from toolcrib.core.context import Question
from toolcrib.memory.plans import progress_of
from toolcrib.net.models.client import ChatRequest
from toolcrib.net.models.completion import Completion
from toolcrib.surfaces.cli import person
from toolcrib.surfaces.cli.screen import one_line, visible, width
from toolcrib.surfaces.shutdown import end_within
from toolcrib.toolcalls.output import ContentDelta

if TYPE_CHECKING:
    from toolcrib.toolcalls import ToolCallStream

HELP = "/tools lists the tools, /clear forgets what was said, /exit or Ctrl-D leaves."
AGAIN = "Ctrl-C again, or Ctrl-D, leaves."
WAITING = "[waiting for the model; Ctrl-C stops]"
WAITING_SECONDS = 5.0
LEAVING_SECONDS = 2.0
"""What may be tidied up after a second Ctrl-C; a third one does not wait for it."""


def note(text: str) -> None:
    """A line beside the answer, on stderr."""
    sys.stdout.flush()
    sys.stderr.write(f"{visible(text)}\n")
    sys.stderr.flush()


class ChatScreen(RunObserver):
    """Shows a turn as it goes: the answer on stdout, a line for each call on stderr.

    Args:
        tools: those on offer, so that a call in the text is not shown as text.
        streaming: write the answer as it comes.
        clean: keep control characters away from the terminal.
    """

    def __init__(self, tools: list[dict[str, Any]], *, streaming: bool, clean: bool) -> None:
        self._tools = tools
        self._streaming = streaming
        self._clean = clean
        self._stream = _stream(tools)
        self._displayed = ""
        self._before = ""
        self._new = ""
        self._why = ""
        self._earlier = ""
        self._waiting: asyncio.TimerHandle | None = None
        self.wrote = False
        self.gone: BrokenPipeError | None = None

    async def on_step(self, number: int, max_steps: int) -> None:
        """Begin with a fresh stream: each answer is one."""
        del number, max_steps
        self._earlier = self._displayed.strip() or self._earlier
        self._stream = _stream(self._tools)
        self._displayed = self._before = self._new = ""

    async def on_request(self, request: ChatRequest) -> None:
        """Say so where nothing comes for some seconds."""
        del request
        self.quiet()
        self._waiting = asyncio.get_running_loop().call_later(WAITING_SECONDS, note, WAITING)

    async def on_error(self, message: str) -> None:
        """Nothing is waited for any more."""
        del message
        self.quiet()

    def quiet(self) -> None:
        """Say no more that the model is waited for."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    async def on_retry(self, reason: str) -> None:
        """The answer starts anew: what it has in common with the first try is not shown twice.

        Where the second try goes on just so, its rest follows on the same line; else the
        line ends, and why is told.
        """
        self.quiet()
        self._why = reason
        if not self.wrote:
            self._tell_why()
        self._stream = _stream(self._tools)
        self._before = max(self._before, self._displayed, key=len)
        self._displayed = self._new = ""

    async def on_delta(self, content: str, reasoning: str) -> None:
        """Show a piece of the answer."""
        del reasoning
        self.quiet()
        if self._streaming and content:
            self._show(self._stream.feed(content))

    async def on_completion(self, completion: Completion, reply: ParsedReply) -> None:
        """Show the rest, and end the line before the calls of the answer."""
        del completion
        self.quiet()
        if self._streaming:
            self._show(self._stream.last())
            if self._new and self._before.startswith(self._new) and self._new != self._before:
                self._tell_why()
                self._write(self._new)  # the whole answer is a part of what broke off
            if self.wrote and reply.calls:
                self.end_line()

    async def on_tool_call(self, name: str, arguments: Mapping[str, Any]) -> None:
        """A line for the call."""
        self.end_line()
        given = " ".join(
            f"{k}={v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)}"
            for k, v in arguments.items()
        )
        note(one_line(f"> {name} {given}", width() - 1))

    async def on_tool_result(self, name: str, performed: ExecutedCall) -> None:
        """A line for its failure, or for how far the plan is."""
        del name
        plan = progress_of(performed.result.data) if performed.result else None
        if plan is not None:
            note(one_line(f"  {plan[0]}", width() - 1))
        if performed.error:
            note(one_line(f"  {performed.error}", width() - 1))

    def end_line(self) -> None:
        """Begin a new line where text stands on this one."""
        if self.wrote:
            self._out("\n")
            self.wrote = False

    def rest_of(self, answer: str) -> str:
        """What of an answer does not stand there yet."""
        if self.wrote:
            return ""
        for text in (self._displayed.strip(), self._earlier):
            if text and answer.startswith(text):
                return answer[len(text) :].lstrip()
        return answer

    def _show(self, events: list[Any]) -> None:
        text = "".join(event.text for event in events if isinstance(event, ContentDelta))
        self._displayed += text
        if self._before:
            self._new += text
            if self._before.startswith(self._new):
                return
            if self._new.startswith(self._before):
                text = self._new[len(self._before) :]
            else:
                text = self._new
                self._tell_why()
            self._before = self._new = ""
        self._write(text)

    def _tell_why(self) -> None:
        self.end_line()
        note(f"[{self._why}]")

    def _write(self, text: str) -> None:
        text = text if self.wrote else text.lstrip("\n")
        if text:
            text = text.encode("utf-8", "replace").decode()
            self._out(visible(text) if self._clean else text)
            self.wrote = True

    def _out(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError as error:
            self.gone = error
            raise


def _stream(tools: list[dict[str, Any]]) -> ToolCallStream:
    from toolcrib.toolcalls import ToolCallStream

    return ToolCallStream(tools)


class Approver:
    """Asks the person: yes, no, or always for a tool in this chat.

    Always holds for the same reason alone: who lets a tool write has not let it send out
    what came from a page.
    """

    def __init__(self) -> None:
        self._always: set[tuple[str, str]] = set()

    async def __call__(self, question: Question) -> bool | None:
        """Whether the call may go on."""
        key = (question.tool, question.reason)
        if key in self._always:
            return True
        note(f"Allow {question.tool}? {question.summary}")
        note(f"Asked because: {question.reason}.")
        sys.stderr.write("[y]es, [n]o, [a]lways in this chat: ")
        sys.stderr.flush()
        answer = (await person.line()).strip().lower()
        if answer in ("a", "always"):
            self._always.add(key)
        return answer in ("y", "yes", "a", "always")


def close_with(outcome: Outcome, seconds: float | None = None) -> None:
    """Say why a turn ended, where it is not an answer."""
    if outcome.reason in (Reason.ANSWERED, Reason.FINISHED):
        return
    words = {
        Reason.NO_ANSWER: "the model said nothing",
        Reason.STEP_LIMIT: "stopped after its last step; say something to go on",
        Reason.REPEATED_CALL: "stopped: it goes round in circles",
        Reason.REPEATED_ERROR: "stopped: the same error came again and again",
    }
    if seconds is not None:
        words[Reason.TIME_LIMIT] = f"time limit: stopped after {seconds:g} s (agent.seconds)"
    text = words.get(outcome.reason, str(outcome.reason).replace("_", " "))
    note(f"[{text}]" + (f" {outcome.note}" if outcome.note else ""))
    if outcome.hint:
        note(outcome.hint)


async def once(
    talk: ChatSession, text: str, *, as_json: bool, seconds: float | None = None
) -> Outcome:
    """One turn: the words go to stdout as they come, or the outcome as JSON.

    Args:
        talk: the chat.
        text: what is said.
        as_json: print the outcome, and nothing before.
        seconds: what a turn that nobody watches may take.

    Raises:
        BrokenPipeError: who read stdout has closed it.
    """
    terminal = sys.stdout.isatty()
    screen = ChatScreen(talk.executor.specs, streaming=not as_json, clean=terminal)
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        outcome = await talk.turn(text, screen, deadline)
    except asyncio.CancelledError:
        if not terminal:
            screen.end_line()
        raise
    finally:
        screen.quiet()
    if screen.gone is not None:
        raise screen.gone
    if as_json:
        print(json.dumps(outcome.to_json() | {"session": talk.name}, ensure_ascii=False))
    elif rest := screen.rest_of(outcome.answer):
        print(visible(rest) if terminal else rest)
    screen.end_line()
    if not as_json:
        close_with(outcome, seconds)
    return outcome


class Chatting:
    """The chat with a person at a terminal.

    Ctrl-C ends the step that runs and keeps the chat; a second one without a word between
    leaves, as Ctrl-D does.

    Args:
        talk: what it is about.
        as_json: print outcomes as JSON.
        on_late: kills child processes, where leaving takes too long.
    """

    def __init__(self, talk: ChatSession, *, as_json: bool, on_late: Callable[[], object]) -> None:
        self._talk = talk
        self._json = as_json
        self._on_late = on_late
        self._armed = False
        self._task: asyncio.Task[Any] | None = None
        self._left = False

    async def run(self) -> None:
        """Talk until the person leaves."""
        with suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupted)
        while not self._left:
            sys.stderr.write("you> ")
            sys.stderr.flush()
            typed = await self._until_stopped(person.line())
            if typed is None:
                continue
            if typed == "":
                note("")
                self._left = True
                break
            self._armed = False
            text = typed.strip()
            if text and not self._command(text):
                await self._until_stopped(self._turn(text))

    async def _turn(self, text: str) -> None:
        outcome = await once(self._talk, text, as_json=self._json)
        del outcome

    async def _until_stopped(self, work: Any) -> Any:
        """What the work gives; None where it was stopped."""
        self._task = asyncio.ensure_future(work)
        try:
            return await self._task
        except asyncio.CancelledError:
            if not self._armed:
                raise
            note("" if self._left else f"\n[stopped] {AGAIN}")
            return None
        finally:
            self._task = None

    def _interrupted(self) -> None:
        if self._left:
            end_within(0, self._on_late)
        elif self._armed:
            self._left = True
            end_within(LEAVING_SECONDS, self._on_late)
        self._armed = True
        if self._task is not None:
            self._task.cancel()

    def _command(self, text: str) -> bool:
        word = text.lower()
        if word in ("/exit", "/quit", "/bye"):
            self._left = True
        elif word == "/tools":
            note(", ".join(self._talk.executor.names) or "no tools")
        elif word == "/clear":
            self._talk.forget()
        elif word in ("/help", "/?"):
            note(HELP)
        else:
            return False
        return True
