"""The tables of other systems: each name and argument leads to a tool and a parameter here."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

import pytest

from tests.cases import each_case
from tests.contract.test_schemas import faults
from toolcrib.core.compat import argument_of, compat_tables, read_tables
from toolcrib.core.errors import BadInput
from toolcrib.core.names import plain
from toolcrib.core.registry import Registry
from toolcrib.core.tool import Tool
from toolcrib.middleware.validate import rename
from toolcrib.toolbox import Toolbox, installed

REGISTRY = Registry(installed())
TOOLS = {tool.name: tool for tool in REGISTRY}
TABLES = dict(read_tables())
PARTS = {
    "system",
    "names",
    "arguments",
    "fixed",
    "ignored",
    "meanings",
    "tools",
    "settings",
    "words",
}


def test_tables_hold_what_there_is() -> None:
    problems = []
    for file, table in TABLES.items():
        parts = set(table) - PARTS
        problems += [f"{file}: {part} is no part of a table" for part in sorted(parts)]
        problems += [] if table.get("system") else [f"{file}: system is missing"]
        names = {plain(name): tool for name, tool in table.get("names", {}).items()}
        problems += [f"{file}: no tool {tool}" for tool in names.values() if tool not in TOOLS]
        for tool, renamed in table.get("arguments", {}).items():
            known = {p.name for p in TOOLS[tool].parameters}
            problems += [f"{file}: {tool} has no {n}" for n in renamed.values() if n not in known]
        for name, implied in table.get("fixed", {}).items():
            tool = TOOLS[names[plain(name)]]
            problems += [f"{file}: {name}{fault}" for fault in unfit(tool, implied)]
        for name, meant in table.get("meanings", {}).items():
            tool = TOOLS[names[plain(name)]]
            known = {p.name for p in tool.parameters}
            to = {argument_of(key, value).to for key, value in meant.items()}
            problems += [f"{file}: {name} has no {one}" for one in sorted(to - known - {""})]
        for tool_name, listed in table.get("words", {}).items():
            for name, words in listed.items():
                (parameter,) = (p for p in TOOLS[tool_name].parameters if p.name == name)
                choices = set((parameter.item if parameter.is_list else parameter).choices)
                meant = {
                    one
                    for word in words.values()
                    for one in ([word] if isinstance(word, str) else word)
                }
                problems += [f"{file}: {tool_name}.{name} has no {one}" for one in meant - choices]
                problems += [f"{file}: {one} is one of {name}" for one in choices & set(words)]
    assert not problems


def unfit(tool: Tool, implied: Mapping[str, Any]) -> list[str]:
    """What of the arguments that a name implies the tool does not take."""
    parameters = {p.name: p for p in tool.parameters}
    faults = []
    for key, value in implied.items():
        kind = parameters[key].type if key in parameters else None
        plain_kind: Any = get_origin(kind) or kind
        one_of = get_args(kind) if get_origin(kind) is Literal else None
        fits = value in one_of if one_of else isinstance(value, plain_kind)
        faults += [] if kind and fits else [f" implies {key} = {value}"]
    return faults


def test_a_tool_of_a_system_is_here_or_says_what_there_is_instead() -> None:
    """Who adds a tool gives the names of it here their `arguments`."""
    problems = []
    for system, namings in compat_tables().systems.items():
        for naming in namings.values():
            where = f"{system}: {naming.name}"
            tool = TOOLS.get(naming.tool)
            if tool is None:
                problems += [] if naming.instead else [f"{where}: no {naming.tool}, no instead"]
                continue
            problems += [f"{where}{fault}" for fault in unfit(tool, naming.fixed)]
            parameters = {p.name for p in tool.parameters}
            problems += [
                f"{where}: {tool.name} has no {argument.to}"
                for argument in (naming.arguments or {}).values()
                if argument.to and argument.to not in parameters and not argument.adapted
            ]
    assert not problems


def test_systems_agree_on_what_a_name_means() -> None:
    seen: dict[str, str] = {}
    for namings in compat_tables().systems.values():
        for short, naming in namings.items():
            assert seen.setdefault(short, naming.tool) == naming.tool, naming.name
    for file, table in TABLES.items():
        for name, tool in table.get("names", {}).items():
            assert seen.setdefault(plain(name), tool) == tool, f"{file}: {name}"


def test_each_spelling_stands_once() -> None:
    seen: dict[Any, str] = {
        plain(name): f"the declaration of {tool.name}"
        for tool in TOOLS.values()
        for name in (tool.name, *tool.aliases)
    }
    for tool in TOOLS.values():
        own = (*tool.argument_aliases, *(p.name for p in tool.parameters))
        seen |= {(tool.name, plain(name)): f"the declaration of {tool.name}" for name in own}
    twice = []
    for file, table in TABLES.items():
        spellings: list[Any] = [plain(name) for name in table.get("names", {})]
        for part in ("arguments", "ignored"):
            for tool, names in table.get(part, {}).items():
                spellings += [(tool, plain(name)) for name in names]
        for spelling in spellings:
            if spelling in seen:
                twice.append(f"{spelling}: {file} and {seen[spelling]}")
            seen[spelling] = file
    assert not twice


def test_every_name_leads_to_its_tool() -> None:
    for name, naming in compat_tables().namings.items():
        if naming.tool in TOOLS:
            assert REGISTRY.resolve(name).name == naming.tool
            aliases = {plain(alias) for alias in TOOLS[naming.tool].all_aliases}
            assert name in aliases | {plain(naming.tool)}


def test_what_changes_nothing_is_left_out() -> None:
    for tool, names in compat_tables().ignored.items():
        for name in names:
            assert rename(TOOLS[tool], {name: "x"}) == {}


@each_case(
    ("name", "implied"),
    [("delete_lines", {"operation": "delete"}), ("unzip", {"action": "unpack"}), ("read", {})],
)
def test_a_name_implies_arguments(name: str, implied: dict[str, Any]) -> None:
    naming = REGISTRY.naming(name)
    assert naming is not None
    assert naming.fixed == implied
    assert REGISTRY.naming(REGISTRY.resolve(name).name) is None


async def test_implied_arguments_hold_where_nothing_else_is_sent(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    async with Toolbox(workspace=tmp_path) as box:
        done = await box.call("delete_lines", {"path": "a.txt", "start": 2})
        assert done.error is None, done.text
        assert (tmp_path / "a.txt").read_text() == "one\nthree\n"
        sent = {"path": "a.txt", "start": 1, "operation": "replace", "content": "1"}
        done = await box.call("delete_lines", sent)
        assert done.error is None, done.text
        assert (tmp_path / "a.txt").read_text() == "1\nthree\n"


def test_the_tables_are_read_on_the_first_miss() -> None:
    program = """
