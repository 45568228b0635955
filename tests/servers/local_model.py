"""A real small model behind an OpenAI-compatible server, in a process of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.models import found

EXAMPLE = Path(__file__).parents[2] / "examples" / "local_model.py"


def missing(name: str) -> str:
    """Why a model cannot be run here; empty where it can."""
    if find_spec("xllamacpp") is None:
        return "xllamacpp is not installed"
    return "" if found(name) else f"no weights: python -m tests.models {name} fetches them"


@contextmanager
def local_model(name: str) -> Iterator[str]:
    """Serve a model; gives the base URL, without /v1.

    Raises:
        LookupError: it cannot be run here.
    """
    path = found(name)
    if why := missing(name):
        raise LookupError(why)
    # It ends with whoever is served, also one that is killed.
    front = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    process = subprocess.Popen(
        [*front, sys.executable, str(EXAMPLE), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        if not url.startswith("http://127.0.0.1:"):
            raise LookupError(f"the model server did not start: {url!r}")
        yield url
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
