"""The first day with LM Studio, from an empty home, with no step that the README does not tell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

pytestmark = pytest.mark.timeout(180)

ROOT = Path(__file__).parents[2]


def typed(home: Path, *words: str) -> str:
    """A command as it is typed in a new terminal, and what it prints."""
    bin_folder = Path(sys.executable).parent
    env = {"HOME": str(home), "PATH": f"{bin_folder}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    done = subprocess.run(
        ["toolcrib", *words], cwd=home, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done
    return done.stdout


async def test_a_day_with_lmstudio(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert "toolcrib install lmstudio" in (ROOT / "README.md").read_text()
    typed(home, "install", "lmstudio")
    entry = json.loads((home / ".lmstudio" / "mcp.json").read_text())["mcpServers"]["toolcrib"]
    parameters = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        cwd="/",
    )
    async with Client(stdio_client(parameters), mode="legacy") as client:
        await client.call_tool("write_file", {"path": "hello.txt", "content": "Good morning\n"})
        result = await client.call_tool("run_python", {"code": "print(open('hello.txt').read())"})
        assert "Good morning" in str(result.content)
    assert (home / "toolcrib" / "hello.txt").read_text() == "Good morning\n"
    assert "write_file" in typed(home, "history")
    assert "Taken back: write_file" in typed(home, "undo")
    assert os.listdir(home / "toolcrib") == []
    typed(home, "uninstall", "lmstudio")
    assert json.loads((home / ".lmstudio" / "mcp.json").read_text()) == {"mcpServers": {}}
