"""`toolcrib serve`: the HTTP application on a port."""

from __future__ import annotations

import logging
import sys
from types import FrameType
from typing import Any

import uvicorn

from toolcrib.surfaces.http.app import create_app
from toolcrib.surfaces.shutdown import end_within
from toolcrib.system.processes import Processes
from toolcrib.toolbox import Toolbox

OPEN_CALLS = 3
"""Seconds that running calls may take to their end after a signal."""
CLOSING = 2
"""Seconds for the rest of a clean end."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, processes: Processes) -> None:
        super().__init__(config)
        self._processes = processes

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Start, and say where only once the port is ours.

        A port that cannot be had ends this with SystemExit, raised while that error was
        handled: whoever runs the server tells it.
        """
        log = logging.getLogger("uvicorn.error")
        log.addFilter(_is_no_os_error)
        try:
            await super().startup(sockets=sockets)
        finally:
            log.removeFilter(_is_no_os_error)
        if self.started:
            base = f"http://{_display_host(self.config.host)}:{_port(self)}"
            line = f"toolcrib: MCP {base}/mcp, OpenAPI {base}/openapi.json"
            print(line, file=sys.stderr, flush=True)  # noqa: T201

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        end_within(OPEN_CALLS + CLOSING, self._processes.kill_all_now)
        super().handle_exit(sig, frame)


def run(toolbox: Toolbox) -> None:
    """Serve until a signal comes; open calls get a few seconds to end."""
    http = toolbox.config.http
    config = uvicorn.Config(
        create_app(toolbox),
        host=http.host,
        port=http.port,
        log_level="warning",
        timeout_graceful_shutdown=OPEN_CALLS,
        server_header=False,
    )
    _Server(config, toolbox.use(Processes)).run()


def _is_no_os_error(record: logging.LogRecord) -> bool:
    return not isinstance(record.msg, OSError)


def _display_host(host: str) -> str:
    """The host as another machine would have to write it."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        return "ADDRESS-OF-THIS-MACHINE"
    return f"[{host}]" if ":" in host else host


def _port(server: uvicorn.Server) -> int:
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port
