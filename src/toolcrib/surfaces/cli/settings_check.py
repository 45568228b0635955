"""What is wrong with settings of the right form: names and folders that do not exist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolcrib.core.errors import ToolError

if TYPE_CHECKING:
    from toolcrib.core.config import Config

MIN_LIKENESS = 0.7
"""How alike the name of a rule and that of a tool are, from 0 to 1, if that one is meant."""


def faults(config: Config) -> dict[str, ToolError]:
    """What would only fail later, the first of each setting by its name."""
    found: dict[str, ToolError] = {}
    for name, error in _faults(config):
        found.setdefault(name, error)
    return found


def unmatched_rules(config: Config) -> list[str]:
    """Rules that deny or ask and fit no tool that there is now; one may come later.

    Which tools the servers of `mcp.servers` have is not known here.
    """
    from toolcrib.core.names import nearest
    from toolcrib.core.tool import fits
    from toolcrib.toolbox import available

    owners = {n: tool.name for tool in available(config).tools for n in (tool.name, *tool.aliases)}
    foreign = tuple(f"{name.lower()}_" for name in config.mcp.servers)
    found = []
    for number, rule in enumerate(config.policy.rules, 1):
        if rule.action == "allow" or rule.tool.lower().startswith(foreign):
            continue
        if any(fits(rule.tool, name) for name in owners.values()):
            continue
        near = nearest(rule.tool, owners, 1, MIN_LIKENESS)
        meant = f" Did you mean {owners[near[0]]}?" if near else ""
        found.append(f"Rule {number} of policy.rules fits no tool: {rule.tool}.{meant}")
    return found


def _faults(config: Config) -> Iterator[tuple[str, ToolError]]:
    from toolcrib.core.config import store_file
    from toolcrib.core.registry import Registry
    from toolcrib.surfaces.cli.folders import folder_fault
    from toolcrib.toolbox import available
    from toolcrib.web.providers import Providers

    try:
        Registry(available(config).tools).select(config.profile)
    except ToolError as error:
        yield "profile", error
    try:
        store_file(config.store.url)
    except ToolError as error:
        yield "store.url", error
    for folder in config.workspace.roots:
        if "${" not in folder and (fault := folder_fault(folder)) is not None:
            yield "workspace.roots", fault
    for name in config.web.search.providers:
        try:
            Providers().named(name)
        except ToolError as error:
            yield "web.search.providers", error
