"""`toolcrib chat`: talk with a model of yours that has these tools."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping
from threading import Timer
from typing import TYPE_CHECKING, Any

from toolcrib.surfaces.cli.flags import Flags

if TYPE_CHECKING:
    from toolcrib.agents.chat_session import Chat
    from toolcrib.core.config import Config
    from toolcrib.core.result import Result

OK, FAILED = 0, 1
MAX_INPUT_BYTES = 2_000_000
PATIENCE = 2.0
WAITING = "toolcrib: waiting for the end of what comes through the pipe; </dev/null for none\n"
EXAMPLES = """\
examples:
  toolcrib chat
  toolcrib chat --profile default,code --model qwen3-8b
  toolcrib chat -p "What is in notes.md?"
  git diff | toolcrib chat -p "Review this change" --json
  toolcrib chat --continue

Ctrl-C stops a step and keeps the chat; again, or Ctrl-D, leaves.
With -p or a pipe a turn takes at most agent.seconds.
exit status: 0 answered, 1 not, 130 interrupted
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.add_argument("-p", "--prompt", metavar="TEXT", help="say this, print the answer, leave")
    parser.add_argument("-m", "--model", metavar="NAME", help="the model (default: agent.model)")
    parser.add_argument("--tools", metavar="NAMES", help="the same as --profile; none for none")
    parser.add_argument("--max-steps", type=int, metavar="N", help="answers of the model a turn")
    parser.add_argument("--json", action="store_true", help="print each outcome as a JSON object")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--continue", action="store_true", dest="go_on", help="go on with the last chat"
    )
    which.add_argument("--session", metavar="NAME", help="begin or go on with a chat by this name")
    which.add_argument("--list", action="store_true", help="list the kept chats")


def run(options: Namespace, flags: Flags) -> int:
    """Chat, or say one thing."""
    from toolcrib.core.errors import BadInput

    if options.max_steps is not None and not 1 <= options.max_steps <= 100:
        raise BadInput("--max-steps must be from 1 to 100.")
    config = flags.load()
    profile = options.tools or flags.profile or config.profile
    # Read before the loop runs, so that Ctrl-C ends the wait for a pipe.
    question = None if options.list else _question(options.prompt)
    return asyncio.run(_chat(options, config, profile, question))


async def _chat(options: Namespace, config: Config, profile: str, question: str | None) -> int:
    from toolcrib.agents.chat_session import ChatResources, Chats, ChatSession
    from toolcrib.agents.outcome import Status
    from toolcrib.core.context import Caller
    from toolcrib.surfaces.cli import person
    from toolcrib.surfaces.cli.chat_terminal import Approver, Chatting, note, once
    from toolcrib.surfaces.cli.person import tell_stopped
    from toolcrib.system.processes import Processes
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
        caller = Caller("chat", ask=Approver() if person.is_there() else None)

        async def invoke(tool: str, given: Mapping[str, Any]) -> Result:
            return await box.call(tool, given, session=f"chat:{name}", caller=caller)

        means = ChatResources(config, box.use, box.listed, invoke)
        earlier = stored.messages if stored else ()
        talk = ChatSession(name, means, options.model or "", options.max_steps or 0, earlier)
        if question is not None:
            outcome = await once(talk, question, as_json=options.json, seconds=config.agent.seconds)
            tell_stopped(box)
            return OK if outcome.status is Status.COMPLETED else FAILED
        endpoint = await talk.connect()
        tools = len(talk.executor.tools)
        note(f"{endpoint.model} at {endpoint.base_url}, {tools} tools, chat {name}. /help helps.")
        on_late = box.use(Processes).kill_all_now
        await Chatting(talk, as_json=options.json, on_late=on_late).run()
        tell_stopped(box)
        return OK


def _question(prompt: str | None) -> str | None:
    """What is to be said without a person: the prompt, and what comes through a pipe."""
    from toolcrib.core.errors import BadInput

    if sys.stdin is None or sys.stdin.isatty():
        return prompt
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
    if not question:
        raise BadInput("There is nothing to say.", hint="Give -p TEXT, or text through a pipe.")
    return question


def _list(chats: list[Chat]) -> None:
    from datetime import datetime

    from toolcrib.surfaces.cli.screen import table

    rows = [
        (c.name, datetime.fromtimestamp(c.used).astimezone().strftime("%m-%d %H:%M"), c.title)
        for c in chats
    ]
    print("\n".join(table(rows)) or "No chats yet.")
