"""A toolbox over a workspace of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolcrib.toolbox import Toolbox


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
async def box(ws: Path) -> AsyncIterator[Toolbox]:
    async with Toolbox(workspace=ws) as opened:
        yield opened