import asyncio, sys
from toolcrib.core.compat import compat_tables
from toolcrib.toolbox import Toolbox
async def main(folder):
    async with Toolbox(workspace=folder) as box:
        await box.call("list_directory", {"path": ".", "depth": 1})
        print(compat_tables.cache_info().currsize)
        await box.call("ls", {})
        print(compat_tables.cache_info().currsize)
asyncio.run(main(sys.argv[1]))
"""
    argv = [sys.executable, "-c", program, "."]
    ran = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == ["0", "1"]


async def test_a_profile_lists_the_names_of_a_system(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(40)))
    async with Toolbox(workspace=tmp_path, profile="compat:ai-toolbox") as box:
        listed = {tool.name: tool for tool in box.listed}
        known = compat_tables().systems["ai-toolbox"].values()
        here = TOOLS.keys() - box.config.switched_off.keys()
        assert {n.listed_name for n in known if n.tool in here} <= listed.keys()
        assert listed["insert_at_line"].schema["required"] == ["file_name"]
        assert set(listed["read_file"].schema["properties"]) >= {"file_name", "max_length"}
        assert "path" not in listed["read_file"].schema["properties"]
        page = await box.call("read_file", {"file_name": "a.txt", "max_length": 30})
        assert page.text.startswith("line 0\nline 1\n")
        assert page.next is not None
        assert page.next.tool == "read_file"
        assert page.next.arguments["file_name"] == "a.txt"
        assert set(page.next.arguments) <= set(listed["read_file"].schema["properties"])
        more = await box.call(page.next.tool, page.next.arguments)
        assert more.text.startswith("line 4\n")
        hits = await box.call("grep_files", {"pattern": "line", "max_results": 5})
        assert hits.next is not None
        assert hits.next.tool == "grep_files"
        missing = await box.call("no_such_tool", {"imagePath": "a.png"})
        assert missing.error is not None
        assert missing.error.code == "unknown_tool"


@each_case("system", sorted(compat_tables().systems))
def test_every_profile_of_a_system_is_safe_for_hosts(system: str) -> None:
    for profile in (f"compat:{system}", "compat"):
        for tool in Toolbox(profile=profile).listed:
            assert faults(tool.schema) == []
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool.name)
            assert 10 <= len(tool.description) <= 110


def test_listing_the_names_of_other_systems_loads_no_tool() -> None:
    program = (
        "import sys; from toolcrib import Toolbox; "
        "print(len(Toolbox(profile='compat').listed), "
        "sum(m.startswith('toolcrib.tools.') for m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    listed, loaded = map(int, done.stdout.split())
    assert listed > 150
    assert loaded == 0


@each_case("profile", ["compat:nothing", "compat:"])
def test_an_unknown_system_names_those_that_there_are(profile: str) -> None:
    with pytest.raises(BadInput) as caught:
        Toolbox(profile=profile)
    assert "ai-toolbox" in caught.value.hint
