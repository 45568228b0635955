"""Background commands started and ended in every way, over and over: nothing is left of them."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from toolcrib import Toolbox

pytestmark = pytest.mark.timeout(400)
CYCLES = int(os.environ.get("RUN_CYCLES", "24"))
AT_ONCE = 6
SEED = 6


async def test_nothing_is_left_after_many_starts_and_kills(tmp_path: Path) -> None:
    root, tag = tmp_path / "work", uuid.uuid4().hex
    root.mkdir()
    config = {"store": {"url": f"sqlite:///{tmp_path}/s.db"}}
    chance = random.Random(SEED)
    async with Toolbox(config, workspace=root) as box:

        async def cycle(route: str) -> None:
            ends = "exit 3" if route == "ends" else f"sleep 600 & exec -a {tag} sleep 600"
            line = f": {tag}; echo begun; {ends}"
            arguments = {"command": line, "background": True}
            if route == "cancelled":
                with suppress(TimeoutError):
                    async with asyncio.timeout(chance.random()):
                        await box.call("run_command", arguments)
                return
            started = await box.call("run_command", arguments)
            assert started.error is None, started.render()
            if route == "killed":
                with suppress(ProcessLookupError):
                    os.kill(started.data["pid"], signal.SIGKILL)
            elif route == "stopped":
                await box.call("stop_job", {"id": started.data["id"]})
            elif route == "twice":
                stop = {"id": started.data["id"]}
                await asyncio.gather(box.call("stop_job", stop), box.call("stop_job", stop))
            if route in ("ends", "killed"):
                over = await box.call("read_job", {"id": started.data["id"], "wait": "exit"})
                assert over.data["state"] != "running"

        await cycle("stopped")
        first = _resident()
        ways = ["ends", "killed", "stopped", "twice", "cancelled"]
        for _ in range(0, CYCLES, AT_ONCE):
            await asyncio.gather(*(cycle(chance.choice(ways)) for _ in range(AT_ONCE)))
        jobs = (await box.call("list_jobs", {})).data["jobs"]
        # A call that is cancelled when its job is made already, but not yet told of.
        for job in (job for job in jobs if job["state"] == "running"):
            await box.call("stop_job", {"id": job["id"]})
        assert _named(tag) == []
        assert _zombies() == []
        assert _resident() - first < 60_000_000


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _named(tag: str) -> list[str]:
    return [p.parent.name for p in Path("/proc").glob("[0-9]*/cmdline") if tag in _text(p)]


def _zombies() -> list[str]:
    mine = [_text(p) for p in Path("/proc").glob("[0-9]*/stat")]
    fields = [text.rpartition(") ")[2].split() for text in mine if text]
    return [" ".join(f[:2]) for f in fields if f[0] == "Z" and f[1] == str(os.getpid())]


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
