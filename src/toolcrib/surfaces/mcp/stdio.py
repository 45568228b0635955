"""The stdio server: what a host starts and talks to through pipes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from mcp.server.stdio import stdio_server

from toolcrib.kit.lifeline import Lifeline
from toolcrib.kit.process import Processes
from toolcrib.surfaces.mcp.server import create_server
from toolcrib.toolbox import Toolbox


def run(toolbox: Toolbox) -> None:
    """Serve until stdin closes or a signal comes; then no child process is left."""
    processes: Processes = toolbox.use(Processes)
    # Started first: the transport diverts fd 0 while it serves.
    Lifeline.start(on_dead=processes.kill_all_now)
    asyncio.run(_serve(toolbox))
    sys.stderr.flush()
    # A worker thread may still sit in a blocking call, and must not delay the exit.
    os._exit(0)


async def _serve(toolbox: Toolbox) -> None:
    serving = asyncio.ensure_future(_speak(toolbox))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, serving.cancel)
    try:
        await serving
    except asyncio.CancelledError:
        pass
    finally:
        await toolbox.close()


async def _speak(toolbox: Toolbox) -> None:
    server = create_server(toolbox)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
