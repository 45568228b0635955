"""The plugin on a scripted LM Studio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.servers.lmstudio_host import HostedPlugin, LmStudioHost
from toolcrib.core.config import Config, merge
from toolcrib.core.context import Services
from toolcrib.net.egress.client import Egress
from toolcrib.surfaces.lmstudio.plugin import LmStudioPlugin, PluginOptions
from toolcrib.surfaces.lmstudio.toolboxes import PanelToolboxes


@asynccontextmanager
async def plugged(
    host: LmStudioHost,
    settings: Mapping[str, Any] | None = None,
    reported: list[str] | None = None,
    **options: Any,
) -> AsyncIterator[asyncio.Task[None]]:
    """The plugin as it runs for a host; gives its task."""
    given = dict(settings or {})
    config = Config.load(given)
    services = Services(config)
    boxes = PanelToolboxes(lambda layer: Config.load(merge(given, layer)))
    lines = reported if reported is not None else []
    chosen = PluginOptions(**{"address": host.url, **options})
    plugin = LmStudioPlugin(config, services.use(Egress), boxes, chosen, lines.append)
    task = asyncio.create_task(plugin.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await boxes.close()
        await services.close()


@asynccontextmanager
async def hosted(
    settings: Mapping[str, Any] | None = None, host: LmStudioHost | None = None, **options: Any
) -> AsyncIterator[HostedPlugin]:
    """A host with the plugin registered there; gives the host's side of it."""
    async with (host or LmStudioHost()).running() as running, plugged(running, settings, **options):
        yield await running.plugin()
