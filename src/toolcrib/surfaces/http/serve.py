"""`toolcrib serve`: the HTTP application on a port."""

from __future__ import annotations

import sys
from types import FrameType

import uvicorn

from toolcrib.kit.process import Processes
from toolcrib.surfaces.ending import end_within
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox

OPEN_CALLS = 3
"""Seconds that running calls may take to their end after a signal."""
CLOSING = 2
"""Seconds for the rest of a clean end."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, processes: Processes) -> None:
        super().__init__(config)
        self._processes = processes

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
    base = f"http://{http.host}:{http.port}"
    print(f"toolcrib: MCP {base}/mcp, OpenAPI {base}/openapi.json", file=sys.stderr, flush=True)  # noqa: T201
    _Server(config, toolbox.use(Processes)).run()
