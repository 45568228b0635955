"""An ASGI application on a free port of loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from tests.conditions import until


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """Serve while the context lasts; gives the base URL."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="on"))
    task = asyncio.ensure_future(server.serve())
    await until(lambda: server.started or task.done())
    assert server.started, "it did not start"
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
