"""The checks of `toolcrib doctor` for what is no part of toolcrib: own tools, MCP servers."""

from __future__ import annotations

from toolcrib.core.context import Services
from toolcrib.core.errors import ToolError
from toolcrib.extensions.own_tools import OwnTool, tools_folder
from toolcrib.extensions.servers import ForeignServers, KnownServers
from toolcrib.surfaces.cli.checks import Check
from toolcrib.surfaces.cli.mcp_servers import ENTRY, left_out
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted
from toolcrib.toolbox import available


async def own_tools(services: Services) -> list[Check]:
    """The user's own tools and those of packages."""
    found = await in_thread(lambda _: available(services.config, retry=True), None)
    own = [tool.name for tool in found.tools if isinstance(tool, OwnTool)]
    checks = [
        Check("own tools", "broken", str(skipped), f"correct {skipped.where}, or take it away")
        for skipped in found.skipped
        if not skipped.where.startswith(ENTRY)
    ]
    if own or not checks:
        detail = f"{len(own)}: {', '.join(own)}" if own else f"none in {tools_folder()}"
        checks.insert(0, Check("own tools", "ok", detail))
    return checks


async def mcp_servers(services: Services) -> list[Check]:
    """The other MCP servers, each started."""
    known, servers = services.use(KnownServers), services.use(ForeignServers)
    reasons = await in_thread(lambda _: left_out(services.config), None)
    checks = []
    for name in known.settings:
        where = f"mcp {name}"
        if name in reasons:
            checks.append(
                Check(where, "broken", f"left out: {reasons[name]}", f"rename {ENTRY}{name}")
            )
            continue
        try:
            changes = await servers.look(name)
        except ToolError as error:
            fix = error.hint or f"correct mcp.servers.{name}"
            checks.append(Check(where, "broken", error.message, fix, essential=True))
            continue
        count = len(known.facts[name].accepted)
        checks.append(
            Check(where, "broken", f"changed: {changes}", f"toolcrib mcp accept {name}")
            if changes
            else Check(where, "ok", counted(count, "tool"))
        )
    return checks
