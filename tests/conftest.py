"""What every test stands on: state in a folder of its own, and honest skips."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.node.tools import installed as node_tools_are_installed
from tests.services import other_services, services, spawn

__all__ = ["other_services", "services", "spawn"]

# Shared machines are slow now and then; that says nothing about the code.
settings.register_profile(
    "toolcrib",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("toolcrib")

KEPT = ("TOOLCRIB_WCXB", "TOOLCRIB_RUN__LEVEL")
"""What a person may set for the tests: a folder of pages, the level at which programs run."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "rows(*ids): the inventory rows that this test shows")
    config.addinivalue_line("markers", "needs_node: runs what scripts/install-node-tools installs")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_node") and not node_tools_are_installed():
        absent("scripts/install-node-tools has not been run")


def absent(reason: str) -> None:
    """Skip a test for what this machine lacks; in CI, where nothing may lack, fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the user's configuration nor their data is touched by a test."""
    for name in list(os.environ):
        if name.startswith("TOOLCRIB_") and name not in KEPT:
            monkeypatch.delenv(name)
    monkeypatch.setenv("TOOLCRIB_CONFIG", str(tmp_path / "state" / "config.toml"))
    monkeypatch.setenv("TOOLCRIB_DATA", str(tmp_path / "state"))
