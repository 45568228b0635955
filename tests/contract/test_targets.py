"""Walk the registry: what takes a path or a URL must refuse the forbidden ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tests.contract.arguments import forms, places
from toolcrib import Toolbox
from toolcrib.core.registry import Registry
from toolcrib.core.tool import NET, READ, WRITE, Right, Tool
from toolcrib.toolbox import installed

REGISTRY = Registry(installed())
TOOLS = list(REGISTRY)

# Refused by the spelling alone.
SPELT = [
    "../outside.txt",
    "inside/../../outside.txt",
    "/etc/passwd",
    "{outside}/outside.txt",
    "{root}_evil/outside.txt",
    "a\x00b",
    ".env",
    ".ENV",
    "inside/.env.local",
    "inside/../.env",
    ".ssh/id_ed25519",
    "{root}/.env",
    "/proc/self/environ",
    "\\\\server\\share\\file",
    "//server/share",
    "C:\\Windows\\win.ini",
    "\\\\?\\C:\\x",
    "NUL",
    "inside/con",
    "file.txt::$DATA",
    "a\nb",
    "..\\..\\outside.txt",
]
# Refused when they are opened: each leads to something else than its name says.
LEADING = ["link/outside.txt", "link", "to-file", "to-secret", "twin.txt", "fifo", "loop", "fifo/x"]
# Never written, although they may be read.
NEVER_WRITTEN = [
    ".git/hooks/pre-commit",
    ".git/config",
    ".GIT/config",
    ".gitmodules",
    ".vscode/tasks.json",
    ".mcp.json",
    ".bashrc",
    "to-hooks/pre-commit",
    "second.txt",
]
CANARY = "canary-4711"
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
REFUSED_URL = {
    "blocked_scheme",
    "blocked_host",
    "blocked_address",
    "blocked_port",
    "bad_input",
    "path_denied",  # git takes folders too
}


def taking(kind: str) -> list[Any]:
    return [
        pytest.param(tool, p.name, id=f"{tool.name}.{p.name}")
        for tool in REGISTRY
        for p in tool.parameters
        if p.kind == kind
    ]


def by_path(rights: Right) -> list[Any]:
    return [
        pytest.param(tool, method, id=f"{tool.name}.{'.'.join(method)}")
        for tool in REGISTRY
        if tool.rights & rights
        for method in places(tool, "path")
    ]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    outside = tmp_path / "outside"
    for folder in ("inside", ".ssh", ".git/hooks", ".GIT", ".vscode"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for folder in (outside, tmp_path / "workspace_evil"):
        folder.mkdir()
        (folder / "outside.txt").write_text(f"SECRET {CANARY}\n")
    (tmp_path / "outside.txt").write_text(f"SECRET {CANARY}\n")
    for name in (".env", ".ENV", "inside/.env.local", ".ssh/id_ed25519"):
        (root / name).write_text(f"SECRET {CANARY}\n")
    for name in NEVER_WRITTEN[:-2]:
        (root / name).write_text("SECRET kept\n")
    (root / "fine.txt").write_text("SECRET fine\n")
    os.link(root / ".env", root / "twin.txt")
    (outside / "same.txt").write_text("SECRET kept\n")
    os.link(outside / "same.txt", root / "second.txt")
    os.mkfifo(root / "fifo")
    links = {"link": "../outside", "to-file": "../outside/outside.txt", "to-secret": ".env"}
    for name, target in {**links, "loop": "loop", "to-hooks": ".git/hooks"}.items():
        (root / name).symlink_to(target)
    return root


def stored(workspace: Path) -> dict[str, bytes]:
    """What no call may change: all outside, and the protected files inside."""
    top = workspace.parent
    files = [p for p in top.rglob("*") if p.is_file() and not p.is_symlink()]
    outside = [p for p in files if workspace not in p.parents and "state" not in p.parts]
    inside = [workspace / name for name in (*NEVER_WRITTEN[:-2], ".env", ".ssh/id_ed25519")]
    return {str(p): p.read_bytes() if p.exists() else b"gone" for p in [*outside, *inside]}


@pytest.mark.rows("E130", "X12", "X20")
@each_case(("tool", "method"), by_path(READ | WRITE))
async def test_forbidden_paths(tool: Tool, method: tuple[str, ...], workspace: Path) -> None:
    before = stored(workspace)
    async with Toolbox({"run": {"packages": True}}, workspace=workspace) as box:
        for path in SPELT:
            spelt = path.format(root=workspace, outside=workspace.parent / "outside")
            codes = set()
            for arguments in forms(tool, method, spelt, f"SECRET {CANARY}"):
                result = await box.call(tool.name, arguments)
                assert CANARY not in result.render()
                assert result.error is not None, arguments
                assert result.error.hint
                codes.add(result.error.code)
            # A control character may break the text that holds the path before.
            refused = codes & {"path_denied"} or method[-1] == "patch"
            # This one may change variables of a protected file, once a person has let it.
            refused = refused or (tool.name == "update_env_file" and codes == {"needs_approval"})
            assert refused, (path, codes)
    assert stored(workspace) == before


@pytest.mark.rows("E130", "X12", "X20")
@pytest.mark.parametrize(("tool", "method"), by_path(READ | WRITE))
async def test_paths_that_lead_elsewhere(
    tool: Tool, method: tuple[str, ...], workspace: Path
) -> None:
    before = stored(workspace)
    writes = bool(tool.rights & WRITE)
    async with Toolbox({}, workspace=workspace) as box:
        for path in LEADING:
            for arguments in forms(tool, method, path, f"SECRET {CANARY}"):
                result = await box.call(tool.name, arguments)
                assert CANARY not in result.render(), arguments
                # A link itself may be moved or deleted; what it leads to may not.
                looks = path in NEVER_OPENED.get(tool.name, ())
                assert result.error is not None or writes or looks, arguments
    assert stored(workspace) == before


NEVER_OPENED = {"file_info": ["fifo"], "list_changes": LEADING}
"""What a tool tells something of, or takes as a mere name, without opening it."""


@pytest.mark.rows("E130", "X20")
@each_case(("tool", "method"), by_path(WRITE))
async def test_what_is_never_written(tool: Tool, method: tuple[str, ...], workspace: Path) -> None:
    before = stored(workspace)
    async with Toolbox({}, workspace=workspace) as box:
        for path in NEVER_WRITTEN:
            for arguments in forms(tool, method, path, "SECRET kept"):
                await box.call(tool.name, arguments)
    assert stored(workspace) == before


@each_case(("tool", "method"), by_path(READ))
async def test_nothing_protected_is_found(
    tool: Tool, method: tuple[str, ...], workspace: Path
) -> None:
    """Whatever goes through the whole workspace passes over what a call may not name."""
    if tool.rights & (WRITE | NET):
        return
    texts = {p.name: "SECRET" for p in tool.parameters if p.required and p.type is str}
    async with Toolbox({}, workspace=workspace) as box:
        for arguments in forms(tool, method, ".", ""):
            result = await box.call(tool.name, {**arguments, **texts})
            assert CANARY not in result.render()


def test_every_path_of_a_record_is_a_target() -> None:
    """The forbidden set reaches nested paths too, and rules of the policy do."""
    nested = [method for tool in TOOLS for method in places(tool, "path") if len(method) > 1]
    for tool in TOOLS:
        declared = [p.name for p in tool.parameters if "path" in p.kinds]
        assert declared == list(dict.fromkeys(method[0] for method in places(tool, "path")))
    assert all(len(method) == 2 for method in nested)


@pytest.mark.rows("X4", "X5", "E132", "D14", "D15", "D16", "D17", "A37")
@each_case(("tool", "name"), taking("url"))
@each_case("url", URLS)
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


@each_case(("tool", "name"), taking("url"))
@each_case("url", SPELLINGS)
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


@each_case("tool", TOOLS, ids=lambda t: t.name)
def test_rights_follow_what_a_tool_takes(tool: Tool) -> None:
    kinds = {kind for p in tool.parameters for kind in p.kinds}
    if "url" in kinds:
        assert tool.rights & NET
    if "path" in kinds:
        assert tool.rights & (READ | WRITE)
