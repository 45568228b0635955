"""What a person gets from `pip install` alone: a clean environment, no development tools."""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path

import pytest

from tests.conftest import absent

ROOT = Path(__file__).parents[1]


@pytest.mark.timeout(600)
def test_a_clean_environment_has_all_it_needs(tmp_path: Path) -> None:
    place = tmp_path / "env"
    venv.create(place, with_pip=True)
    install = subprocess.run(
        [
            *(place / "bin" / "python", "-m", "pip", "install", "--quiet"),
            *("--disable-pip-version-check", "--constraint", ROOT / "constraints.txt", ROOT),
        ],
        capture_output=True,
        text=True,
    )
    if install.returncode:
        absent(f"nothing can be installed here: {install.stderr[-300:]}")
    toolcrib = place / "bin" / "toolcrib"
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("one\n")

    def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [toolcrib, *arguments], capture_output=True, text=True, cwd=work, input=stdin
        )

    assert "read_file" in run("tools").stdout
    assert run("call", "read_file", "path=a.txt").stdout.startswith("one")
    checks = json.loads(run("doctor", "--offline", "--json").stdout)
    assert checks
    refused = run("call", "fetch_url", "url=http://127.0.0.1:8080/")
    assert "Destination not allowed" in refused.stderr
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    # Without an argument and without a terminal it is the stdio server.
    answer = json.loads(run(stdin=json.dumps(hello) + "\n").stdout.splitlines()[0])
    assert answer["result"]["serverInfo"]["name"] == "toolcrib"
    listed = subprocess.run(
        [place / "bin" / "python", "-m", "pip", "list", "--format=freeze"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "pytest" not in listed
    size = sum(f.stat().st_size for f in place.rglob("*") if f.is_file() and not f.is_symlink())
    assert size < 250_000_000, "the base install stays light"
