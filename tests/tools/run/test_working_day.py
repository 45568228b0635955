"""A working day over MCP with a real client: install, plot, serve, browse, edit, commit, undo."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.conftest import absent
from tests.servers.packages import NAME, index, offer_wheel
from toolcrib.browser.program import find_program
from toolcrib.core.errors import ToolError

pytestmark = [pytest.mark.rows("E31", "E32", "E33"), pytest.mark.timeout(120)]
PLOTTER = """
import struct, zlib

def plot(path, values):
    height = max(values)
    rows = b"".join(
        b"\\0" + bytes(0 if height - row <= value else 255 for value in values)
        for row in range(height)
    )
    def chunk(kind, data):
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)
    size = struct.pack(">IIBBBBB", len(values), height, 8, 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", size))
        file.write(chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
"""
SERVER = """import http.server, os, time
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        edition, live = os.stat("page.html").st_mtime_ns, self.path.partition("/live?")[2]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if live else "text/html")
        self.end_headers()
        if not live:
            page = open("page.html").read().replace("EDITION", str(edition))
            self.wfile.write(page.encode())
            return
        while os.stat("page.html").st_mtime_ns == int(live):
            time.sleep(0.02)
        self.wfile.write(b"data: changed\\n\\n")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Page)
print("ready", flush=True)
server.serve_forever()
"""
PAGE = """<title>Editions</title><p>the first edition</p>
<script>new EventSource("/live?EDITION").onmessage = () => location.reload()</script>
"""


class Day:
    """The client, and the person who approves what is asked."""

    def __init__(self, client: Client, config: Path) -> None:
        self._client = client
        self._config = config

    async def __call__(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool; what needs an approval gets it, as by the user in another terminal."""
        result = await self._client.call_tool(name, arguments)
        requested = re.search(r"toolcrib approve (\w+)", _text(result))
        if requested:
            argv = [sys.executable, "-m", "toolcrib", "approve", requested[1]]
            argv += ["--config", str(self._config)]
            subprocess.run(argv, check=True, capture_output=True, timeout=60)
            result = await self._client.call_tool(name, arguments)
        assert not result.is_error, _text(result)
        held = re.search(r"apply_changes (\{[^}]*\})", _text(result))
        if held:
            await self("apply_changes", **json.loads(held[1]))
        return result


def has_browser() -> bool:
    """Whether the extra of the browser group is installed, and a browser for it."""
    if importlib.util.find_spec("playwright") is None:
        return False
    try:
        return bool(find_program(""))
    except ToolError as error:
        absent(error.message)
        raise


def _text(result: Any) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


async def test_a_day(tmp_path: Path, strong: None, monkeypatch: pytest.MonkeyPatch) -> None:
    del strong
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "server.py").write_text(SERVER)
    config = tmp_path / "config.toml"
    settings = {
        "workspace": {"roots": [str(folder)]},
        "store": {"url": f"sqlite:///{tmp_path}/day.db"},
    }
    config.write_text(tomli_w.dumps(settings))
    with index() as server:
        offer_wheel(server, PLOTTER)
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple/")
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
            monkeypatch.delenv(name, raising=False)
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "toolcrib", "mcp", "--config", str(config), "--profile", "all"],
            env=dict(os.environ),
        )
        async with Client(stdio_client(parameters), mode="2026-07-28") as client:
            await _work(Day(client, config), folder)


async def _work(day: Day, folder: Path) -> None:
    pip = "python3 -m venv --without-pip .venv && python3 -m pip --python .venv/bin/python install"
    installed = await day("run_command", command=f"{pip} {NAME}", network=["packages"])
    assert "Successfully installed" in _text(installed)

    code = f"import {NAME}; {NAME}.plot('chart.png', [3, 1, 4, 1, 5])"
    plotted = await day("run_python", code=code)
    assert [part.mime_type for part in plotted.content if part.type == "image"] == ["image/png"]

    await day("write_file", path="page.html", content=PAGE)
    started = _text(await day("run_command", command="python3 server.py", ports=[8000]))
    url = re.search(r"http://127\.0\.0\.1:\d+/", started)
    job = re.search(r"job (\w+)", started)
    assert url is not None
    assert job is not None
    await day("read_job", id=job[1], wait="text", text="ready", timeout=30)
    assert "the first edition" in _text(await day("fetch_url", url=url[0]))
    browses = has_browser()
    if browses:
        assert "the first edition" in _text(await day("browser_open", url=url[0]))
    await day("edit_file", path="page.html", old="first", new="second")
    assert "the second edition" in _text(await day("fetch_url", url=url[0]))
    if browses:  # the page reloads itself, told by its server
        waits = [{"action": "wait", "target": "the second edition"}]
        assert "the second edition" in _text(await day("browser_act", actions=waits, read="page"))
        await day("browser_close")

    commit = "git init -q . && git add page.html && git commit -qm 'A page' && git log --format=%s"
    identity = "git config --global user.name A && git config --global user.email a@a.example"
    committed = _text(await day("run_command", command=f"{identity} && {commit}"))
    assert "A page" in committed
    assert (folder / ".git").is_dir()
    await day("stop_job", id=job[1])

    # Installed, plotted, written, edited, committed: each is one step.
    await day("undo_changes", steps=5)
    assert sorted(path.name for path in folder.iterdir()) == ["server.py"]
    assert (folder / "server.py").read_text() == SERVER
