"""Names and arguments of tools of other systems: the tables of `toolcrib/compat`, read once.

Each table is a TOML file about one system:

    system = "Desktop Commander"

    [names]              # a tool of theirs = the tool here
    edit_block = "edit_file"

    [arguments.edit_file]    # of a tool here: an argument of theirs = the parameter
    old_string = "old"

    [fixed.delete_lines]     # what one of their names implies: parameter = value
    operation = "delete"

    [ignored]            # of a tool here: arguments of theirs that change nothing
    read_file = ["encoding"]

The spellings that stand on the declaration of a tool come first; the tables are read when a
name or an argument is not among them, so that starting costs nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from toolcrib.core.names import plain


@dataclass(frozen=True, slots=True)
class CompatTables:
    """All tables together. Tools and parameters are those here; spellings are plain names.

    Attributes:
        tools: the tool that each name means.
        aliases: the same by tool, as the systems write the names.
        arguments: by tool, the parameter that each argument means, as the systems write it.
        parameters: the same by plain names.
        fixed: by name, the arguments that it implies.
        ignored: by tool, arguments that are left out.
    """

    tools: Mapping[str, str]
    aliases: Mapping[str, tuple[str, ...]]
    arguments: Mapping[str, Mapping[str, str]]
    parameters: Mapping[str, Mapping[str, str]]
    fixed: Mapping[str, Mapping[str, Any]]
    ignored: Mapping[str, frozenset[str]]


def read_tables() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each table as it was written, with the name of its file."""
    import tomllib
    from importlib.resources import files

    folder = files("toolcrib") / "compat"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            yield file.name, tomllib.loads(file.read_text("utf-8"))


@cache
def compat_tables() -> CompatTables:
    """The tables of all systems. They are read at the first call."""
    tools: dict[str, str] = {}
    aliases: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    arguments: defaultdict[str, dict[str, str]] = defaultdict(dict)
    fixed: dict[str, Mapping[str, Any]] = {}
    ignored: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for _, table in read_tables():
        for name, tool in table.get("names", {}).items():
            tools[plain(name)] = tool
            aliases[tool] += (name,)
        for tool, renamed in table.get("arguments", {}).items():
            arguments[tool] |= renamed
        for name, implied in table.get("fixed", {}).items():
            fixed[plain(name)] = implied
        for tool, dropped in table.get("ignored", {}).items():
            ignored[tool] |= frozenset(map(plain, dropped))
    parameters = {
        tool: {plain(spelling): name for spelling, name in renamed.items()}
        for tool, renamed in arguments.items()
    }
    return CompatTables(tools, aliases, arguments, parameters, fixed, ignored)
