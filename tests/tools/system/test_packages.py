"""Packages of a project from an index on loopback; off until the user turns it on."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.servers.packages import NAME, VERSION, index
from tests.servers.scripted import Scripted
from tests.tools.system.conftest import Machine
from toolcrib.core.errors import BadInput
from toolcrib.files.paths import Workspace
from toolcrib.toolbox import Toolbox
from toolcrib.tools.system.package_managers import (
    NAMES,
    Action,
    command_of,
    manager_of,
    understood,
)

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    with index() as made:
        monkeypatch.setenv("PIP_INDEX_URL", f"{made.url}/simple/")
        monkeypatch.setenv("npm_config_registry", f"{made.url}/npm/")
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
            monkeypatch.delenv(name, raising=False)
        yield made


@pytest.fixture
async def project(ws: Path, server: Scripted) -> AsyncIterator[Machine]:
    del server
    config = {"run": {"packages": True}, "store": {"url": f"sqlite:///{ws.parent}/s.db"}}
    async with Toolbox(config, workspace=ws) as box:
        yield Machine(box, ws)


async def applied(project: Machine, **arguments: object) -> str:
    """A call, and what it held for the person's eyes made as well."""
    done = await project("manage_packages", **arguments)
    if done.next is not None and done.next.tool == "apply_changes":
        await project("apply_changes", **done.next.arguments)
    return done.text


@pytest.mark.rows("C115")
async def test_pip_in_the_environment_of_the_project(project: Machine, server: Scripted) -> None:
    (project.folder / "requirements.txt").touch()
    assert ".venv in this project yet" in await project.refused("manage_packages", action="list")
    done = await applied(project, action="install", packages=[NAME])
    assert f"Successfully installed {NAME}-{VERSION}" in done, done
    assert server.origin in project.questions[0]
    listed = await project("manage_packages", action="list")
    assert {"name": NAME, "version": VERSION} in listed.data["packages"]
    assert f"{NAME} {VERSION}" in listed.text
    outdated = await project("manage_packages", action="outdated")
    assert NAME not in str(outdated.data["packages"])
    audited = await project("manage_packages", action="audit")
    assert "No broken requirements" in audited.text
    assert "were not looked up: install pip-audit" in audited.text
    assert audited.data["exit_code"] == 0
    gone = await applied(project, action="uninstall", packages=[NAME])
    assert f"Successfully uninstalled {NAME}" in gone


@pytest.mark.rows("C115")
async def test_npm_in_the_project(project: Machine) -> None:
    if not shutil.which("npm"):
        pytest.skip("npm is not on this machine")
    (project.folder / "package.json").write_text('{"name": "a", "version": "1.0.0"}')
    await applied(project, action="install", packages=[NAME])
    listed = await project("manage_packages", action="list")
    assert listed.data["packages"] == [{"name": NAME, "version": f"{VERSION}.0"}]


async def test_it_is_off_until_it_is_turned_on(machine: Machine) -> None:
    assert "run.packages" in await machine.refused("manage_packages", action="list")


async def test_the_manager_is_told_from_the_files(project: Machine) -> None:
    assert "no files of a manager" in await project.refused("manage_packages", action="list")
    (project.folder / "package.json").write_text("{}")
    (project.folder / "pyproject.toml").touch()
    assert "npm and pip" in await project.refused("manage_packages", action="list")


def test_uv_where_its_lock_is(ws: Path) -> None:
    for name in ("pyproject.toml", "uv.lock"):
        (ws / name).touch()
    folder = Workspace([str(ws)]).start("")
    assert manager_of(folder, "") == "uv"

    def line(action: Action, *names: str) -> str:
        return command_of("uv", action, names, has_venv=True).line

    assert line("install", "a>=1") == "uv add -- 'a>=1'"
    assert line("uninstall", "a") == "uv remove -- a"
    assert line("update") == "uv sync --upgrade"
    assert line("update", "a") == "uv sync --upgrade-package a"
    for found in (line("list"), line("outdated"), line("audit")):
        assert ".venv/bin/python" in found, "not the environment of toolcrib"
    with pytest.raises(BadInput, match=r"no \.venv"):
        command_of("uv", "list", [], has_venv=False)


@each_case(
    ("manager", "name"),
    [
        *(("pip", "-e."), ("pip", "--index-url=x"), ("pip", "git+https://a/b"), ("pip", "../x")),
        *(("pip", "a;id"), ("pip", "a b"), ("pip", "https://e.org/x.whl"), ("pip", "$(id)")),
        *(
            ("npm", "--global"),
            ("npm", "file:../x"),
            ("npm", "a/b"),
            ("npm", "git://a"),
            ("npm", ""),
        ),
        *(("npm", "a@https://e.org"), ("cargo", "--git=x"), ("cargo", "../x"), ("cargo", "a\nb")),
    ],
)
def test_names_that_are_none(manager: str, name: str) -> None:
    assert not NAMES[manager].fullmatch(name)  # type: ignore[index]


@each_case(
    ("manager", "name"),
    [
        *(
            ("pip", "httpx[http2]>=0.27,<1"),
            ("pip", "a.b_c==1.0.post1"),
            ("npm", "@types/node@^20"),
        ),
        *(("npm", "react@latest"), ("cargo", "serde@1.0"), ("cargo", "tokio")),
    ],
)
def test_names_that_are_some(manager: str, name: str) -> None:
    assert NAMES[manager].fullmatch(name)  # type: ignore[index]
    line = command_of(manager, "install", [name], has_venv=True).line  # type: ignore[arg-type]
    assert name in line.replace("'", "")


def test_answers_are_read() -> None:
    audit = '{"vulnerabilities": {"a": {"severity": "high", "range": "<2"}}}'
    assert understood("npm", "audit", audit) == [{"name": "a", "severity": "high", "range": "<2"}]
    outdated = '{"a": {"current": "1", "wanted": "1", "latest": "2"}}'
    assert understood("npm", "outdated", outdated) == [{"name": "a", "version": "1", "latest": "2"}]
    assert understood("npm", "list", "no json") is None
    failed = '{"error": {"code": "ENOLOCK", "summary": "It needs a lockfile.", "detail": ""}}'
    assert understood("npm", "audit", failed) is None, "its words are told as they are"
    assert understood("uv", "list", '[{"name": "a", "version": "1"}]') == [
        {"name": "a", "version": "1"}
    ]
    assert understood("pip", "list", '{"error": 1}') is None
    assert understood("cargo", "list", "a v1") is None
