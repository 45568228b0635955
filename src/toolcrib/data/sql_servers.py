"""Sources that are servers: named in the user's configuration, asked by a child over one socket."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from toolcrib.core.config import secret
from toolcrib.core.context import Ctx
from toolcrib.core.document_settings import SQL_PORTS, SqlSourceConfig
from toolcrib.core.errors import MissingExtra, NotConfigured
from toolcrib.execution.workers import Task, Workers
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.sockets import open_local_socket, open_socket
from toolcrib.net.egress.transport import all_authorities

DIALECTS = {"postgresql": "postgresql", "postgres": "postgresql", "mariadb": "mariadb"}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CONNECT_SECONDS = 10.0
QUERY_SECONDS = 40.0
LESS_HINT = "Ask for less: filter, aggregate, or a smaller limit."


async def ask_server(
    name: str, function: str, request: Mapping[str, Any], ctx: Ctx
) -> tuple[dict[str, Any], bytes]:
    """The answer of a configured server to `query` or `describe`; see the child.

    Raises:
        NotConfigured: the entry of the configuration cannot be used.
        MissingExtra: the extra sql is not installed.
        Blocked, ConnectionFailed, DnsFailure, TimedOut: the server cannot be reached.
        TlsFailure: what it presents is not trusted, or it has no TLS.
        Denied, BadInput: the child or the server says so.
    """
    if find_spec("sqlalchemy") is None or find_spec("pg8000") is None:
        raise MissingExtra("sql", "A database server as a source")
    place = _place(name, ctx.config.sql.sources[name])
    egress = ctx.use(Egress)
    if place["socket"]:
        opened = await open_local_socket(place["socket"], CONNECT_SECONDS)
    else:
        opened = await open_socket(egress, place["host"], place["port"], "sql", CONNECT_SECONDS)
    with opened:
        given = {**request, **place, "name": name, "fd": opened.fileno(), "seconds": QUERY_SECONDS}
        task = Task(
            f"toolcrib.data.sql_child:{function}",
            "The database server",
            seconds=QUERY_SECONDS + CONNECT_SECONDS,
            megabytes=1500,
            max_bytes=200_000_000,
            hint=LESS_HINT,
        )
        trusted = b""
        if place["tls"]:  # a folder of authorities may hold hundreds of files
            trusted = await asyncio.to_thread(all_authorities, ctx.config.egress.ca_file)
        return await ctx.use(Workers).run(task, given, trusted, ctx.deadline, [opened.fileno()])


def _place(name: str, source: SqlSourceConfig) -> dict[str, Any]:
    """Where a source is, and by whom it is asked.

    Raises:
        NotConfigured: its url or its password cannot be used.
    """
    where = f"sql.sources.{name}"
    url = urlsplit(source.url)
    dialect = DIALECTS.get(url.scheme)
    if dialect is None:
        raise NotConfigured(
            f"{where}.url begins with '{url.scheme[:20]}', and only postgresql and mariadb do.",
            hint="Set it as postgresql://role@host/database or mariadb://role@host/database.",
        )
    try:
        port = url.port or SQL_PORTS[url.scheme]
    except ValueError:
        raise NotConfigured(f"{where}.url has no such port.", hint="Correct it.") from None
    options = parse_qs(url.query)
    local = (options.get("unix_socket") or options.get("host") or [""])[0]
    if local and dialect == "postgresql" and not local.rpartition("/")[2].startswith(".s.PGSQL."):
        local = f"{local}/.s.PGSQL.{port}"
    host = url.hostname or ("" if local else "127.0.0.1")
    if not url.username:
        raise NotConfigured(f"{where}.url names no role.", hint="Write it before the host: role@.")
    password = unquote(url.password or "")
    if source.password_env:
        password = secret(source.password_env, f"The source {name}")
    tls = source.tls if source.tls is not None else not local and host not in LOOPBACK
    return {
        "dialect": dialect,
        "socket": os.fspath(local),
        "host": host,
        "port": port,
        "user": unquote(url.username),
        "password": password,
        "database": unquote(url.path.lstrip("/")),
        "tls": tls,
        "trusted": source.trusted,
        "functions": list(source.functions),
    }
