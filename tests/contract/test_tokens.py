"""What the tool lists cost a model: ceilings, by the o200k count."""

from __future__ import annotations

import json

import bpe_openai
import pytest

from tests.cases import each_case
from toolcrib.core.registry import Registry
from toolcrib.core.tool import Tool
from toolcrib.toolbox import installed

ENCODING = bpe_openai.get_encoding("o200k_base")
REGISTRY = Registry(installed())
TOOLS = list(REGISTRY)


def cost(tools: list[Tool]) -> int:
    shown = ({"name": t.name, "description": t.description, "parameters": t.schema} for t in tools)
    text = "".join(json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in shown)
    return len(ENCODING.encode(text, disallowed_special=()))


@pytest.mark.rows("S8.1")
@pytest.mark.parametrize(
    ("profile", "tools", "tokens"), [("default", 16, 1500), ("search", 5, 500)]
)
def test_profiles_stay_below_their_ceilings(profile: str, tools: int, tokens: int) -> None:
    chosen = REGISTRY.select(profile)
    assert 0 < len(chosen) <= tools
    assert cost(chosen) <= tokens


@each_case("tool", TOOLS, ids=lambda t: t.name)
def test_no_tool_is_dear(tool: Tool) -> None:
    assert cost([tool]) <= 220


def test_all_tools_together_are_cheap() -> None:
    everything = REGISTRY.select("all")
    assert cost(everything) <= 100 * len(everything)


@each_case("tool", TOOLS, ids=lambda t: t.name)
def test_the_first_line_is_one_short_sentence(tool: Tool) -> None:
    assert len(tool.description) <= 80
    assert tool.description.endswith(".")
    assert "\n" not in tool.description
    assert tool.guidance, "the second paragraph says when to use the tool"
