"""A server of its own on a store: it runs what is due until its stdin ends. Run by tests."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from toolcrib.core.tool import WRITE, tool
from toolcrib.state.schedules import Schedules
from toolcrib.toolbox import Toolbox


@tool(rights=WRITE)
async def leave_a_line(name: str, hang: bool = False) -> str:
    """Add a line to a file."""
    with Path(name).open("a") as file:
        file.write("ran\n")
    if hang:
        await asyncio.Event().wait()
    return "left"


async def main(store: str, folder: str) -> None:
    config = {"store": {"url": f"sqlite:///{store}"}}
    async with Toolbox(config, workspace=folder, extra=[leave_a_line]) as box:
        box.keep_schedule()
        assert box.use(Schedules).is_running
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
