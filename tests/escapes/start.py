"""Starting the runner, as root or as an ordinary user."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.escapes.ordinary import USER, as_ordinary

TOP = Path(__file__).parents[2]
SECONDS = 600
Answers = dict[str, dict[str, Any]]


async def start(folder: Path, method: str, user: str, *more: str) -> Answers:
    """Run the battery in a process of its own; its answers by id.

    Args:
        folder: where the worlds are made; everybody must be able to walk there.
        way: bare, strong, kernel or bwrap.
        user: root, or ordinary, which root becomes if need be.
        more: arguments of the runner.
    """
    base = Path(tempfile.mkdtemp(dir=folder))
    file = base / "answers"
    argv = [
        sys.executable,
        "-m",
        "tests.escapes.runner",
        method,
        str(file),
        "--base",
        str(base),
        *more,
    ]
    if user == "ordinary" and os.getuid() == 0:
        os.chown(base, USER, USER)
        argv = as_ordinary(argv, [str(TOP)])
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(base),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ESCAPES_API_KEY": secrets.token_hex(16),
    }
    process = await asyncio.create_subprocess_exec(
        *argv, cwd=TOP, env=env, start_new_session=True, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(SECONDS):
            _, errors = await process.communicate()
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode:
        raise RuntimeError(errors.decode()[-3000:])
    return {answer["id"]: answer for answer in map(json.loads, file.read_text().splitlines())}
