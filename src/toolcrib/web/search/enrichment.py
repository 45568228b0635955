"""What the pages behind results say of themselves: date, type, description."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.net.egress.public_url import check_public_url
from toolcrib.text.cleaner import one_line
from toolcrib.web.pages.pages import read_page
from toolcrib.web.provider_api.provider import Found

MOST_PAGES = 30
"""Pages that are opened for one call."""
SECONDS = 5.0
"""Seconds for all of them: too few for a failed fetch to be tried again."""
DESCRIPTION = 500
"""Characters of a description."""


async def enriched(lists: Sequence[Sequence[Found]], ctx: Ctx) -> list[tuple[Found, ...]]:
    """The results with `date`, `type` and `description` in their `extra`.

    A page that cannot be opened in time, or is no HTML, leaves its result as it is; the
    call is told how many could be.

    Args:
        lists: results of several queries; each page is opened once.
        ctx: the call.
    """
    urls = list(dict.fromkeys(found.url for results in lists for found in results))[:MOST_PAGES]
    gate = asyncio.Semaphore(ctx.config.web.fetch.concurrency)
    end = time.monotonic() + SECONDS
    short = replace(ctx, deadline=end if ctx.deadline is None else min(end, ctx.deadline))

    async def one(url: str) -> dict[str, str] | None:
        async with gate:
            return await _facts(url, short)

    told = await asyncio.gather(*map(one, urls))
    said = {url: facts for url, facts in zip(urls, told, strict=True) if facts is not None}
    if len(said) < len(urls):
        ctx.warn(f"Enriched {len(said)} of {len(urls)}: the other pages could not be read.")
    return [
        tuple(_with(found, said.get(found.url, {})) for found in found_of) for found_of in lists
    ]


async def _facts(url: str, ctx: Ctx) -> dict[str, str] | None:
    """What a page says of itself; None where it cannot be read."""
    try:
        checked = check_public_url(url, ctx)
        if ctx.judge is not None:
            ctx.judge(checked)
        async with asyncio.timeout(ctx.remaining(SECONDS)):
            page = await read_page(checked, ctx.config.web.fetch.format, ctx)
    except (ToolError, TimeoutError):
        return None
    if page.kind != "html":
        return {}
    facts = page.facts
    told = {"date": facts.date, "type": facts.type, "description": facts.description}
    return {name: one_line(text)[:DESCRIPTION] for name, text in told.items() if one_line(text)}


def _with(found: Found, facts: dict[str, str]) -> Found:
    # A snippet is often the description itself.
    kept = {k: v for k, v in facts.items() if k != "description" or v != found.snippet}
    return replace(found, extra={**found.extra, **kept}) if kept else found
