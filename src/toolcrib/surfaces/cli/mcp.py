"""`toolcrib mcp`: the server that a host starts and talks to through pipes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from toolcrib.surfaces.cli.flags import Flags


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = "It is also what runs without a command when stdin is not a terminal."


def run(options: Namespace, flags: Flags) -> int:
    """Serve until stdin closes."""
    del options
    config = flags.load()
    from toolcrib.surfaces.mcp.stdio import run as serve
    from toolcrib.toolbox import Toolbox

    serve(Toolbox(config, profile=config.profile))
    return 0
