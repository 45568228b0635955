"""`toolcrib chat`: talk with a model of yours that has these tools."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping
from threading import Timer
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import BadInput
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.screen import local_time, table

if TYPE_CHECKING:
    from toolcrib.agents.chat_session import AttachedFile, ChatSession
    from toolcrib.agents.chats import Chat
    from toolcrib.core.config import Config
    from toolcrib.core.context import Form, PersonAnswer, Question
    from toolcrib.core.result import Result
    from toolcrib.surfaces.cli.chat_terminal.view import Look
    from toolcrib.toolbox import Toolbox

OK, FAILED = 0, 1
MAX_INPUT_BYTES = 2_000_000
PATIENCE = 2.0
HISTORY_FILE = "chat_history"
WAITING = "toolcrib: waiting for the end of what comes through the pipe; </dev/null for none\n"
WITH = "stages of each prompt besides the guard, such as memory,clock"
EXAMPLES = """\
examples:
  toolcrib chat
  toolcrib chat --profile default,code --model qwen3-8b
  toolcrib chat -p "What is in notes.md?"
  git diff | toolcrib chat -p "Review this change" --json
  toolcrib chat -p "Who is on it?" -a photo.png --schema "name, age int"
  toolcrib chat --continue

Ctrl-C stops a step and keeps the chat; again, or Ctrl-D, leaves.
With -p or a pipe a turn takes at most agent.seconds.
exit status: 0 answered, 1 not, 130 interrupted
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("-p", "--prompt", metavar="TEXT", help="say this, print the answer, leave")
    add("-a", "--attach", metavar="FILE", action="append", default=[], help="a text or a picture")
    add("-s", "--system", metavar="TEXT", default="", help="who the model is")
    add("-m", "--model", metavar="NAME", help="the model (default: agent.model)")
    add("--tools", metavar="NAMES", help="the same as --profile; none for none")
    add("--with", metavar="STAGES", dest="stages", default="", help=WITH)
    add("--max-steps", type=int, metavar="N", help="answers of the model a turn")
    add("--schema", metavar="SCHEMA", help="with -p: an answer as JSON; a file, JSON, or fields")
    add("-q", "--quiet", action="store_true", help="print the answer, and nothing beside it")
    add("--json", action="store_true", help="print each event as a JSON object; the last is 'end'")
    add("--plain", action="store_true", help="no editor, no colours, Markdown as it is")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--continue", action="store_true", dest="go_on", help="go on with the last chat"
    )
    which.add_argument("--session", metavar="NAME", help="begin or go on with a chat by this name")
    which.add_argument("--list", action="store_true", help="list the kept chats")


def run(options: Namespace, flags: Flags) -> int:
    """Chat, or say one thing."""
    if options.max_steps is not None and not 1 <= options.max_steps <= 100:
        raise BadInput("--max-steps must be from 1 to 100.")
    flags.require_folders()
    config = flags.load()
    profile = options.tools or flags.profile or config.profile
    # Read before the loop runs, so that Ctrl-C ends the wait for a pipe.
    question = None if options.list else _question(options)
    if options.schema and question is None:
        raise BadInput("--schema needs a question.", hint="Give -p TEXT, or text through a pipe.")
    return asyncio.run(_chat(options, config, profile, question))


async def _chat(options: Namespace, config: Config, profile: str, question: str | None) -> int:
    from toolcrib.agents.chat_session import ChatResources, ChatSession
    from toolcrib.agents.chats import Chats
    from toolcrib.core.context import Caller
    from toolcrib.surfaces.cli import person
    from toolcrib.surfaces.cli.chat_terminal.attachments import attachments_of
    from toolcrib.toolbox import Toolbox

    none = profile.strip().lower() == "none"
    box = Toolbox(config, profile="default" if none else profile, tools=[] if none else None)
    async with box:
        chats = box.use(Chats)
        if options.list:
            _list(await chats.recent())
            return OK
        stored = await chats.last() if options.go_on else None
        if options.session:
            stored = await chats.find(options.session)
        name = stored.name if stored else options.session or chats.new_name()

        async def ask(question: Question) -> PersonAnswer:
            return await talk.ask(question)

        async def fill(form: Form) -> Mapping[str, Any] | None:
            return await talk.fill(form)

        caller = Caller("chat")
        if person.is_there():
            caller = Caller("chat", ask=ask, fill=fill)

        async def invoke(tool: str, given: Mapping[str, Any]) -> Result:
            return await box.call(tool, given, session=f"chat:{name}", caller=caller)

        stages = [word.strip() for word in options.stages.split(",") if word.strip()]
        means = ChatResources(config, box.services, box.listed, invoke, stages)
        earlier = stored.messages if stored else ()
        model, steps = options.model or "", options.max_steps or 0
        talk = ChatSession(name, means, model, steps, earlier, options.system)
        attached = attachments_of(options.attach)
        if question is not None:
            return await _once(talk, box, options, question, attached)
        return await _converse(talk, box, options, attached)


