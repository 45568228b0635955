"""Six processes on one store of memories, some of them killed: nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from pathlib import Path

import pytest

from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import Services
from toolcrib.memory.memories import Memories

CHILD = str(Path(__file__).with_name("busy_child.py"))


async def follow(name: str, count: int, kill_after: int | None) -> list[str]:
    """What a process acknowledged until its end, or until it was killed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, CHILD, name, str(count), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    acknowledged: list[str] = []
    async for line in process.stdout:
        acknowledged.append(line.decode().rstrip("\n"))
        if len(acknowledged) == kill_after:
            process.kill()
    code = await process.wait()
    assert code == 0 or kill_after is not None
    return acknowledged


async def nothing_lost(count: int, kills: list[int | None]) -> None:
    listed = await asyncio.gather(*(follow(f"p{n}", count, kill) for n, kill in enumerate(kills)))
    for lines, kill in zip(listed, kills, strict=True):
        assert len(lines) >= (kill or count)
    services = Services(Config.load())
    stored = await services.use(Memories).listed(limit=100_000)
    facts = {f"{memory.id}\t{memory.fact}" for memory in stored.memories}
    assert {line for lines in listed for line in lines} <= facts
    assert (await services.use(Memories).search("changed", 5, None, 0.1)).hits
    await services.close()
    check = sqlite3.connect(data_folder() / "toolcrib.db")
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()
    assert not list(data_folder().glob("*.corrupt-*"))


async def test_nothing_acknowledged_is_lost(own_state: None) -> None:
    await nothing_lost(20, [None, 5, None])


@pytest.mark.timeout(600)
@pytest.mark.parametrize("turn", range(8))
async def test_six_processes_and_a_kill(own_state: None, turn: int) -> None:
    await nothing_lost(150, [None, 10 + turn * 17, None, None, None, None])
