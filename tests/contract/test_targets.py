"""Walk the registry: what takes a path or a URL must refuse the forbidden ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolcrib import Toolbox
from toolcrib.core.registry import Registry
from toolcrib.core.tool import NET, READ, WRITE, Tool
from toolcrib.toolbox import installed

REGISTRY = Registry(installed())
TOOLS = list(REGISTRY)

PATHS = [
    "../outside.txt",
    "inside/../../outside.txt",
    "/etc/passwd",
    "link/outside.txt",
    "link",
    "~root/.bashrc",
    "a\x00b",
    ".env",
    "inside/.env.local",
    ".ssh/id_ed25519",
    "/proc/self/environ",
    "\\\\server\\share\\file",
    "file.txt:stream",
]
URLS = [
    "http://127.0.0.1/",
    "http://localhost:8080/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://192.168.0.1/",
    "http://metadata.google.internal/",
    "http://user:secret@example.org/",
    "http://example.org:6379/",
    "file:///etc/passwd",
    "gopher://example.org/",
    "javascript:alert(1)",
]
REFUSED_PATH = {"path_denied", "not_found", "bad_input"}
REFUSED_URL = {
    "blocked_scheme",
    "blocked_host",
    "blocked_address",
    "blocked_port",
    "bad_input",
}


def taking(kind: str) -> list[Any]:
    return [
        pytest.param(tool, p.name, id=f"{tool.name}.{p.name}")
        for tool in REGISTRY
        for p in tool.parameters
        if p.kind == kind
    ]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "inside").mkdir(parents=True)
    (root / ".ssh").mkdir()
    (tmp_path / "outside.txt").write_text("SECRET outside")
    for name in (".env", "inside/.env.local", ".ssh/id_ed25519"):
        (root / name).write_text("SECRET inside")
    (root / "link").symlink_to(tmp_path)
    return root


@pytest.mark.rows("E130")
@pytest.mark.parametrize(("tool", "name"), taking("path"))
@pytest.mark.parametrize("path", PATHS)
async def test_forbidden_paths(tool: Tool, name: str, path: str, workspace: Path) -> None:
    async with Toolbox({}, workspace=workspace) as box:
        result = await box.call(tool.name, {**filled(tool), name: path})
    assert "SECRET" not in result.render()
    assert result.error is not None
    assert result.error.code in REFUSED_PATH


@pytest.mark.rows("X4", "X5", "E132", "D14", "D15", "D16", "D17", "A37")
@pytest.mark.parametrize(("tool", "name"), taking("url"))
@pytest.mark.parametrize("url", URLS)
async def test_forbidden_urls(tool: Tool, name: str, url: str) -> None:
    async with Toolbox({}) as box:
        result = await box.call(tool.name, {**filled(tool), name: url})
    assert result.error is not None
    assert result.error.code in REFUSED_URL
    assert result.error.hint


SPELLINGS = [
    "https://evil.example/x",
    "evil.example/x",
    " https://evil.example/x",
    "HTTPS://EVIL.EXAMPLE:443/x",
    "https://evil.example./x",
    "https://evil.example/a/../x",
]


@pytest.mark.parametrize(("tool", "name"), taking("url"))
@pytest.mark.parametrize("url", SPELLINGS)
async def test_a_rule_on_targets_knows_every_spelling(tool: Tool, name: str, url: str) -> None:
    rules = [{"action": "deny", "target": "https://evil.example/*"}]
    for given in (url, ["https://fine.example/", url]):
        async with Toolbox({"policy": {"rules": rules}}) as box:
            result = await box.call(tool.name, {**filled(tool), name: given})
        is_list = next(p.is_list for p in tool.parameters if p.name == name)
        if isinstance(given, str) or is_list:
            assert result.error is not None
            assert result.error.code == "denied"


def filled(tool: Tool) -> dict[str, Any]:
    """Something for every required parameter."""
    samples = {str: "x", int: 1, float: 1.0, bool: True}
    return {p.name: samples.get(p.type, "x") for p in tool.parameters if p.required}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda t: t.name)
def test_rights_follow_what_a_tool_takes(tool: Tool) -> None:
    kinds = {p.kind for p in tool.parameters}
    if "url" in kinds:
        assert tool.rights & NET
    if "path" in kinds:
        assert tool.rights & (READ | WRITE)
