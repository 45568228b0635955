"""Names of tools and arguments as people, models and other systems write them.

The names that tools and arguments have in other systems stand in the tables of `toolcrib/compat`.
Each is a TOML file about one system:

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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any

MAX_COMPARED_CHARS = 80


def plain(name: object) -> str:
    """A name without case, dashes and underscores: `readFile`, `Read-File` and `read_file`."""
    return str(name).strip().replace("-", "").replace("_", "").lower()


def nearest(
    wanted: object, names: Iterable[str], count: int = 3, min_ratio: float = 0.0
) -> list[str]:
    """The names most like a wrong one, best first.

    Args:
        wanted: what was written.
        names: what there is.
        count: how many at most.
        min_ratio: how alike they must be, from 0 to 1.
    """
    target = plain(wanted)[:MAX_COMPARED_CHARS]
    scored = [(SequenceMatcher(None, target, plain(name)).ratio(), name) for name in names]
    scored.sort(key=lambda item: -item[0])
    return [name for likeness, name in scored[:count] if likeness >= min_ratio]


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
