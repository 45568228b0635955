"""The compose file, the unit of systemd and what the Dockerfile leaves out."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from tests.conftest import absent
from tests.deploy.files import GUIDE, ROOT, displayed, steps
from tests.servers.asgi import served
from toolcrib.core.config import Config
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox

TOKEN = "0123456789abcdef0123"


def compose() -> dict[str, Any]:
    text = (ROOT / "compose.yaml").read_text("utf-8")
    for form in ("${TOOLCRIB_TOKEN:?see the first lines of compose.yaml}", "${TOOLCRIB_TOKEN}"):
        assert form in text
        text = text.replace(form, TOKEN)
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_the_compose_file_is_one_by_its_schema() -> None:
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", "vendor.compose-spec", ROOT / "compose.yaml"),
        ],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


async def test_open_webui_reaches_the_tools_as_the_compose_file_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    services = compose()["services"]
    image = {
        name: value
        for word, rest in steps((ROOT / "Dockerfile").read_text("utf-8"))
        if word == "ENV"
        for name, _, value in (pair.partition("=") for pair in shlex.split(rest))
    }
    variables = {**image, **services["toolcrib"]["environment"]}
    (tmp_path / "workspace").mkdir()
    variables |= {"TOOLCRIB_WORKSPACE__ROOTS": str(tmp_path / "workspace")}
    for name, value in variables.items():
        if name.startswith("TOOLCRIB_") and name != "TOOLCRIB_DATA":
            monkeypatch.setenv(name, value)
    config = Config.load()
    assert config.http.host == "0.0.0.0"
    (connection,) = json.loads(services["open-webui"]["environment"]["TOOL_SERVER_CONNECTIONS"])
    where = httpx2.URL(connection["url"]).join(connection["path"])
    assert where.host in services
    async with (
        served(create_app(Toolbox(config, profile=config.profile))) as base,
        httpx2.AsyncClient(base_url=base, headers={"Host": where.netloc.decode()}) as client,
    ):
        assert (await client.get(where.path)).status_code == 401
        client.headers["Authorization"] = f"Bearer {connection['key']}"
        assert "/tools/read_file" in (await client.get(where.path)).json()["paths"]
        written = await client.post("/tools/write_file", json={"path": "a.txt", "content": "x"})
        assert written.status_code == 200, written.text
    assert (tmp_path / "workspace" / "a.txt").read_text() == "x"


def test_the_page_of_open_webui_is_for_this_machine() -> None:
    services = compose()["services"]
    assert "ports" not in services["toolcrib"]
    assert all(port.startswith("127.0.0.1:") for port in services["open-webui"]["ports"])
    assert services["toolcrib"]["cap_drop"] == ["ALL"]


def test_all_that_the_image_copies_is_let_through_to_it() -> None:
    let_through = {
        line.removeprefix("!").rstrip("/")
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line.startswith("!")
    }
    copied = [
        source
        for word, rest in steps((ROOT / "Dockerfile").read_text("utf-8"))
        if word == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    ]
    assert set(copied) == let_through
    assert all((ROOT / source).exists() for source in copied)


def test_the_guide_and_the_compose_file_begin_alike() -> None:
    commands = [
        line.removeprefix("#").strip()
        for line in (ROOT / "compose.yaml").read_text("utf-8").splitlines()
        if line.startswith("#   ")
    ]
    assert len(commands) == 3
    guide = GUIDE.read_text("utf-8")
    assert not [command for command in commands if command not in guide]


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        absent("systemd-analyze is not installed")
    program = tmp_path / ".local" / "bin" / "toolcrib"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "toolcrib.service").write_text(displayed("ini"))
    (tmp_path / "run").mkdir(mode=0o700)
    where = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path / "run")}

    def verified() -> str:
        ran = subprocess.run(
            ["systemd-analyze", "--user", "verify", "./toolcrib.service"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **where},
        )
        return "".join(line for line in ran.stderr.splitlines() if "toolcrib" in line)

    assert verified() == ""
    # It would tell: a line that is wrong is not taken.
    (tmp_path / "toolcrib.service").write_text(displayed("ini").replace("on-failure", "sometimes"))
    assert "sometimes" in verified()
