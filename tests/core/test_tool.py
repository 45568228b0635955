"""What is derived from a declaration."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

import pytest

from tests.cases import each_case
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, NET, READ, WRITE, Count, JsonObject, Param, tool


class Pair(TypedDict):
    key: Annotated[str, Param("Name.")]
    value: int


@tool(group="test", rights=READ | NET)
async def look(
    what: Annotated[str, Param("What to look at.")],
    how: Literal["near", "far"] = "near",
    limit: Annotated[Count, Param("Rows.", maximum=5)] = 3,
    pairs: Annotated[list[Pair] | None, Param("Pairs.")] = None,
    body: JsonObject | None = None,
    *,
    ctx: Any,
) -> Result:
    """Look at something.

    Use it to look. Do not use it to touch.
    """
    del what, how, limit, pairs, body, ctx
    return Result()


def test_the_schema_is_flat_and_typed() -> None:
    assert look.schema == {
        "type": "object",
        "properties": {
            "what": {"type": "string", "description": "What to look at."},
            "how": {"type": "string", "enum": ["near", "far"]},
            "limit": {"type": "integer", "description": "Rows."},
            "pairs": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "key": {"type": "string", "description": "Name."},
                        "value": {"type": "integer"},
                    },
                    "required": ["key", "value"],
                },
                "description": "Pairs.",
            },
            "body": {"type": "string", "description": "JSON object."},
        },
        "required": ["what"],
    }


def test_texts_and_annotations_follow_from_the_declaration() -> None:
    assert look.name == "look"
    assert look.description == "Look at something."
    assert look.guidance == "Use it to look. Do not use it to touch."
    assert look.read_only
    assert look.open_world
    assert look.idempotent
    assert look.rights.names == ["read", "net"]


@each_case(("rights", "read_only"), [(READ, True), (WRITE, False), (EXEC, False)])
def test_read_only_follows_from_rights(rights: Any, read_only: bool) -> None:
    async def touch(*, ctx: Any) -> Result:
        """Touch."""
        del ctx
        return Result()

    declared = tool(group="test", rights=rights)(touch)
    assert declared.read_only is read_only
    assert declared.idempotent is read_only


def test_a_tool_is_a_function_with_a_docstring() -> None:
    async def silent(ctx: Any) -> Result:
        return Result()

    with pytest.raises(TypeError, match="docstring"):
        tool(group="test")(silent)
    with pytest.raises(TypeError, match="@tool is for functions"):
        tool("group")  # type: ignore[call-overload]


def test_a_type_without_a_json_form_is_refused() -> None:
    with pytest.raises(TypeError, match=r"odd: parameter what: .* has no JSON form"):

        @tool(group="test")
        async def odd(what: complex, *, ctx: Any) -> Result:
            """Odd."""
            del what, ctx
            return Result()
