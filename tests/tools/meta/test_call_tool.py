"""Calling a tool that the host does not list."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib.toolbox import Toolbox


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "a.txt").write_text("hello\n")
    return folder


@pytest.mark.parametrize("arguments", [{"path": "a.txt"}, '{"path": "a.txt"}'])
async def test_the_tool_answers(folder: Path, arguments: object) -> None:
    async with Toolbox(profile="search", workspace=folder) as box:
        assert "read_file" not in [t.name for t in box.listed]
        result = await box.call("call_tool", {"name": "read_file", "arguments": arguments})
    assert result.error is None
    assert result.text == "hello\n"


async def test_without_arguments(folder: Path) -> None:
    async with Toolbox(workspace=folder) as box:
        result = await box.call("call_tool", {"name": "list_directory"})
    assert "a.txt" in result.text


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ({"name": "read_file", "arguments": {"path": "../x"}}, "path_denied", ""),
        ({"name": "read_file", "arguments": {"pth": "x"}}, "bad_input", "no argument 'pth'"),
        ({"name": "read_file", "arguments": "{"}, "bad_input", "not valid JSON"),
        ({"name": "no_such_tool"}, "unknown_tool", "no_such_tool"),
        ({"name": "call_tool"}, "bad_input", "cannot call itself"),
        ({"name": "run_tool"}, "bad_input", "cannot call itself"),
    ],
)
async def test_what_goes_wrong(
    folder: Path, arguments: dict[str, object], code: str, says: str
) -> None:
    async with Toolbox(workspace=folder) as box:
        result = await box.call("call_tool", arguments)
    assert result.error
    assert result.error.code == code
    assert says in result.error.message


async def test_the_rules_of_the_called_tool_hold(folder: Path) -> None:
    rule = {"action": "deny", "tool": "read_file"}
    config = {"policy": {"rules": [rule]}, "workspace": {"roots": [str(folder)]}}
    async with Toolbox(config) as box:
        called = {"name": "read_file", "arguments": {"path": "a.txt"}}
        result = await box.call("call_tool", called)
    assert result.error
    assert result.error.code == "denied"
