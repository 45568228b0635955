"""A tool that declares a path is given a checked one."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from tests.files.paths.conftest import Tree
from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, tool
from toolcrib.files.paths import SafePath, WorkspacePath, WritablePath
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("E130", "E131")


@tool(group="sample", rights=READ)
async def look(
    path: WorkspacePath, others: list[WorkspacePath] | None = None, *, ctx: Ctx
) -> Result:
    """Look at some paths."""
    assert isinstance(path, SafePath)
    return Result(" ".join(p.display for p in (path, *(others or []))))


@tool(group="sample", rights=WRITE)
async def change(path: WritablePath, *, ctx: Ctx) -> Result:
    """Pretend to write."""
    return Result(path.absolute)


def box_for(tree: Tree, **workspace: object) -> Toolbox:
    config = {"workspace": {"roots": [str(tree.root)], **workspace}}
    return Toolbox(config, tools=[look, change])


def test_the_schema_says_string() -> None:
    properties = look.schema["properties"]
    assert properties["path"] == {"type": "string"}
    assert properties["others"]["items"] == {"type": "string"}
    assert [p.kind for p in look.parameters] == ["path", "path"]


async def test_paths_arrive_checked(tree: Tree) -> None:
    async with box_for(tree) as box:
        result = await box.call("look", {"path": "./src", "others": ["a/../b", "new"]})
        assert result.text == "src b new"
        result = await box.call("change", {"path": "src/new.txt"})
        assert result.text == f"{tree.root}/src/new.txt"


@each_case(
    ("name", "arguments", "code"),
    [
        ("look", {"path": "../ws_evil/secret.txt"}, "path_denied"),
        ("look", {"path": "ok", "others": ["ok", "/etc/passwd"]}, "path_denied"),
        ("look", {"path": ".env"}, "path_denied"),
        ("look", {"path": "a/private/b"}, "path_denied"),
        ("look", {"path": ""}, "bad_input"),
        ("change", {"path": ".env"}, "path_denied"),
        ("change", {"path": ".git/hooks/pre-commit"}, "path_denied"),
        ("change", {"path": "generated/x"}, "path_denied"),
        ("look", {"path": "generated/x"}, ""),
        ("look", {"path": ".git/hooks/pre-commit"}, ""),
        ("look", {"path": ".env.test"}, ""),
    ],
)
async def test_refusals(tree: Tree, name: str, arguments: dict[str, object], code: str) -> None:
    lists = {
        "protect_read": "private, *.secret",
        "protect_write": "generated\nvendor",
        "unprotect": [".env.test"],
    }
    async with box_for(tree, **lists) as box:
        result = await box.call(name, arguments)
        assert (result.error.code if result.error else "") == code
