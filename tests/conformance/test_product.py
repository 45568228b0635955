"""Those scenarios of the official suite that need no fixtures, against the product's server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conformance.suite import conformance
from tests.servers.asgi import served
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox

pytestmark = [pytest.mark.needs_node, pytest.mark.timeout(120)]

BASELINE = Path(__file__).with_name("product.yml")


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with served(create_app(Toolbox(profile="default"))) as base:
        yield f"{base}/mcp"


@pytest.mark.parametrize(
    ("scenario", "version"),
    [
        ("server-initialize", "2025-11-25"),
        ("server-session-lifecycle", "2025-11-25"),
        ("ping", "2025-11-25"),
        ("tools-list", "2025-11-25"),
        ("tools-list", "2026-07-28"),
        ("prompts-list", "2025-11-25"),
        ("prompts-list", "2026-07-28"),
        ("resources-list", "2025-11-25"),
        ("resources-list", "2026-07-28"),
        ("caching", "2026-07-28"),
        ("server-sse-multiple-streams", "2025-11-25"),
        ("server-sse-multiple-streams", "2026-07-28"),
        ("http-header-validation", "2026-07-28"),
        ("sep-2164-resource-not-found", "2026-07-28"),
        ("dns-rebinding-protection", "2025-11-25"),
        ("dns-rebinding-protection", "2026-07-28"),
        ("input-required-result-unsupported-methods", "2026-07-28"),
    ],
)
async def test_scenario(url: str, tmp_path: Path, scenario: str, version: str) -> None:
    done = await conformance(url, tmp_path, "--scenario", scenario, "--spec-version", version)
    assert done.code == 0, done


async def test_scenario_but_for_a_tool_that_lets_the_client_sample(
    url: str, tmp_path: Path
) -> None:
    done = await conformance(
        *(url, tmp_path, "--scenario", "server-stateless", "--spec-version", "2026-07-28"),
        *("--expected-failures", str(BASELINE)),
    )
    assert done.code == 0, done
