"""A sandbox on a workspace of its own, at each level."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import absent
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.sandbox.terms import Bind, View
from toolcrib.files.paths import Workspace

PYTHON = sys.executable


@dataclass
class Ended:
    """A run that is over."""

    code: int
    out: str
    stopped: str
    level: str
    notes: tuple[str, ...]


@dataclass
class Box:
    """A sandbox, and the shortest way to run something in it."""

    sandbox: Sandbox
    workspace: Workspace
    root: Path

    async def run(
        self, *argv: str, views: Any = None, seconds: float = 60, cwd: str = ".", **more: Any
    ) -> Ended:
        place = self.workspace.resolve(cwd)
        view: View = Bind() if views is None else views
        out = b""
        async with await self.sandbox.spawn(
            argv, cwd=place, views=view, merge=True, **more
        ) as confined:
            async with asyncio.timeout(seconds):
                async for chunk in confined.output():
                    out = (out + chunk.data)[-100_000:]
                code = await confined.wait()
        text = out.decode("utf-8", "replace")
        return Ended(code, text, confined.stopped, confined.level, confined.notes)

    async def sh(self, script: str, *arguments: str, **more: Any) -> Ended:
        return await self.run("/bin/sh", "-c", script, "sh", *arguments, **more)

    async def python(self, code: str, *arguments: str, **more: Any) -> Ended:
        return await self.run(PYTHON, "-c", code, *arguments, **more)


Open = Callable[..., Box]


@pytest.fixture
async def open_box(tmp_path: Path) -> AsyncIterator[Open]:
    """Opens sandboxes; `level` and more settings of `run` as arguments."""
    opened: list[Services] = []

    def open_(level: str = "auto", roots: Sequence[Path] = (), **settings: Any) -> Box:
        root = tmp_path / "ws"
        root.mkdir(exist_ok=True)
        more = settings.pop("config", {})
        tree = {
            "workspace": {"roots": [str(path) for path in roots or (root,)]},
            "run": {"level": level, **settings},
            **more,
        }
        services = Services(Config.load(tree))
        opened.append(services)
        return Box(services.use(Sandbox), services.use(Workspace), root)

    yield open_
    for services in opened:
        await services.close()


@pytest.fixture(params=["strong", "kernel"])
async def box(request: pytest.FixtureRequest, open_box: Open) -> Box:
    """One of each level that has a boundary."""
    found = open_box(request.param)
    report = await found.sandbox.report()
    if report.level != request.param:
        absent(f"the level {request.param} does not work here: {report.why}")
    return found


@pytest.fixture
async def strong(open_box: Open) -> Box:
    found = open_box("strong")
    report = await found.sandbox.report()
    if report.level != "strong":
        absent(f"the level strong does not work here: {report.why}")
    return found
