"""The tools of other systems: what their names and arguments mean here.

The tables stand in `toolcrib/compat`, a TOML file a system:

    system = "Desktop Commander"

    [names]              # a tool of theirs = the tool here
    edit_block = "edit_file"

    [arguments.edit_file]    # of a tool here: an argument of theirs = the parameter
    old_string = "old"

    [fixed.delete_lines]     # what one of their names implies: parameter = value
    operation = "delete"

    [meanings.tail_file]     # what an argument means by one of their names alone; see below
    lines = { to = "start", times = -1 }

    [words.web_search.freshness]    # of a parameter here: a value of theirs = the value
    "last week" = "week"

    [ignored]            # of a tool here: arguments of theirs that change nothing
    read_file = ["encoding"]

A system that is known to the last argument has a table for each of its tools instead, and with
them the profile `compat:` and the name of the file, which lists the system's own names:

    [tools.insert_at_line]
    is = "edit_lines"                    # the tool here
    group = "files"                      # where the tool here is, or will be
    instead = "run_command can do it."   # what there is while the tool is not here
    about = "Insert text before a line." # where the tool here can do more than this name
    fixed = { operation = "insert" }
    ignored = ["backup"]
    arguments = { file_name = "path", line_number = "start" }

Without `arguments` the name takes those of the tool here. An argument whose values differ is a
table: `{ to = "timeout", times = 3600 }`; see `Argument`.

The spellings that stand on the declaration of a tool come first; the tables are read when a
name or an argument is not among them, so that starting costs nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from toolcrib.core.names import plain
from toolcrib.core.package_data import package_tables

PREFIX = "compat:"
NOTHING: Mapping[str, Any] = {}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
FALSE = {"false", "no", "off", "0"}


@dataclass(frozen=True, slots=True)
class Argument:
    """What an argument of another system means.

    Attributes:
        name: as the system writes it.
        to: the parameter here, or an argument that the tool's adapter understands.
        values: values of theirs that have another name here.
        times, plus: what a number is multiplied by, and what is added to it.
        text: a text around the value, as in `/{}/`.
        negated: whether true means false here.
        type: the JSON type in the listed schema, where it is not that of the parameter.
        about: its description there, where it is not that of the parameter.
        implies: further arguments that it brings, by value; `*` is any that is not false.
        adapted: `to` is no parameter, but a word that the tool's adapter understands.
    """

    name: str
    to: str
    values: Mapping[str, Any] = field(default_factory=dict)
    times: float = 1
    plus: float = 0
    text: str = ""
    negated: bool = False
    type: str = ""
    about: str = ""
    implies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    adapted: bool = False

    @property
    def is_renamed_only(self) -> bool:
        """Whether the value is the same on both sides."""
        return self == Argument(self.name, self.to, type=self.type, about=self.about)

    def _written(self, value: Any) -> Any:
        """A value with the text around it, once; an ending has a dot or none."""
        if not isinstance(value, str) or not value:
            return value
        before, _, after = self.text.partition("{}")
        bare = value.removeprefix(before).removesuffix(after)
        return f"{before}{bare.removeprefix('.') if before.endswith('.') else bare}{after}"

    def meaning(self, value: Any) -> dict[str, Any]:
        """The arguments here for a value of theirs; one that does not fit stays as it is."""
        word = str(value).strip().lower()
        found = self.values.get(word, value)
        if self.text:
            listed = isinstance(found, list)
            found = [self._written(v) for v in found] if listed else self._written(found)
        if self.negated:
            found = word in FALSE
        if (self.times, self.plus) != (1, 0) and not isinstance(found, bool):
            found = _calculated(found, self.times, self.plus)
        return {self.to: found} if self.to else {}

    def implied(self, value: Any) -> Mapping[str, Any]:
        """What a value of theirs brings besides, whatever else is sent."""
        word = str(value).strip().lower()
        found = self.implies.get(word)
        return found or (NOTHING if word in FALSE else self.implies.get("*", NOTHING))


def _calculated(value: Any, times: float, plus: float) -> Any:
    try:
        number = float(value) * times + plus
    except (TypeError, ValueError):
        return value
    return int(number) if number == int(number) else number


@dataclass(frozen=True, slots=True)
class Naming:
    """A tool of another system: the tool here, and what its arguments mean.

    Attributes:
        name: as the system writes it.
        tool: the tool here, which may not be there yet.
        arguments: by plain names; None where they are those of the tool here.
        fixed: arguments that the name implies where nothing else is sent.
        ignored: plain names of arguments that change nothing here.
        group: the group of the tool here.
        instead: what there is while the tool is not.
        about: what the name does, where the tool here can do more.
    """

    name: str
    tool: str
    arguments: Mapping[str, Argument] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    group: str = ""
    instead: str = ""
    about: str = ""

    @property
    def listed_name(self) -> str:
        """The name as hosts and model servers take it, without spaces."""
        return self.name.replace(" ", "_")

    @property
    def alias(self) -> str:
        """The name as names are written here."""
        return _HUMP.sub("_", self.listed_name).replace("-", "_").lower()

    def meaning(
        self, given: Mapping[str, Any], native: Collection[str] = ()
    ) -> list[tuple[str, Any]]:
        """What was sent in the words of the tool here, names that nobody knows as they came.

        Args:
            given: the arguments.
            native: plain names that mean what they mean here.
        """
        found: list[tuple[str, Any]] = []
        implied: dict[str, Any] = {}
        for name, value in given.items():
            short = plain(name)
            known = (self.arguments or {}).get(short)
            if short in native or (known is None and short not in self.ignored):
                found.append((name, value))
            elif known is not None and value is not None:
                found += known.meaning(value).items()
                implied |= known.implied(value)
        rest = [(name, value) for name, value in found if name not in implied]
        return [*rest, *implied.items()]

    def joined(self, other: Naming) -> Naming:
        """This one, with what another system's tool of the same name takes besides."""
        arguments = {**(other.arguments or {}), **(self.arguments or {})}
        ignored = self.ignored | other.ignored
        return replace(self, arguments=arguments or None, ignored=ignored)


