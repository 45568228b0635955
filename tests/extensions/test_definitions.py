"""What another server says of its tools becomes names, schemas and arguments as ours are."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.contract.test_schemas import KEYWORDS, nodes
from toolcrib.core.names import plain
from toolcrib.extensions.definitions import MAX_NAME, ToolDefinition, listed_names
from toolcrib.extensions.foreign_tools import ForeignTool
from toolcrib.extensions.schemas import flattened

WORDS = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "enum",
        "anyOf",
        "$ref",
        "required",
        "string",
        "object",
        "array",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | WORDS | st.just("#/$defs/a"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(WORDS | st.text(max_size=6), inner, max_size=5)
    ),
    max_leaves=25,
)
PROPERTY = st.fixed_dictionaries(
    {},
    optional={
        "type": JSON,
        "enum": JSON,
        "anyOf": JSON,
        "$ref": JSON,
        "items": JSON,
        "description": JSON,
    },
)
SCHEMA = st.fixed_dictionaries(
    {
        "properties": st.dictionaries(
            st.text(min_size=0, max_size=8) | st.just("ctx"), PROPERTY, max_size=6
        )
    },
    optional={"required": JSON, "$defs": JSON, "type": JSON},
)


def faults(schema: dict[str, Any]) -> list[str]:
    return [
        f"{path}: {node}"
        for path, node, depth in nodes(schema)
        if node.get("type") not in KEYWORDS or set(node) - KEYWORDS[node["type"]] or depth > 2
    ]


@given(SCHEMA | JSON)
def test_any_schema_becomes_a_flat_one(schema: Any) -> None:
    found = flattened(schema)
    assert faults(found.schema) == []
    assert len(json.dumps(found.schema)) < 20_000
    given = {p.name: None for p in found.parameters}
    assert found.sent(given) == {}


def test_schemas_that_are_too_much_take_one_object() -> None:
    many = {"properties": {f"p{n}": {"type": "string"} for n in range(100)}}
    for schema in (
        many,
        {"properties": {"a_b": {"type": "string"}, "aB": {"type": "string"}}},
        {"properties": {"a b": {"type": "string"}, "a_b": {"type": "string"}}},
        {"properties": {"": {"type": "string"}}},
        {"properties": {"arguments": {"type": "string"}}, "additionalProperties": True},
        {"properties": {}, "required": ["x"]},
    ):
        found = flattened(schema)
        assert found.whole, schema
        assert [p.name for p in found.parameters] == ["arguments"]
        assert found.sent({"arguments": {"ctx": 1}}) == {"ctx": 1}


def test_names_that_schemas_of_tools_cannot_have_are_written_otherwise() -> None:
    names = ["w-x.y z", "ctx", "Größe", "1st", "x" * 80, "fits"]
    found = flattened({"properties": {name: {"type": "string"} for name in names}})
    names_here = [parameter.name for parameter in found.parameters]
    assert names_here == ["w-x.y_z", "_ctx", "Gr_e", "_1st", "x" * 63, "fits"]
    assert found.sent(dict.fromkeys(names_here, "v")) == dict.fromkeys(names, "v")


def test_an_object_that_names_nothing_takes_anything() -> None:
    for schema in ({"type": "object"}, {"properties": {}, "additionalProperties": True}):
        found = flattened(schema)
        assert found.schema["properties"] == {}
        assert found.sent({"arguments": {"a": 1}}) == {"a": 1}
    for schema in ({"properties": {}}, {"type": "object", "additionalProperties": False}):
        assert flattened(schema).parameters == ()


def test_arguments_are_sent_as_their_schema_means_them() -> None:
    schema = {
        "properties": {
            "filter": {"type": "object"},
            "value": {"type": ["string", "number"]},
            "size": {"anyOf": [{"type": "integer"}, {"type": "object"}]},
            "kind": {"enum": [1, 2]},
        }
    }
    found = flattened(schema)
    assert found.sent({"filter": '{"a": [1]}', "value": "12", "size": "12", "kind": "2"}) == {
        "filter": {"a": [1]},
        "value": "12",
        "size": 12,
        "kind": 2,
    }
    assert found.sent({"filter": {"a": 1}, "value": '{"b": 1}'}) == {
        "filter": {"a": 1},
        "value": {"b": 1},
    }


def test_loops_and_deep_references_end() -> None:
    loop = {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$ref": "#/$defs/x"}}}
    assert flattened(loop).schema["properties"]["a"]["type"] == "string"
    deep: Any = {"type": "string"}
    for _ in range(2_000):
        deep = {"anyOf": [deep]}
    assert flattened({"properties": {"a": deep}}).schema["properties"]["a"]["type"] == "string"


@given(st.lists(st.text(max_size=90), max_size=30), st.lists(st.text(max_size=20), max_size=5))
def test_names_are_short_and_never_alike(names: list[str], taken: list[str]) -> None:
    found = listed_names("moss", names, taken)
    assert all(len(name) <= MAX_NAME and name.isascii() for name in found.values())
    plains = [plain(name) for name in found.values()]
    assert len(set(plains)) == len(plains)
    assert not set(plains) & {plain(name) for name in taken}
    assert found == listed_names("moss", dict.fromkeys(names), taken)
    assert {*found} == {*names}, "none is lost"
    backwards = listed_names("moss", names[::-1], taken)
    assert backwards == found, "in whatever order"


def test_a_definition_is_what_a_model_is_shown() -> None:
    one = ToolDefinition.of({"name": "a", "description": "b", "icons": [1], "_meta": {}})
    assert one.content == {"name": "a", "description": "b"}
    assert one.digest != ToolDefinition.of({"name": "a", "description": "c"}).digest
    assert not ToolDefinition.of({"name": "a", "description": "x" * 100_000}).fits
    assert not ToolDefinition.of({"description": "x"}).fits
    assert ForeignTool.__doc__
