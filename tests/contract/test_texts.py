"""What tools say of each other is true: every tool that they name exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.cases import each_case
from toolcrib import tools
from toolcrib.core.config import Config
from toolcrib.core.registry import Registry
from toolcrib.core.tool import Tool, schema_of
from toolcrib.toolbox import installed

REGISTRY = Registry(installed())
SNAKE = re.compile(r"(?<![\w.])[a-z]+(?:_[a-z]+)+(?![\w.])")
FILES = sorted(Path(tools.__file__).parent.rglob("*.py"))
SETTINGS = set(re.findall(r"\w+", str(Config.model_json_schema()))) | {"api_key_env", "base_url"}
FOLDERS = {"node_modules"}
PARAMETERS = {p.name for tool in REGISTRY for p in tool.parameters}
VALUES = {
    v for tool in REGISTRY for v in re.findall(r"\w+", str(schema_of(tool.parameters))) if "_" in v
}


def texts(source: str) -> Iterator[str]:
    """The texts of a module that a model may read: docstrings of tools, hints, descriptions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AsyncFunctionDef) and node.decorator_list:
            yield ast.get_docstring(node) or ""
        if isinstance(node, ast.Call):
            displayed = [k.value for k in node.keywords if k.arg in ("hint", "description")]
            name = getattr(node.func, "id", "")
            displayed += node.args if name == "Param" or name[:1].isupper() else []
            for part in (inner for value in displayed for inner in ast.walk(value)):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def unknown(source: str) -> list[str]:
    """The names in those texts that are no tool, parameter or setting."""
    known = {tool.name for tool in REGISTRY} | PARAMETERS | VALUES | SETTINGS | FOLDERS
    return [name for text in texts(source) for name in SNAKE.findall(text) if name not in known]


@each_case("path", FILES, ids=lambda path: path.stem)
def test_every_tool_that_is_named_exists(path: Path) -> None:
    assert unknown(path.read_text(encoding="utf-8")) == []


@each_case("tool", list(REGISTRY), ids=lambda tool: tool.name)
def test_every_word_in_backticks_is_a_tool_or_a_parameter(tool: Tool) -> None:
    marked = re.findall(r"`([a-z_]+)`", f"{tool.description} {tool.guidance}")
    known = {t.name for t in REGISTRY} | {p.name for p in tool.parameters}
    assert [word for word in marked if word not in known] == []


@each_case(
    "source",
    [
        "@tool()\nasync def f():\n    'Use `no_such_tool`.'",
        "raise BadInput('x', hint='no_such_tool does it.')",
        "x: Annotated[int, Param('As no_such_tool gives it.')]",
    ],
)
def test_the_check_itself_finds_what_is_bad(source: str) -> None:
    assert unknown(source) == ["no_such_tool"]


def test_numbers_that_name_something_are_not_described_as_amounts() -> None:
    """`Count` brings a description of its own, which is for amounts."""
    described = {
        f"{tool.name} {p.name}": p.meta.description
        for tool in REGISTRY
        for p in tool.parameters
        if re.search(r"(^|_)(id|number|index|page)$", p.name)
    }
    assert "delete_memory id" in described
    assert [name for name, text in described.items() if text == "How many."] == []
