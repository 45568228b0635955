"""What the pipeline adds to a call of another MCP server, in CPU of the calling process.

    python -m bench.foreign [--calls N]

The same server program, over stdio, is called by the SDK's client alone, and by a toolbox whose
pipeline that call goes through (policy, limits, taint, history, fence). The server is a process
of its own and is not counted. Rounds take turns; the median of the rounds is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

ROUNDS = 7


async def direct(command: list[str], calls: int, arguments: dict[str, Any]) -> list[float]:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    found = []
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    with Path(os.devnull).open("w") as nowhere:
        async with Client(stdio_client(parameters, nowhere), mode="legacy", cache=None) as client:
            await client.call_tool("echo", arguments)
            for _ in range(ROUNDS):
                began = time.process_time()
                for _ in range(calls):
                    await client.call_tool("echo", arguments)
                found.append((time.process_time() - began) / calls)
    return found


async def behind(command: list[str], calls: int, arguments: dict[str, Any]) -> list[float]:
    from toolcrib import Toolbox

    server = {"command": command[0], "args": command[1:]}
    config = {
        "mcp": {"servers": {"moss": server}},
        "policy": {"rules": [{"action": "allow", "group": "moss"}]},
        "limits": {"repeats": 0},
    }
    found = []
    async with Toolbox(config, workspace=command[-1]) as box:
        await box.call("moss_echo", arguments)
        for _ in range(ROUNDS):
            began = time.process_time()
            for _ in range(calls):
                result = await box.call("moss_echo", arguments)
                assert result.error is None, result
            found.append((time.process_time() - began) / calls)
    return found


async def own(folder: str, calls: int, arguments: dict[str, Any]) -> list[float]:
    """The same pipeline around a function that does nothing."""
    from toolcrib import Toolbox, tool

    @tool
    def stone(text: str) -> str:
        """Give back a text."""
        return text

    found = []
    async with Toolbox({"limits": {"repeats": 0}}, workspace=folder, extra=[stone]) as box:
        await box.call("stone", arguments)
        for _ in range(ROUNDS):
            began = time.process_time()
            for _ in range(calls):
                await box.call("stone", arguments)
            found.append((time.process_time() - began) / calls)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=200)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TOOLCRIB_CONFIG"] = f"{folder}/config.toml"
        os.environ["TOOLCRIB_DATA"] = f"{folder}/data"
        work = Path(folder, "work")
        work.mkdir()
        program = Path(__file__).parents[1] / "tests" / "servers" / "foreign_mcp.py"
        command = [sys.executable, str(program), "good", str(work)]
        for size in (20, 2_000):
            arguments = {"text": ("Moss grows on stones. " * 100)[:size]}
            alone = median(asyncio.run(direct(command, calls, arguments)))
            ours = median(asyncio.run(behind(command, calls, arguments)))
            empty = median(asyncio.run(own(command[-1], calls, arguments)))
            print(
                f"{size:>6} characters: SDK alone {alone * 1000:.2f} ms CPU a call, behind "
                f"toolcrib {ours * 1000:.2f}, added {(ours - alone) * 1000:.2f}; "
                f"the pipeline around a function that does nothing {empty * 1000:.2f}"
            )


if __name__ == "__main__":
    main()
