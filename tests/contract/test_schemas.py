"""Every schema is one that any host can take: flat, typed, described, and short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cases import each_case
from toolcrib.core.tool import Tool
from toolcrib.surfaces.mcp.server import listing
from toolcrib.toolbox import installed

KEYWORDS = {
    "object": {"type", "properties", "required", "description"},
    "array": {"type", "items", "description"},
    "string": {"type", "enum", "description"},
    "integer": {"type", "description"},
    "number": {"type", "description"},
    "boolean": {"type", "description"},
}
"""All that a node may say. Whatever is not here has broken some host's grammar."""

DEEPEST = 3
LONGEST_DESCRIPTION = 110
SAYS_IT_ALL = {
    *("query", "queries", "url", "path", "source", "id", "new", "new_name"),
    *("limit", "page", "max_tokens"),
    *("message", "branch", "revision", "range", "since", "author", "onto", "text", "remote"),
    *("command", "cwd", "code", "input", "paths", "urls", "question", "links", "lines"),
    *("columns", "headers", "group", "sheet", "save_to", "output", "from_format", "sql", "title"),
    *("dry_run", "colors", "x", "y", "other", "quality"),
}
"""Parameters whose name is description enough. A list of choices is, too."""
SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
every_tool = pytest.mark.parametrize("tool", installed(), ids=lambda tool: tool.name)


def nodes(schema: dict[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Any, int]]:
    """Every node of a schema with its path and depth."""
    yield path, schema, depth
    for name, node in schema.get("properties", {}).items():
        yield from nodes(node, f"{path}.{name}", depth + 1)
    if isinstance(schema.get("items"), dict):
        yield from nodes(schema["items"], f"{path}[]", depth + 1)


def faults(schema: dict[str, Any]) -> list[str]:
    """What is wrong with a schema, as `path: fault`."""
    found = []
    for path, node, depth in nodes(schema):
        kind = str(node.get("type"))
        if kind not in KEYWORDS:
            found.append(f"{path}: type {kind!r}")
            continue
        found += [f"{path}: {word}" for word in sorted(set(node) - KEYWORDS[kind])]
        if depth > DEEPEST:
            found.append(f"{path}: too deep")
        if kind == "object" and path and not node.get("properties"):
            found.append(f"{path}: empty object")
        if kind == "array" and not isinstance(node.get("items"), dict):
            found.append(f"{path}: items without a schema")
        found += [f"{path}: requires {n}" for n in _missing(node)]
        if "enum" in node and not _is_enum(node["enum"]):
            found.append(f"{path}: enum")
    return found


def _missing(node: dict[str, Any]) -> list[str]:
    return sorted(set(node.get("required", ())) - set(node.get("properties", ())))


def _is_enum(values: Any) -> bool:
    return (
        bool(values) and all(isinstance(v, str) for v in values) and len(set(values)) == len(values)
    )


@every_tool
@pytest.mark.rows("S8.2", "C191")
def test_the_schema_is_safe(tool: Tool) -> None:
    assert faults(tool.schema) == []


@every_tool
def test_names_are_snake_case(tool: Tool) -> None:
    names = [tool.name, *tool.all_aliases, *(p.name for p in tool.parameters)]
    for _, node, _ in nodes(tool.schema):
        names += node.get("properties", ())
    assert [name for name in names if not SNAKE.fullmatch(name)] == []
    assert len(tool.name) <= 40


@every_tool
def test_everything_is_described_and_briefly(tool: Tool) -> None:
    assert 10 <= len(tool.description) <= LONGEST_DESCRIPTION
    assert "\n" not in tool.description
    for parameter in tool.parameters:
        name, reply = parameter.name, parameter.description
        node = tool.schema["properties"].get(name, {})
        assert len(reply) <= LONGEST_DESCRIPTION, name
        assert len(reply) >= 3 or "enum" in node or name in SAYS_IT_ALL, name


@every_tool
def test_all_four_annotations_are_set(tool: Tool) -> None:
    annotations = listing(tool).annotations
    assert annotations is not None
    hints = annotations.model_dump()
    assert set(hints) == {
        *("title", "read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")
    }
    assert None not in hints.values()
    assert not (hints["read_only_hint"] and hints["destructive_hint"])


@each_case(
    "node",
    [
        {"type": "string", "pattern": "^a$"},
        {"type": "string", "format": "uri"},
        {"type": "string", "maxLength": 9},
        {"type": "array", "items": {"type": "string"}, "maxItems": 5},
        {"type": "array"},
        {"type": "object", "properties": {}},
        {"type": "object"},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"$ref": "#/$defs/x"},
        {"const": 1},
        {"description": "no type"},
        {"type": "integer", "minimum": 1},
        {"type": "string", "enum": []},
    ],
)
def test_the_linter_finds_what_is_bad(node: dict[str, Any]) -> None:
    assert faults({"type": "object", "properties": {"x": node}})
    assert faults({"type": "object", "properties": {"x": {"type": "array", "items": node}}})
