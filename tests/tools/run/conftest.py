"""A toolbox on a folder, and the level of the boundary behind which its tools run."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conftest import absent
from toolcrib import Toolbox
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.execution.sandbox.sandbox import Sandbox

LEVEL = "TOOLCRIB_RUN__LEVEL"


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Toolbox]:
    """With the Python of the tests, which has pytest. Some files have one of their own."""
    folder = tmp_path / "work"
    folder.mkdir()
    settings = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "run": {"python": sys.executable},
    }
    async with Toolbox(settings, workspace=folder) as made:
        yield made


@pytest.fixture(params=["strong", "kernel"])
async def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each level in turn, by the user's own setting, which a configuration may override."""
    wanted: str = request.param
    requested = os.environ.get(LEVEL, "auto")
    if requested not in ("auto", wanted):
        pytest.skip(f"{LEVEL} asks for the level {requested} alone")
    monkeypatch.setenv(LEVEL, wanted)
    services = Services(Config.load())
    try:
        report = await services.use(Sandbox).report()
    finally:
        await services.close()
    if report.level != wanted:
        absent(f"the level {wanted} does not work here: {'; '.join(report.why)}")
    return wanted


@pytest.fixture
async def strong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The level at which runs have networks of their own, whatever the others are tried at."""
    monkeypatch.setenv(LEVEL, "strong")
    services = Services(Config.load())
    try:
        report = await services.use(Sandbox).report()
    finally:
        await services.close()
    if report.level != "strong":
        absent(f"the level strong does not work here: {'; '.join(report.why)}")
