"""Two real clients at once: what one window saves the other knows, and after a crash too."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.contract.doors import MODERN, Send, stdio

pytestmark = pytest.mark.timeout(240)
SAVED = [
    ("save_memory", {"fact": "The staging database listens on port 5433", "scope": "project"}),
    ("save_memory", {"fact": "Anna is allergic to walnuts", "tags": ["food"]}),
    ("track_event", {"title": "Chose Postgres over MySQL", "content": "for its JSON columns"}),
    ("create_plan", {"goal": "Move the shop", "steps": ["Schema", "Orders"]}),
    ("update_plan_step", {"index": 1, "status": "in_progress"}),
    ("manage_projects", {"action": "register", "name": "shop"}),
    ("write_file", {"path": "schema.sql", "content": "create table t (a int);"}),
]


async def ask(send: Send, name: str, /, **given: Any) -> str:
    outcome = await send(name, given)
    assert outcome.code is None, (name, given, outcome.text)
    return str(outcome.text)


async def test_the_next_conversation_knows(tmp_path: Path, own_state: None) -> None:
    (tmp_path / "ws").mkdir()
    config: dict[str, Any] = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "workspace": {"roots": [str(tmp_path / "ws")]},
    }
    places = {name: tmp_path / name for name in ("first", "second", "third")}
    for place in places.values():
        place.mkdir()
    async with stdio(config, places["second"], MODERN) as second:
        async with stdio(config, places["first"], MODERN) as first:
            for name, given in SAVED:
                await ask(first, name, **given)
            await ask(first, "summarize_session", task="Move the shop to Postgres", next="Orders")
            # While both are open, the second window knows it.
            assert "port 5433" in await ask(
                second, "search_memories", query="staging database port"
            )
            assert "walnuts" in await ask(second, "list_memories", tag="food")
            assert "JSON columns" in await ask(second, "search_context", query="why Postgres")
            assert "shop" in await ask(second, "manage_projects")
            # Both change one fact: the later one is told.
            changed = await first("update_memory", {"id": 2, "fact": "Anna eats nuts again"})
            assert changed.code is None
            late = await second("update_memory", {"id": 2, "fact": "Anna avoids all nuts"})
            assert "Anna eats nuts again" in late.text
        restored = await ask(second, "restore_session")
        for part in ("Move the shop to Postgres", "1. [>] Schema", "schema.sql", "port 5433"):
            assert part in restored, (part, restored)
    # After a restart of all.
    async with stdio(config, places["third"], MODERN) as third:
        assert "port 5433" in await ask(third, "search_memories", query="which port for staging")
        assert "Move the shop" in await ask(third, "search_sessions")


async def test_a_killed_session_is_restored(tmp_path: Path, own_state: None) -> None:
    (tmp_path / "ws").mkdir()
    config: dict[str, Any] = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "workspace": {"roots": [str(tmp_path / "ws")]},
    }
    for name in ("doomed", "after"):
        (tmp_path / name).mkdir()
    async with stdio(config, tmp_path / "after", MODERN) as after:
        with suppress(Exception):  # the client says that its server is gone
            async with stdio(config, tmp_path / "doomed", MODERN) as doomed:
                await ask(doomed, "write_file", path="half.py", content="x = 1\n")
                await ask(doomed, "save_session_note", note="half.py is only half done")
                # What goes by is written within half a second.
                while "half.py by write_file" not in (await after("restore_session", {})).text:
                    await asyncio.sleep(0.05)
                os.kill(server_of(tmp_path / "doomed"), signal.SIGKILL)
        restored = await ask(after, "restore_session")
        for part in ("half.py is only half done", "half.py by write_file", "Changed in it"):
            assert part in restored, (part, restored)


def server_of(folder: Path) -> int:
    """The process that serves with the configuration in a folder."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                if str(folder).encode() in (entry / "cmdline").read_bytes():
                    return int(entry.name)
    raise AssertionError("no such process")
