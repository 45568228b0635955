"""What documents and helps name as a profile or a group is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.cases import each_case
from toolcrib.agents.roles import ALL, BUILT_IN
from toolcrib.core.registry import Registry
from toolcrib.surfaces.cli.commands import COMMANDS, load
from toolcrib.surfaces.cli.main import overview, parser_of
from toolcrib.toolbox import installed

ROOT = Path(__file__).parents[3]
NAMED = re.compile(r"""(?:--profile[ =]|^profile = ")([\w*]+(?:,[\w*]+)*)""", re.MULTILINE)
REGISTRY = Registry(installed())


def _named() -> Iterator[tuple[str, str]]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    texts |= {f"{name} --help": parser_of(load(name)).format_help() for name in COMMANDS}
    texts["--help"] = overview().format_help()
    for where, text in texts.items():
        for found in NAMED.findall(text):
            if found not in ("NAMES", "NAME"):
                yield where, found


def test_some_are_named() -> None:
    assert {"agents.md", "README.md", "chat --help"} <= {where for where, _ in _named()}


@each_case(("where", "profile"), sorted(set(_named())))
def test_each_named_profile_is_there(where: str, profile: str) -> None:
    assert REGISTRY.select(profile), where


def test_the_table_of_roles_names_the_groups_there_are() -> None:
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z_, ]+) \| ([a-z, ]+) \| [a-z, ]+ \|$", text, re.MULTILINE)
    reported = {n: set(tools.split(", ")) for names, tools in rows for n in names.split(", ")}
    groups = {tool.group for tool in REGISTRY}
    for role in BUILT_IN:
        tools = {"all"} if role.tools == ALL else set(role.tools) & groups
        assert reported[role.name] == tools, role.name
