"""What there is, and how it is used."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.program import Program
from toolcrib.surfaces.cli.screen import cells
from toolcrib.toolbox import Toolbox, installed

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)


@pytest.mark.rows("C109")
def test_all_tools_are_counted_and_named(program: Program) -> None:
    done = program("tools", "--profile", "all", "--json")
    names = {tool["name"] for tool in done.json["tools"]}
    assert {tool.name for tool in installed()} < names
    assert "join_words" in names
    assert done.json["count"] == done.json["total"] == len(names)


def test_the_list_names_group_rights_and_description(program: Program) -> None:
    done = program("tools", "--profile", "samples")
    lines = done.out.splitlines()
    start = lines.index("samples")
    assert "  send_note     send  Send a note to the outside." in lines[start:]
    assert all(len(line) <= 80 for line in lines)
    assert any(line.startswith("Profile samples: ") for line in lines)


@pytest.mark.rows("C195")
def test_the_list_speaks_the_language_of_the_system(program: Program) -> None:
    done = program("tools", "files", env={"LC_ALL": "zh_CN.UTF-8"})
    lines = done.out.splitlines()
    assert "文件" in lines
    assert "搜索" in next(line for line in lines if line.startswith("  search_files "))
    assert all(cells(line) <= 82 for line in lines)
    assert done.err == ""
    english = program("tools", "files", "--set", "language=en", env={"LC_ALL": "zh_CN.UTF-8"})
    assert "files" in english.out.splitlines()


def test_a_group_or_a_tool_can_be_named(program: Program) -> None:
    by_name = program("tools", "samples")
    assert by_name.out == program("tools", "--profile", "samples").out
    both = program("tools", "samples", "git_log").out
    assert "  send_note" in both
    assert "  git_log" in both
    done = program("tools", "gti")
    assert done.code == 2
    assert "no profile, group or tool 'gti'" in done.err


def test_tools_of_another_system_stand_under_its_names(program: Program) -> None:
    listed = program("tools", "compat:lmstudio-web-tools", "--json").json["tools"]
    with Toolbox(profile="compat:lmstudio-web-tools") as box:
        wanted = {tool.name: tool.schema for tool in box.listed}
    assert {tool["name"]: tool["schema"] for tool in listed} == wanted
    assert not {*wanted} & {"web_search"}
    assert program("tools", "compat:nobody").code == 2


def test_the_list_follows_the_configured_profile(program: Program) -> None:
    done = program("tools", env={"TOOLCRIB_PROFILE": "samples"})
    assert "Profile samples:" in done.out
    assert "send_note" in done.out
    assert "send_note" not in program("tools").out


def test_what_is_switched_off_is_named(program: Program) -> None:
    done = program("tools", "--set", "tools.disabled=send_n?te", "--profile", "samples")
    assert "  send_note" not in done.out
    assert "Switched off by tools.disabled: send_note." in done.out
    done = program("tools", "--set", "tools.disabled=send_n?te", "--profile", "all", "--json")
    assert done.json["disabled"] == ["send_note"]


def test_a_schema_comes_with_json(program: Program) -> None:
    (tool,) = (
        tool
        for tool in program("tools", "--profile", "join_words", "--json").json["tools"]
        if tool["name"] == "join_words"
    )
    assert tool["schema"]["required"] == ["words"]
    assert tool["rights"] == []
    assert tool["profiles"] == ["default"]


def test_an_unknown_profile_is_usage(program: Program) -> None:
    done = program("tools", "--profile", "nope")
    assert done.code == 2
    assert "Profiles: agent, all, backup, browser, code, compat, " in done.err


def test_the_manual_of_a_tool(program: Program) -> None:
    done = program("help", "join-words")
    assert done.out.startswith("join_words: Join words to a line.\nUse it to see what arrived.\n")
    assert "  words (array, required): The words." in done.out
    assert "  times (integer, 1 or more, default 1): How many." in done.out
    assert done.out.endswith("\nexample:\n  toolcrib call join_words words=...\n")


def test_help_of_a_command_and_of_nothing(program: Program) -> None:
    assert program("help", "serve").out == program("serve", "--help").out
    assert program("help").out == program("--help").out


def test_help_of_an_unknown_tool_names_the_nearest(program: Program) -> None:
    done = program("help", "join_word")
    assert done.code == 2
    assert "Nearest: join_words" in done.err
