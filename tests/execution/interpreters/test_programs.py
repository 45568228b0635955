"""Programs that are started outside of the boundary are none that a run could have put there."""

from __future__ import annotations

import os
import subprocess
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


async def test_what_lies_in_a_home_workspace_is_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs from elsewhere load from the home folder what a run can have left there."""
    own, outside, owned = tmp_path / "home", tmp_path / "bin", tmp_path / "owned"
    own.mkdir()
    monkeypatch.setenv("HOME", str(own))
    monkeypatch.setenv("PATH", f"{outside}:/usr/bin:/bin")
    monkeypatch.setenv("UV_INDEX_URL", "http://y.test/simple")
    for name in ("CARGO_HOME", "PIP_CONFIG_FILE", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    site = "import site; print(site.getusersitepackages())"
    packages = subprocess.check_output(["/usr/bin/python3", "-c", site], text=True).strip()
    assert packages.startswith(str(own))
    attack = f"open({str(owned)!r}, 'a').write('python')\n"
    put(Path(packages), "usercustomize.py", attack)
    put(Path(packages) / "toolcrib_left", "__init__.py", attack)
    put(own / ".local/share/uv/python/x/bin", "python3", f"#!/bin/sh\necho uv >> {owned}\n")
    put(own / "dotfiles", "pip.conf", "[global]\nindex-url = http://x.test/simple\n")
    (own / ".config/pip").mkdir(parents=True)
    (own / ".config/pip/pip.conf").symlink_to(own / "dotfiles/pip.conf")
    # One that loads what it finds and then tells its settings, as pip does.
    settings = (
        "import pathlib; print(pathlib.Path.home().joinpath('.config/pip/pip.conf').read_text()"
    )
    replaced = settings + ".replace('[global]\\nindex-url = ', 'global.index-url='))\n"
    loading = "try: import toolcrib_left\nexcept ImportError: pass\n"
    put(outside, "pip3", f"#!/usr/bin/python3\n{loading}{replaced}")
    begin = '#!/bin/sh\n"$HOME/.local/share/uv/python/x/bin/python3"\n'
    connect = "import os, urllib.request as u; u.urlopen(os.environ['UV_INDEX_URL'])"
    put(outside, "uv", f'{begin}/usr/bin/python3 -c "{connect}"\n')
    bench = Bench.on(own)
    try:
        indexes = await package_indexes(bench.ctx())
    finally:
        await bench.services.close()
    assert not owned.exists(), owned.read_text()
    # What they are configured for is known still, also where the file is a link.
    assert "http://x.test/simple" in indexes.urls
    assert "http://y.test:80" in indexes.urls


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
