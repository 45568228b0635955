"""The checks of `toolcrib doctor` for what is no part of toolcrib: own tools, MCP servers."""

from __future__ import annotations

from toolcrib.core.context import Services
from toolcrib.extensions.own_tools import OwnTool, tools_folder
from toolcrib.surfaces.cli.checks import Check
from toolcrib.system.threads import in_thread
from toolcrib.toolbox import available


async def own_tools(services: Services) -> list[Check]:
    """The user's own tools and those of packages."""
    found = await in_thread(lambda _: available(services.config, retry=True), None)
    own = [tool.name for tool in found.tools if isinstance(tool, OwnTool)]
    checks = [
        Check("own tools", "broken", str(skipped), f"correct it, or take it out of {skipped.where}")
        for skipped in found.skipped
    ]
    if own or not checks:
        detail = f"{len(own)}: {', '.join(own)}" if own else f"none in {tools_folder()}"
        checks.insert(0, Check("own tools", "ok", detail))
    return checks