async def _once(
    talk: ChatSession,
    box: Toolbox,
    options: Namespace,
    question: str,
    attached: list[AttachedFile],
) -> int:
    """One turn without a person."""
    from toolcrib.agents.answer_schema import schema_of
    from toolcrib.agents.outcome import Status
    from toolcrib.surfaces.cli import person
    from toolcrib.surfaces.cli.chat_terminal.approvals import Approver
    from toolcrib.surfaces.cli.chat_terminal.keyboard import Keyboard
    from toolcrib.surfaces.cli.chat_terminal.program import NO_TOOL, once
    from toolcrib.surfaces.cli.chat_terminal.view import TurnView, note, write_error

    schema = schema_of(_schema_text(options.schema)) if options.schema else None
    view = TurnView(_look(options, words=schema is None and not options.json))
    approver = None
    if person.is_there():
        keyboard = Keyboard(write_error)

        async def read_line(prompt: str) -> str | None:
            with keyboard.held():
                return await keyboard.read_line(prompt)

        approver = Approver(read_line, styled=view.look.styled)
    outcome = await once(
        talk,
        question,
        view,
        as_json=options.json,
        attached=attached,
        seconds=box.config.agent.seconds,
        schema=schema,
        approver=approver,
    )
    answered = outcome.status is Status.COMPLETED
    offered = talk.executor.tools and not (attached or schema)
    if answered and offered and not (outcome.tool_calls or options.json or options.quiet):
        note(NO_TOOL)
    person.tell_stopped(box)
    return OK if answered else FAILED


async def _converse(
    talk: ChatSession, box: Toolbox, options: Namespace, attached: list[AttachedFile]
) -> int:
    """The chat with a person."""
    from toolcrib.core.config import data_folder
    from toolcrib.net.egress.client import Egress
    from toolcrib.surfaces.cli import person
    from toolcrib.surfaces.cli.chat_terminal.program import Chatting
    from toolcrib.surfaces.cli.chat_terminal.prompt_editor import available
    from toolcrib.system.processes import Processes

    on_terminal = sys.stdout.isatty() and sys.stderr.isatty()
    plain = options.plain or options.json or not on_terminal or _is_dumb()
    history = data_folder() / HISTORY_FILE if not plain and available() else None
    chatting = Chatting(
        talk,
        box.config,
        box.use(Egress),
        _look(options, words=not options.json),
        history=history,
        as_json=options.json,
        on_late=box.use(Processes).kill_all_now,
    )
    chatting.attached = attached
    named = options.model or box.config.agent.model
    await chatting.run(choosing=not named and not options.json)
    person.tell_stopped(box)
    return OK


def _look(options: Namespace, *, words: bool) -> Look:
    """How it is shown, by what stdout and stderr are."""
    from toolcrib.core.config import environment
    from toolcrib.surfaces.cli.chat_terminal.view import Look

    terminal = sys.stdout.isatty()
    plain = options.plain or _is_dumb()
    coloured = not environment(("NO_COLOR",)).get("NO_COLOR")
    return Look(
        styled=terminal and not plain and coloured,
        clean=terminal,
        live=sys.stderr.isatty() and not plain,
        quiet=options.quiet,
        words=words,
    )


def _is_dumb() -> bool:
    from toolcrib.core.config import environment

    return environment(("TERM",)).get("TERM") == "dumb"


def _schema_text(given: str) -> str:
    """The schema that is meant: the text of a file of this name, or what was given."""
    from pathlib import Path

    try:
        path = Path(given).expanduser()
        return path.read_text("utf-8") if path.is_file() else given
    except UnicodeDecodeError:
        raise BadInput("The file of the schema is no UTF-8 text.") from None
    except (OSError, ValueError):
        return given


def _question(options: Namespace) -> str | None:
    """What is to be said without a person: the prompt, and what comes through a pipe."""
    prompt = options.prompt
    if sys.stdin is None or sys.stdin.isatty():
        return str(prompt) if prompt is not None else None
    waiting = Timer(PATIENCE, sys.stderr.write, [WAITING])
    waiting.daemon = True
    waiting.start()
    try:
        read = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    finally:
        waiting.cancel()
    if len(read) > MAX_INPUT_BYTES:
        raise BadInput(
            f"More than {MAX_INPUT_BYTES:,} bytes came through the pipe.",
            hint="Save them as a file of the workspace, and name it.",
        )
    piped = read.decode("utf-8", "replace").strip()
    question = "\n\n".join(part for part in (prompt or "", piped) if part)
    if not question and not options.attach:
        raise BadInput("There is nothing to say.", hint="Give -p TEXT, or text through a pipe.")
    return question


def _list(chats: list[Chat]) -> None:
    rows = [(c.name, local_time(c.used).strftime("%m-%d %H:%M"), c.title) for c in chats]
    print("\n".join(table(rows)) or "No chats yet.")
