"""`toolcrib lmstudio`: be a plugin of the LM Studio that runs on this machine."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from io import FileIO

from toolcrib.core.errors import BadInput
from toolcrib.surfaces.cli.flags import Flags

EXAMPLES = """\
examples:
  toolcrib lmstudio
  toolcrib lmstudio --wait --workspace ~/notes
  toolcrib lmstudio --hooks tools

It stays registered while it runs; Ctrl-C takes it out again. To have LM Studio
start it by itself: toolcrib install lmstudio --plugin
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("--url", metavar="URL", default="", help="its address (default: its usual ports)")
    add("--wait", action="store_true", help="wait for LM Studio where it does not run yet")
    add("--hooks", metavar="NAMES", help="what is offered, by commas (default: all)")
    add("--shell", action="store_true", help="started by a plugin folder: ends with its stdin")


def run(options: Namespace, flags: Flags) -> int:
    """Stay registered until a signal comes."""
    from toolcrib.core.context import Services
    from toolcrib.net.egress.client import Egress
    from toolcrib.surfaces.lmstudio.host import Credentials, given_address
    from toolcrib.surfaces.lmstudio.plugin import HOOKS, LmStudioPlugin, PluginOptions, serve
    from toolcrib.surfaces.lmstudio.toolboxes import PanelToolboxes

    hooks = tuple(options.hooks.replace(" ", "").split(",")) if options.hooks else HOOKS
    if unknown := [name for name in hooks if name not in HOOKS]:
        raise BadInput(
            f"There is no hook '{unknown[0][:40]}'.", hint=f"There are: {', '.join(HOOKS)}."
        )
    config = flags.load_for_server()

    def tell(line: str) -> None:
        print(f"toolcrib: {line}", file=sys.stderr, flush=True)

    async def stay() -> None:
        boxes = PanelToolboxes(flags.load)
        chosen = PluginOptions(
            options.url or given_address(),
            options.wait,
            hooks,
            Credentials.given(),
            not options.shell,
        )
        ready = (lambda: print("ready", flush=True)) if options.shell else None
        async with Services(config) as services:
            plugin = LmStudioPlugin(config, services.use(Egress), boxes, chosen, tell, ready)
            await serve(plugin, boxes, stdin=_stdin() if options.shell else None)

    asyncio.run(stay())
    return 0


def _stdin() -> FileIO:
    """The standard input without a buffer, whose lock would outlive the program's end."""
    return FileIO(sys.stdin.fileno(), closefd=False)
