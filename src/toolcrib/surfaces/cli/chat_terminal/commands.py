"""The commands of a chat: lines that begin with a slash."""

from __future__ import annotations

import re
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toolcrib.agents.chat_session import AttachedFile, ChatSession
from toolcrib.agents.conversation import content_text, images_of
from toolcrib.core.config import Config
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.net.egress.client import Egress
from toolcrib.surfaces.cli.call import hint_for_person
from toolcrib.surfaces.cli.chat_terminal.attachments import attachment_of
from toolcrib.surfaces.cli.chat_terminal.models import chosen, endpoints, show_models
from toolcrib.surfaces.cli.chat_terminal.view import TurnView, note
from toolcrib.surfaces.cli.screen import table, wrapped
from toolcrib.text.display import counted

if TYPE_CHECKING:
    from toolcrib.net.models.endpoint import Endpoint

HELP = {
    "/help": "this list",
    "/model": "list the models; /model NAME or NUMBER takes another",
    "/system": "show who the model is; /system TEXT says it, /system default goes back",
    "/temperature": "how freely the model words things: /temperature 0 to 2, or default",
    "/tools": "list the tools; /tools NAMES offers only these tools and groups, or all, or none",
    "/attach": "send files (texts, pictures) with what you say next: /attach FILE ...",
    "/show": "open the last call; /show 3 that one, /show thought the last reasoning",
    "/reasoning": "show reasoning as it comes, or fold it",
    "/retry": "ask the same again",
    "/edit": "change the last thing you said: /edit TEXT, or /edit and change it in the line",
    "/undo": "forget the last thing you said and its answer",
    "/save": "write the chat as Markdown: /save FILE",
    "/clear": "forget all that was said",
    "/context": "how full the model's window is",
    "/quit": "leave, as Ctrl-D",
}
ALIASES = {"/exit": "/quit", "/bye": "/quit", "/q": "/quit", "/?": "/help", "/h": "/help"}
KEYS = (
    "Enter sends. A line that ends with \\ goes on, and so does what stands between "
    'lines of """. Pasted text is one message. Ctrl-O opens the last call, Ctrl-C stops a step.'
)
EDITOR_KEYS = " Alt-Enter begins a new line, Tab completes, Ctrl-R searches what you typed before."
MAX_TEMPERATURE = 2
COMMAND = re.compile(r"/[A-Za-z?]*")
UNDO_FILES = "What its calls changed stays changed; `toolcrib undo` takes it back."


class Speaker(Protocol):
    """The chat as its commands see it."""

    talk: ChatSession
    view: TurnView
    config: Config
    attached: list[AttachedFile]
    draft: str
    is_over: bool
    has_editor: bool

    def use_egress(self) -> Egress:
        """The guard of the network."""
        ...

    async def say(self, text: str, attached: list[AttachedFile]) -> None:
        """Say something, and show what comes of it."""
        ...


def is_command(text: str) -> bool:
    """Whether a line is meant as a command; a path such as /etc/hosts is not."""
    return COMMAND.fullmatch(text.split(maxsplit=1)[0]) is not None if text.strip() else False


