"""`toolcrib`: finds the command, hands over to it, and turns every failure into plain words."""

from __future__ import annotations

import os
import signal
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TextIO

from toolcrib.core.version import VERSION
from toolcrib.surfaces.cli import flags
from toolcrib.surfaces.cli.commands import COMMANDS, Command, load
from toolcrib.surfaces.cli.usage import UsageParser, refuse_unknown

OK, FAILED, USAGE = 0, 1, 2
INTERRUPTED = 128 + signal.SIGINT
PIPE_CLOSED = 128 + getattr(signal, "SIGPIPE", 13)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line.

    Returns:
        0 when it worked, 1 when a tool or a check failed, 2 when the command line or the
        configuration is wrong, 130 after Ctrl-C.
    """
    _be_lenient(sys.stdout)
    _be_lenient(sys.stderr)
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except SystemExit as end:  # how argparse says that it has printed its help or a complaint
        return _flushed(end.code if isinstance(end.code, int) else FAILED)
    except KeyboardInterrupt:
        complain("stopped.")
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    return code


def _run(words: list[str]) -> int:
    before, name, after = flags.split(words)
    given = overview().parse_args(before)
    if name is None:
        # A host starts a server without a word and without a terminal.
        if _is_terminal(sys.stdin):
            overview().print_help()
            return OK
        name = "mcp"
    if name == "version":
        print(f"toolcrib {VERSION}")
        return OK
    if name not in COMMANDS:
        return _unknown(name)
    command = load(name)
    parser = parser_of(command)
    options, unknown = parser.parse_known_intermixed_args(after)
    if unknown:
        refuse_unknown(parser, command, unknown, after)
    return _guarded(command, options, flags.Flags.of(given, options))


def _guarded(command: Command, options: object, given: flags.Flags) -> int:
    try:
        return command.run(options, given)  # type: ignore[arg-type]
    except Exception as error:
        from toolcrib.core.errors import BadInput, ConfigError, ToolError
        from toolcrib.surfaces.cli.call import hint_for_person

        if not isinstance(error, ToolError):
            raise
        own = f"toolcrib {command.name} --help shows how it is called."
        is_misused = isinstance(error, BadInput)
        complain(error.message, hint_for_person(error) or (own if is_misused else ""))
        return USAGE if isinstance(error, BadInput | ConfigError) else FAILED


def overview() -> ArgumentParser:
    """The parser of what stands before the command; its help lists the commands."""
    listed = "\n".join(f"  {name:<11} {summary}" for name, summary in COMMANDS.items())
    parser = ArgumentParser(
        prog="toolcrib",
        usage="toolcrib [options] COMMAND ...",
        description="A full, safe set of tools for local language models.",
        epilog=f"commands:\n{listed}\n\nMore: toolcrib COMMAND --help, toolcrib help TOOL",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"toolcrib {VERSION}")
    flags.declare(parser)
    return parser


def parser_of(command: Command) -> UsageParser:
    """The parser of one command."""
    parser = UsageParser(
        prog=f"toolcrib {command.name}",
        description=f"{command.summary[:1].upper()}{command.summary[1:]}.",
        allow_abbrev=False,
    )
    command.arguments(parser)
    flags.declare(parser)
    return parser


def complain(message: str, hint: str = "") -> None:
    """Say what went wrong, and what to do, on stderr."""
    from toolcrib.surfaces.cli.screen import visible

    sys.stdout.flush()
    print(f"toolcrib: {visible(message)}", file=sys.stderr)
    if hint:
        print(visible(hint), file=sys.stderr)


def _unknown(name: str) -> int:
    near = get_close_matches(name.lower(), COMMANDS, n=3, cutoff=0.5)
    guess = f"Nearest: {', '.join(near)}. " if near else ""
    if _is_tool(name):
        guess = f"It is a tool: toolcrib call {name}. "
    complain(f"there is no command '{name[:80]}'.", f"{guess}toolcrib --help lists the commands.")
    return USAGE


def _is_tool(name: str) -> bool:
    from toolcrib.core.config import Config
    from toolcrib.core.errors import ToolError
    from toolcrib.core.registry import Registry
    from toolcrib.toolbox import available

    try:
        Registry(available(Config.load()).tools).resolve(name)
    except ToolError:
        return False
    return True


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def _be_lenient(stream: TextIO) -> None:
    """A character that the terminal cannot show must not end the program."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_gone()
    return code


def _reader_gone() -> int:
    """Whoever read our output has closed it (`| head`): be quiet, also at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return PIPE_CLOSED
