"""The program under test, with some more tools installed beside its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.cli.program import SAMPLES, Program, end_fork_server

POINTS = "[toolcrib.tools]\nsamples = crib_samples\n"
FACTS = "Metadata-Version: 2.1\nName: crib-samples\nVersion: 1.0\n"


@pytest.fixture(scope="module", autouse=True)
def no_fork_server_is_left() -> Iterator[None]:
    """End the process that runs are forked from with the tests of a file."""
    yield
    end_fork_server()


@pytest.fixture
def program(tmp_path: Path, own_state: None) -> Program:
    """`toolcrib`, at home in a folder of its own, started in an empty workspace."""
    installed = tmp_path / "site"
    facts = installed / "crib_samples-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "entry_points.txt").write_text(POINTS)
    (facts / "METADATA").write_text(FACTS)
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    home.mkdir()
    workspace.mkdir()
    stored = [n for n in os.environ if not n.startswith(("XDG_", "PYTHON", "COLUMNS"))]
    env = {name: os.environ[name] for name in stored}
    env |= {
        "HOME": str(home),
        "PYTHONPATH": os.pathsep.join([str(installed), str(SAMPLES)]),
        "PYTHONWARNINGS": "error",
    }
    return Program(workspace, env)
