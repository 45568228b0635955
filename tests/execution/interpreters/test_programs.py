"""Programs that are started outside of the boundary are none that a run could have put there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.files.changes.conftest import Bench
from toolcrib.execution.git_identity import GitIdentity
from toolcrib.execution.interpreters.programs import find_program, shell_program
from toolcrib.execution.package_indexes import package_indexes
from toolcrib.files.paths import Workspace
from toolcrib.files.search.ripgrep import find_program as find_ripgrep
from toolcrib.surfaces.cli.checks import programs
from toolcrib.system.processes import Processes

NAMES = ("git", "pip", "pip3", "python3", "npm", "node", "go", "uv", "cargo", "rg", "env", "sh")


def put(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


async def test_nothing_of_the_workspace_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside, owned = tmp_path / "ws", tmp_path / "bin", tmp_path / "owned"
    for name in NAMES:
        put(root / "bin", name, f"#!/bin/sh\necho {name} >> {owned}\n")
        put(root / "linked", name, f"#!/bin/sh\necho linked {name} >> {owned}\n")
    outside.mkdir()
    (tmp_path / "link").symlink_to(root / "bin")
    (outside / "cargo").symlink_to(root / "linked/cargo")
    # npm is a script of node, which it finds on PATH.
    put(outside, "npm", '#!/usr/bin/env node\nconsole.log(\'{"registry": "http://x.test/"}\')\n')
    put(outside, "uv", f'#!/bin/sh\n[ -z "$UV_PYTHON" ] || echo uv >> {owned}\n')
    folders = [root / "bin", tmp_path / "link", outside, "bin", ".", "/usr/bin", "/bin"]
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))
    monkeypatch.setenv("UV_PYTHON", str(root / "bin/python3"))
    monkeypatch.chdir(root)
    bench = Bench.on(root)
    ctx = bench.ctx()
    try:
        indexes = await package_indexes(ctx)
        await bench.services.use(GitIdentity).settings(ctx)
        await programs(bench.services)
        workspace = bench.services.use(Workspace)
        found = await find_ripgrep(workspace, bench.services.use(Processes))
    finally:
        await bench.services.close()
    assert not owned.exists(), owned.read_text()
    assert not found.startswith(str(tmp_path))
    assert find_program(ctx, "cargo") == ""
    assert find_program(ctx, "npm") == str(outside / "npm")
    assert shell_program(ctx) in ("/usr/bin/bash", "/bin/bash")
    assert "http://x.test/" in indexes.urls
    assert workspace.search_path() == [str(outside), "/usr/bin", "/bin"]


async def test_a_name_that_git_is_told_later_is_known_to_later_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, failed = tmp_path / "home", tmp_path / "failed"
    put(
        tmp_path / "bin",
        "git",
        f'#!/bin/sh\n[ -e {failed} ] || exit 1\nexec /usr/bin/git "$@"\n',
    )
    own.mkdir()
    monkeypatch.setenv("HOME", str(own))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    root = tmp_path / "ws"
    root.mkdir()
    bench = Bench.on(root)
    identity = bench.services.use(GitIdentity)

    async def known() -> str:
        found = await identity.settings(bench.ctx())
        return "".join(path.read_text() for path in found.readable)

    try:
        settings = own / ".gitconfig"
        settings.write_text("[user]\n\tname = Ann\n")
        assert await known() == ""  # git gave no answer
        failed.touch()
        assert "Ann" in await known()
        settings.unlink()
        assert await known() == ""
        for name in ("Berta", "Cornelia"):
            settings.write_text(f"[user]\n\tname = {name}\n")
            assert name in await known()
    finally:
        await bench.services.close()
