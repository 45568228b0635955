"""The stdio server: what a host starts and talks to through pipes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time

from toolcrib.surfaces.mcp.pipes import messages
from toolcrib.surfaces.mcp.server import create_server
from toolcrib.surfaces.shutdown import end_within
from toolcrib.system.processes import Processes
from toolcrib.system.stdin_monitor import Lifeline
from toolcrib.toolbox import Toolbox

GRACE = 1.0
"""Seconds for a clean end after a signal; after that it ends all the same."""
LOGGING = 2.0
"""Seconds more for writing down what programs in the background have changed."""


def run(toolbox: Toolbox) -> None:
    """Serve until stdin closes or a signal comes; then no child process is left."""
    processes: Processes = toolbox.use(Processes)
    # Started first: the transport diverts fd 0 while it serves.
    Lifeline.start(on_dead=lambda: _end(toolbox, processes))
    asyncio.run(_serve(toolbox, processes))
    sys.stderr.flush()
    # A worker thread may still sit in a blocking call, and must not delay the exit.
    os._exit(0)


async def _serve(toolbox: Toolbox, processes: Processes) -> None:
    serving = asyncio.ensure_future(_speak(toolbox))
    loop = asyncio.get_running_loop()

    def end() -> None:
        toolbox.end_soon()
        serving.cancel()

    def on_signal(*_: object) -> None:
        end_within(GRACE, lambda: _end(toolbox, processes))
        loop.call_soon_threadsafe(end)

    # Not the loop's own handlers: those wait for the loop, which a tool may hold up.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    try:
        await serving
    except asyncio.CancelledError:
        pass
    finally:
        await toolbox.close()


async def _speak(toolbox: Toolbox) -> None:
    server = create_server(toolbox)
    async with messages(toolbox.end_soon) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _end(toolbox: Toolbox, processes: Processes) -> None:
    """The end of all children, from another thread; what they changed may yet be written down.

    An event loop that is held up has not begun with that, and is not waited for.
    """
    processes.kill_all_now()
    end = time.monotonic() + LOGGING
    while toolbox.ending and time.monotonic() < end:
        time.sleep(0.02)
