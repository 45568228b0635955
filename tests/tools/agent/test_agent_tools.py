"""The three tools by all their names; what they do is tested in tests/agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tests.servers.model import Turn, model_server
from toolcrib import Toolbox
from toolcrib.core.registry import Registry
from toolcrib.toolbox import installed

pytestmark = pytest.mark.rows("E101", "E102", "E103")
REGISTRY = Registry(installed())


@each_case(
    ("alias", "name"),
    [
        ("consult_secondary_agent", "delegate_task"),
        ("spawn_agent", "delegate_task"),
        ("interrupt_sub_agent", "steer_agent"),
        ("get_sub_agent_result", "get_agent_result"),
    ],
)
def test_names_of_other_systems(alias: str, name: str) -> None:
    assert REGISTRY.resolve(alias).name == name


def test_no_host_takes_them_for_harmless() -> None:
    assert not REGISTRY.resolve("delegate_task").read_only
    assert not REGISTRY.resolve("steer_agent").read_only
    assert REGISTRY.resolve("get_agent_result").read_only
    assert "delegate_task" not in {tool.name for tool in REGISTRY.select("default")}


@pytest.mark.parametrize(
    "given",
    [
        {"prompt": "do it", "agent_role": "researcher", "timeout": "30"},
        {"task": "do it", "subagent_type": "reviewer", "allow_tools": True},
        {"instructions": "do it", "read_only": "true", "allowed_tools": "files"},
        {"task": "do it", "roles": ["planner"]},
    ],
)
async def test_arguments_of_other_systems(tmp_path: Path, given: dict[str, Any]) -> None:
    with model_server(Turn("done")) as server:
        async with Toolbox(server.config(), workspace=tmp_path) as box:
            result = await box.call("consult_secondary_agent", given)
        assert "do it" in server.words(0)
    assert result.data["status"] == "completed"


@pytest.mark.parametrize("given", [{}, {"task": " "}, {"task": "x", "time_limit": 0}])
async def test_what_is_missing_is_said(tmp_path: Path, given: dict[str, Any]) -> None:
    async with Toolbox({}, workspace=tmp_path) as box:
        result = await box.call("delegate_task", given)
    assert result.error is not None
    assert result.error.code == "bad_input"


async def test_an_unknown_group_is_answered_with_those_there_are(tmp_path: Path) -> None:
    async with Toolbox({}, workspace=tmp_path) as box:
        result = await box.call("delegate_task", {"task": "x", "tools": ["nosuchgroup"]})
    assert result.error is not None
    groups = result.error.hint.partition("Groups: ")[2].rstrip(".").split(", ")
    assert groups == sorted({t.group for t in REGISTRY} - {"agent"})
