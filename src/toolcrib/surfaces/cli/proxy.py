"""`toolcrib proxy`: stand before model servers."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from functools import partial
from typing import Any

from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.serve import served

EXAMPLES = """\
examples:
  toolcrib proxy
  toolcrib proxy --upstream http://127.0.0.1:1234/v1 --with memory,clock
  toolcrib proxy --tools default --workspace ~/notes --trace

Set the address of the model server in your client to http://127.0.0.1:8723/v1.
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.add_argument("--host", help="the address to bind (default: http.host, 127.0.0.1)")
    parser.add_argument("--port", help="the port to bind (default: proxy.port, 8723)")
    parser.add_argument(
        "--upstream",
        action="append",
        metavar="URL",
        help="a model server; repeat for more (default: proxy.upstreams, else those that answer)",
    )
    parser.add_argument("--with", dest="stages", metavar="NAMES", help="stages that are on")
    parser.add_argument(
        "--tools", metavar="NAMES", help="tools of ours for the model: profiles, groups, tools"
    )
    parser.add_argument("--no-mend", action="store_true", help="leave tool calls as they come")
    parser.add_argument(
        "--trace", action="store_true", help="show what is done to each request, on stderr"
    )


def run(options: Namespace, flags: Flags) -> int:
    """Serve until a signal comes."""
    proxy: dict[str, Any] = {"port": options.port, "stages": options.stages}
    proxy["tools"] = options.tools
    proxy["mend"] = False if options.no_mend else None
    proxy["trace"] = True if options.trace else None
    if options.upstream:
        proxy["upstreams"] = [{"base_url": url} for url in options.upstream]
    layer: dict[str, Any] = {"proxy": {k: v for k, v in proxy.items() if v is not None}}
    if options.host:
        layer["http"] = {"host": options.host}
    flags.require_folders()
    config = flags.load_for_server(layer)
    from toolcrib.surfaces.proxy.server import run as serve
    from toolcrib.toolbox import Toolbox

    toolbox = Toolbox(config, profile=config.proxy.tools or config.profile)
    return served(partial(serve, toolbox), "proxy", config.http.host, config.proxy.port)
