"""Folders that a host of an older protocol revision offers: the workspace, if none was given."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolcrib.files.paths import own_places
from toolcrib.files.roots import configured_roots, offered_folders
from toolcrib.toolbox import Toolbox

ANSWER_SECONDS = 5.0
CHANGED = (
    "The host has changed the folders that it offers; toolcrib uses them once it is started again."
)


class HostRoots:
    """Asks the host once, before the first call, where only one host is served."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._settled = bool(configured_roots(toolbox.config.workspace.roots))
        self._lock = asyncio.Lock()
        self._taken: list[str] = []

    async def adopt(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """Make the offered folders the workspace, before anything has looked at files."""
        if self._settled or ctx.request is not None:  # over HTTP the hosts are many
            return
        async with self._lock:
            if self._settled:
                return
            self._settled = True
            uris = await _offered(ctx)
            if uris:
                taken, refused = offered_folders(uris, own_places(self._toolbox.config))
                self._taken = taken
                self._toolbox.use_roots(taken, refused)

    def on_change(self) -> None:
        """The host offers others now. What runs goes on in the old ones."""
        if self._taken:
            self._toolbox.add_note(CHANGED)


async def _offered(ctx: ServerRequestContext[Any, Any]) -> list[str]:
    wanted = types.ClientCapabilities(roots=types.RootsCapability())
    if (
        ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        or not ctx.session.can_send_request
        or not ctx.session.check_client_capability(wanted)
    ):
        return []
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            found = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    except (TimeoutError, MCPError, NoBackChannelError, ValueError):
        return []
    return [str(root.uri) for root in found.roots]
