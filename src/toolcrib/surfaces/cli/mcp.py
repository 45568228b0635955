"""`toolcrib mcp`: the server that a host starts and talks to through pipes."""

from __future__ import annotations

import gc
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from toolcrib.surfaces.cli.flags import Flags


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = "It is also what runs without a command when stdin is not a terminal."


def run(options: Namespace, flags: Flags) -> int:
    """Serve until stdin closes."""
    del options
    if sys.stderr is None:
        # The host closed it; its number must not go to a file of ours, nor its output there.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    # What is imported stays for good, and a host waits for the start: no search for garbage
    # before all is there, and none among it later.
    gc.disable()
    config = flags.load_for_server()
    from toolcrib.surfaces.mcp.stdio import run as serve
    from toolcrib.toolbox import Toolbox

    toolbox = Toolbox(config, profile=config.profile)
    for skipped in toolbox.skipped:
        print(f"toolcrib: left out: {skipped}", file=sys.stderr)
    gc.freeze()
    gc.enable()
    serve(toolbox)
    return 0
