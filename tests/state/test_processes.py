"""Six processes on one store, some of them killed in the middle."""

from __future__ import annotations

import asyncio
import sqlite3
from asyncio.subprocess import Process

import pytest

from tests.services import Spawn
from toolcrib.core.config import data_folder
from toolcrib.core.context import Services
from toolcrib.state.history import History


async def follow(process: Process, kill_after: int | None) -> list[str]:
    """The acknowledged records; the process is killed after some of them."""
    assert process.stdout
    reply: list[str] = []
    async for line in process.stdout:
        reply.append(line.decode().strip())
        if len(reply) == kill_after:
            process.kill()
    await process.wait()
    return reply


@pytest.mark.rows("D37")
async def test_every_acknowledged_record_is_there(spawn: Spawn, services: Services) -> None:
    processes = [await spawn("history", f"p{n}", 150) for n in range(6)]
    kills = [None, 40, None, 75, None, None]
    reply = await asyncio.gather(*map(follow, processes, kills))
    for lines, kill in zip(reply, kills, strict=True):
        assert len(lines) >= (kill or 150)
    acknowledged = {line for lines in reply for line in lines}
    assert all(line.startswith("p") for line in acknowledged)  # no warning among them
    stored = {e.id for e in await services.use(History).query(limit=10_000)}
    assert acknowledged <= stored
    assert len(stored) <= 900
    await services.close()
    check = sqlite3.connect(data_folder() / "toolcrib.db")
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()
    assert not list(data_folder().glob("*.corrupt-*"))


async def test_a_full_disk(spawn: Spawn) -> None:
    """The limit on file sizes stands for a full disk: it works for any user."""
    process = await spawn("full")
    out, _ = await process.communicate()
    before, full, after, count = out.decode().splitlines()
    assert process.returncode == 0
    assert before == "written"
    assert "The history cannot be written" in full
    assert "200 records wait" in full
    assert after == "written"
    assert count == "201"
