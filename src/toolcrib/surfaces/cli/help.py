"""`toolcrib help`: the manual of a tool, or how a command is used."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from toolcrib.surfaces.cli.commands import COMMANDS, load
from toolcrib.surfaces.cli.flags import Flags


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("name", metavar="TOOL", nargs="?", help="a tool, or a command")


def run(options: Namespace, flags: Flags) -> int:
    """Print it."""
    del flags
    from toolcrib.surfaces.cli import main

    if options.name is None:
        main.overview().print_help()
    elif options.name in COMMANDS:
        main.parser_of(load(options.name)).print_help()
    else:
        _manual(options.name)
    return 0


def _manual(name: str) -> None:
    from toolcrib.core.registry import Registry
    from toolcrib.surfaces.cli.screen import wrapped
    from toolcrib.toolbox import installed
    from toolcrib.tools.meta.tool_help import manual

    tool = Registry(installed()).resolve(name)
    for line in manual(tool).splitlines():
        text = wrapped(line.removeprefix("- "), indent="  " if line.startswith("- ") else "")
        print(text)
    words = [f"{p.name}=..." for p in tool.parameters if p.required]
    print(f"\n{' '.join(['toolcrib call', tool.name, *words])}")
