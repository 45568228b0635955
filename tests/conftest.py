"""What every test stands on: state in a folder of its own, and honest skips."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Shared machines are slow now and then; that says nothing about the code.
settings.register_profile(
    "toolcrib",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("toolcrib")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "rows(*ids): the inventory rows that this test shows")


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the user's configuration nor their data is touched by a test."""
    for name in list(os.environ):
        if name.startswith("TOOLCRIB_") and name != "TOOLCRIB_WCXB":
            monkeypatch.delenv(name)
    monkeypatch.setenv("TOOLCRIB_CONFIG", str(tmp_path / "state" / "config.toml"))
    monkeypatch.setenv("TOOLCRIB_DATA", str(tmp_path / "state"))
