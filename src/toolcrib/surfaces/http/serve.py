"""`toolcrib serve`: the HTTP application on a port."""

from __future__ import annotations

import sys

import uvicorn

from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox


def run(toolbox: Toolbox) -> None:
    """Serve until a signal comes; open calls get a few seconds to end."""
    http = toolbox.config.http
    app = create_app(toolbox)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=http.host,
            port=http.port,
            log_level="warning",
            timeout_graceful_shutdown=3,
            server_header=False,
        )
    )
    base = f"http://{http.host}:{http.port}"
    print(f"toolcrib: MCP {base}/mcp, OpenAPI {base}/openapi.json", file=sys.stderr, flush=True)  # noqa: T201
    server.run()
