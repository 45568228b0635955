"""`toolcrib mcp list`, `check` and `accept`: other MCP servers, and what they say of themselves."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.extensions.definitions import DefinitionChanges, ServerFacts, wanted
from toolcrib.extensions.schemas import one_line
from toolcrib.extensions.servers import ForeignServers, KnownServers
from toolcrib.surfaces.cli.screen import visible, wrapped
from toolcrib.text.display import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolcrib.core.config import Config
    from toolcrib.extensions.definitions import ToolDefinition
    from toolcrib.extensions.own_tools import Skipped

ENTRY = "mcp.servers."
MAX_CHARS = 1_000


def show(config: Config) -> int:
    """List the servers and what is known of them, without starting any."""
    if not config.mcp.servers:
        print("No MCP server is configured: [mcp.servers.NAME] with command or url.")
        return 0
    known = KnownServers(config.mcp.servers)
    reasons = left_out(config)
    for name, settings in config.mcp.servers.items():
        what = settings.url or " ".join([settings.command, *settings.args])
        known_of_it = state(known.facts.get(name))
        reason = f"left out: {reasons[name]}" if name in reasons else ""
        print(wrapped(f"{name:<16} {reason or known_of_it}", more=" " * 17))
        print(wrapped(visible(what), indent=" " * 17))
    return 0


def left_out(config: Config) -> dict[str, str]:
    """The servers whose tools are not offered although they are switched on, and why."""
    from toolcrib.toolbox import available

    return {
        skipped.where.removeprefix(ENTRY): skipped.reason
        for skipped in available(config).skipped
        if skipped.where.startswith(ENTRY)
    }


def unmet(config: Config, skipped: Sequence[Skipped]) -> list[str]:
    """The servers that are offered, of which nothing is known yet.

    Args:
        config: the settings.
        skipped: what is left out.
    """
    if not config.mcp.servers:
        return []
    without = {each.where for each in skipped}
    known = KnownServers(config.mcp.servers)
    return [name for name in known.unmet if f"{ENTRY}{name}" not in without]


def looked_at(name: str) -> str:
    """What makes the tools of a server known, in words."""
    return f"`toolcrib mcp check {name}` starts it and asks."


def state(facts: ServerFacts | None) -> str:
    """What is known of a server in one line."""
    if facts is None:
        return "switched off"
    if not facts.is_met:
        return "not met yet: it is asked at its first use, or by `toolcrib mcp check`"
    waiting = f"; waits to be accepted: {facts.changes}" if facts.changes else ""
    return f"{counted(len(facts.accepted), 'tool')}{visible(waiting)}"


def check(config: Config, name: str) -> int:
    """Start a server and show what it has."""
    facts, changes = _looked_at(config, name)
    tools = wanted(config.mcp.servers[name], facts.current.values())
    for tool in tools:
        print(visible(f"{tool.name}: {one_line(tool.content.get('description', ''), 100)}"))
    print(f"{name} works: {counted(len(tools), 'tool')}. {_waiting(changes, name)}".rstrip())
    reason = left_out(config).get(name)
    if reason:
        print(wrapped(f"But its tools are left out: {reason}."))
    return 1 if reason else 0


def accept(config: Config, name: str, *, confirm: bool) -> int:
    """Show what a server has changed, and let it count.

    Args:
        config: the settings.
        name: of the server.
        confirm: whether the person is to say yes; else they have said yes already.
    """
    facts, changes = _looked_at(config, name)
    if not changes:
        tools = counted(len(facts.accepted), "tool")
        print(f"Nothing waits: {name} has {tools}, as accepted.")
        return 0
    for tool in (*changes.added, *changes.changed):
        before = facts.accepted.get(tool)
        if before is not None:
            print(f"\n{visible(tool)}, before:\n{_words(before)}")
        print(f"\n{visible(tool)}, {'now' if before else 'new'}:\n{_words(facts.current[tool])}")
    if changes.removed:
        print(visible(f"\nNot there any more: {', '.join(changes.removed)}"))
    if confirm and not _agreed(name):
        print("Nothing was changed.")
        return 1
    facts.accept()
    print(f"Accepted: {name} has {counted(len(facts.accepted), 'tool')}.")
    return 0


def _looked_at(config: Config, name: str) -> tuple[ServerFacts, DefinitionChanges]:
    settings = config.mcp.servers.get(name)
    if settings is None:
        there = ", ".join(config.mcp.servers) or "none"
        raise BadInput(f"There is no MCP server '{name[:40]}'.", hint=f"Configured are: {there}.")
    if not settings.enabled:
        raise BadInput(f"{name} is switched off.", hint=f"Set mcp.servers.{name}.enabled = true.")
    return asyncio.run(_look(config, name))


async def _look(config: Config, name: str) -> tuple[ServerFacts, DefinitionChanges]:
    async with Services(config) as services:
        changes = await services.use(ForeignServers).look(name)
        return services.use(KnownServers).facts[name], changes


def _words(tool: ToolDefinition) -> str:
    """What a tool says of itself, as a person can look at it."""
    import json

    text = json.dumps(dict(tool.content), ensure_ascii=False, indent=2)
    return visible(text[:MAX_CHARS])


def _waiting(changes: DefinitionChanges, name: str) -> str:
    if not changes:
        return ""
    return visible(f"Waits to be accepted: {changes}. toolcrib mcp accept {name}")


def _agreed(name: str) -> bool:
    if not sys.stdin.isatty():
        raise ToolError(
            "Nobody can be asked here.", hint=f"Look at it, then: toolcrib mcp accept {name} --yes"
        )
    return input(f"Let these count for {name}? [y/N] ").strip().lower() in ("y", "yes")
