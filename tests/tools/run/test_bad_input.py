"""Programs that behave badly: a clear result at each level, and nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import tempfile
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.run.leftovers import Machine
from toolcrib import Toolbox
from toolcrib.core.result import Result

pytestmark = pytest.mark.timeout(120)
DEAF = """
import os, signal, sys, time
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, signal.SIG_IGN)
print('begun', flush=True)
if os.fork() == 0:
    os.setsid()
while True:
    pass
"""
TWICE = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        os.execvp('sh', ['sh', '-c', 'sleep 600; : TAG'])
    os._exit(0)
os.wait()
print('gone on')
"""


@pytest.fixture
def tag() -> str:
    return f"tag{uuid.uuid4().hex}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
async def box(
    folder: Path, tmp_path: Path, level: str, tag: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Toolbox]:
    """A toolbox that must leave nothing, once it is closed and before."""
    del level  # it is in the environment
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))  # others use /tmp too
    config = {"store": {"url": f"sqlite:///{tmp_path}/store.db"}}
    before = Machine.now(tmp_path / "state")
    async with Toolbox(config, workspace=folder) as box:
        await box.call("run_command", {"command": "true"})  # the probe, the store, the janitor
        opened = Machine.now(tmp_path / "state")
        yield box
        await opened.is_as_before(tag)
    await before.is_as_before(tag)


async def call(box: Toolbox, name: str, /, **arguments: object) -> Result:
    return await box.call(name, arguments)


async def ended(box: Toolbox, job: str) -> Result:
    """A job that is over, or that the time to wait was not enough for."""
    return await call(box, "read_job", id=job, wait="exit", timeout=30)


async def test_a_binary_as_code(box: Toolbox, folder: Path) -> None:
    elf = Path(os.path.realpath("/bin/sh")).read_bytes()[:20_000]
    for tool, name in (("run_python", "code"), ("run_javascript", "code")):
        refused = await box.call(tool, {name: elf.decode("latin-1")})
        assert refused.error is not None
        assert refused.error.code == "bad_input"
        assert refused.error.hint
        failed = await box.call(tool, {name: elf.replace(b"\0", b"").decode("latin-1")})
        assert failed.error is not None or failed.data["exit_code"] != 0
    (folder / "data").write_bytes(bytes(range(256)) * 40)
    (folder / "data").chmod(0o755)
    ran = await call(box, "run_command", command="./data")
    assert ran.error is None
    assert ran.data["exit_code"] in (126, 127, 2)
    screen = await call(box, "run_command", command="cat data; exit 4")
    assert screen.data["exit_code"] == 4
    assert "\0" not in screen.text


async def test_a_loop_that_ignores_signals(box: Toolbox, tag: str) -> None:
    stopped = await call(box, "run_python", code=f"{DEAF}\n# {tag}", timeout=3)
    assert stopped.error is not None
    assert stopped.error.code == "timeout"
    assert "begun" in stopped.text
    line = f"trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM; while :; do :; done; : {tag}' & "
    job = await call(box, "run_command", command=f"{line} while :; do :; done", background=True)
    assert "stopped" in (await call(box, "stop_job", id=job.data["id"])).text


async def test_output_without_a_line_end(box: Toolbox) -> None:
    line = "head -c 3000000 /dev/zero | tr '\\0' x"
    ran = await call(box, "run_command", command=line)
    assert ran.error is None
    assert ran.data["bytes"] == 3_000_000
    assert ran.truncated
    assert len(ran.text) < 40_000
    job = await call(box, "run_command", command=line, background=True)
    over = await ended(box, job.data["id"])
    assert over.data["state"] == "done"
    assert 3_000_000 <= over.data["bytes"] < 3_000_200  # a note may stand behind it


async def test_a_program_that_closes_its_output_and_stays(box: Toolbox, tag: str) -> None:
    line = f"echo before; exec >&- 2>&-; sleep 600; : {tag}"
    stopped = await call(box, "run_command", command=line, timeout=2)
    assert stopped.error is not None
    assert stopped.error.code == "timeout"
    assert "before" in stopped.text
    job = await call(box, "run_command", command=line, background=True)
    still = await call(box, "read_job", id=job.data["id"], wait="none")
    assert still.data["state"] == "running"
    assert "stopped" in (await call(box, "stop_job", id=job.data["id"])).text


async def test_what_forks_twice(box: Toolbox, tag: str) -> None:
    ran = await call(box, "run_python", code=TWICE.replace("TAG", tag))
    assert ran.error is None, ran.render()
    assert ran.text.startswith("gone on\n")
    line = f"setsid sh -c '(sleep 600; : {tag}) & exit' >/dev/null 2>&1 </dev/null & echo on"
    job = await call(box, "run_command", command=line, background=True)
    over = await ended(box, job.data["id"])
    assert over.data["state"] == "done"
    assert "on" in over.text


async def test_a_terminal_that_floods(box: Toolbox, tag: str) -> None:
    flood = f"while :; do printf '\\033[9999S\\033c%.0s' 1 2 3 4 5 6 7 8; done; : {tag}"
    for command in (f"yes {tag}", flood):
        screen = await call(box, "start_terminal", command=command, rows=200, columns=500)
        assert screen.error is None
        assert screen.data["running"]
        stopped = await call(box, "stop_job", id=screen.data["id"])
        assert "stopped" in stopped.text


async def test_a_program_that_asks_its_terminal_and_never_reads(box: Toolbox, tag: str) -> None:
    asks = f"stty raw -echo; while :; do printf '\\033[6n.'; done; : {tag}"
    screen = await call(box, "start_terminal", command=asks)
    first = (await call(box, "read_terminal", id=screen.data["id"], wait="none")).data
    # What it writes goes on being shown, although nobody takes the answers.
    async with asyncio.timeout(60):
        while (await call(box, "read_terminal", id=screen.data["id"], wait="none")).data == first:
            await asyncio.sleep(0.1)
    assert "stopped" in (await call(box, "stop_job", id=screen.data["id"])).text


async def test_what_waits_for_its_stdin(box: Toolbox) -> None:
    ran = await call(box, "run_command", command="cat")
    assert ran.data["exit_code"] == 0
    assert "stdin is empty" in ran.text
    requested = await call(box, "run_python", code="input()")
    assert "EOFError" in requested.text
    job = await call(box, "run_command", command="cat; echo end", background=True)
    assert (await ended(box, job.data["id"])).data["exit_code"] == 0


@pytest.mark.parametrize("name", ["run_tests", "lint_project"])
async def test_the_projects_in_a_folder_that_is_none_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "proj").mkdir()
    (tmp_path / "proj" / "pyproject.toml").write_text("[project]\nname = 'p'\n")
    (tmp_path / "notes.txt").write_text("x")
    async with Toolbox(workspace=tmp_path) as box:
        result = await box.call(name, {})
    assert result.error is not None
    assert "Send path=proj." in result.error.hint
