"""A program that brings tools of its own, and uses a toolbox from many threads."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any

import pytest

import toolcrib
from tests.cases import each_case
from toolcrib import READ, Ctx, NotFound, Result, Toolbox, ToolError, WorkspacePath, tool


@dataclass
class Plant:
    name: str
    height: float = 0.5


@tool
def grow(name: str, times: int = 2, facts: dict[str, Any] | None = None) -> dict[str, Any]:
    """Grow a plant of a name."""
    return {"plant": name, "height": times * 2, "facts": facts}


@tool(group="plants", rights=READ)
async def first_line(path: WorkspacePath, *, ctx: Ctx) -> str:
    """Give the first line of a file."""
    assert ctx.caller.surface == "python"
    return path.read_bytes(1000).decode().split("\n")[0]


@tool(aliases=("herb",))
def plant() -> Plant:
    """Give a plant."""
    return Plant("moss")


@tool
async def fail() -> None:
    """Fail as a tool does."""
    raise NotFound("No moss.", hint="Look elsewhere.")


class Colour(Enum):
    RED = "red"
    DEEP_BLUE = "deep blue"


class Size(IntEnum):
    SMALL = 1
    LARGE = 5


@tool(rights=READ)
def paint(
    colour: Colour,
    size: Size = Size.SMALL,
    others: list[Colour] | None = None,
    counts: dict[str, int] | None = None,
) -> str:
    """Paint a thing."""
    assert isinstance(colour, Colour)
    return f"{colour.name} {size.name} {[each.name for each in others or ()]} {counts}"


MINE = (grow, first_line, plant, fail)


async def test_plain_functions_are_tools(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    async with Toolbox(workspace=tmp_path, extra=MINE) as box:
        grown = await box.call("grow", {"name": "fern", "facts": '{"old": true}'})
        assert grown.data == {"plant": "fern", "height": 4, "facts": {"old": True}}
        assert (await box.call("first_line", {"path": "a.txt"})).text == "one"
        assert (await box.call("herb")).data == {"name": "moss", "height": 0.5}
        refused = await box.call("grow", {})
        assert refused.error is not None
        assert refused.error.code == "bad_input"
        assert (await box.call("first_line", {"path": "../x"})).error is not None
        with pytest.raises(NotFound, match="No moss") as caught:
            (await box.call("fail")).raise_for_error()
        assert caught.value.hint == "Look elsewhere."
        assert (await box.call("read_file", {"path": "a.txt"})).raise_for_error().text
    assert grow.schema["required"] == ["name"]
    assert {t["name"] for t in Toolbox(extra=MINE, profile="own").as_anthropic_tools()} >= {"grow"}
    assert set(Toolbox(profile="files").as_anthropic_tools()[0]) == {
        *("name", "description", "input_schema")
    }


@tool
async def measured() -> Result:
    """Numbers that JSON has not."""
    return Result("measured", {"mean": float("nan"), "all": [float("inf"), 1.5]})


@tool
def ratio() -> float:
    """A number that JSON has not."""
    return float("nan")


async def test_results_of_no_number_are_json(tmp_path: Path) -> None:
    async with Toolbox(workspace=tmp_path, extra=(measured, ratio)) as box:
        data = (await box.call("measured")).to_json()["data"]
        assert json.dumps(data, allow_nan=False) == '{"mean": null, "all": [null, 1.5]}'
        plain = await box.call("ratio")
        assert (plain.text, plain.data) == ("null", None)


def test_many_threads_use_one_toolbox(tmp_path: Path) -> None:
    for number in range(24):
        (tmp_path / f"{number}.txt").write_text(f"number {number}\n")

    def read(number: int) -> str:
        return box.call_sync("read_file", {"path": f"{number}.txt"}).raise_for_error().text

    with Toolbox(workspace=tmp_path) as box, ThreadPoolExecutor(12) as threads:
        texts = list(threads.map(read, range(24)))
    assert texts == [f"number {number}\n" for number in range(24)]


@each_case(
    ("result", "line"),
    [
        (Result("one\ntwo"), "one"),
        (Result(""), "(no text)"),
        (Result("\n" + "x" * 500), f"{'x' * 99}… (501 characters)"),
    ],
)
def test_a_result_is_short_as_text(result: Result, line: str) -> None:
    assert str(result) == line


@each_case("name", toolcrib.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(toolcrib, name) is not None
    assert issubclass(ToolError, Exception)


def test_the_library_never_imports_mcp(tmp_path: Path) -> None:
    program = """
