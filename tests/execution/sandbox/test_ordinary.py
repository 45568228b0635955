"""The same as an ordinary user: made here where the tests run as root, and left nowhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import absent

REPOSITORY = Path(__file__).parents[3]
USER = 61_234
PROGRAM = """
import asyncio, os, sys
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.files.paths import Workspace
from toolcrib.execution.sandbox.terms import Bind
from toolcrib.execution.sandbox.terms import Limits
from toolcrib.execution.sandbox.terms import Overlay
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.interpreters.programs import toolchains
from pathlib import Path
root, level = sys.argv[1:]
class Context:
    def __init__(self, services):
        self.use, self.config = services.use, services.config
async def take(place):
    # What others take of the disk and of memory is none of a run's.
    held = os.memfd_create("theirs")
    for _ in range(30):
        os.write(held, bytes(1_000_000))
        with open(place, "ab") as file:
            file.write(bytes(1_000_000))
        await asyncio.sleep(0.03)
    os.close(held)
async def main():
    services = Services(Config.load({"workspace": {"roots": [root]}, "run": {"level": level}}))
    box = services.use(Sandbox)
    print((await box.report()).level)
    tools = toolchains(Context(services))
    async def run(script, view, **more):
        more["readable"] = tools.readable
        where = services.use(Workspace).start()
        out = b""
        async with await box.spawn(
            ["/bin/sh", "-c", script], cwd=where, views=view, merge=True, **more
        ) as run:
            async for chunk in run.output():
                out += chunk.data
            print(await run.wait(), run.stopped, out.decode().split()[-1:])
    await run("cat ../secret; echo x > new; id -u", Bind())
    few = Limits(processes=30)
    await run("for i in $(seq 200); do sleep 9 & done; echo all", Bind(), limits=few)
    await run("head -c 400000000 /dev/zero | tail", Bind(), limits=Limits(memory_bytes=90_000_000))
    few = Limits(memory_bytes=60_000_000, disk_bytes=9_000_000)
    others = asyncio.ensure_future(take(Path(root).parent / "theirs"))
    await run("sleep 0.1 & exec sleep 2", Bind(), limits=few)  # a child that nobody waits for
    await others
    if level == "strong":
        up, work = Path(root, "../up"), Path(root, "../work")
        up.mkdir(); work.mkdir()
        await run("echo y > new; cat new", Overlay(up, work))
        print(Path(root, "new").read_text(), (up / "new").read_text())
    await services.close()
asyncio.run(main())
"""


def interpreter() -> str:
    """One that others may run: this one, or the system's of the same version."""
    found = os.path.realpath(sys.executable)
    open_to_all = all(p.stat().st_mode & 0o005 == 0o005 for p in Path(found).parents)
    if open_to_all:
        return found
    same = shutil.which(f"python{sys.version_info.major}.{sys.version_info.minor}", path="/usr/bin")
    if same is None:
        absent("no interpreter that an ordinary user may run")
        return ""
    return same


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of that user, where they can reach it."""
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-user-"))
    (folder / "ws").mkdir()
    (folder / "ws" / ".env").write_text("canary")
    (folder / "secret").write_text("canary")
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, USER, USER)
    yield folder
    subprocess.run(["chmod", "-R", "u+rwx", str(folder)], check=False)
    shutil.rmtree(folder)


def as_user(home: Path, argv: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    user = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    return subprocess.run(
        argv,
        env={
            "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), *sys.path[1:]]),
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "TOOLCRIB_DATA": str(home / "state"),
            "TOOLCRIB_CONFIG": str(home / "state" / "config.toml"),
            **more,
        },
        cwd="/",
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        **user,
    )


@pytest.mark.parametrize("level", ["strong", "kernel"])
def test_as_an_ordinary_user(home: Path, level: str) -> None:
    closed = home / "closed"  # folders on PATH and in variables that the user may not enter
    closed.mkdir(mode=0o000)
    more = {"PATH": f"{closed}/bin:/usr/bin:/bin", "CARGO_HOME": f"{closed}/cargo"}
    done = as_user(home, [interpreter(), "-c", PROGRAM, str(home / "ws"), level], **more)
    lines = done.stdout.splitlines()
    assert lines[:1] == [level], done.stderr
    assert lines[1] == f"0  ['{home.stat().st_uid}']", done.stdout
    assert "all" not in lines[2]
    assert lines[3].startswith("137 memory")
    assert lines[4].startswith("0  "), lines
    if level == "strong":
        assert lines[5:7] == ["0  ['y']", "x"]
    assert (home / "ws" / "new").stat().st_uid == home.stat().st_uid
    assert "canary" not in lines[1]


JOB = """
import asyncio, sys
from toolcrib import Toolbox
async def main():
    async with Toolbox({"run": {"level": "strong"}}, workspace=sys.argv[1]) as box:
        job = await box.call("run_command", {"command": sys.argv[2], "background": True})
        ended = await box.call("read_job", {"id": job.data["id"]})
        print(ended.text, ended.error)
asyncio.run(main())
"""


@pytest.mark.parametrize("closed", ["sub/.git", "sub/.git sub", "sub"])
def test_a_repository_that_a_job_closes_is_put_aside(home: Path, closed: str) -> None:
    """Root writes everywhere; a user has to open it before."""
    script = f"git init -q sub && git -C sub config core.fsmonitor 'touch {home}/owned'"
    done = as_user(
        home, [interpreter(), "-c", JOB, str(home / "ws"), f"{script}; chmod 555 {closed}"]
    )
    assert "exit code 0" in done.stdout, done.stdout + done.stderr
    assert (home / "ws/sub/.git").is_dir()
    as_user(home, ["git", "-C", str(home / "ws/sub"), "status"])
    assert not (home / "owned").exists(), done.stdout
    for folder in (home / "ws/sub", home / "ws/sub/.git"):
        folder.chmod(0o755)
