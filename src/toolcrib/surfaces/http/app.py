"""The HTTP application: MCP at /mcp, OpenAPI at /openapi.json and /tools, behind one gate."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from toolcrib.core.config import secret
from toolcrib.core.errors import ConfigError, NotConfigured
from toolcrib.core.settings import HttpConfig
from toolcrib.core.version import VERSION
from toolcrib.surfaces.http import openapi
from toolcrib.surfaces.http.gate import LOOPBACK, Gate, Rules
from toolcrib.surfaces.mcp.server import create_server
from toolcrib.toolbox import Toolbox

CLEAN_UP_SECONDS = 1.0

MAX_SESSIONS = 500
"""Conversations of older clients that may be open at once; idle ones end by themselves."""


def create_app(toolbox: Toolbox) -> Starlette:
    """The whole application of a toolbox.

    Raises:
        ConfigError: it would be open to the network without a token, or to every origin.
    """
    server = create_server(toolbox)
    return assemble(server, toolbox.config.http, openapi.routes(toolbox), toolbox.close)


def assemble(
    server: Server[Any],
    config: HttpConfig,
    more: Sequence[BaseRoute] = (),
    on_close: Callable[[], Any] | None = None,
) -> Starlette:
    """An MCP server and other routes behind the gate."""
    rules = gate_rules(config)
    inner = server.streamable_http_app(
        stateless_http=config.stateless,
        max_sessions=MAX_SESSIONS,
        # The gate has looked at Host and Origin, for every route.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )

    requests = OpenRequests()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        async with server.session_manager.run():
            yield
        await requests.end()
        if on_close is not None:
            await on_close()

    return Starlette(
        routes=[
            *inner.routes,
            *more,
            Route("/", _welcome, methods=["GET"]),
            Route("/health", _health, methods=["GET"]),
        ],
        middleware=[
            Middleware(requests.counted),
            Middleware(
                CORSMiddleware,
                allow_origins=list(config.allow_origins),
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["*"],
                expose_headers=["mcp-session-id", "mcp-protocol-version"],
            ),
            Middleware(Gate, rules=rules),
        ],
        lifespan=lifespan,
    )


class OpenRequests:
    """The requests under way. Those that the end of the server cancels may clean up first."""

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()

    def counted(self, app: ASGIApp) -> ASGIApp:
        """The middleware that counts them."""

        async def call(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            self._count += 1
            self._none.clear()
            try:
                await app(scope, receive, send)
            finally:
                self._count -= 1
                if not self._count:
                    self._none.set()

        return call

    async def end(self) -> None:
        """Wait until there are none, but not for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLEAN_UP_SECONDS):
                await self._none.wait()


async def _welcome(request: Request) -> Response:
    base = str(request.base_url)
    return PlainTextResponse(f"toolcrib: MCP at {base}mcp, OpenAPI at {base}openapi.json\n")


async def _health(request: Request) -> Response:
    del request
    return JSONResponse({"name": "toolcrib", "version": VERSION})


def gate_rules(config: HttpConfig) -> Rules:
    """Hosts, origins and token as configured; a token is a must off loopback.

    Raises:
        ConfigError: no token where one is needed, or `*` as an origin.
    """
    if "*" in config.allow_origins:
        raise ConfigError(
            "http.allow_origins may not hold '*': every web page could call the tools.",
            hint="List the origins of the pages that may, like http://localhost:8080.",
        )
    try:
        token = secret(config.token_env, "The HTTP server")
    except NotConfigured as error:
        if not _is_loopback(config.host):
            raise ConfigError(
                f"Binding to {config.host} opens the tools to the network; a token is needed.",
                hint=f"{error.hint} Or bind to 127.0.0.1.",
            ) from None
        token = ""
    named = [*LOOPBACK, *config.allow_hosts]
    if not _is_loopback(config.host) and not _is_wildcard(config.host):
        named.append(config.host)
    hosts = [form for name in named for form in (name, f"{name}:*")]
    local = [f"{scheme}://{name}:*" for name in LOOPBACK for scheme in ("http", "https")]
    bare = [f"{scheme}://{name}" for name in LOOPBACK for scheme in ("http", "https")]
    return Rules(hosts, [*local, *bare, *config.allow_origins], token)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_wildcard(host: str) -> bool:
    return host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
