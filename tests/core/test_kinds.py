"""Values of a kind are found wherever they stand in an argument."""

from __future__ import annotations

from typing import Annotated, TypedDict

from tests.cases import each_case
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, tool

Place = Annotated[str, Param("A path.", kind="path")]


class File(TypedDict):
    """A record with a path in it."""

    path: Place
    content: str


@tool(group="sample", rights=READ)
async def sample(
    one: Place = "",
    many: list[Place] | None = None,
    files: list[File] | None = None,
    words: str = "",
) -> Result:
    """Take paths of every form."""
    return Result()


@each_case(
    ("name", "value", "found"),
    [
        ("one", "a", ["a"]),
        ("one", "", []),
        ("one", None, []),
        ("many", ["a", "b"], ["a", "b"]),
        ("files", [{"path": "a", "content": "x"}, {"path": "b", "content": "y"}], ["a", "b"]),
        ("words", "a", []),
    ],
)
def test_of_kind(name: str, value: object, found: list[str]) -> None:
    parameter = next(p for p in sample.parameters if p.name == name)
    assert list(parameter.of_kind("path", value)) == found
    assert list(parameter.of_kind("url", value)) == []
    assert ("path" in parameter.kinds) == (name != "words")
