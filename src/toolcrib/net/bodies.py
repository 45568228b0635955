"""The bodies of pages: fetched once, kept for every way of reading them, asked for anew."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import ConnectionFailed, TooLarge
from toolcrib.net.cache import UNCHANGED, Cache, Fleeting
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.redirects import Redirect
from toolcrib.net.egress.response import Response
from toolcrib.net.robots import gate_of
from toolcrib.net.statuses import check

KIND = "body"
STALE_SECONDS = 86_400
"""For how long after its time a page stands in when it cannot be read anew."""
MISSING_SECONDS = 60
"""For how long it is remembered that a page is missing."""
_EMPTY_IS_FINE = frozenset({200, 203, 204, 205})
_ACCEPT = (
    "text/html,application/xhtml+xml,application/json;q=0.9,application/xml;q=0.9,"
    "text/plain;q=0.8,*/*;q=0.5"
)


@dataclass(frozen=True, slots=True)
class Body:
    """What a server answered, decoded.

    `url` is the final one; `media_type` and `charset` are what the headers say;
    `fetched_at` is when it was read or last confirmed by the server, UTC in seconds
    since 1970; `truncated` says that the server's answer went on; `digest` is the same
    for the same bytes; `stale` says that reading it anew failed.
    """

    url: str
    status: int
    media_type: str
    charset: str
    content: bytes
    digest: str
    fetched_at: float
    etag: str = ""
    last_modified: str = ""
    truncated: bool = False
    redirects: tuple[Redirect, ...] = field(default=())
    cached: bool = False
    stale: bool = False


async def read_body(url: str, ctx: Ctx) -> Body:
    """The body of a page, from the cache while it is fresh, or old where the network fails.

    Args:
        url: checked already, without a fragment.
        ctx: the call.

    Raises:
        ToolError: what the network or the server says.
    """
    settings = ctx.config.web.fetch

    async def make() -> bytes | Fleeting:
        return _kept(_passed(await _download(url, ctx), url))

    async def again(value: bytes) -> Any:
        old = _unpacked(value)
        asked = {"if-none-match": old.etag, "if-modified-since": old.last_modified}
        conditions = {name: text for name, text in asked.items() if text}
        response = await _download(url, ctx, conditions)
        if response.status == 304 and conditions:
            # Another page may lie behind the redirect by now, with the same mark.
            same = response.url.partition("#")[0] == old.url.partition("#")[0]
            if same:
                return UNCHANGED
            response = await _download(url, ctx)
        return _kept(_passed(response, url))

    kept = await ctx.use(Cache).fetch(
        KIND,
        url,
        make,
        ttl=settings.cache_seconds,
        stale=STALE_SECONDS,
        negative_ttl=MISSING_SECONDS,
        max_entries=settings.cache_entries,
        again=again,
    )
    body = _unpacked(kept.value, fetched_at=kept.created, cached=kept.hit, stale=kept.stale)
    if kept.hit:
        ctx.use(Egress).retrace(body.redirects, PAGES, ctx)
    return body


async def _download(url: str, ctx: Ctx, conditions: dict[str, str] | None = None) -> Response:
    settings = ctx.config.web.fetch
    try:
        return await ctx.use(Egress).fetch(
            url,
            headers={"accept": _ACCEPT, **(conditions or {})},
            component=PAGES,
            max_bytes=settings.max_bytes,
            timeout=min(settings.timeout, ctx.config.egress.total_timeout),
            partial="untold",
            retries=ctx.config.egress.retry.retries,
            gate=gate_of(ctx),
            ctx=ctx,
        )
    except TooLarge as error:
        error.hint = "Use another source. The user can raise web.fetch.max_bytes."
        raise


def _passed(response: Response, url: str) -> Response:
    check(response, url)
    if not response.body and response.status not in _EMPTY_IS_FINE:
        raise ConnectionFailed(
            f"{url} answered with HTTP {response.status} and nothing else.",
            hint="Try again later, or use another address of the same page.",
        )
    return response


def _kept(response: Response) -> bytes | Fleeting:
    """What is put into the cache: a line of JSON, then the body."""
    head = {
        "url": response.url,
        "status": response.status,
        "media_type": response.media_type,
        "charset": response.charset,
        "digest": hashlib.blake2b(response.body, digest_size=16).hexdigest(),
        "etag": "" if response.truncated else response.headers.get("etag")[:500],
        "last_modified": "" if response.truncated else response.headers.get("last-modified")[:100],
        "truncated": response.truncated,
        "redirects": [[step.source, step.target, step.status] for step in response.redirects],
    }
    packed = json.dumps(head).encode("ascii") + b"\n" + response.body
    # Asked not to store a page, we do not; parts of it are still read from memory.
    forbidden = "no-store" in response.headers.tokens("cache-control")
    return Fleeting(packed) if forbidden else packed


def _unpacked(
    value: bytes, fetched_at: float = 0.0, *, cached: bool = False, stale: bool = False
) -> Body:
    line, _, content = value.partition(b"\n")
    head = json.loads(line)
    redirects = tuple(Redirect(*step) for step in head.pop("redirects"))
    return Body(
        **head,
        content=content,
        redirects=redirects,
        fetched_at=fetched_at,
        cached=cached,
        stale=stale,
    )
