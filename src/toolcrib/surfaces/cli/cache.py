"""`toolcrib cache`: what is kept of the web, where, and how it goes away."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from toolcrib.surfaces.cli.flags import Flags
from toolcrib.text.display import counted

if TYPE_CHECKING:
    from toolcrib.core.config import Config


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("what", nargs="?", choices=("show", "clear"), default="show")
    parser.epilog = (
        "Pages and search results are kept for a while (web.fetch.cache_seconds, "
        "web.search.cache_seconds), in the store. clear forgets them; history and undo stay."
    )


def run(options: Namespace, flags: Flags) -> int:
    """Show the cache, or empty it."""
    return asyncio.run(_run(flags.load(), clear=options.what == "clear"))


async def _run(config: Config, *, clear: bool) -> int:
    from toolcrib.core.context import Services
    from toolcrib.net.cache import Cache
    from toolcrib.state.store import Store

    async with Services(config) as services:
        sizes = await services.use(Cache).sizes()
        if clear:
            await services.use(Cache).clear()
        where = services.use(Store).path or "memory"
    for kind, (entries, size) in sorted(sizes.items()):
        print(f"{kind}: {counted(entries, 'entry', 'entries')}, {counted(size, 'byte')}")
    total = sum(size for _, size in sizes.values())
    if clear:
        print(f"Cleared: {total:,} bytes in {where}")
    else:
        print(f"{total:,} bytes of {config.store.cache_bytes:,} in {where}")
    return 0
