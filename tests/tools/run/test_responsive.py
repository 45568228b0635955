"""Whatever a run does, its server goes on answering."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from tests.servers.mcp_wire import wire
from toolcrib import Toolbox

pytestmark = pytest.mark.timeout(120)
SERVER = (sys.executable, "-m", "toolcrib", "mcp", "--profile", "all")
MAX_AT_ONCE = 0.25
"""Seconds of computing, not of waiting, in one turn of the event loop: five times the aim."""
FLOOD = "for n in 1 2 3 4 5; do yes | head -c 8000000; sleep 0.2; done"
RULES = [{"pattern": ["git", "push"], "action": "deny"}]


@asynccontextmanager
async def turns() -> AsyncIterator[Callable[[], float]]:
    """Gives the longest turn of the loop so far, in seconds of computing in its thread."""
    longest = 0.0

    async def look() -> None:
        nonlocal longest
        before = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            longest = max(longest, now - before)
            before = now

    task = asyncio.create_task(look())
    try:
        yield lambda: longest
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def box(tmp_path: Path, level: str) -> AsyncIterator[Toolbox]:
    del level  # it is in the environment
    (tmp_path / "work").mkdir()
    config: dict[str, Any] = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "run": {"rules": RULES},
    }
    async with Toolbox(config, workspace=tmp_path / "work") as box:
        # What is looked for once, and what is imported on first use.
        await box.call("run_command", {"command": "echo a; echo b >&2", "input": "x"})
        started = await box.call("start_terminal", {"command": "true"})
        await box.call("read_job", {"id": started.data["id"]})
        yield box


CALLS = {
    "a long command": ("run_command", {"command": "exit 0; " + "'a' \"$x\" | true; " * 3_000}),
    "bytes of any kind": ("run_command", {"command": "head -c 9000000 /dev/urandom"}),
    "colours": ("run_command", {"command": "yes \x1b[31mred\x1b[0m | head -c 9000000"}),
    "many lines": ("run_command", {"command": "seq 100000 >&2"}),
    "too much code": ("run_python", {"code": "#" * 10_000_000}),
}


@pytest.mark.parametrize("name", CALLS)
async def test_no_run_holds_up_the_server(box: Toolbox, name: str) -> None:
    tool, arguments = CALLS[name]
    async with turns() as longest:
        await box.call(tool, arguments)
        assert longest() < MAX_AT_ONCE


async def test_no_flood_in_the_background_holds_up_the_server(box: Toolbox) -> None:
    async with turns() as longest:
        job = await box.call(
            "run_command", {"command": "timeout 2 cat /dev/urandom", "background": True}
        )
        await box.call("read_job", {"id": job.data["id"], "text": "never to be found"})
        assert longest() < MAX_AT_ONCE


async def test_no_screen_holds_up_the_server(box: Toolbox) -> None:
    flood = "while :; do printf '\\033[9999S\\033c%.0s' $(seq 300); done"
    async with turns() as longest:
        arguments = {"command": flood, "rows": 200, "columns": 500}
        text = await box.call("start_terminal", arguments)
        job = text.data["id"]
        await box.call("read_terminal", {"id": job, "text": "never to be found", "timeout": 2})
        await box.call("stop_job", {"id": job})
        assert longest() < MAX_AT_ONCE


async def test_pings_are_answered_while_runs_flood(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "state").mkdir()
    settings = {"workspace": {"roots": [str(tmp_path / "work")]}}
    (tmp_path / "state" / "config.toml").write_text(tomli_w.dumps(settings))
    async with wire(*SERVER) as server:
        await server.answer_to(server.call("start_terminal", command="yes"))
        flood = server.call("run_command", command=FLOOD)
        answered = 0
        while True:
            ping = server.request("ping")
            answers: dict[Any, Any] = {}
            while ping not in answers:
                message = await server.read()
                answers[message.get("id")] = message
            if flood in answers:
                break
            answered += 1
        assert not answers[flood]["result"].get("isError"), answers[flood]
        assert answered >= 20
