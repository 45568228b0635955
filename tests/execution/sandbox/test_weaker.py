"""Nothing is run behind a weaker boundary than before, whatever a run used up meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import absent

CODE = """
import asyncio, json, os, resource, sys
from toolcrib import Toolbox

async def level(box, command):
    result = await box.call("run_command", {"command": command, "timeout": 20})
    return (result.data or {}).get("sandbox", {}).get("level", result.error and result.error.code)

async def main():
    async with Toolbox(workspace=sys.argv[1], config={"limits": {"repeats": 0}}) as box:
        found = [await level(box, "true")]
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        for spare in range(10, 40, 2):
            used = len(os.listdir("/proc/self/fd"))
            resource.setrlimit(resource.RLIMIT_NOFILE, (used + spare, hard))
            found.append(await level(box, f"echo {spare}"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1024), hard))
        found.append(await level(box, "echo again"))
    print(json.dumps(found))

asyncio.run(main())
"""


TRIED_BEFORE = 'found = [await level(box, "true")]'


@pytest.mark.parametrize("code", [CODE, CODE.replace(TRIED_BEFORE, 'found = ["strong"]')])
def test_without_descriptors_nothing_is_run_at_less(tmp_path: Path, code: str) -> None:
    assert TRIED_BEFORE in CODE
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    first, *others, last = json.loads(done.stdout.splitlines()[-1])
    if first != "strong":
        absent(f"the level strong does not work here: {first}")
    assert "kernel" not in others, others
    assert {"unavailable"} & set(others), "none of them was short of descriptors"
    assert last == "strong"
