"""Services on a store of their own, and other processes on the same store."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from toolcrib.core.config import Config
from toolcrib.core.context import Services

SCRIPT = Path(__file__).parent / "servers" / "state_process.py"

Spawn = Callable[..., Awaitable[Process]]


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    """Services on the default store of the test."""
    opened = Services(Config.load())
    yield opened
    await opened.close()


@pytest.fixture
async def other_services() -> AsyncIterator[Services]:
    """A second set on the same store, as another process would have."""
    opened = Services(Config.load())
    yield opened
    await opened.close()


@pytest.fixture
async def spawn() -> AsyncIterator[Spawn]:
    """Starts `state_process.py ACTION …` on the same store; what is left is killed."""
    started: list[Process] = []

    async def start(*arguments: object) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(SCRIPT), *map(str, arguments), stdin=PIPE, stdout=PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.communicate()
