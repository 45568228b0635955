"""The official conformance suite against its fixtures on toolcrib's own server factory."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conformance.suite import conformance, failing
from tests.servers.asgi import served
from tests.servers.conformance_app import create_fixture_app

pytestmark = [pytest.mark.needs_node, pytest.mark.timeout(300)]

UNSCORED = {
    f"tasks-{part}"
    for part in (
        *("lifecycle", "capability-negotiation", "wire-fields", "request-state-removal"),
        *("mrtr-input", "request-headers", "dispatch-and-envelope", "required-task-error"),
        "mrtr-composition",
    )
}
"""The tasks extension, which toolcrib does not offer: long work goes on as a job of its own."""


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with served(create_fixture_app()) as base:
        yield f"{base}/mcp"


async def test_what_2026_07_28_requires(url: str, tmp_path: Path) -> None:
    done = await conformance(url, tmp_path, "--requirements", "2026-07-28")
    assert done.code == 0, done
    assert failing(done) <= UNSCORED, done


async def test_all_of_2025_11_25_with_sessions(url: str, tmp_path: Path) -> None:
    done = await conformance(url, tmp_path, "--suite", "all", "--spec-version", "2025-11-25")
    assert done.code == 0, done
    passed = re.search(r"^Total: (\d+) passed, 0 failed", done.out, re.MULTILINE)
    assert passed, done
    assert int(passed.group(1)) >= 80, done