@dataclass(frozen=True, slots=True)
class CompatTables:
    """All tables together. Tools and parameters are those here; spellings are plain names.

    Attributes:
        namings: what each name means, of all systems.
        systems: the same for each system that has a profile, in its order.
        aliases: by tool, the names as the systems write them.
        arguments: by tool, the parameter that each argument means, as the systems write it.
        parameters: the same by plain names.
        ignored: by tool, arguments that are left out.
        words: by tool and parameter, values of theirs in lower case, and what they are here.
    """

    namings: Mapping[str, Naming]
    systems: Mapping[str, Mapping[str, Naming]]
    aliases: Mapping[str, tuple[str, ...]]
    arguments: Mapping[str, Mapping[str, str]]
    parameters: Mapping[str, Mapping[str, str]]
    ignored: Mapping[str, frozenset[str]]
    words: Mapping[str, Mapping[str, Mapping[str, Any]]]

    def naming(self, name: str, systems: Iterable[str] = ()) -> Naming | None:
        """What a name means: to these systems first, else to any."""
        wanted = plain(name)
        for system in systems:
            found = self.systems.get(system, {}).get(wanted)
            if found is not None:
                return found
        return self.namings.get(wanted)


def read_tables() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each table as it was written, with the name of its file."""
    return package_tables("compat")


def systems_of(profile: str) -> tuple[str, ...]:
    """The systems whose names a profile lists: `compat:ai-toolbox`, or all by `compat`."""
    found: list[str] = []
    for part in (part.strip() for part in profile.split(",")):
        if part == PREFIX.removesuffix(":"):
            found += compat_tables().systems
        elif part.startswith(PREFIX):
            found.append(part.removeprefix(PREFIX))
    return tuple(dict.fromkeys(found))


@cache
def compat_tables() -> CompatTables:
    """The tables of all systems. They are read at the first call."""
    tables = dict(read_tables())
    systems = {
        file.removesuffix(".toml").replace("_", "-"): _namings(table["tools"])
        for file, table in tables.items()
        if "tools" in table
    }
    aliases: defaultdict[str, dict[str, None]] = defaultdict(dict)
    arguments: defaultdict[str, dict[str, str]] = defaultdict(dict)
    ignored: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    namings: dict[str, Naming] = {}
    for named in systems.values():
        for short, naming in named.items():
            known = namings.get(short)
            namings[short] = known.joined(naming) if known else naming
    for table in tables.values():
        for name, tool in table.get("names", {}).items():
            implied = table.get("fixed", {}).get(name, NOTHING)
            own = _arguments(table.get("meanings", {}).get(name))
            naming = Naming(name, tool, own, implied)
            known = namings.get(plain(name))
            namings[plain(name)] = known.joined(naming) if known else naming
        for tool, renamed in table.get("arguments", {}).items():
            arguments[tool] |= renamed
        for tool, dropped in table.get("ignored", {}).items():
            ignored[tool] |= frozenset(map(plain, dropped))
    for naming in namings.values():
        if plain(naming.name) != plain(naming.tool):
            aliases[naming.tool][naming.alias] = None
    for tool, plainly in _agreed(namings.values()).items():
        arguments[tool] = plainly | arguments[tool]
    parameters = {
        tool: {plain(spelling): name for spelling, name in renamed.items()}
        for tool, renamed in arguments.items()
    }
    spelt = {tool: tuple(names) for tool, names in aliases.items()}
    return CompatTables(namings, systems, spelt, arguments, parameters, ignored, _words(tables))


def _words(tables: Mapping[str, Any]) -> dict[str, dict[str, Mapping[str, Any]]]:
    found: defaultdict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for table in tables.values():
        for tool, listed in table.get("words", {}).items():
            found[tool] |= listed
    return found


def _namings(tools: Mapping[str, Mapping[str, Any]]) -> dict[str, Naming]:
    return {plain(name): _naming(name, table) for name, table in tools.items()}


def _naming(name: str, table: Mapping[str, Any]) -> Naming:
    return Naming(
        name,
        table["is"],
        _arguments(table.get("arguments")),
        table.get("fixed", NOTHING),
        frozenset(map(plain, table.get("ignored", ()))),
        table["group"],
        table.get("instead", ""),
        table.get("about", ""),
    )


def _arguments(given: Mapping[str, Any] | None) -> dict[str, Argument] | None:
    return None if given is None else {plain(a): argument_of(a, v) for a, v in given.items()}


def argument_of(name: str, meaning: str | Mapping[str, Any]) -> Argument:
    """An argument as a table says it: the name here, or all that is to be known."""
    return Argument(name, meaning) if isinstance(meaning, str) else Argument(name, **meaning)


def _agreed(namings: Iterable[Naming]) -> dict[str, dict[str, str]]:
    """By tool, arguments that all its names use for one parameter, with no other meaning."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    disputed: set[tuple[str, str]] = set()
    for naming in namings:
        for argument in (naming.arguments or {}).values():
            known = found[naming.tool].setdefault(argument.name, argument.to)
            if known != argument.to or not argument.is_renamed_only:
                disputed.add((naming.tool, plain(argument.name)))
    return {
        tool: {a: p for a, p in renamed.items() if (tool, plain(a)) not in disputed and a != p}
        for tool, renamed in found.items()
    }
