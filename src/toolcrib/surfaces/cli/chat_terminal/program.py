"""The chat with a person at a terminal, and the one turn of `chat -p`."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from toolcrib.agents.chat_session import AttachedFile, ChatSession
from toolcrib.agents.events import ChatEvent, EndEvent, FormEvent, QuestionEvent, event_json
from toolcrib.agents.outcome import Outcome, Status
from toolcrib.core.config import Config
from toolcrib.core.errors import ToolError
from toolcrib.net.egress.client import Egress
from toolcrib.surfaces.cli.call import hint_for_person
from toolcrib.surfaces.cli.chat_terminal.approvals import Approver
from toolcrib.surfaces.cli.chat_terminal.commands import HELP, Commands, is_command
from toolcrib.surfaces.cli.chat_terminal.keyboard import Keyboard
from toolcrib.surfaces.cli.chat_terminal.models import choose, endpoints
from toolcrib.surfaces.cli.chat_terminal.prompt_editor import PromptEditor
from toolcrib.surfaces.cli.chat_terminal.view import Look, TurnView, close_with, note, write_error
from toolcrib.surfaces.cli.screen import visible
from toolcrib.surfaces.shutdown import end_within
from toolcrib.text.display import counted

AGAIN = "Ctrl-C again, or Ctrl-D, leaves."
NO_TOOL = "[answered without a tool: nothing was looked up]"
LEAVING_SECONDS = 2.0
"""What may be tidied up after a second Ctrl-C; a third one does not wait for it."""


async def once(
    talk: ChatSession,
    text: str,
    view: TurnView,
    *,
    as_json: bool,
    attached: list[AttachedFile] | None = None,
    seconds: float | None = None,
    schema: Mapping[str, Any] | None = None,
    approver: Approver | None = None,
) -> Outcome:
    """One turn: the words go to stdout as they come, or each event as a line of JSON.

    Args:
        talk: the chat.
        text: what is said.
        view: shows it.
        as_json: print events, and nothing besides.
        attached: files that go with it.
        seconds: what a turn that nobody watches may take.
        schema: a JSON schema for the answer.
        approver: asks about calls; None answers that nobody can be asked.

    Raises:
        BrokenPipeError: who read stdout has closed it.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    outcome: Outcome | None = None
    view.begin()
    # Closed early, the stream cancels the turn.
    stream = talk.events(text, attached or (), deadline, schema)
    try:
        async with aclosing(stream):
            outcome = await _displayed(stream, view, talk.name, approver, as_json=as_json)
    except asyncio.CancelledError:
        if not sys.stdout.isatty():
            with suppress(BrokenPipeError):
                view.end_line()
        raise
    finally:
        with suppress(BrokenPipeError):
            view.stop()
    if not as_json:
        if rest := view.rest_of(outcome.answer):
            print(visible(rest) if view.look.clean else rest)
        view.end_line()
        close_with(outcome, seconds)
    return outcome


async def _displayed(
    stream: AsyncIterator[ChatEvent],
    view: TurnView,
    name: str,
    approver: Approver | None,
    *,
    as_json: bool,
) -> Outcome:
    async for event in stream:
        if as_json:
            more = {"session": name} if isinstance(event, EndEvent) else {}
            print(json.dumps(event_json(event) | more, ensure_ascii=False, default=str), flush=True)
        else:
            view.show(event)
        if isinstance(event, QuestionEvent):
            answer = None if approver is None else await approver(event.question)
            if not event.answer.done():
                event.answer.set_result(answer)
        elif isinstance(event, FormEvent):
            filled = None if approver is None else await approver.fill(event.form)
            if not event.answer.done():
                event.answer.set_result(filled)
        elif isinstance(event, EndEvent):
            return event.outcome
    raise AssertionError("a turn without an end")


