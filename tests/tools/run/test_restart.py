"""What a background command wrote outlives its server; what still ran is told as lost."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from tests.servers.mcp_wire import Wire, wire
from tests.tools.run.leftovers import mounts, named

pytestmark = pytest.mark.timeout(120)
SERVER = (sys.executable, "-m", "toolcrib", "mcp", "--profile", "all")
ENOUGH = 30.0
JOB = re.compile(r"job (j\w+)")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The workspace of every server of this test; they have one data folder."""
    (tmp_path / "work").mkdir()
    (tmp_path / "state").mkdir()
    settings = {"workspace": {"roots": [str(tmp_path / "work")]}}
    (tmp_path / "state" / "config.toml").write_text(tomli_w.dumps(settings))
    return tmp_path / "work"


async def reply(server: Wire, name: str, /, **arguments: Any) -> str:
    answer = await server.answer_to(server.call(name, **arguments))
    return str(answer["result"]["content"][0]["text"])


async def end(server: Wire) -> None:
    server.close()
    async with asyncio.timeout(ENOUGH):
        await server.process.wait()


async def begun(server: Wire, command: str) -> str:
    """The id of a job that runs a command."""
    text = await reply(server, "run_command", command=command, background=True)
    found = JOB.search(text)
    assert found, text
    return found[1]


@pytest.mark.rows("E34", "E36", "X11")
async def test_output_and_exit_code_of_what_ended_are_there_after_a_restart(root: Path) -> None:
    output = "h\u00e9llo\n" + "".join(f"{n}\n" for n in range(1, 301))
    async with wire(*SERVER) as server:
        job = await begun(server, "printf 'h\\303\\251llo\\n'; seq 1 300; sleep 2; exit 7")
        line, _, first = (await reply(server, "read_job", id=job)).partition("\n")
        assert "exit code 7, 1," in line
        assert f"{first}\n".startswith(output)
        await end(server)
    async with wire(*SERVER) as server:
        again, _, text = (await reply(server, "read_job", id=job)).partition("\n")
        assert again.partition("exit code")[2] == line.partition("exit code")[2]
        assert text == first
        # An offset counts bytes of what was written, not characters of what is shown.
        rest = await reply(server, "read_job", id=job, offset=len("h\u00e9llo\n".encode()))
        assert rest.partition("\n")[2] == first.partition("\n")[2]
        last = await reply(server, "read_job", id=job, offset=-8)
        assert first.endswith(last.partition("\n")[2])
        assert f"{job}  done (exit code 7)" in await reply(server, "list_jobs")


async def test_what_a_terminal_showed_is_there_after_a_restart(root: Path) -> None:
    async with wire(*SERVER) as server:
        text = await reply(server, "start_terminal", command="echo last words; exit 5")
        found = re.search(r"Terminal (j\w+)", text)
        assert found, text
        await reply(server, "read_job", id=found[1])
        await end(server)
    async with wire(*SERVER) as server:
        again = await reply(server, "read_job", id=found[1])
        assert "last words" in again
        assert "exit code 5" in again
        screen = await reply(server, "read_terminal", id=found[1])
        assert "denied" in screen  # a new server is a new conversation
        assert f"read_job id={found[1]}" in screen


async def test_what_ran_when_its_server_was_killed_is_lost_and_nothing_goes_on(root: Path) -> None:
    tag, before = f"tag{uuid.uuid4().hex}", mounts()
    line = f"setsid sh -c 'sleep 600; : {tag}' & echo begun; touch up; sleep 600; : {tag}"
    async with wire(*SERVER) as server:
        job = await begun(server, line)
        screen = await reply(server, "start_terminal", command=f"echo shown; sleep 600; : {tag}")
        terminal = re.search(r"Terminal (j\w+)", screen)
        assert terminal, screen
        async with asyncio.timeout(ENOUGH):
            while not (root / "up").exists():
                await asyncio.sleep(0.05)
        assert named(tag)
        server.process.kill()
        await server.process.wait()
        async with asyncio.timeout(ENOUGH):
            while named(tag):
                await asyncio.sleep(0.05)
    async with wire(*SERVER) as server:
        text = await reply(server, "read_job", id=job)
        assert "lost: the process that ran it is gone" in text
        assert "begun" in text
        assert "lost" in await reply(server, "read_job", id=terminal[1])
        listed = await reply(server, "list_jobs")
        assert f"{job}  lost" in listed
        await end(server)
    assert mounts() == before


@pytest.mark.rows("C075", "E34")
@pytest.mark.parametrize("busy", ["", "trap '' TERM; echo busy > busy; while :; do :; done"])
@pytest.mark.parametrize("how", ["closed", "told"])
async def test_what_a_terminal_changed_is_logged_when_its_server_ends(
    root: Path, level: str, how: str, busy: str
) -> None:
    del level  # it is in the environment
    async with wire(*SERVER) as server:
        # A shell at a terminal does not end when it is asked to.
        found = re.search(r"Terminal (j\w+)", await reply(server, "start_terminal"))
        assert found
        await reply(server, "send_terminal", id=found[1], keys="echo x > made.txt<Enter>")
        job = await begun(server, "trap '' TERM; echo y > other.txt; while :; do sleep 1; done")
        async with asyncio.timeout(ENOUGH):
            while not ((root / "made.txt").exists() and (root / "other.txt").exists()):
                await asyncio.sleep(0.05)
        if busy:
            server.call("run_command", command=busy)
            await asyncio.sleep(1.5)
        if how == "told":
            server.process.send_signal(signal.SIGTERM)
        await end(server)
    async with wire(*SERVER) as server:
        steps = await reply(server, "list_changes")
        assert "made.txt" in steps
        assert "other.txt" in steps
        listed = await reply(server, "list_jobs")
        assert f"{found[1]}  stopped" in listed
        assert f"{job}  stopped" in listed
        await end(server)
