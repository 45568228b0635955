"""Interpreters: data packages, pictures, TypeScript, LM Studio's programs, git's identity."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import absent
from toolcrib import Result, Toolbox

pytestmark = [pytest.mark.rows("C073", "E31"), pytest.mark.timeout(120)]
DATA = pytest.mark.skipif(not find_spec("matplotlib"), reason="the extra data is not installed")
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\n"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def box_on(folder: Path, **run: Any) -> Toolbox:
    settings = {"store": {"url": f"sqlite:///{folder.parent}/s.db"}, "run": run}
    return Toolbox(settings, workspace=folder)


@pytest.fixture
async def box(folder: Path, level: str) -> AsyncIterator[Toolbox]:
    del level  # it is in the environment
    async with box_on(folder) as made:
        yield made


async def fine(box: Toolbox, name: str, **arguments: Any) -> Result:
    result = await box.call(name, arguments)
    assert result.error is None, result.render()
    assert result.data["exit_code"] == 0, result.text
    return result


@DATA
async def test_the_packages_of_the_extra_are_found_and_pictures_come_back(
    box: Toolbox, folder: Path
) -> None:
    code = (
        f"import numpy, pandas\n{PLOT}plt.show()\nplt.figure()\nplt.show()\nnumpy.arange(3).sum()"
    )
    displayed = await fine(box, "run_python", code=code)
    assert [image.data[:8] for image in displayed.images] == [PNG, PNG]
    assert "3" in displayed.text
    assert not list(folder.iterdir())
    saved = await fine(box, "run_python", code=f"{PLOT}plt.savefig('a.png')")
    assert [image.data for image in saved.images] == [(folder / "a.png").read_bytes()]
    left = await fine(box, "run_python", code=PLOT)
    assert len(left.images) == 1


async def test_pictures_have_a_budget_and_only_pictures_are_shown(
    box: Toolbox, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.png").write_bytes(PNG + b"CANARY")
    code = f"""
import os
folder = os.environ.get("TOOLCRIB_PICTURES", "")
assert folder == ""
for n in range(30):
    open(f"p{{n}}.png", "wb").write({PNG!r} + b"x" * n)
open("large.png", "wb").write({PNG!r} + bytes(2_000_000))
open("text.png", "w").write("no picture")
os.symlink({str(tmp_path / "secret.png")!r}, "link.png")
"""
    result = await fine(box, "run_python", code=code)
    assert 0 < len(result.images) <= 4
    assert all(image.data.startswith(PNG) and len(image.data) < 100 for image in result.images)
    assert all(b"CANARY" not in image.data for image in result.images)


@pytest.mark.skipif(not shutil.which("git"), reason="git is not on this machine")
async def test_git_knows_the_user_and_nothing_else(
    folder: Path, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del level
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        '[user]\n\tname = "Ada \\"A\\" L"\n\temail = ada@a.example\n[alias]\n\tsecret = CANARY\n'
    )
    monkeypatch.setenv("HOME", str(home))
    make = "git init -q r && cd r && git commit -q --allow-empty -m one && git log --format=%an+%ae"
    async with box_on(folder) as box:
        result = await fine(box, "run_command", command=f"{make}; git config -l --show-scope")
        assert 'Ada "A" L+ada@a.example' in result.text
        assert "CANARY" not in result.text
        own = "cd r && git config user.name Own && git commit -q --allow-empty -m two"
        result = await fine(box, "run_command", command=f"{own} && git log -1 --format=%an")
        assert result.text.startswith("Own\n")
        result = await fine(
            box,
            "run_command",
            command="git config --global user.name B; git -C r var GIT_COMMITTER_IDENT",
        )
        assert result.data["exit_code"] == 0


@pytest.mark.rows("F11")
async def test_lm_studios_own_programs_are_found(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, studio = tmp_path / "home", tmp_path / "studio"
    utils = studio / ".internal/utils"
    python = studio / "extensions/backends/vendor/_amphibian/cpython3.11-linux-x86@7/bin"
    for place in (home, utils, python):
        place.mkdir(parents=True)
    (home / ".lmstudio-home-pointer").write_text(f"{studio}\n")
    (utils / "deno").write_text("#!/bin/sh\ncat >/dev/null; echo from its deno\n")
    (utils / "deno").chmod(0o755)
    (python / "python3").symlink_to(os.path.realpath(sys.executable))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    async with box_on(folder, javascript="deno", python="lmstudio") as box:
        result = await fine(box, "run_javascript", code="1")
        assert result.text.startswith("from its deno")
        result = await fine(box, "run_python", code="'from its python'")
        assert "from its python" in result.text
        assert result.data["interpreter"]["path"] == str(python / "python3")


async def test_node_strips_types_where_it_can(folder: Path) -> None:
    node = shutil.which("node") or absent("Node.js is not on this machine")
    requested = "typeof require('node:module').stripTypeScriptTypes"
    can = subprocess.run([str(node), "-p", requested], capture_output=True, text=True, check=True)
    async with box_on(folder, javascript="node") as box:
        typed = await box.call(
            "run_javascript", {"code": "const x: number = 41\nconsole.log(x + 1)"}
        )
        plain = await fine(
            box, "run_javascript", code="const [a, b, c, d] = [1, 2, 3, 4];\n[a<b, c>(d)].join()"
        )
        assert "true,false" in plain.text
        if can.stdout.strip() == "function":
            assert typed.text.startswith("42"), typed.text
        else:
            assert "TypeScript needs Node.js 22.13" in typed.text
