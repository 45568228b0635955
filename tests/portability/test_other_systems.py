"""toolcrib as it is on Windows and macOS, as far as that can be tried on Linux.

`other_system.py` says what is taken away. Nothing here ran on those systems themselves.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.servers.site import site

HERE = Path(__file__).parent
OTHER = str(HERE / "other_system.py")
REFUSED = {
    "protected": "path_denied",
    "git": "path_denied",
    "outside": "path_denied",
    "link": "path_denied",
    "linked folder": "path_denied",
    "through a link": "path_denied",
    "second name": "path_denied",
}
WINDOWS = {
    "python": "unavailable",
    "command": "unavailable",
    "tests": "unavailable",
    "lint": "unavailable",
    "terminal": "unavailable",
    "drive": "path_denied",
    "share": "path_denied",
    "device": "path_denied",
    "stream": "path_denied",
    "dot": "path_denied",
}


def prepared(folder: Path) -> Path:
    workspace = folder / "ws"
    workspace.mkdir()
    (folder / "outside.txt").write_text("SECRET")
    (workspace / ".env.local").write_text("SECRET")
    (workspace / ".Env.Local").write_text("SECRET")
    (workspace / "sheet.csv").write_text("tool,count\nfile,3\n")
    (workspace / "link.txt").symlink_to(folder / "outside.txt")
    (folder / "elsewhere").mkdir()
    (workspace / "away").symlink_to(folder / "elsewhere")
    (workspace / "one.txt").write_text("one")
    os.link(workspace / "one.txt", workspace / "hard.txt")
    return workspace


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_a_day(platform: str, tmp_path: Path) -> None:
    workspace = prepared(tmp_path)
    with site() as (origin, _):
        argv = [sys.executable, OTHER, platform, str(HERE / "session.py"), str(workspace), origin]
        ran = subprocess.run([*argv, platform], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found: dict[str, Any] = json.loads(ran.stdout)
    wanted = REFUSED | (WINDOWS if platform == "win32" else {})
    wrong = {
        label: f"{code}: {found['texts'].get(label, '')[:300]}"
        for label, code in found["codes"].items()
        if code != wanted.get(label, "")
    }
    assert not wrong, "\n".join(f"{label}: {why}" for label, why in wrong.items())
    assert found["opener"] == "WalkingOpener"
    assert "42" in found["texts"]["javascript"]
    assert "Cribs" in found["texts"]["page"]
    assert (tmp_path / "elsewhere").exists() and not list((tmp_path / "elsewhere").iterdir())
    assert not [name for name in found["left"] if name.startswith(".toolcrib-")]
    if platform == "win32":
        assert "Windows Subsystem for Linux" in found["texts"]["python"]
    else:
        assert "42" in found["texts"]["python"]
    assert "\r\n" in (workspace / "dos.txt").read_bytes().decode()


async def test_a_server_over_stdio_as_on_windows(tmp_path: Path) -> None:
    workspace = prepared(tmp_path)
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[OTHER, "win32", "-m", "toolcrib", "mcp", "--workspace", str(workspace)],
        env=dict(os.environ),
    )
    async with Client(stdio_client(parameters)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"read_file", "write_file", "search_files", "fetch_url"} <= names
        made = await client.call_tool("write_file", {"path": "a.txt", "content": "hello"})
        assert not made.is_error
        found, *_ = await asyncio.gather(
            client.call_tool("search_files", {"pattern": "hello"}),
            client.call_tool("read_file", {"path": "link.txt"}),
        )
        assert "a.txt" in found.content[0].text
        refused = await client.call_tool("read_file", {"path": "link.txt"})
        assert refused.is_error
        ran = await client.call_tool("run_python", {"code": "print(1)"})
        assert "wsl --install" in ran.content[0].text


def test_the_server_ends_with_its_client(tmp_path: Path) -> None:
    argv = [sys.executable, OTHER, "win32", "-m", "toolcrib", "mcp", "--workspace", str(tmp_path)]
    server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with server:
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(30) == 0


def test_processes_on_one_store_as_on_windows(tmp_path: Path) -> None:
    workspaces = [tmp_path / name for name in ("one", "two")]
    for place in workspaces:
        place.mkdir()
    argv = [sys.executable, OTHER, "win32", "-m", "toolcrib", "call", "write_file"]
    started = [
        subprocess.Popen(
            [*argv, f"path={n}.txt", f"content={n}", "--workspace", str(workspaces[n % 2])],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for n in range(3)
    ]
    ended = [(process.communicate(timeout=60)[0], process.returncode) for process in started]
    assert [code for _, code in ended] == [0] * 3, ended
    assert all((workspaces[n % 2] / f"{n}.txt").read_text() == str(n) for n in range(3))
