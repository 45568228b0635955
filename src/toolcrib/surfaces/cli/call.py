"""`toolcrib call`: one call through the same pipeline as from everywhere else."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import signal
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import BadInput, ToolError
from toolcrib.surfaces.cli.flags import NAMES, Flags
from toolcrib.surfaces.cli.screen import coloured, visible
from toolcrib.text.json_values import json_object

if TYPE_CHECKING:
    from toolcrib.core.config import Config
    from toolcrib.core.context import Caller
    from toolcrib.core.result import Result
    from toolcrib.extensions.own_tools import Skipped

OK, FAILED, USAGE = 0, 1, 2
NAMED = re.compile(r"[A-Za-z_][\w-]*:?=")
"""How a word begins that names its argument; an address with = in it does not."""
MISUSE = ("bad_input", "unknown_tool")
TERMINATED = 128 + signal.SIGTERM

EXAMPLES = """\
examples:
  toolcrib call read_file notes.md lines=20
  toolcrib call web_search query="rust borrow checker" limit=3
  toolcrib call fetch_url url=https://example.org --json
  toolcrib call fetch_url urls=https://a.example urls=https://b.example
  toolcrib call call_tool name=read_file arguments:='{"path": "notes.md"}'
  echo '{"path": "notes.md"}' | toolcrib call read_file -

exit status: 0 done, 1 the tool failed, 2 the call is wrong, 130 interrupted.
It is that of the call: 0 also where tests failed or a program ended in error.
What began in the background is stopped when the command ends.
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.add_argument("tool", metavar="TOOL", help="the tool, by its name or an alias")
    parser.add_argument(
        "given",
        metavar="key=value",
        nargs="*",
        help="an argument; repeat a key for a list, key:=JSON for other values, "
        "- reads a JSON object from stdin; the first may be without its key",
    )
    parser.add_argument("--json-args", metavar="JSON", help="all arguments as one JSON object")
    parser.add_argument("--json", action="store_true", help="print the whole result as JSON")
    parser.add_argument("--session", metavar="NAME", help="go on in the conversation of this name")


def run(options: Namespace, flags: Flags) -> int:
    """Send the call and print what it gives."""
    flags.require_folders()
    config = flags.load()  # with a broken one no tool is known by its arguments
    sent = _arguments(options)
    # What is kept for read_more belongs to a conversation, so each has a name to come back by.
    session = options.session or token_hex(4)
    caller = _caller(single=not options.session)
    result = asyncio.run(_call(config, flags.profile, options.tool, sent, session, caller))
    if result is None:
        _note("toolcrib: stopped.")
        return TERMINATED
    if options.json:
        from toolcrib.surfaces.cli.screen import json_text

        print(json_text(result.to_json(), indent=2))
    else:
        _show(result, session, options.tool)
    if result.error is None:
        return OK
    return USAGE if result.error.code in MISUSE else FAILED


def _arguments(options: Namespace) -> dict[str, Any] | str:
    """The arguments as typed; what they must be is the pipeline's to say.

    Raises:
        BadInput: a word that is not key=value, or two ways of giving arguments at once.
    """
    words: list[str] = options.given
    whole = options.json_args is not None or "-" in words
    if whole and len(words) > (options.json_args is None):
        raise BadInput("Give the arguments in one way: key=value words, --json-args, or -.")
    if options.json_args is not None:
        return str(options.json_args)
    if whole:
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    if len(words) == 1 and _is_all(words[0], options.tool):
        return words[0]
    return pairs(words, options.tool)


def _is_all(word: str, tool: str) -> bool:
    """Whether one word is a JSON object of arguments, and no text for the first of them."""
    given = json_object(word) if word.startswith("{") else None
    return bool(given) and set(given or ()) <= set(_parameters(tool))


def pairs(words: list[str], tool: str) -> dict[str, Any]:
    """`key=value` and `key:=json` words as arguments; a repeated key makes a list.

    The first word may be a value alone, for the first parameter of the tool.

    Raises:
        BadInput: another word is neither, or its JSON is broken.
    """
    found: dict[str, list[Any]] = {}
    for number, word in enumerate(words):
        key, _, text = word.partition("=")
        if not number and not NAMED.match(word):
            first = _first_parameter(tool)
            if first:
                found[first] = [word]
                continue
        if not NAMED.match(word):
            hint = how_to_write([tool, *words])
            raise BadInput(f"'{word[:80]}' is not an argument.", hint=hint)
        value: Any = text
        if key.endswith(":"):
            key = key[:-1]
            try:
                value = json.loads(text)
            except (json.JSONDecodeError, RecursionError) as error:
                raise BadInput(f"The value of {key} is not valid JSON: {error}.") from None
        found.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in found.items()}


OWN_VALUES = (*NAMES, "--json-args", "--session")
"""Options of `toolcrib call` that take a value; all others are arguments of the tool."""


