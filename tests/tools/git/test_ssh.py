"""Remotes over ssh, against OpenSSH's own server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import calls_child
from tests.conftest import absent
from tests.servers.ssh import PROGRAM, SshServer, ssh_server, with_home
from tests.tools.git.made import git, make_repository
from toolcrib.execution.sandbox.sandbox import candidates

CHILD = Path(calls_child.__file__)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SshServer]:
    if not PROGRAM.exists():
        absent("there is no sshd (Debian's openssh-server)")
    if not candidates():
        absent("there is no bubblewrap, by which ~/.ssh becomes another")
    with ssh_server(tmp_path / "server") as running:
        yield running


def called(
    server: SshServer, ws: Path, egress: dict[str, Any], *calls: tuple[str, dict[str, Any]]
) -> list[str]:
    """What the tools answer to somebody whose `~/.ssh` is that of the server's user."""
    config = {"policy": {"default": "allow", "taint": False}, "egress": egress}
    argv = [sys.executable, str(CHILD), str(ws), json.dumps(config), json.dumps(calls)]
    done = subprocess.run(
        with_home(server, argv, candidates()[0]), capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return list(json.loads(done.stdout))


def test_a_clone_is_made_changed_and_pushed(server: SshServer, tmp_path: Path) -> None:
    bare = tmp_path / "x.git"
    git(tmp_path, "clone", "-q", "--bare", str(make_repository(tmp_path / "source")), str(bare))
    ws = tmp_path / "ws"
    ws.mkdir()
    egress = {"allow_hosts": [f"127.0.0.1:{server.port}"]}
    mark = tmp_path / "mark"
    texts = called(
        server,
        ws,
        egress,
        ("git_clone", {"url": server.url(bare), "path": "x"}),
        ("change_directory", {"path": "x"}),
        ("write_file", {"path": "a.txt", "content": "by ssh\n"}),
        ("git_commit", {"message": "by ssh", "all": True}),
        ("git_push", {}),
    )
    assert "Cloned" in texts[0]
    assert "Pushed 1 commit to main" in texts[-1], texts
    assert git(bare, "show", "main:a.txt") == "by ssh\n"
    git(ws / "x", "config", "core.sshCommand", f"touch {mark}; false")
    fetched = called(server, ws, egress, ("change_directory", {"path": "x"}), ("git_fetch", {}))
    assert "Nothing new" in fetched[-1]
    assert not mark.exists()

    refused = called(server, ws, {}, ("git_clone", {"url": server.url(bare), "path": "y"}))
    assert "egress.allow_hosts" in refused[0]
    (server.home / "known_hosts").write_text("")
    unknown = called(server, ws, egress, ("git_clone", {"url": server.url(bare), "path": "y"}))
    assert "known_hosts" in unknown[0], unknown
    assert not (ws / "y").exists()
