"""The life of a stdio server: it ends when its client does, and takes its children along."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.conditions import until
from tests.servers.mcp_wire import PRODUCT, TEST_TOOLS, Wire, alive, wire, written
from toolcrib.core.package_data import package_table

pytestmark = pytest.mark.timeout(90)

SERVER = (sys.executable, "-I", "-m", "toolcrib", "mcp", "--workspace", str(Path(__file__).parent))


async def gone(pid: int) -> None:
    await until(lambda: not alive(pid))


async def end_of(server: Wire) -> int:
    return await server.process.wait()


@pytest.mark.parametrize("command", [PRODUCT, TEST_TOOLS])
async def test_it_ends_when_stdin_closes_while_idle(command: tuple[str, ...]) -> None:
    async with wire(*command) as server:
        await server.ask("tools/list")
        server.close()
        assert await end_of(server) == 0
        complaints = (await server.complaints()).splitlines()
        assert [line for line in complaints if "; profile: " not in line] == []


@pytest.mark.rows("E137")
async def test_a_configuration_of_its_own_and_what_it_serves_on_stderr(tmp_path: Path) -> None:
    names = "browser_open,delegate_task,search_documents"
    own = tmp_path / "own.toml"
    own.write_text(f'profile = "{names}"\n')
    async with wire(*SERVER, "--config", str(own)) as server:
        listed = (await server.ask("tools/list"))["result"]["tools"]
        server.close()
        assert await end_of(server) == 0
        assert f"; profile: {names}" in await server.complaints()
    assert set(names.split(",")) < {tool["name"] for tool in listed}


@pytest.mark.rows("C195")
async def test_the_titles_of_tools_are_in_the_users_language(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('profile = "fetch_url"\nlanguage = "de"\n')
    async with wire(*SERVER, "--config", str(own)) as server:
        listed = (await server.ask("tools/list"))["result"]["tools"]
    tool = next(tool for tool in listed if tool["name"] == "fetch_url")
    assert (
        tool["annotations"]["title"] == package_table("translations/de.toml")["titles"]["fetch_url"]
    )
    assert tool["description"].startswith("Read web pages")


async def test_it_ends_when_stdin_closes_before_a_word_was_said() -> None:
    server = await Wire.start(*PRODUCT)
    server.close()
    assert await end_of(server) == 0
    await server.finish()


async def test_a_host_may_close_stderr() -> None:
    closed = ("sh", "-c", 'exec "$@" 2>&-', "sh")
    async with wire(*closed, *PRODUCT) as server:
        assert (await server.ask("tools/list"))["result"]["tools"]
        server.close()
        assert await end_of(server) == 0


async def test_it_ends_while_a_tool_waits(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with wire() as server:
        server.call("wait", seconds=600, note=str(note))
        await written(note)
        server.close()
        assert await end_of(server) == 0
    assert await written(note, 2) == ["began", "cleaned up"]


async def test_it_ends_while_a_tool_computes(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with wire() as server:
        server.call("burn", note=str(note))
        await written(note)
        server.close()
        await end_of(server)


async def test_it_ends_while_a_tool_runs_a_program_and_nothing_is_left(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with wire() as server:
        server.call("spawn", note=str(note))
        pids = [int(pid) for pid in await written(note, 2)]
        assert all(map(alive, pids))
        server.close()
        await end_of(server)
    for pid in pids:
        await gone(pid)


async def test_computing_does_not_save_the_programs_of_another_call(tmp_path: Path) -> None:
    note, mark = tmp_path / "note", tmp_path / "mark"
    async with wire() as server:
        server.call("spawn", note=str(note))
        pids = [int(pid) for pid in await written(note, 2)]
        server.call("burn", note=str(mark))
        await written(mark)
        server.close()
        await end_of(server)
    for pid in pids:
        await gone(pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_and_its_programs(tmp_path: Path, number: signal.Signals) -> None:
    note = tmp_path / "note"
    async with wire() as server:
        server.call("spawn", note=str(note))
        pids = [int(pid) for pid in await written(note, 2)]
        server.process.send_signal(number)
        assert await end_of(server) == 0
    for pid in pids:
        await gone(pid)


async def test_a_signal_ends_it_while_a_tool_computes(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with wire() as server:
        server.call("burn", note=str(note))
        await written(note)
        server.process.terminate()
        await end_of(server)


async def test_its_programs_die_with_it_when_it_is_killed(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with wire() as server:
        server.call("spawn", note=str(note))
        pids = [int(pid) for pid in await written(note, 2)]
        server.process.kill()
        await end_of(server)
    for pid in pids:
        await gone(pid)


HOST = """
import subprocess, sys
server = subprocess.Popen(sys.argv[2:])
open(sys.argv[1], "w").write(f"{server.pid}\\n")
server.wait()
"""


async def test_it_ends_when_its_parent_is_killed_and_the_pipe_stays_open(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    host = await Wire.start(sys.executable, "-c", HOST, str(note), *TEST_TOOLS)
    try:
        pid = int((await written(note))[0])
        await host.open()
        assert await host.say("hello") == "hello"
        host.process.kill()
        await gone(pid)
    finally:
        await host.finish()


@pytest.mark.timeout(180)
async def test_twenty_starts_leave_no_process(tmp_path: Path) -> None:
    async def one() -> int:
        server = await Wire.start(*PRODUCT)
        await server.open()
        server.close()
        assert await server.process.wait() == 0
        await server.finish()
        return server.process.pid

    pids: list[int] = []
    for _ in range(5):
        pids += await asyncio.gather(*(one() for _ in range(4)))
    assert len(set(pids)) == 20
    assert not [pid for pid in pids if alive(pid)]
    assert not started_from(tmp_path)


def started_from(folder: Path) -> list[str]:
    """Processes that keep their state in a folder, by the environment that they were given."""
    wanted = f"TOOLCRIB_DATA={folder}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (process / "environ").read_bytes() and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found