def how_to_write(words: Sequence[str]) -> str:
    """What to write in place of `--path x`, or of words without quotes.

    Args:
        words: what was written after `toolcrib call`.
    """
    tool, loose, named, own = "", [], [], []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name = word.lstrip("-").partition("=")[0].replace("-", "_")
        if word in OWN_VALUES and rest:
            own += [word, rest.pop(0)]
        elif word == "--json":
            own.append(word)
        elif not tool:
            tool = word
        elif word.startswith("--") and name in _parameters(tool):
            value = word.partition("=")[2]
            if "=" not in word:
                value = rest.pop(0) if rest and not rest[0].startswith("--") else "true"
            named.append(f"{name}={value}")
        elif NAMED.match(word):
            named.append(word)
        else:
            loose.append(word)
    if not _parameters(tool) or (loose and loose[0].startswith("-")):
        about = f"toolcrib help {tool}" if _parameters(tool) else "toolcrib call --help"
        return f"Arguments are written key=value; {about} shows what there is."
    first = [" ".join(loose)] if loose else []
    if len(loose) > 1 and any(map(str.isspace, "".join(loose))):
        # They were quoted, so each is a value of its own.
        names = ", ".join(f"{name}=…" for name in _parameters(tool)[:4])
        return f"Write each as key=value: {names}; toolcrib help {tool} shows what there is."
    return f"Write: {shlex.join(['toolcrib', 'call', tool, *first, *named, *own])}"


def _first_parameter(tool: str) -> str:
    """What a value without a key is for; empty where the tool is not known or takes nothing."""
    return next(iter(_parameters(tool)), "")


def _parameters(tool: str) -> list[str]:
    """What a tool takes, in its order; nothing where it is not known."""
    from toolcrib.core.config import Config
    from toolcrib.core.registry import Registry
    from toolcrib.toolbox import available

    try:
        found = Registry(available(Config.load()).tools).resolve(tool)
    except ToolError:
        return []
    return [name for name, _ in found.parameter_texts]


async def _call(
    config: Config,
    profile: str | None,
    tool: str,
    sent: dict[str, Any] | str,
    session: str,
    caller: Caller,
) -> Result | None:
    """The result, or None when the process was told to end."""
    from toolcrib.surfaces.cli.person import tell_stopped
    from toolcrib.toolbox import Toolbox

    ended = False
    task = asyncio.current_task()
    assert task is not None

    def end() -> None:
        nonlocal ended
        ended = True
        task.cancel()

    with suppress(NotImplementedError):  # Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
    try:
        async with Toolbox(config, profile=profile or "all") as box:
            result = await box.call(tool, sent, session=f"cli:{session}", caller=caller)
            stopped = tell_stopped(box)
            if (
                result.next
                and stopped
                and set(map(str, result.next.arguments.values())) & {*stopped}
            ):
                return replace(result, next=None)  # what it would go on with is no more
            return _with_left_out(result, box.skipped)
    except asyncio.CancelledError:
        if ended:
            return None
        raise


def _with_left_out(result: Result, skipped: Sequence[Skipped]) -> Result:
    """Where a tool is not known: what else there would be, and why it is not."""
    if result.error is None or result.error.code != "unknown_tool" or not skipped:
        return result
    from toolcrib.text.display import some_of

    hint = f"{result.error.hint}\nLeft out: {some_of([str(each) for each in skipped], 5)}"
    return replace(result, error=replace(result.error, hint=hint))


def _caller(*, single: bool) -> Caller:
    from toolcrib.core.context import Caller
    from toolcrib.surfaces.cli import person

    return Caller(
        surface="cli",
        ask=person.ask if person.is_there() else None,
        fill=person.fill if person.is_there() else None,
        notify=person.notify if sys.stderr.isatty() else None,
        typed_by_user=True,
        single=single,
    )


def hint_for_person(error: ToolError) -> str:
    """The hint of an error for a person; empty where it is the general one for models."""
    general = isinstance(error, BadInput) and error.hint == error.default_hint
    return "" if general else for_person(error.hint)


def for_person(hint: str) -> str:
    """What a hint for a model says to a person at a shell."""
    from toolcrib.core.registry import SEARCH_HINT

    return hint.replace(SEARCH_HINT, "`toolcrib tools all` lists every tool.")


def _show(result: Result, session: str, tool: str) -> None:
    """The text on stdout, all else on stderr."""
    if result.text:
        print(_fit_for(result.text))
    for image in result.images:
        _note(f"[{image.mime_type}, {len(image.data):,} bytes; --json prints it]")
    if result.next:
        words = ["toolcrib", "call", result.next.tool, "--session", session]
        words += [_word(key, value) for key, value in result.next.arguments.items()]
        _note(f"To go on: {shlex.join(words)}", _dim())
    hint = for_person(result.error.hint) if result.error else ""
    if result.error and sys.stderr.isatty():
        from toolcrib.surfaces.cli.screen import coloured

        misused = result.error.code == "bad_input"
        _note(f"{tool}: {result.error.message}", coloured("red"))
        if hint:
            _note(hint)
        _note(f"toolcrib help {tool} shows what it takes.") if misused else None
    elif result.error:
        _note(f"Error ({result.error.code}): {result.error.message}")
        if hint:
            _note(hint)


def _fit_for(text: str) -> str:
    """The text as it is for programs; without what could play tricks on a terminal."""
    if not sys.stdout.isatty():
        return text
    from toolcrib.text.cleaner import clean

    return clean(text).text


def _word(key: str, value: Any) -> str:
    return f"{key}={value}" if isinstance(value, str) else f"{key}:={json.dumps(value)}"


def _dim() -> tuple[str, str]:
    return coloured("dim")


def _note(text: str, colour: tuple[str, str] = ("", "")) -> None:
    sys.stdout.flush()
    print(f"{colour[0]}{visible(text)}{colour[1]}", file=sys.stderr)