class Chatting:
    """The chat with a person at a terminal.

    Ctrl-C ends the step that runs, or clears what is typed, and keeps the chat; a second one
    without a word between leaves, as Ctrl-D does.

    Args:
        talk: what it is about.
        config: the whole tree.
        egress: the guard of the network.
        look: how it is shown.
        history: the file of what was typed, for an editor of lines; None is the plain loop.
        as_json: print events as JSON.
        on_late: kills child processes, where leaving takes too long.
    """

    def __init__(
        self,
        talk: ChatSession,
        config: Config,
        egress: Egress,
        look: Look,
        *,
        history: Path | None,
        as_json: bool,
        on_late: Callable[[], object],
    ) -> None:
        self.talk = talk
        self.config = config
        self.view = TurnView(look)
        self.attached: list[AttachedFile] = []
        self.draft = ""
        self.is_over = False
        self.has_editor = history is not None
        self._egress = egress
        self._json = as_json
        self._on_late = on_late
        self._armed = False
        self._task: asyncio.Task[Any] | None = None
        self._keyboard = Keyboard(write_error)
        self._commands = Commands(self)
        self._approver = Approver(self._read_fresh, styled=look.styled)
        self._editor: PromptEditor | None = None
        if history is not None:
            names = list(HELP)
            self._editor = PromptEditor(history, names, self._commands.words, self.view.detail)

    def use_egress(self) -> Egress:
        """The guard of the network."""
        return self._egress

    async def run(self, *, choosing: bool) -> None:
        """Talk until the person leaves.

        Args:
            choosing: let them choose where there are several models.

        Raises:
            ToolError: there is no model server.
        """
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(signal.SIGINT, self._interrupted)
            for name in ("SIGTERM", "SIGHUP"):  # so that the terminal is as it was before
                loop.add_signal_handler(getattr(signal, name), self._ended)
        with self._keyboard.held():
            if not await self._connect(choosing=choosing):
                return
            while not self.is_over:
                line = await self._until_stopped(self._read())
                if line is None:
                    continue
                if not line[0].strip():
                    continue
                self._armed = False
                if is_command(line[0]):
                    await self._until_stopped(self._commands.run(line[0]))
                else:
                    attached, self.attached = self.attached, []
                    await self._until_stopped(self.say(line[0].strip(), attached))

    async def say(self, text: str, attached: list[AttachedFile]) -> None:
        """Say something, and show what comes of it."""
        with self._keyboard.watched(self.view.detail):
            outcome = await once(
                self.talk,
                text,
                self.view,
                as_json=self._json,
                attached=attached,
                approver=self._approver,
            )
            if not self._json and outcome.status is not Status.FAILED:
                window = await self.talk.find_window()
                has_tools = bool(self.talk.executor.tools) and not attached
                self.view.figures_line(window, outcome, has_tools=has_tools)

    async def _connect(self, *, choosing: bool) -> bool:
        """Find the model, and say which; False where the person leaves."""
        talk = self.talk
        if choosing:
            found = await endpoints(self.config, self._egress)
            if len(found) > 1:
                picked = await self._until_stopped(self._choice(found))
                if picked is None:
                    return False
        if talk.endpoint is None and (doubt := (await talk.connect()).doubt):
            note(doubt)
        assert talk.endpoint is not None
        tools = len(talk.executor.tools)
        model = talk.endpoint.model  # to a server of llama.cpp it is the path of its file
        name = Path(model).name if Path(model).is_absolute() else model
        where = f"{name} at {talk.endpoint.base_url}"
        if not self.view.look.quiet:
            note(f"{where}, {counted(tools, 'tool')}, chat {talk.name}. /help helps.")
        return True

    async def _choice(self, found: list[Any]) -> bool | None:
        picked = await choose(found, self._keyboard.read_line)
        if picked is None:
            return None
        await self.talk.use(picked)
        return True

    async def _read(self) -> tuple[str]:
        """What is typed, in a tuple; at its end the chat is over."""
        draft, self.draft = self.draft, ""
        line: str | None
        if self._editor is None:
            line = await self._keyboard.read_line("you> ")
        else:
            ahead, self._keyboard.pending = self._keyboard.pending, b""
            try:
                line = await self._editor.read("you> ", ahead, draft)
            except KeyboardInterrupt:
                if self._editor.draft:  # cleared by this one, which is none to leave by
                    self._armed = False
                self._interrupted()
                note("" if self.is_over else AGAIN)
                return ("",)
        if line is None:
            note("")
            self.is_over = True
            return ("",)
        return (line,)

    async def _read_fresh(self, prompt: str) -> str | None:
        return await self._keyboard.read_line(prompt, fresh=True)

    async def _until_stopped(self, work: Any) -> Any:
        """What the work gives; None where it was stopped."""
        self._task = asyncio.ensure_future(work)
        try:
            return await self._task
        except asyncio.CancelledError:
            if not self._armed and not self.is_over:
                raise
            note("" if self.is_over else f"\n[stopped] {AGAIN}")
            return None
        except ToolError as error:
            note(error.message)
            if hint := hint_for_person(error):
                note(hint)
            return None
        finally:
            self._task = None

    def _interrupted(self) -> None:
        if self.is_over:
            end_within(0, self._on_late)
        elif self._armed:
            self.is_over = True
            end_within(LEAVING_SECONDS, self._on_late)
        self._armed = True
        if self._task is not None:
            self._task.cancel()

    def _ended(self) -> None:
        """Leave because the process is told to end."""
        self.is_over = True
        end_within(LEAVING_SECONDS, self._on_late)
        if self._task is not None:
            self._task.cancel()
