"""The HTTP application: MCP at /mcp, OpenAPI at /openapi.json and /tools, behind one gate."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from types import FrameType
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
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
from toolcrib.surfaces.http.access_log import logs
from toolcrib.surfaces.http.connections import ClientConnection
from toolcrib.surfaces.http.gate import HEALTH, LOOPBACK, Gate, Refuse, Rules, refusal
from toolcrib.surfaces.mcp.server import create_server
from toolcrib.surfaces.shutdown import end_within
from toolcrib.system.processes import Processes
from toolcrib.toolbox import Toolbox

# `toolcrib serve`: the HTTP application on a port.

SHARED = (
    "MCP clients of 2026-07-28 and OpenAPI share one conversation a token, with its browser and "
    "its undo; a header X-Toolcrib-Session: NAME gives a client its own."
)
OPEN_CALLS = 3
"""Seconds that running calls may take to their end after a signal."""
CLOSING = 2
"""Seconds for the rest of a clean end."""


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, processes: Processes, describe: Callable[[str], str]
    ) -> None:
        super().__init__(config)
        self._processes = processes
        self._describe = describe

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
            print(self._describe(base), file=sys.stderr, flush=True)  # noqa: T201

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        end_within(OPEN_CALLS + CLOSING, self._processes.kill_all_now)
        super().handle_exit(sig, frame)


def run(toolbox: Toolbox) -> None:
    """Serve until a signal comes; open calls get a few seconds to end."""
    http = toolbox.config.http
    if gate_rules(http).token:
        token = f"A token is asked for, the one in {http.token_env}."
    else:
        token = f"No token is asked for: every program on this machine may call. {http.token_env} "
        token += "sets one."

    def describe(base: str) -> str:
        where = f"MCP {base}/mcp, OpenAPI {base}/openapi.json, read {base}/docs"
        return f"toolcrib: {where}\n{token}\n{SHARED}"

    run_app(toolbox, create_app(toolbox), http.port, describe)


def run_app(toolbox: Toolbox, app: ASGIApp, port: int, describe: Callable[[str], str]) -> None:
    """Serve an application until a signal comes.

    Args:
        toolbox: whose settings hold, and whose processes end with it.
        app: it; its lifespan closes the toolbox.
        port: where to listen, on `http.host`.
        describe: the lines that say so, from the URL.
    """
    http = toolbox.config.http
    config = uvicorn.Config(
        app,
        http=ClientConnection,
        host=http.host,
        port=port,
        log_config=logs(requests=http.access_log),
        access_log=http.access_log,
        timeout_graceful_shutdown=OPEN_CALLS,
        server_header=False,
    )
    _Server(config, toolbox.use(Processes), describe).run()


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


CLEAN_UP_SECONDS = 1.0
MIN_TOKEN_CHARS = 16
"""Of a token that strangers may try to guess."""

MAX_SESSIONS = 500
"""Conversations of older clients that may be open at once; idle ones end by themselves."""


def create_app(toolbox: Toolbox) -> Starlette:
    """The whole application of a toolbox.

    Raises:
        ConfigError: it would be open to the network without a token, or to every origin.
    """
    server = create_server(toolbox)
    on_open = toolbox.keep_schedule
    if not toolbox.config.proxy.serve:
        plain = openapi.routes(toolbox)
        return assemble(server, toolbox.config.http, plain, toolbox.close, on_open=on_open)
    from toolcrib.surfaces.proxy.app import PREFIXES, ProxyApp, refused_beneath

    proxy = ProxyApp(toolbox)

    async def close() -> None:
        await proxy.close()
        await toolbox.close()

    beneath = [Route(f"{prefix}{{path:path}}", proxy) for prefix in PREFIXES]
    routes = [*openapi.routes(toolbox), *beneath]
    return assemble(server, toolbox.config.http, routes, close, refused_beneath, on_open)


def assemble(
    server: Server[Any],
    config: HttpConfig,
    more: Sequence[BaseRoute] = (),
    on_close: Callable[[], Any] | None = None,
    refuse: Refuse | None = None,
    on_open: Callable[[], None] | None = None,
) -> Starlette:
    """An MCP server and other routes behind the gate; `refuse` is that of `Gate`."""
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
        if on_open is not None:
            on_open()
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
            Route(HEALTH, _health, methods=["GET"]),
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
            Middleware(Gate, rules=rules, refuse=refuse),
        ],
        exception_handlers={HTTPException: _unrouted},
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


METHOD_NOT_ALLOWED = 405


async def _welcome(request: Request) -> Response:
    base = str(request.base_url)
    return PlainTextResponse(
        f"toolcrib: MCP at {base}mcp, OpenAPI at {base}openapi.json, to read at {base}docs\n"
    )


async def _unrouted(request: Request, error: Exception) -> Response:
    """A path that is none, or not for this method, with the body that other errors have."""
    assert isinstance(error, HTTPException)
    path = request.url.path[:200]
    if error.status_code != METHOD_NOT_ALLOWED:
        hint = "GET / and GET /docs say what is here."
        return refusal(error.status_code, "not_found", f"There is nothing at {path}.", hint)
    methods = {m.strip() for m in (error.headers or {}).get("Allow", "").split(",")} - {"HEAD"}
    message = f"{path} does not take {request.method[:20]}."
    hint = f"Send {' or '.join(sorted(methods))}; GET /docs shows how."
    return refusal(error.status_code, "bad_input", message, hint, error.headers)


async def _health(request: Request) -> Response:
    del request
    return JSONResponse({"status": "ok", "name": "toolcrib", "version": VERSION})


def gate_rules(config: HttpConfig) -> Rules:
    """Hosts, origins and token as configured; a token is a must off loopback.

    Raises:
        ConfigError: no token or a short one where one is needed, or `*` as an origin.
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
    # Behind a proxy it listens on loopback too, and is known by a name.
    if (
        token
        and len(token) < MIN_TOKEN_CHARS
        and (config.allow_hosts or not _is_loopback(config.host))
    ):
        raise ConfigError(
            f"The token in {config.token_env} has {len(token)} characters; where others reach "
            f"this server it takes at least {MIN_TOKEN_CHARS}, so that it cannot be guessed.",
            hint="Make one: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    named = [*LOOPBACK, *config.allow_hosts]
    if not _is_loopback(config.host) and not _is_wildcard(config.host):
        named.append(config.host)
    hosts = [form for name in named for form in (name, f"{name}:*")]
    return Rules(hosts, config.allow_origins, token)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_wildcard(host: str) -> bool:
    return host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
