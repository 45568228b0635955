"""`toolcrib mcp`: the server that a host starts and talks to through pipes."""

from __future__ import annotations

import gc
import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path

from toolcrib.core.errors import BadInput
from toolcrib.surfaces.cli.flags import Flags

OTHERS = ("list", "check", "accept")
WHAT = """\
what to do:
  serve         serve one client (the default); it is also what runs without
                a command when stdin is not a terminal
  list          the other MCP servers whose tools are offered here
  check NAME    start one, and show what it has
  accept NAME   look at what it has changed, and let that count
"""


ON_A_TERMINAL = """\
toolcrib: This waits for a host to talk to it through stdin and stdout; it is no chat.
`toolcrib install HOST` adds it to a host, which starts it by itself. `toolcrib chat`
talks with a model here. Ctrl-D or Ctrl-C leaves."""


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = WHAT
    parser.add_argument("what", nargs="?", choices=("serve", *OTHERS), default="serve")
    parser.add_argument("name", metavar="NAME", nargs="?", help="a server of mcp.servers")
    parser.add_argument("-y", "--yes", action="store_true", help="accept without being asked")


def run(options: Namespace, flags: Flags) -> int:
    """Serve until stdin closes, or look at other servers."""
    if options.what in OTHERS:
        return _others(options, flags)
    if options.name is not None or options.yes:
        from toolcrib.core.errors import BadInput

        raise BadInput("toolcrib mcp serves; it takes no name.", hint="toolcrib mcp --help")
    if sys.stderr is None:
        # The host closed it; its number must not go to a file of ours, nor its output there.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    # What is imported stays for good, and a host waits for the start: no search for garbage
    # before all is there, and none among it later.
    gc.disable()
    flags.require_folders()
    config = flags.load_for_server()
    if sys.stdin is not None and sys.stdin.isatty():
        print(ON_A_TERMINAL, file=sys.stderr)
    from toolcrib.surfaces.mcp.stdio import run as serve
    from toolcrib.toolbox import Toolbox

    toolbox = Toolbox(config, profile=config.listed_profile)
    for skipped in toolbox.skipped:
        print(f"toolcrib: left out: {skipped}", file=sys.stderr)
    gc.freeze()
    gc.enable()
    serve(toolbox)
    return 0


def _others(options: Namespace, flags: Flags) -> int:
    from toolcrib.surfaces.cli import mcp_servers

    if (options.name is None) != (options.what == "list"):
        name = "" if options.what == "list" else " NAME"
        raise BadInput(f"Write: toolcrib mcp {options.what}{name}")
    config = flags.load()
    if options.what == "list":
        return mcp_servers.show(config)
    if options.what == "check":
        return mcp_servers.check(config, options.name)
    return mcp_servers.accept(config, options.name, confirm=not options.yes)
