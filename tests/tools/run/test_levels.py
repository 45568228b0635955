"""The tools at each level, as root and as an ordinary user, and what code cannot do outside."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.execution.sandbox.test_ordinary import REPOSITORY, USER, interpreter
from tests.tools.run.scenario import Scenario
from toolcrib import Toolbox

pytestmark = pytest.mark.timeout(240)
LEVELS = pytest.mark.parametrize("level", ["strong", "kernel"])
BEFORE = "import ctypes, os, subprocess\nout = '{outside}'\nwrite = f'echo x > {outside}/new'\n"
SHELL = "['/bin/sh', '-c', write]"
PROBES = {
    "open w": "open(out + '/victim', 'w').write('x')",
    "open r+": "open(out + '/victim', 'r+').write('x')",
    "os.open": "os.write(os.open(out + '/victim', os.O_WRONLY), b'x')",
    "rename": "os.rename(out + '/victim', out + '/moved')",
    "remove": "os.remove(out + '/victim')",
    "mkdir": "os.mkdir(out + '/new')",
    "subprocess": f"subprocess.run({SHELL}, check=True)",
    "fork": "pid = os.fork()\nopen(out + '/new', 'w') if not pid else os.waitpid(pid, 0)",
    "posix_spawn": f"os.waitpid(os.posix_spawn('/bin/sh', {SHELL}, {{}}), 0)",
    "execv": f"os.execv('/bin/sh', {SHELL})",
    "ctypes": "ctypes.CDLL(None).system(write.encode())",
}


@LEVELS
async def test_all_tools_work_alike(tmp_path: Path, level: str) -> None:
    root = tmp_path / "work"
    root.mkdir()
    config = {"store": {"url": f"sqlite:///{tmp_path}/s.db"}, "run": {"level": level}}
    async with Toolbox(config, workspace=root) as box:
        assert await Scenario(box, root, level).run() == []


@pytest.fixture
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-user-"))
    (folder / "ws").mkdir()
    if os.geteuid() == 0:
        for path in (folder, folder / "ws"):
            os.chown(path, USER, USER)
    yield folder
    subprocess.run(["chmod", "-R", "u+rwx", str(folder)], check=False)
    shutil.rmtree(folder)


@LEVELS
def test_all_tools_work_alike_for_an_ordinary_user(home: Path, level: str) -> None:
    user: dict[str, Any] = {}
    if os.geteuid() == 0:
        user = {"user": USER, "group": USER, "extra_groups": []}
    done = subprocess.run(
        [interpreter(), "-m", "tests.tools.run.scenario", str(home / "ws"), level],
        env={
            "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "src"), *sys.path]),
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "TOOLCRIB_DATA": str(home / "state"),
            "TOOLCRIB_CONFIG": str(home / "state" / "config.toml"),
        },
        cwd="/",
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        **user,
    )
    assert done.stdout, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.rows("X3")
@LEVELS
async def test_code_does_nothing_outside(tmp_path: Path, level: str) -> None:
    """Eleven ways that audit hooks of others miss; each works where there is no boundary."""
    root, outside = tmp_path / "work", tmp_path / "outside"
    root.mkdir()
    before = {"victim": "canary"}
    config = {"store": {"url": f"sqlite:///{tmp_path}/s.db"}, "run": {"level": level}}
    async with Toolbox(config, workspace=root) as box:
        for name, probe in PROBES.items():
            code = BEFORE.format(outside=outside) + probe
            _fresh(outside, before)
            subprocess.run([sys.executable, "-c", code], check=False, timeout=20)
            assert _held(outside) != before, f"{name} does nothing even without a boundary"
            _fresh(outside, before)
            await box.call("run_python", {"code": code})
            assert _held(outside) == before, name


def _fresh(folder: Path, files: dict[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)


def _held(folder: Path) -> dict[str, str]:
    return {p.name: p.read_text() if p.is_file() else "" for p in folder.iterdir()}


@pytest.mark.rows("C196")
async def test_memory_is_bounded_in_the_run_and_in_the_server(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    run = {"limits": {"memory_mb": 200, "output_mb": 40}}
    config = {"store": {"url": f"sqlite:///{tmp_path}/s.db"}, "run": run}
    async with Toolbox(config, workspace=root) as box:
        await box.call("run_python", {"code": "1"})
        before = _resident()
        much = await box.call("run_python", {"code": "x = bytearray(400_000_000)\nlen(x)"})
        flood = await box.call(
            "run_command", {"command": "head -c 35000000 /dev/zero | tr '\\0' z"}
        )
        after = _resident()
    assert "memory" in much.render().lower()
    assert much.data["exit_code"] != 0
    assert flood.error is None
    assert after - before < 60_000_000


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
