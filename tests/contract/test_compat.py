"""The tables of other systems: each name and argument leads to a tool and a parameter here."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, get_args, get_origin

from tests.cases import each_case
from toolcrib.core.names import compat_tables, plain, read_tables
from toolcrib.core.registry import Registry
from toolcrib.middleware.validate import rename
from toolcrib.toolbox import Toolbox, installed

REGISTRY = Registry(installed())
TOOLS = {tool.name: tool for tool in REGISTRY}
TABLES = dict(read_tables())


def test_tables_hold_what_there_is() -> None:
    problems = []
    for file, table in TABLES.items():
        parts = set(table) - {"system", "names", "arguments", "fixed", "ignored"}
        problems += [f"{file}: {part} is no part of a table" for part in sorted(parts)]
        problems += [] if table.get("system") else [f"{file}: system is missing"]
        names = {plain(name): tool for name, tool in table.get("names", {}).items()}
        problems += [f"{file}: no tool {tool}" for tool in names.values() if tool not in TOOLS]
        for tool, renamed in table.get("arguments", {}).items():
            known = {p.name for p in TOOLS[tool].parameters}
            problems += [f"{file}: {tool} has no {n}" for n in renamed.values() if n not in known]
        for name, implied in table.get("fixed", {}).items():
            parameters = {p.name: p for p in TOOLS[names[plain(name)]].parameters}
            for key, value in implied.items():
                choices = get_args(parameters[key].type)
                if get_origin(parameters[key].type) is None or value not in choices:
                    problems.append(f"{file}: {name} implies {key} = {value}")
    assert not problems


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
    for name, tool in compat_tables().tools.items():
        assert REGISTRY.resolve(name).name == tool
        assert name in {plain(alias) for alias in TOOLS[tool].all_aliases}


def test_what_changes_nothing_is_left_out() -> None:
    for tool, names in compat_tables().ignored.items():
        for name in names:
            assert rename(TOOLS[tool], {name: "x"}) == {}


@each_case(
    ("name", "implied"),
    [("delete_lines", {"operation": "delete"}), ("unzip", {"action": "unpack"}), ("read", {})],
)
def test_a_name_implies_arguments(name: str, implied: dict[str, Any]) -> None:
    assert REGISTRY.implied(name) == implied
    assert REGISTRY.implied(REGISTRY.resolve(name).name) == {}


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
from toolcrib.core.names import compat_tables
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
