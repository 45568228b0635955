"""`toolcrib proxy`: the proxy behind the gate of the HTTP server, on a port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Mount

from toolcrib.surfaces.http.app import OpenRequests, gate_rules, run_app
from toolcrib.surfaces.http.gate import Gate
from toolcrib.surfaces.proxy.app import ProxyApp, describe, refused
from toolcrib.toolbox import Toolbox

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def run(toolbox: Toolbox) -> None:
    """Serve until a signal comes.

    Raises:
        ConfigError, NotConfigured: the servers or the gate are configured wrong.
    """
    proxy = ProxyApp(toolbox)
    app = create_proxy(toolbox, proxy)
    run_app(toolbox, app, toolbox.config.proxy.port, lambda base: describe(proxy, base))


def create_proxy(toolbox: Toolbox, proxy: ProxyApp | None = None) -> Starlette:
    """The application of `toolcrib proxy`.

    Raises:
        ConfigError: it would be open to the network without a token, or to every origin; or
            the model servers are configured wrong.
    """
    inner = proxy or ProxyApp(toolbox)
    http = toolbox.config.http
    requests = OpenRequests()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        yield
        await requests.end()
        await inner.close()
        await toolbox.close()

    return Starlette(
        routes=[Mount("/", app=inner)],
        middleware=[
            Middleware(requests.counted),
            Middleware(
                CORSMiddleware,
                allow_origins=list(http.allow_origins),
                allow_methods=METHODS,
                allow_headers=["*"],
            ),
            Middleware(Gate, rules=gate_rules(http), refuse=refused, health=False),
        ],
        lifespan=lifespan,
    )
