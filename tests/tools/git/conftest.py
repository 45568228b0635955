"""A repository in a workspace, and a toolbox on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.git.made import make_repository
from toolcrib import Toolbox

PERSON = "[user]\n\tname = Ann\n\temail = ann@example.com\n"


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own settings of git, in a home of their own."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(PERSON)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "ws")


@pytest.fixture
async def box(repo: Path) -> AsyncIterator[Toolbox]:
    async with Toolbox(workspace=repo) as opened:
        yield opened