class Commands:
    """Carries out the commands of one chat: `/help` by `_help`, and so on."""

    def __init__(self, chat: Speaker) -> None:
        self._chat = chat
        self._found: list[Endpoint] = []
        self._by_name: dict[str, Callable[[str], Awaitable[None]]] = {
            name: getattr(self, name.replace("/", "_")) for name in HELP
        }

    async def run(self, text: str) -> None:
        """Carry out a command; what goes wrong is told."""
        word, _, rest = text.strip().partition(" ")
        name = ALIASES.get(word.lower(), word.lower())
        action = self._by_name.get(name)
        if action is None:
            near = get_close_matches(name, self._by_name, n=2, cutoff=0.5)
            guess = f" Nearest: {', '.join(near)}." if near else " /help lists them."
            note(f"There is no command {word[:60]}.{guess}")
            note("To say it to the model, put a space first.")
            return
        try:
            await action(rest.strip())
        except ToolError as error:
            note(error.message)
            if hint := hint_for_person(error):
                note(hint)

    def words(self, command: str) -> list[str]:
        """What may follow a command."""
        talk = self._chat.talk
        if command == "/tools":
            tools = talk.all_tools
            return ["all", "none", *sorted({t.group for t in tools}), *(t.name for t in tools)]
        if command == "/model":
            listed = talk.endpoint.models if talk.endpoint else ()
            return list(dict.fromkeys([*(e.model for e in self._found), *listed]))
        return {
            "/show": ["thought"],
            "/system": ["default"],
            "/temperature": ["default"],
        }.get(command, [])

    async def _help(self, _: str) -> None:
        for line in table(list(HELP.items()), cut=False):
            note(line)
        note(wrapped(KEYS + (EDITOR_KEYS if self._chat.has_editor else "")))

    async def _model(self, word: str) -> None:
        chat = self._chat
        self._found = await endpoints(chat.config, chat.use_egress())
        if not word:
            show_models(self._found, chat.talk.endpoint)
            return
        await chat.talk.use(chosen(word, self._found))
        assert chat.talk.endpoint is not None
        note(f"Now {chat.talk.endpoint.model} at {chat.talk.endpoint.base_url}.")

    async def _system(self, text: str) -> None:
        talk = self._chat.talk
        if text:
            talk.set_system("" if text == "default" else text)
        note(talk.system or "The default: a helper at a terminal.")

    async def _temperature(self, word: str) -> None:
        talk = self._chat.talk
        if word == "default":
            talk.temperature = self._chat.config.agent.temperature
        elif word:
            try:
                value = float(word.replace(",", "."))
            except ValueError:
                value = -1.0
            if not 0 <= value <= MAX_TEMPERATURE:
                raise BadInput(
                    f"The temperature is a number from 0 to {MAX_TEMPERATURE}, not {word[:40]}."
                )
            talk.temperature = value
        own = "the server's own" if talk.temperature is None else f"{talk.temperature:g}"
        note(f"Temperature: {own}.")

    async def _tools(self, words: str) -> None:
        talk = self._chat.talk
        if words:
            talk.choose_tools(words.replace(",", " ").split())
        note(", ".join(talk.executor.names) or "no tools")

    async def _attach(self, words: str) -> None:
        chat = self._chat
        try:
            names = [words] if _is_file(words) else shlex.split(words)
        except ValueError as error:
            raise BadInput(f"These names cannot be read: {error}.") from None
        if not names:
            note(", ".join(a.name for a in chat.attached) or "Nothing yet. /attach FILE ...")
            return
        chat.attached += [attachment_of(name) for name in names]
        note(f"Attached: {', '.join(a.name for a in chat.attached)}. Now say something to it.")

    async def _show(self, word: str) -> None:
        view = self._chat.view
        if word.lower().startswith(("th", "re")):
            note(view.thought or "There was no reasoning.")
        elif word and not word.isdecimal():
            raise BadInput("Say /show, /show NUMBER or /show thought.")
        else:
            view.detail(int(word[:9]) if word else None)

    async def _reasoning(self, _: str) -> None:
        view = self._chat.view
        view.look = replace(view.look, reasoning=not view.look.reasoning)
        note("Reasoning is shown." if view.look.reasoning else "Reasoning is folded.")

    async def _retry(self, _: str) -> None:
        message = self._last()
        await self._chat.say(*message)

    async def _edit(self, text: str) -> None:
        chat = self._chat
        if not text and not chat.has_editor:
            raise BadInput("Say /edit TEXT: it takes the place of the last thing you said.")
        before, images = self._last()
        if text:
            await chat.say(text, images)
        else:
            chat.draft, chat.attached = before, images

    async def _undo(self, _: str) -> None:
        before, _images = self._last()
        note(f"Forgotten: {' '.join(before.split())[:60]}")

    def _last(self) -> tuple[str, list[AttachedFile]]:
        talk = self._chat.talk
        had_calls = talk.last_turn_called
        found = talk.take_back()
        if found is None:
            raise BadInput("Nothing was said yet.")
        if had_calls:
            note(UNDO_FILES)
        return found

    async def _save(self, name: str) -> None:
        if not name:
            raise BadInput("Say /save FILE.")
        try:
            path = _written(name, transcript(self._chat.talk))
        except FileExistsError:
            raise BadInput(f"{name} is there already.", hint="Give another name.") from None
        except (OSError, ValueError) as error:
            raise BadInput(f"{name} cannot be written: {error}.") from None
        note(f"Saved as {path}.")

    async def _clear(self, _: str) -> None:
        self._chat.talk.forget()
        self._chat.attached.clear()
        note("Forgotten. Tools, model and system text stay.")

    async def _context(self, _: str) -> None:
        talk = self._chat.talk
        window = await talk.find_window()
        tokens = talk.tokens
        full = f" of {window:,} ({100 * tokens // window}%)" if window else ""
        note(f"About {tokens:,}{full} tokens: {counted(len(talk.conversation), 'message')}, "
             f"{counted(len(talk.executor.specs), 'tool')}.")  # fmt: skip
        if not window:
            note("The server does not tell how much the model can read.")

    async def _quit(self, _: str) -> None:
        self._chat.is_over = True


def _is_file(name: str) -> bool:
    try:
        return bool(name) and Path(name).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def _written(name: str, text: str) -> Path:
    path = Path(name).expanduser()
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
    return path


def transcript(talk: ChatSession) -> str:
    """A chat as Markdown."""
    model = talk.endpoint.model if talk.endpoint else ""
    parts = [f"# Chat {talk.name}", f"Model: {model}" if model else ""]
    for message in talk.conversation.body:
        text = content_text(message).strip()
        if message["role"] == "user":
            pictures = len(images_of(message))
            parts.append(f"## You\n\n{text}" + (f"\n\n({pictures} pictures)" if pictures else ""))
        elif message["role"] == "assistant":
            calls = [
                f"- `{c['function']['name']}` {c['function']['arguments']}"
                for c in message.get("tool_calls") or ()
            ]
            parts.append("\n\n".join(part for part in ("## Model", text, "\n".join(calls)) if part))
        elif message["role"] == "tool":
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
            parts.append(f"{fence}text\n{text}\n{fence}")
    return "\n\n".join(part for part in parts if part) + "\n"
