"""Which tools there are: found by discovery, looked up by name, chosen by profile."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from importlib import import_module
from types import ModuleType

from toolcrib.core.compat import PREFIX, Naming, compat_tables
from toolcrib.core.errors import BadInput, ConfigError, ToolDisabled, UnknownTool
from toolcrib.core.named_tool import NamedTool
from toolcrib.core.names import nearest, plain
from toolcrib.core.switch_settings import GROUP, PARTS
from toolcrib.core.tool import OWN_GROUP, Tool

GROUP_ORDER = ("web", "files", "jobs", "meta")
SEARCH_HINT = "search_tools finds a tool by what it does."


def discover(package: ModuleType) -> Iterator[Tool]:
    """Every tool declared in the modules below a package."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.ispkg:
            continue
        for value in vars(import_module(module.name)).values():
            if isinstance(value, Tool) and value.function.__module__ == module.name:
                yield value


_BEHIND = re.compile(r"(?:(?:[\w-]+[.:/]|\w+__)+|toolcrib[_-])([\w-]+)")
"""`functions.read_file`, `mcp__toolcrib__read_file`, `toolcrib_read_file`: as models write them."""
_NAME = re.compile(r"[a-z]+(?:_[a-z]+)+")


class Registry:
    """The tools of one toolbox. It never changes once built.

    Args:
        tools: the tools, in any order.
        disabled: globs on tool names and groups that are switched off.
        systems: other systems whose names go before the names here (`compat`).
        switched_off: names of tools that a setting would turn on, with that setting; groups
            have `group:` before their names.
        profiles: names of profiles that may have no tool yet.

    Raises:
        ConfigError: two tools claim one name or alias.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        disabled: Iterable[str] = (),
        systems: Iterable[str] = (),
        switched_off: Mapping[str, str] | None = None,
        profiles: Iterable[str] = (),
    ) -> None:
        self._disabled = tuple(disabled)
        self._switched_off = dict(switched_off or {})
        self._profiles = tuple(profiles)
        self.systems = tuple(systems)
        self._tools: list[Tool] = sorted(tools, key=_rank)
        self._enabled = tuple(tool for tool in self._tools if not self.is_disabled(tool))
        self._names: dict[str, Tool] = {}
        for tool in self._tools:
            for name in (tool.name, *tool.aliases):
                holder = self._names.setdefault(plain(name), tool)
                if holder is not tool:
                    raise ConfigError(
                        f"Two tools are named {name}: {_place(holder)} and {_place(tool)}.",
                        hint="Remove the package that brings one of them, or rename it there.",
                    )

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._enabled)

    def __len__(self) -> int:
        return len(self._enabled)

    def is_disabled(self, tool: Tool) -> bool:
        """Whether the tool is off until a setting turns it on, or the user switched it off."""
        return bool(self._switch_of(tool)) or any(
            fnmatchcase(n, g) for g in self._disabled for n in (tool.name, tool.group)
        )

    def resolve(self, name: str, listed: Iterable[Tool] | None = None) -> Tool:
        """The tool of this name or alias; case and dashes do not matter.

        `listed` are those that a guess may name; None is all.

        Raises:
            UnknownTool: no such tool; the hint names the nearest three.
            ToolDisabled: it is switched off; the hint names the setting.
        """
        tool = self._named(name)
        if tool is None:
            raise self.unknown(name, list(self if listed is None else listed))
        switch = self._switch_of(tool)
        if switch:
            raise ToolDisabled(
                f"{tool.name} is switched off.",
                hint=f"The user can turn it on: {switch} = true.",
            )
        if self.is_disabled(tool):
            raise ToolDisabled(
                f"{tool.name} is switched off.",
                hint=f"The user can turn it on: remove '{tool.name}' or '{tool.group}' "
                "from tools.disabled in the configuration.",
            )
        return tool

    def _switch_of(self, tool: Tool) -> str:
        """The setting that would turn a tool on; empty where none has it off."""
        off = self._switched_off
        return off.get(tool.name) or off.get(f"{GROUP}{tool.group}", "")

    def setting_of(self, tool: Tool) -> str:
        """The setting by which a tool is off."""
        return self._switch_of(tool) or "tools.disabled"

    def _named(self, name: str) -> Tool | None:
        """The tool of a name, or of what stands behind the name of a server or namespace."""
        found = self._of_name(name)
        behind = _BEHIND.fullmatch(str(name).strip()) if found is None else None
        if behind is None:
            return found
        # Not an alias: the `delete` of `memory.delete` is none of files.
        meant = self._names.get(plain(behind[1]))
        return meant if meant is not None and plain(meant.name) == plain(behind[1]) else None

    def _of_name(self, name: str) -> Tool | None:
        naming = None if plain(name) in self._names and not self.systems else self.naming(name)
        return self._names.get(plain(name if naming is None else naming.tool))

    def naming(self, name: str) -> Naming | None:
        """What a name of another system says: the tool, what it implies, its arguments.

        None where the name is one of those here, and no system goes before them. One that
        another system shares with a tool here says only what the tool does not know itself.
        """
        if self.systems:
            found = compat_tables().naming(name, self.systems)
            if found is not None:
                return found
        own = self._names.get(plain(name))
        is_own = own is not None and (plain(own.name) == plain(name))
        return None if is_own else compat_tables().naming(name)

    def unknown(self, name: str, known: list[Tool]) -> UnknownTool:
        """The error for a name that no tool here has: what there is instead, or what is near."""
        naming = compat_tables().naming(name, self.systems)
        if naming is not None and naming.instead:
            has_some = any(tool.group == naming.group for tool in self._tools)
            what = f"tool for '{naming.name}'" if has_some else f"{naming.group} tools"
            return UnknownTool(f"toolcrib has no {what} yet.", hint=naming.instead)
        near = ", ".join(_nearest(name, known))
        in_group = [tool.name for tool in known if tool.group == plain(name)]
        if not near and in_group:
            near = f"{', '.join(in_group[:6])}{', …' if len(in_group) > 6 else ''}"
        searchable = any(tool.name == "search_tools" for tool in known)
        more = f" {SEARCH_HINT}" if searchable else ""
        hint = f"Nearest: {near}." if near else "None is called anything like it."
        return UnknownTool(f"There is no tool '{str(name)[:80]}'.", hint=f"{hint}{more}")

    def named_in(self, text: str) -> set[str]:
        """The tools here, enabled or not, whose names stand in a text."""
        words = set(_NAME.findall(text))
        return {tool.name for tool in self._tools if tool.name in words}

    def select(self, profile: str) -> list[Tool]:
        """The tools that a profile shows: names of profiles, groups and tools, by commas.

        A tool whose profiles hold `*` is in every one: the calls named by `next` must work.

        Raises:
            BadInput: a part names nothing.
        """
        chosen: dict[str, Tool] = {}
        for part in (p.strip() for p in profile.split(",")):
            if part.startswith(PREFIX) or part == PREFIX.removesuffix(":"):
                chosen |= {tool.name: tool for tool in self._compatible(part)}
                continue
            found = [t for t in self if part in _profiles_of(t)]
            if part and not found and part not in PARTS and part not in self.profiles():
                near = nearest(part, self.profiles(), count=1)
                guess = f"Did you mean {near[0]}? " if near else ""
                raise BadInput(
                    f"There is no profile, group or tool '{part}'.",
                    hint=f"{guess}Profiles: {', '.join(self.profiles())}.",
                )
            chosen |= {tool.name: tool for tool in found}
        return [tool for tool in self if tool.name in chosen or "*" in tool.profiles]

    def profiles(self) -> list[str]:
        """Every name that `select` takes for more than one tool."""
        names = {n for t in self._tools for n in (t.group, *t.profiles)} | {"all", "default"}
        names |= {OWN_GROUP, *self._profiles}
        names |= {PREFIX.removesuffix(":"), *(PREFIX + s for s in compat_tables().systems)}
        return sorted(names - {"*"})

    def _compatible(self, part: str) -> list[Tool]:
        """The tools here behind the names of a system, or of all."""
        systems = compat_tables().systems
        wanted = part.removeprefix(PREFIX)
        if part.startswith(PREFIX) and wanted not in systems:
            raise BadInput(
                f"There is no system '{wanted}'.", hint=f"There are: {', '.join(systems)}."
            )
        chosen = [systems[wanted]] if part.startswith(PREFIX) else systems.values()
        names = {plain(naming.tool) for system in chosen for naming in system.values()}
        return [tool for tool in self if plain(tool.name) in names]

    def listed(self, profile: str) -> list[Tool]:
        """What a profile shows: its tools, those of other systems under the names there."""
        if not self.systems:
            return self.select(profile)
        rest = [
            part
            for part in (p.strip() for p in profile.split(","))
            if not part.startswith(PREFIX) and part != PREFIX.removesuffix(":")
        ]
        named: dict[str, Tool] = {}
        for system in self.systems:
            for short, naming in compat_tables().systems[system].items():
                tool = self._names.get(plain(naming.tool))
                if tool is not None and not self.is_disabled(tool):
                    named.setdefault(short, NamedTool(tool, naming))
        own = [tool for tool in self.select(",".join(rest)) if plain(tool.name) not in named]
        return [*named.values(), *own]


def _profiles_of(tool: Tool) -> tuple[str, ...]:
    return ("all", tool.group, tool.name, *tool.profiles)


def _rank(tool: Tool) -> tuple[int, str, str]:
    group = tool.group
    return (GROUP_ORDER.index(group) if group in GROUP_ORDER else 2, group, tool.name)


def _place(tool: Tool) -> str:
    return f"{tool.module}.{tool.name}"


MIN_LIKENESS = 0.72
"""How alike two names are, from 0 to 1, of which one is probably meant by the other."""
MIN_OTHER_LIKENESS = 0.6
"""The same for those that are named beside it."""


def _nearest(name: str, tools: Iterable[Tool], count: int = 3) -> list[str]:
    owners = {n: tool.name for tool in tools for n in (tool.name, *tool.all_aliases)}
    if not nearest(name, owners, 1, MIN_LIKENESS):
        return []
    found = (owners[n] for n in nearest(name, owners, len(owners), MIN_OTHER_LIKENESS))
    return list(dict.fromkeys(found))[:count]
