"""Code in the workspace is never run as a part of toolcrib, and its own code is not changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import toolcrib

PACKAGE = Path(toolcrib.__file__).parent
PLANTED = "import pathlib; pathlib.Path(__file__).with_name('planted').touch()\n"


def started(
    words: list[str], folder: Path, python: str = sys.executable, **more: str
) -> subprocess.CompletedProcess[str]:
    env = {n: v for n, v in os.environ.items() if not n.startswith("PYTHON")}
    return subprocess.run(
        [python, *words], cwd=folder, env=env | more, input="", capture_output=True, text=True
    )


@pytest.fixture
def own(own_state: None, tmp_path: Path) -> Path:
    """A workspace whose `.venv` is the environment that toolcrib runs in."""
    folder = tmp_path / "project"
    environment = folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python3*/site-packages")
    paths = [str(PACKAGE.parent), *(p for p in sys.path if p.endswith("site-packages"))]
    (packages / "toolcrib.pth").write_text("\n".join(paths))
    return folder


@pytest.mark.parametrize("variable", ["", "PYTHONPATH"])
def test_another_toolcrib_is_not_served(own_state: None, tmp_path: Path, variable: str) -> None:
    shutil.copytree(PACKAGE, tmp_path / "toolcrib", ignore=shutil.ignore_patterns("__pycache__"))
    more = {variable: str(tmp_path)} if variable else {}
    done = started(["-m", "toolcrib", "mcp"], tmp_path, **more)
    assert done.returncode == 2
    assert "not the installed toolcrib" in done.stderr
    assert started(["-I", "-m", "toolcrib", "mcp"], tmp_path, **more).returncode == 0


def test_nothing_is_imported_from_the_current_folder_later(own_state: None, tmp_path: Path) -> None:
    done = started(["-m", "toolcrib", "mcp"], tmp_path)
    assert "started with the current folder on its path" in done.stderr
    program = (
        "import sys; sys.path.insert(0, 'lib'); sys.path.insert(0, '')\n"
        "from toolcrib.system.installation import drop_beneath, require_isolated\n"
        "require_isolated(); drop_beneath(['.'])\n"
        "import importlib.util as u; print([u.find_spec(n) for n in ('here', 'beneath')])\n"
        "import toolcrib.toolbox"
    )
    (tmp_path / "here.py").write_text(PLANTED)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "beneath.py").write_text(PLANTED)
    done = started(["-P", "-c", program], tmp_path)
    assert (done.stdout, done.stderr) == ("[None, None]\n", "")


def test_the_environment_in_the_workspace_is_read_only(own: Path) -> None:
    python = str(own / ".venv/bin/python")
    (packages,) = (p.relative_to(own) for p in own.glob(".venv/lib/python3*/site-packages"))
    place = f"{packages}/evil.pth"

    def call(tool: str, **arguments: str) -> str:
        words = ["-I", "-m", "toolcrib", "call", tool, *(f"{n}={v}" for n, v in arguments.items())]
        done = started([*words, "--workspace", str(own)], own, python)
        return done.stdout + done.stderr

    assert "toolcrib's own files" in call("write_file", path=place, content="import evil")
    assert "own files" in call("run_command", command=f"echo 'import evil' > {place}; echo written")
    assert not (own / place).exists()
    assert "created" in call("write_file", path="notes.txt", content="hello\n").lower()
    served = started(["-I", "-m", "toolcrib", "mcp"], own, python)
    assert f"{own / '.venv'} can be read and not changed" in served.stderr
