"""A GitHub of the tests, and nobody's own settings for the real one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers.github import TOKEN, GitHub, github

USUAL = ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_REPOSITORY", "GITHUB_REPO", "GITHUB_API_URL")


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in USUAL:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("MY_TOKEN", TOKEN)


@pytest.fixture
def hub() -> Iterator[GitHub]:
    with github() as running:
        yield running


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


def settings(hub: GitHub, **more: Any) -> dict[str, Any]:
    """As somebody who is signed in, and lets the tools write unasked."""
    policy = more.pop("policy", {"default": "allow", "taint": False})
    signed_in = {"base_url": hub.api, "token_env": "MY_TOKEN"}
    return {"github": {**signed_in, **more}, "policy": policy}
