"""Names, aliases and profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.cases import each_case
from toolcrib.core.errors import BadInput, ConfigError, ToolDisabled, UnknownTool
from toolcrib.core.registry import Registry
from toolcrib.core.result import Result
from toolcrib.core.tool import Tool, tool


@tool(group="files", profiles=("default",), aliases=("open_file",))
async def read_file(*, ctx: Any) -> Result:
    """Read."""
    del ctx
    return Result()


def named(name: str, group: str = "files", **more: Any) -> Tool:
    return replace(read_file, name=name, group=group, aliases=(), **more)


TOOLS = [
    read_file,
    named("write_file", profiles=()),
    named("web_search", "web"),
    named("read_more", "meta", profiles=("*",)),
]


def names(tools: list[Tool]) -> list[str]:
    return [tool.name for tool in tools]


def test_names_aliases_case_and_dashes() -> None:
    registry = Registry(TOOLS)
    for name in ("read_file", "open_file", "Read-File", " READ_FILE ", "readFile"):
        assert registry.resolve(name).name == "read_file"


def test_an_unknown_name_gets_the_nearest_three() -> None:
    with pytest.raises(UnknownTool) as caught:
        Registry(TOOLS).resolve("read_fil")
    assert "Nearest: read_file, " in caught.value.hint
    assert caught.value.hint.split(".")[0].count(",") <= 2
    with pytest.raises(UnknownTool) as caught:
        Registry(TOOLS).resolve("get_weather")
    assert caught.value.hint == "None is called anything like it."
    with pytest.raises(UnknownTool) as caught:
        Registry([*TOOLS, named("git_add", "git")]).resolve("git")
    assert caught.value.hint == "Nearest: git_add."


@each_case(
    "name",
    ["functions.read_file", "mcp__toolcrib__read_file", "toolcrib_read_file", "tools/read_file"],
)
def test_names_with_that_of_a_server_before_them(name: str) -> None:
    assert Registry(TOOLS).resolve(name).name == "read_file"


def test_an_alias_behind_a_namespace_is_no_tool() -> None:
    """`memory.delete` is no call of what deletes files."""
    with pytest.raises(UnknownTool):
        Registry(TOOLS).resolve("memory.open_file")


@pytest.mark.rows("E133", "E135")
@each_case("glob", ["read_file", "read_f*", "files"])
def test_a_tool_switched_off_names_the_setting(glob: str) -> None:
    registry = Registry(TOOLS, disabled=[glob])
    assert "read_file" not in names(registry.select("all"))
    with pytest.raises(ToolDisabled) as caught:
        registry.resolve("open_file")
    assert "tools.disabled" in caught.value.hint


@each_case(
    ("profile", "expected"),
    [
        ("default", ["web_search", "read_file", "read_more"]),
        ("files", ["read_file", "write_file", "read_more"]),
        ("web, write_file", ["web_search", "write_file", "read_more"]),
        ("all", ["web_search", "read_file", "write_file", "read_more"]),
    ],
)
@pytest.mark.rows("C191", "D35")
def test_profiles_add_up_in_a_steady_order(profile: str, expected: list[str]) -> None:
    assert names(Registry(TOOLS).select(profile)) == expected
    assert names(Registry(reversed(TOOLS)).select(profile)) == expected


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(BadInput, match="nonsense"):
        Registry(TOOLS).select("default,nonsense")


def test_two_tools_cannot_share_a_name_or_an_alias() -> None:
    with pytest.raises(ConfigError, match="read_file"):
        Registry([*TOOLS, named("read_file")])
    with pytest.raises(ConfigError, match="open_file"):
        Registry([*TOOLS, named("open_file")])
