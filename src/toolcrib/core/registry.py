"""Which tools there are: found by discovery, looked up by name, chosen by profile."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from importlib import import_module
from types import ModuleType
from typing import Any

from toolcrib.core.errors import BadInput, ConfigError, ToolDisabled, UnknownTool
from toolcrib.core.names import compat_tables, nearest, plain
from toolcrib.core.tool import Tool

GROUP_ORDER = ("web", "files", "jobs", "meta")


def discover(package: ModuleType) -> Iterator[Tool]:
    """Every tool declared in the modules below a package."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.ispkg:
            continue
        for value in vars(import_module(module.name)).values():
            if isinstance(value, Tool) and value.function.__module__ == module.name:
                yield value


class Registry:
    """The tools of one toolbox. It never changes once built.

    Args:
        tools: the tools, in any order.
        disabled: globs on tool names and groups that are switched off.

    Raises:
        ConfigError: two tools claim one name or alias.
    """

    def __init__(self, tools: Iterable[Tool], disabled: Iterable[str] = ()) -> None:
        self._disabled = tuple(disabled)
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
        """Whether the user switched the tool or its group off."""
        return any(fnmatchcase(n, g) for g in self._disabled for n in (tool.name, tool.group))

    def resolve(self, name: str, listed: Iterable[Tool] | None = None) -> Tool:
        """The tool of this name or alias; case and dashes do not matter.

        `listed` are those that a guess may name; None is all.

        Raises:
            UnknownTool: no such tool; the hint names the nearest three.
            ToolDisabled: it is switched off; the hint names the setting.
        """
        tool = self._named(plain(name))
        if tool is None:
            known = list(self if listed is None else listed)
            near = ", ".join(_nearest(name, known))
            searchable = any(tool.name == "search_tools" for tool in known)
            more = " search_tools finds a tool by what it does." if searchable else ""
            raise UnknownTool(
                f"There is no tool '{str(name)[:80]}'.",
                hint=f"Nearest: {near}.{more}",
            )
        if self.is_disabled(tool):
            raise ToolDisabled(
                f"{tool.name} is switched off.",
                hint=f"The user can turn it on: remove '{tool.name}' or '{tool.group}' "
                "from tools.disabled in the configuration.",
            )
        return tool

    def _named(self, name: str) -> Tool | None:
        tool = self._names.get(name)
        if tool is None:
            tool = self._names.get(plain(compat_tables().tools.get(name, "")))
        return tool

    def implied(self, name: str) -> Mapping[str, Any]:
        """The arguments that a name of another system implies, as `delete_lines` does."""
        wanted = plain(name)
        return {} if wanted in self._names else compat_tables().fixed.get(wanted, {})

    def select(self, profile: str) -> list[Tool]:
        """The tools that a profile shows: names of profiles, groups and tools, by commas.

        A tool whose profiles hold `*` is in every one: the calls named by `next` must work.

        Raises:
            BadInput: a part names nothing.
        """
        chosen: dict[str, Tool] = {}
        for part in (p.strip() for p in profile.split(",")):
            found = [t for t in self if part in _profiles_of(t)]
            if part and not found and part not in self.profiles():
                raise BadInput(
                    f"There is no profile, group or tool '{part}'.",
                    hint=f"Profiles: {', '.join(self.profiles())}.",
                )
            chosen |= {tool.name: tool for tool in found}
        return [tool for tool in self if tool.name in chosen or "*" in tool.profiles]

    def profiles(self) -> list[str]:
        """Every name that `select` takes for more than one tool."""
        names = {n for t in self._tools for n in (t.group, *t.profiles)} | {"all", "default"}
        return sorted(names - {"*"})


def _profiles_of(tool: Tool) -> tuple[str, ...]:
    return ("all", tool.group, tool.name, *tool.profiles)


def _rank(tool: Tool) -> tuple[int, str, str]:
    group = tool.group
    return (GROUP_ORDER.index(group) if group in GROUP_ORDER else 2, group, tool.name)


def _place(tool: Tool) -> str:
    return f"{tool.function.__module__}.{tool.name}"


def _nearest(name: str, tools: Iterable[Tool], count: int = 3) -> list[str]:
    owners = {n: tool.name for tool in tools for n in (tool.name, *tool.all_aliases)}
    found = (owners[n] for n in nearest(name, owners, count=len(owners)))
    return list(dict.fromkeys(found))[:count]
