"""What the pipeline adds to a call of another MCP server, in CPU of the calling process.

    python -m bench.foreign [--calls N]

The same server program, over stdio, is called by the SDK's client alone, and by a toolbox whose
pipeline that call goes through (policy, limits, taint, history, fence). The server is a process
of its own and is not counted. All three are open in this process and take turns; the median of
the rounds is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

ROUNDS = 9
QUIET_SECONDS = 0.6
"""What a call leaves to be written is written before the next way is measured."""


Call = Callable[[], Awaitable[object]]


async def added(command: list[str], calls: int, text: str) -> tuple[float, float, float]:
    """Median CPU seconds a call: by the SDK's client alone, behind toolcrib, of an empty tool."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    from toolcrib import Toolbox, tool

    @tool
    def stone(text: str) -> str:
        """Give back a text."""
        return text

    config = {
        "mcp": {"servers": {"moss": {"command": command[0], "args": command[1:]}}},
        "policy": {"rules": [{"action": "allow", "group": "moss"}]},
        "limits": {"repeats": 0},
    }
    arguments = {"text": text}
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    with Path(os.devnull).open("w") as nowhere:
        async with (
            Client(stdio_client(parameters, nowhere), mode="legacy", cache=None) as client,
            Toolbox(config, workspace=command[-1], extra=[stone]) as box,
        ):
            variants: list[Call] = [
                lambda: client.call_tool("echo", arguments),
                lambda: box.call("moss_echo", arguments),
                lambda: box.call("stone", arguments),
            ]
            found: list[list[float]] = [[] for _ in variants]
            for number in range(ROUNDS + 1):
                for call, times in zip(variants, found, strict=True):
                    began = time.process_time()
                    for _ in range(calls):
                        await call()
                    if number:  # the first round is for what is made once
                        times.append((time.process_time() - began) / calls)
                    await asyncio.sleep(QUIET_SECONDS)
            assert (await box.call("moss_echo", arguments)).error is None
    alone, behind, empty = (median(times) for times in found)
    return alone, behind, empty


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
            text = ("Moss grows on stones. " * 100)[:size]
            alone, ours, empty = asyncio.run(added(command, calls, text))
            print(
                f"{size:>6} characters: SDK alone {alone * 1000:.2f} ms CPU a call, behind "
                f"toolcrib {ours * 1000:.2f}, added {(ours - alone) * 1000:.2f}; "
                f"the pipeline around a function that does nothing {empty * 1000:.2f}"
            )


if __name__ == "__main__":
    main()
