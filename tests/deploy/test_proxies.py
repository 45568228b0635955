"""nginx and Caddy before the server, with the lines of docs/deploy.md."""

from __future__ import annotations

import asyncio
import os
import shutil
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import trustme
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conditions import until
from tests.conftest import absent
from tests.deploy.files import displayed
from tests.servers.asgi import served
from tests.servers.mcp_tools import TOOLS
from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import tool
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox

NAME = "tools.example.org"
TOKEN = "0123456789abcdef0123"
SERVER = "127.0.0.1:8722"
pytestmark = pytest.mark.timeout(120)


@tool(group="test")
async def tell(note: str, *, ctx: Ctx) -> Result:
    """Say something, and wait until it was heard."""
    await ctx.progress("heard?", 1, 2)
    await until(Path(note).exists)
    return Result(text="it was heard")


def _nginx(folder: Path, server: str) -> list[str]:
    lines = displayed("nginx").replace(SERVER, server)
    assert "listen 443 ssl;" in lines
    lines = lines.replace("listen 443 ssl;", f"listen unix:{folder}/socket ssl;")
    lines = lines.replace("/etc/ssl/tools.example.org", f"{folder}/server")
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        # Its workers would be another user, who may not write below the folder of a test.
        f"{'user root;' if os.geteuid() == 0 else ''}"
        f"daemon off; pid {folder}/pid; error_log stderr; worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off;\n{temporary}{lines}}}\n"
    )
    return ["-e", "stderr", "-c", f"{folder}/nginx.conf", "-p", str(folder)]


def _caddy(folder: Path, server: str) -> list[str]:
    lines = displayed("caddy").replace(SERVER, server)
    lines = lines.replace(
        f"{NAME} {{",
        f"https://{NAME} {{\n    bind unix/{folder}/socket\n"
        f"    tls {folder}/server.crt {folder}/server.key",
    )
    (folder / "Caddyfile").write_text(
        f"{{\n    admin off\n    auto_https disable_redirects\n"
        f"    storage file_system {folder}\n}}\n{lines}"
    )
    return ["run", "--adapter", "caddyfile", "--config", f"{folder}/Caddyfile"]


PROXIES = {"nginx": _nginx, "caddy": _caddy}


@asynccontextmanager
async def behind(proxy: str, server: str, folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of what stands behind a proxy that ends TLS."""
    program = shutil.which(proxy, path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        absent(f"{proxy} is not installed")
    authority = trustme.CA()
    issued = authority.issue_cert(NAME)
    issued.private_key_pem.write_to_path(str(folder / "server.key"))
    for part in issued.cert_chain_pems:
        part.write_to_path(str(folder / "server.crt"), append=True)
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            program, *PROXIES[proxy](folder, server), stderr=log, stdout=log, env=environment
        )
    try:
        await until(lambda: (folder / "socket").exists() or process.returncode is not None)
        assert process.returncode is None, (folder / "log").read_text()
        transport = httpx2.AsyncHTTPTransport(uds=str(folder / "socket"), verify=trust, retries=20)
        async with httpx2.AsyncClient(
            transport=transport, base_url=f"https://{NAME}", timeout=60
        ) as client:
            yield client
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.mark.parametrize("proxy", PROXIES)
async def test_a_proxy_with_tls(
    proxy: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOOLCRIB_TOKEN", TOKEN)
    toolbox = Toolbox({"http": {"allow_hosts": [NAME]}}, tools=[*TOOLS, tell])
    async with (
        served(create_app(toolbox)) as base,
        behind(proxy, base.removeprefix("http://"), tmp_path) as client,
    ):
        assert (await client.get("/health")).json()["status"] == "ok"
        assert (await client.get("/docs")).status_code == 401
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        assert (await client.get("/docs")).status_code == 200
        large = "x" * 1_900_000
        answer = await client.post("/tools/echo", json={"text": large})
        assert answer.status_code == 200, answer.text[:300]
        assert (await client.post("/tools/lose")).json()["error"]["code"] == "not_found"
        # What a tool says comes while it runs, so nothing on the way waits for the end.
        note = tmp_path / "heard"

        async def heard(*_: object) -> None:
            note.touch()

        over = streamable_http_client(f"https://{NAME}/mcp", http_client=client)
        async with Client(over) as mcp:
            result = await mcp.call_tool("tell", {"note": str(note)}, progress_callback=heard)
            assert "it was heard" in str(result.content)
