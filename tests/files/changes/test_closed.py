"""A run that closes what it made, or gives it other names, does not keep undo from its step."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import absent
from tests.files.changes.closed_scenarios import SCENARIOS
from tests.files.changes.conftest import Bench

HERE = Path(__file__).parents[3]
NO_OVERRIDE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
"""What takes from root that no bits bind it."""


@pytest.mark.skipif(sys.platform != "linux", reason="only there a closed file is opened up")
@pytest.mark.parametrize("name", SCENARIOS)
def test_undo_opens_up_what_is_closed(root: Path, name: str) -> None:
    argv = [sys.executable, "-m", "tests.files.changes.closed_scenarios", name, str(root)]
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            absent("setpriv is not installed")
        argv = [*NO_OVERRIDE, *argv]
    done = subprocess.run(argv, cwd=HERE, capture_output=True, text=True, check=False)
    subprocess.run(["chmod", "-R", "u+rwx", str(root)], check=True)
    assert done.returncode == 0, done.stderr


async def test_what_has_further_names_is_undone_and_told(bench: Bench, root: Path) -> None:
    (root / "f").write_bytes(b"old")
    await bench.write("f", b"new")
    os.link(root / "f", root / "other")
    applied = await bench.undo()
    assert (root / "f").read_bytes() == b"old"
    assert (root / "other").read_bytes() == b"new"
    assert "f had more names (hard links)" in applied.note
