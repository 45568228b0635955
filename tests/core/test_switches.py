"""Kinds of tools are switched on and off as a whole, for the user, until they say otherwise."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from toolcrib import Toolbox
from toolcrib.core.config import Config
from toolcrib.core.errors import ConfigError
from toolcrib.core.registry import Registry
from toolcrib.core.switch_settings import PARTS, SWITCHES, SwitchesConfig
from toolcrib.surfaces.cli.main import main
from toolcrib.toolbox import installed

OFF_THERE = ("browser", "git", "packages", "databases", "http", "ui", "github", "agents")
"""What C188 and E146 have off, and what needs no boundary of a run here."""


def displayed(config: Config) -> set[str]:
    registry = Registry(installed(), switched_off=config.switched_off)
    return {tool.name for tool in registry.select(config.listed_profile)}


def group_of(switch: str) -> set[str]:
    parts = SWITCHES[switch]
    return {tool.name for tool in installed() if tool.group in parts or tool.name in parts}


def test_each_switch_is_about_something() -> None:
    assert SwitchesConfig.model_fields.keys() - {"all"} == SWITCHES.keys()
    known = {name for tool in installed() for name in (tool.name, tool.group)}
    # Groups that other extras or versions bring may not be there.
    assert PARTS - known <= {"images", "system", "ui", "manage_packages"}
    groups = {tool.group for tool in installed()} - {"meta", "jobs"}
    reached = {t.group for t in installed() if t.group in PARTS or t.name in PARTS}
    assert groups - reached <= {"data"}, "each group has a switch"


@pytest.mark.rows("C188", "E146", "F09")
def test_the_defaults_are_safe() -> None:
    listed = displayed(Config())
    unsafe = {switch: sorted(listed & group_of(switch)) for switch in OFF_THERE}
    # Two readers of APIs that the user names are listed by default, and send nothing.
    assert {name: tools for name, tools in unsafe.items() if tools} in (
        {},
        {"http": ["list_operations"]},
    )


@pytest.mark.rows("C188", "F09")
async def test_on_shows_and_off_takes_away(tmp_path: Path) -> None:
    for switch in SWITCHES:
        tools = group_of(switch)
        on = Config.model_validate({"switches": {switch: True}})
        own_settings = {"memory"} if switch == "packages" else {"memory", "manage_packages"}
        assert displayed(on) >= tools - own_settings, switch
        off = Config.model_validate({"switches": {switch: False}, "profile": "all"})
        assert displayed(off).isdisjoint(tools), switch
    config = {"switches": {"git": False, "databases": False}}
    async with Toolbox(config, workspace=tmp_path) as box:
        refused = await box.call("git_status")
        assert refused.error is not None
        assert refused.error.code == "tool_disabled"
        assert "switches.git = true" in refused.error.hint
        assert (await box.call("query_database", {"sql": "select 1"})).error is not None
        found = await box.call("search_tools", {"query": "commit changes to git"})
        assert "git_commit" not in found.text
    for asks in ("browser", "github"):
        on = Config.model_validate({"switches": {asks: True}})
        assert on.policy == Config().policy, "a switch takes away no question"


@pytest.mark.rows("C188", "E146")
def test_one_switch_overrides_all_and_one_is_about_all_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not Config().switches.all
    single = dict.fromkeys(SWITCHES, False)
    everything = Config.model_validate({"switches": {**single, "all": True}})
    listed = displayed(everything)
    for switch in SWITCHES:
        assert listed >= group_of(switch) - {
            tool.name for tool in installed() if tool.group == "memory"
        }, switch
    assert everything.policy == Config().policy, "it takes away no question"
    assert main(["config", "set", "godMode", "on"]) == 0
    assert main(["config", "set", "allowAllCode", "off"]) == 0
    loaded = Config.load()
    assert loaded.switches.all
    assert loaded.switches.runs is False
    assert "run_python" in displayed(loaded)
    assert main(["config", "unset", "godMode"]) == 0
    assert "run_python" not in displayed(Config.load())
    capsys.readouterr()


@pytest.mark.rows("C189")
def test_a_switch_is_kept_for_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "set", "switches.git", "on"]) == 0
    assert main(["config", "set", "switches.browser", "false"]) == 0
    capsys.readouterr()
    assert Path(os.environ["TOOLCRIB_CONFIG"]).exists()
    loaded = Config.load()
    assert (loaded.switches.git, loaded.switches.browser) == (True, False)
    assert main(["tools"]) == 0
    text = capsys.readouterr().out
    assert "git_status" in text
    assert "Switched off by switches.browser:" in text
    assert main(["config", "unset", "switches.browser"]) == 0
    assert Config.load().switches.browser is None


@pytest.mark.rows("C188", "C107", "F09")
def test_a_switch_is_set_by_the_name_of_another_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "set", "gitOperations", "on"]) == 0
    assert "switches.git =" in capsys.readouterr().out
    assert main(["config", "set", "switches.uiGeneration", "true"]) == 0
    assert main(["config", "set", "notificationsEnabled", "off"]) == 0
    switches = Config.load().switches
    assert (switches.git, switches.ui, switches.notifications) == (True, True, False)
    capsys.readouterr()
    assert main(["config", "get", "gitOperations"]) == 0
    assert capsys.readouterr().out == "true\n"
    assert main(["config", "unset", "gitOperations"]) == 0
    assert Config.load().switches.git is None
    off = Config.model_validate({"switches": {"notifications": False}, "profile": "all"})
    assert "send_notification" not in displayed(off)


def test_a_wrong_switch_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ({"gti": True}, {"git": "perhaps"}):
        with pytest.raises(ConfigError):
            Config.load({"switches": wrong})
    assert main(["config", "set", "switches.git", "perhaps"]) == 2
    assert "switches.git" in capsys.readouterr().err


@pytest.mark.rows("C188")
def test_switches_of_another_system_are_taken_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = {"gitOperations": True, "webSearch": False, "uiGeneration": True, "safesearch": 1}
    file = tmp_path / "mcp-config.json"
    file.write_text(json.dumps(theirs))
    assert main(["import", str(file), "--write"]) == 0
    capsys.readouterr()
    switches = Config.load().switches
    assert (switches.git, switches.web, switches.ui) == (True, False, True)
