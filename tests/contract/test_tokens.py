"""What the tool lists cost a model: ceilings, by the o200k count."""

from __future__ import annotations

import json

import bpe_openai
import pytest

from tests.cases import each_case
from toolcrib.core.config import Config
from toolcrib.core.registry import Registry
from toolcrib.core.tool import Tool
from toolcrib.toolbox import installed, openai_tools

ENCODING = bpe_openai.get_encoding("o200k_base")
REGISTRY = Registry(installed())
TOOLS = list(REGISTRY)


def cost(tools: list[Tool]) -> int:
    """Tokens of the tools in the form in which a host sends them."""
    text = json.dumps(openai_tools(tools), ensure_ascii=False, separators=(",", ":"))
    return len(ENCODING.encode(text, disallowed_special=()))


@pytest.mark.rows("S8.1")
@pytest.mark.parametrize(
    ("profile", "tools", "tokens"), [("default", 16, 1500), ("search", 5, 500)]
)
def test_profiles_stay_below_their_ceilings(profile: str, tools: int, tokens: int) -> None:
    chosen = REGISTRY.select(profile)
    assert 0 < len(chosen) <= tools
    assert cost(chosen) <= tokens


@pytest.mark.parametrize(
    ("group", "tokens", "each"),
    [
        *(("git", 1600, 150), ("github", 500, 215), ("data", 900, 160)),
        *(("plan", 250, 100), ("documents", 450, 120), ("memory", 450, 110)),
        *(("context", 850, 140), ("system", 1050, 120), ("images", 600, 190)),
        *(("ui", 480, 130), ("browser", 800, 220)),
    ],
)
def test_groups_stay_below_their_ceilings(group: str, tokens: int, each: int) -> None:
    off = Config().switched_off
    chosen = [tool for tool in TOOLS if tool.group == group and tool.name not in off]
    assert cost(chosen) <= tokens
    assert max(cost([tool]) for tool in chosen) <= each


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
