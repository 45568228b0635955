"""llama.cpp turns every tool's schema into a grammar that its parser takes.

One bad schema breaks every tool of a request in hosts on llama.cpp. The converter is
compiled from an old and a new release; the parser is the real engine, without a model.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.node.tools import TOOLS, node, run
from toolcrib.core.tool import Tool
from toolcrib.toolbox import Toolbox, installed

pytestmark = [pytest.mark.needs_node, pytest.mark.timeout(120)]

Schema = dict[str, Any]
PARSER = Path(__file__).with_name("parse.mjs")
both_converters = pytest.mark.parametrize("converter", ["old", "new"])


async def refused(converter: str, schemas: dict[str, Schema]) -> dict[str, str]:
    """What the converter or the parser says of each schema that it does not take."""
    given = "".join(f"{json.dumps(schema)}\n" for schema in schemas.values())
    converted = await run(str(TOOLS / f"converter-{converter}"), given=given)
    assert converted.code == 0, converted
    answers = [json.loads(line) for line in converted.out.splitlines()]
    named = dict(zip(schemas, answers, strict=True))
    errors = {name: answer["error"] for name, answer in named.items() if "error" in answer}
    grammars = {name: answer["grammar"] for name, answer in named.items() if "grammar" in answer}
    return errors | await unparsed(grammars)


async def unparsed(grammars: dict[str, str]) -> dict[str, str]:
    """What the parser says of each grammar that it does not take."""
    lines = [json.dumps({"name": n, "grammar": text}) for n, text in grammars.items()]
    parsed = await node(PARSER, given="".join(f"{line}\n" for line in lines))
    answers = [json.loads(line) for line in parsed.out.splitlines()]
    assert answers, parsed
    assert answers.pop() == {"done": True}, parsed
    return {answer["name"]: answer["error"] for answer in answers}


def call_of(tool: Tool) -> Schema:
    """A call of a tool, as hosts describe it to the engine."""
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": tool.schema},
        "required": ["name", "arguments"],
    }


@both_converters
@pytest.mark.rows("C191")
async def test_every_tool_alone(converter: str) -> None:
    assert await refused(converter, {tool.name: tool.schema for tool in installed()}) == {}


@both_converters
async def test_all_tools_of_each_profile_in_one_request(converter: str) -> None:
    combined = {
        profile: {"anyOf": [call_of(tool) for tool in Toolbox(profile=profile).listed]}
        for profile in Toolbox().registry.profiles()
    }
    assert await refused(converter, combined) == {}


@both_converters
async def test_the_check_itself_finds_what_is_bad(converter: str) -> None:
    bad = {
        "pattern": {"type": "string", "pattern": "^[a$"},
        "reference": {"$ref": "#/$defs/nowhere"},
    }
    fine = {"fine": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    assert set(await refused(converter, {**bad, **fine})) == set(bad)


async def test_the_parser_itself_finds_what_is_bad() -> None:
    grammars = {"fine": 'root ::= "a"', "undefined": "root ::= nowhere", "open": 'root ::= ("a"'}
    assert set(await unparsed(grammars)) == {"undefined", "open"}
