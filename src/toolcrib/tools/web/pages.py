"""Pages: fetched, checked, converted and cleaned once, then read from the cache."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import ConnectionFailed
from toolcrib.kit.cache import Cache
from toolcrib.kit.egress import PAGES, Egress, Redirect, Response
from toolcrib.kit.text import clean
from toolcrib.kit.threads import Checkpoint, in_thread
from toolcrib.tools.web.answers import check
from toolcrib.tools.web.document import MAX_TEXT, Document, Format, Raw
from toolcrib.tools.web.handlers import convert

KEPT = 300
STALE_SECONDS = 86_400
"""For how long after its time a page stands in when it cannot be read anew."""
MISSING_SECONDS = 60
"""For how long it is remembered that a page is missing or no text."""
_ACCEPT = (
    "text/html,application/xhtml+xml,application/json;q=0.9,application/xml;q=0.9,"
    "text/plain;q=0.8,*/*;q=0.5"
)


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as text.

    `url` is the final one; `fetched_at` is UTC in seconds since 1970; `removed` counts
    invisible characters by kind; `stale` says that it is an old copy, because reading
    it anew failed.
    """

    url: str
    status: int
    content_type: str
    kind: str
    title: str
    text: str
    encoding: str
    size: int
    fetched_at: float
    notes: list[str] = field(default_factory=list)
    removed: dict[str, int] = field(default_factory=dict)
    hidden: int = 0
    redirects: list[Redirect] = field(default_factory=list)
    cached: bool = False
    stale: bool = False


async def read_page(url: str, form: Format, ctx: Ctx) -> PageText:
    """A page, from the cache while it is fresh, or old where the network fails.

    Args:
        url: checked already.
        form: what it is converted to.
        ctx: the call.

    Raises:
        ToolError: what the network, the server or the conversion says.
    """
    url = url.partition("#")[0]

    async def make() -> dict[str, Any]:
        return asdict(await _fetched(url, form, ctx))

    kept = await ctx.use(Cache).fetch(
        "page",
        json.dumps([url, form]),
        make,
        ttl=ctx.config.web.fetch.cache_seconds,
        stale=STALE_SECONDS,
        negative_ttl=MISSING_SECONDS,
        max_entries=KEPT,
    )
    value = kept.value
    value["redirects"] = [Redirect(**step) for step in value["redirects"]]
    return PageText(**{**value, "cached": kept.hit, "stale": kept.stale})


async def _fetched(url: str, form: Format, ctx: Ctx) -> PageText:
    response = await ctx.use(Egress).fetch(
        url, headers={"accept": _ACCEPT}, component=PAGES, ctx=ctx
    )
    check(response, url)
    if not response.body and response.status not in (200, 203, 204, 205):
        raise ConnectionFailed(f"{url} answered with HTTP {response.status} and nothing else.")
    return await in_thread(lambda check: _converted(response, form, check), ctx.deadline)


def _converted(response: Response, form: Format, check: Checkpoint) -> PageText:
    raw = Raw(response.url, response.media_type, response.charset, response.body, form)
    check()
    document = convert(raw)
    check()
    cleaned = clean(document.text[:MAX_TEXT])
    return PageText(
        url=response.url,
        status=response.status,
        content_type=raw.media_type and raw.kind,
        kind=document.kind,
        title=clean(document.title).text,
        text=cleaned.text,
        encoding=document.encoding,
        size=len(response.body),
        fetched_at=time.time(),
        notes=_notes(document, response),
        removed=cleaned.removed,
        hidden=document.hidden,
        redirects=list(response.redirects),
    )


def _notes(document: Document, response: Response) -> list[str]:
    notes = list(document.notes)
    if len(document.text) > MAX_TEXT:
        notes.append(f"Only the first {MAX_TEXT:,} of {len(document.text):,} characters are kept.")
    if response.truncated:
        notes.append("The answer broke off before its end.")
    return notes
