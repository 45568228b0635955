"""`toolcrib serve`: MCP and OpenAPI on one port."""

from __future__ import annotations

import errno
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

from toolcrib.surfaces.cli.flags import Flags

LAST_PORT = 65_535


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--host", help="the address to bind (default: http.host, 127.0.0.1)")
    parser.add_argument("--port", help="the port to bind (default: http.port, 8722)")
    parser.add_argument(
        "--stateless",
        action="store_true",
        help="keep no sessions, for several servers behind one address",
    )

    parser.add_argument(
        "--proxy",
        action="store_true",
        help="answer for model servers too, at /v1 and /api; see toolcrib proxy",
    )


def run(options: Namespace, flags: Flags) -> int:
    """Serve until a signal comes."""
    http: dict[str, Any] = {"host": options.host, "port": options.port}
    http["stateless"] = options.stateless or None
    layer: dict[str, Any] = {"http": {name: v for name, v in http.items() if v is not None}}
    if options.proxy:
        layer["proxy"] = {"serve": True}
    flags.require_folders()
    config = flags.load_for_server(layer)
    from toolcrib.surfaces.http.app import run as serve
    from toolcrib.toolbox import Toolbox

    toolbox = Toolbox(config, profile=config.listed_profile)
    for skipped in toolbox.skipped:
        print(f"toolcrib: left out: {skipped}", file=sys.stderr)
    return served(partial(serve, toolbox), "serve", config.http.host, config.http.port)


def served(serve: Callable[[], None], command: str, host: str, port: int) -> int:
    """Serve until a signal comes; the exit status, and on stderr why a server cannot start."""
    try:
        serve()
    except SystemExit as end:  # how uvicorn ends when it cannot start
        if end.code:
            print(why_not(end.__context__, command, host, port), file=sys.stderr)
            return 1
    return 0


def why_not(error: BaseException | None, command: str, host: str, port: int) -> str:
    """Why a server could not start, in words."""
    if not isinstance(error, OSError):
        return "toolcrib could not start to serve."  # what failed has been told
    if error.errno == errno.EADDRINUSE:
        # `toolcrib serve` and `toolcrib proxy` have ports beside each other.
        another = f"toolcrib {command} --port {port + 2 if port + 2 <= LAST_PORT else 0}"
        return f"Another program has port {port}. Serve on another: {another}"
    return f"toolcrib cannot listen on {host}, port {port}: {error.strerror or error}."
