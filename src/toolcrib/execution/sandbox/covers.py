"""Covers for a run that goes on: what is protected is hidden or fixed again from outside."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from toolcrib.system.processes import Mark, Processes

CHILD = str(Path(__file__).with_name("cover_child.py"))
COVER_SECONDS = 10.0
Cover = tuple[Literal["hide", "fix"], str]
"""What to do, and the path: a hidden file is empty, a fixed one cannot be changed."""


async def cover(processes: Processes, pidfd: int, covers: Sequence[Cover]) -> bool:
    """Cover places in the file system of a run; whether that worked for all that are there.

    Args:
        processes: looks after the process that does it.
        pidfd: a hold on the first process of the run's namespaces.
        covers: what to do.
    """
    words = [word for pair in covers for word in pair]

    def start(mark: Mark) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own file
            [sys.executable, "-I", "-S", "-B", CHILD, str(pidfd), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={mark.name: mark.value},
            pass_fds=[pidfd],
            start_new_session=True,
        )

    async with await processes.adopt(start) as process:
        try:
            async with asyncio.timeout(COVER_SECONDS):
                return await process.wait() == 0
        except TimeoutError:
            return False
