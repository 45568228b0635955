"""All there is to know of one tool."""

from __future__ import annotations

from tests.cases import each_case
from toolcrib.toolbox import Toolbox, installed


@each_case("name", [tool.name for tool in installed()])
async def test_every_tool_has_a_manual(name: str) -> None:
    async with Toolbox({"memory": {"verbs": True}, "run": {"packages": True}}) as box:
        result = await box.call("tool_help", {"name": name})
        tool = box.registry.resolve(name)
    head, *lines = result.text.splitlines()
    assert head == f"{name}: {tool.description}"
    assert result.data["schema"] == tool.schema
    displayed = [line.split()[1] for line in lines if line.startswith("- ")]
    assert displayed == [p.name for p in tool.parameters if not p.meta.unlisted]


async def test_limits_and_defaults_are_said() -> None:
    async with Toolbox() as box:
        result = await box.call("tool_help", {"name": "web_search"})
        search = result.text.splitlines()
        found = (await box.call("tool_help", {"name": "read_job"})).text
    assert "- limit (integer, 1 to 50): Results a query." in search
    assert any("one of any, day, week, month, year" in line for line in search)
    assert search[-1] == "May: net."
    assert "- id (string, required)" in found
    assert "May: nothing outside this server." in found


async def test_other_names_and_unknown_ones() -> None:
    async with Toolbox() as box:
        found = await box.call("describe_tool", {"tool": "read-file"})
        assert found.data["name"] == "read_file"
        unknown = await box.call("tool_help", {"name": "read_fiel"})
    assert unknown.error
    assert unknown.error.code == "unknown_tool"
    assert "read_file" in unknown.error.hint