import sys
from toolcrib import Toolbox, tool, extract, parse_tool_calls
with Toolbox(workspace=sys.argv[1]) as box:
    box.call_sync("write_file", {"path": "a.txt", "content": "x"}).raise_for_error()
    box.call_sync("run_command", {"command": "true"})
    box.as_openai_tools(), box.as_anthropic_tools()
print(sorted(m for m in sys.modules if m.partition(".")[0] in ("mcp", "mcp_types", "starlette")))
"""
    argv = [sys.executable, "-c", program, str(tmp_path)]
    ran = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=90)
    assert ran.stdout.strip() == "[]"


async def test_an_own_tool_is_shown_beside_a_profile_and_its_faults_are_its_own() -> None:
    @tool
    def broken(number: int) -> float:
        """Divide by nothing."""
        return number / 0

    async with Toolbox(profile="files", extra=[broken]) as box:
        assert "broken" in [each["function"]["name"] for each in box.as_openai_tools()]
        result = await box.call("broken", {"number": 1})
    assert result.error is not None
    assert "whoever wrote it mends it" in result.error.hint


def test_a_parameter_without_a_type_is_refused_where_it_is_declared() -> None:
    with pytest.raises(TypeError, match="word has no type"):

        @tool
        def untyped(word) -> str:  # type: ignore[no-untyped-def]
            """Say it."""
            return str(word)

    with pytest.raises(TypeError, match="stands for many"):

        @tool
        def several(*words: str) -> str:
            """Say them."""
            return " ".join(words)


async def test_what_an_enum_lists_is_in_the_schema_and_checked(tmp_path: Path) -> None:
    async with Toolbox(workspace=tmp_path, extra=[paint]) as box:
        found = next(
            each["function"]["parameters"]["properties"]
            for each in box.as_openai_tools()
            if each["function"]["name"] == "paint"
        )
        assert found["colour"] == {"type": "string", "enum": ["red", "deep blue"]}
        assert found["size"] == {"type": "integer", "enum": [1, 5]}
        assert found["others"]["items"] == {"type": "string", "enum": ["red", "deep blue"]}
        given = {"colour": "Deep_Blue", "size": "5", "others": ["red"], "counts": {"a": "3"}}
        done = (await box.call("paint", given)).raise_for_error()
        assert done.text == "DEEP_BLUE LARGE ['RED'] {'a': 3}"
        assert (await box.call("paint", {"colour": "red"})).text == "RED SMALL [] None"
        assert "deep blue" in (await box.call("tool_help", {"name": "paint"})).text
        for wrong, message in (
            ({"colour": "green"}, "'colour' must be one of red, deep blue"),
            ({"colour": "red", "size": 2}, "'size' must be one of 1, 5"),
            ({"colour": "red", "counts": {"k": "x"}}, "'counts.k' must be a whole number"),
        ):
            refused = await box.call("paint", wrong)
            assert refused.error is not None
            assert message in refused.error.message


class Odd(Enum):
    PAIR = (1, 2)


class Mixed(Enum):
    ONE = 1
    TWO = "two"


@each_case("kind", [date, Plant, Odd, Mixed, object, dict[str, date], list[Plant], int | str])
def test_a_type_without_a_schema_is_refused_where_it_is_declared(kind: Any) -> None:
    def odd(what: Any) -> str:
        """Do it."""
        return str(what)

    odd.__annotations__["what"] = kind
    with pytest.raises(TypeError, match="odd: parameter what"):
        tool(odd)
