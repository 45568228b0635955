"""The browser over MCP with a real client, and its server killed at the end."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.conditions import until
from tests.servers.web_app import WebApp
from tests.tools.browser.conftest import opened_to
from toolcrib.system.sweep import look, look_around

pytestmark = [pytest.mark.rows("C037", "C039", "E58"), pytest.mark.timeout(120)]
ALLOWED = {"action": "allow", "group": "browser", "rights": ["send", "net", "write", "read"]}


class ServerProcess:
    """A server over stdio that a real client speaks to, with all it starts in one folder."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self.folder = folder

    async def __call__(self, name: str, **arguments: Any) -> Any:
        """A call that works."""
        result = await self._client.call_tool(name, arguments)
        assert not result.is_error, _text(result)
        return result

    def processes(self) -> list[int]:
        """The server, and the browser that it started."""
        wanted = str(self.folder).encode()
        return [pid for pid in look_around() if wanted in _command(pid)]

    async def kill(self) -> None:
        """End the server at once, and wait until nothing of it is left."""
        assert self.has_browser(), "the browser has its profile in the folder of this test"
        await self.kill_now()

    async def kill_now(self) -> None:
        """The same, whatever it has started by now."""
        found = [pid for pid in self.processes() if b"mcp" in _command(pid).split(b"\0")]
        # A child that was just made has the command of its parent for a moment.
        server = [pid for pid in found if (seen := look(pid)) and seen.parent not in found]
        assert len(server) == 1
        family = _family(server[0])
        os.kill(server[0], signal.SIGKILL)
        await until(lambda: not self.processes())
        await until(lambda: not [pid for pid in family if (seen := look(pid)) and seen.alive])
        await until(lambda: not self.left())

    def has_browser(self) -> bool:
        """Whether a browser was started."""
        return len(self.processes()) > 1

    def left(self) -> list[str]:
        """What lies in the folder of temporary files that is not of the test itself."""
        own = ("config.toml", "work")
        return [place.name for place in self.folder.iterdir() if place.name not in own]


@asynccontextmanager
async def serving(app: WebApp) -> AsyncIterator[ServerProcess]:
    """A server with the browser, which is gone at the end."""
    # The socket of a browser is in this folder, and the name of a socket has little room.
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    (folder / "work").mkdir()
    settings = {
        **opened_to(app.url),
        "workspace": {"roots": [str(folder / "work")]},
        "policy": {"rules": [ALLOWED]},
    }
    config = folder / "config.toml"
    config.write_text(tomli_w.dumps(settings))
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "toolcrib", "mcp", "--config", str(config), "--profile", "all"],
        env={**os.environ, "TMPDIR": str(folder)},
    )
    try:
        async with Client(stdio_client(parameters), mode="2026-07-28") as client:
            yield ServerProcess(client, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _text(result: Any) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


def _family(pid: int) -> set[int]:
    """A process, its children, and theirs."""
    found = {pid}
    while more := {p for p, seen in look_around().items() if seen.parent in found} - found:
        found |= more
    return found


async def test_over_mcp_and_killed(app: WebApp) -> None:
    async with serving(app) as server:
        assert 'button "Send"' in _text(await server("browser_open", url=app.url))
        shot = await server("browser_screenshot", path="desk.png")
        assert [part.mime_type for part in shot.content if part.type == "image"] == ["image/png"]
        assert (server.folder / "work" / "desk.png").is_file()
        await server.kill()


@pytest.mark.parametrize("round_", range(5))
@pytest.mark.parametrize("moment", ["starting", "opening", "hanging", "open"])
async def test_killed_at_any_moment(app: WebApp, moment: str, round_: int) -> None:
    async with serving(app) as server:
        before = len(app.requested)
        if moment in ("hanging", "open"):
            await server("browser_open", url=f"{app.url}/busy")
        url = f"{app.url}/silent" if moment == "opening" else app.url
        arguments: dict[str, Any] = {"url": url}
        name = "browser_open"
        if moment == "hanging":
            name, arguments = "browser_act", {"actions": [{"action": "click", "target": "Spin"}]}
        call = asyncio.ensure_future(server(name, **arguments))
        if moment == "starting":
            # A call that is over already, for whatever reason, brings no further process.
            await until(lambda: call.done() or len(_family(os.getpid())) > 2 + round_)
        elif moment == "opening":
            await until(lambda: "/silent" in app.requested[before:])
        elif moment == "open":
            await call
        await server.kill_now()
        await asyncio.gather(call, return_exceptions=True)
