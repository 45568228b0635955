"""The bodies of pages: fetched once, kept for every way of reading them, asked for anew."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    ConnectionFailed,
    HttpStatus,
    RobotsDenied,
    TimedOut,
    TooLarge,
    TooManyRedirects,
)
from toolcrib.net.cache import UNCHANGED, Cache, MemoryOnly
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.redirects import Redirect
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.url import parse_url, web_origin
from toolcrib.net.response_check import check
from toolcrib.system.threads import in_thread

if TYPE_CHECKING:
    from protego import Protego


# robots.txt, where the user wants it obeyed: read once an hour for each origin (RFC 9309).

AGENT = "toolcrib"
KEEP_SECONDS = 3600
ROBOTS_STALE_SECONDS = 86_400
MAX_BYTES = 512_000
MAX_LINE = 2000
TIMEOUT = 10.0
_UNREAD = (HttpStatus, TimedOut, ConnectionFailed)
_OUT_OF_REACH = frozenset({"refused", "unreachable", "connect", "connect_timeout", "proxy"})
"""Failures of the site itself, which say nothing of what it allows."""
_HINT = (
    "Use another source, and do not try other ways to this page. "
    "The user decides with web.fetch.robots."
)


def robots_check(ctx: Ctx) -> Callable[[str], Awaitable[None]] | None:
    """What each hop has to pass: the robots.txt of its origin; None where nobody asked."""
    if not ctx.config.web.fetch.robots:
        return None

    async def gate(url: str) -> None:
        if ctx.use(Egress).serves(url, ctx.session.id):
            return
        await check_robots(url, ctx)

    return gate


async def check_robots(url: str, ctx: Ctx) -> None:
    """Pass a URL that the robots.txt of its origin allows.

    Raises:
        RobotsDenied: it does not, or the server fails to say.
        ToolError: what the guard says of the origin, or why it cannot be reached.
    """
    target = parse_url(url)
    address = f"{web_origin(target.href)}/robots.txt"
    if target.href.partition("?")[0] == address:
        return
    try:
        rules = await _rules(address, ctx)
    except _UNREAD as error:
        if error.details.get("reason") in _OUT_OF_REACH:
            raise
        raise RobotsDenied(
            f"{address} cannot be read now, so nothing on {target.host} may be.",
            hint="Try again later, or use another source.",
            url=url,
            cause=error.stable_code,
        ) from None
    parsed = await in_thread(lambda _: _parsed(rules), ctx.deadline)
    if not parsed.can_fetch(url, AGENT):
        raise RobotsDenied(
            f"{address} does not allow programs to read {url[:200]}.", hint=_HINT, url=url
        )


async def _rules(address: str, ctx: Ctx) -> str:
    async def make() -> Any:
        try:
            response = await ctx.use(Egress).fetch(
                address,
                headers={"accept": "text/plain,*/*;q=0.5"},
                component=PAGES,
                max_bytes=MAX_BYTES,
                timeout=TIMEOUT,
                allow_truncated=True,
                ctx=ctx,
            )
        except TooManyRedirects:
            return ""
        if response.status >= 500:
            raise HttpStatus(
                f"{address} answered with HTTP {response.status}.",
                hint="Try again later.",
                status=response.status,
            )
        # Without such a file, or with one that nobody may read, everything is allowed.
        return response.body.decode("utf-8", "replace") if response.status < 300 else ""

    cached = await ctx.use(Cache).fetch(
        "robots", address, make, ttl=KEEP_SECONDS, stale=ROBOTS_STALE_SECONDS, max_entries=500
    )
    return str(cached.value)


@lru_cache(maxsize=64)
def _parsed(rules: str) -> Protego:
    from protego import Protego

    return Protego.parse("\n".join(line[:MAX_LINE] for line in rules.splitlines()))


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
class PageBody:
    """What a server answered, decoded.

    `url` is the final one; `media_type` and `charset` are what the headers say;
    `fetched_at` is when it was read or last confirmed by the server, UTC in seconds
    since 1970; `truncated` says that the server's answer went on; `digest` is the same
    for the same bytes; `stale` says that reading it anew failed; `rendered` that it is what
    a browser made of the answer.
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
    rendered: bool = False


async def read_body(url: str, ctx: Ctx) -> PageBody:
    """The body of a page, from the cache while it is fresh, or old where the network fails.

    Args:
        url: checked already, without a fragment.
        ctx: the call.

    Raises:
        ToolError: what the network or the server says.
    """
    settings = ctx.config.web.fetch

    async def make() -> bytes | MemoryOnly:
        return _packed(_passed(await _download(url, ctx), url))

    async def again(value: bytes) -> Any:
        old = _unpacked(value)
        conditional = {"if-none-match": old.etag, "if-modified-since": old.last_modified}
        conditions = {name: text for name, text in conditional.items() if text}
        response = await _download(url, ctx, conditions)
        if response.status == 304 and conditions:
            # Another page may lie behind the redirect by now, with the same mark.
            same = response.url.partition("#")[0] == old.url.partition("#")[0]
            if same:
                return UNCHANGED
            response = await _download(url, ctx)
        return _packed(_passed(response, url))

    if ctx.use(Egress).serves(url, ctx.session.id):  # it changes with the files
        return _unpacked(_bytes(await make()), fetched_at=time.time())
    cached = await ctx.use(Cache).fetch(
        KIND,
        url,
        make,
        ttl=settings.cache_seconds,
        stale=STALE_SECONDS,
        negative_ttl=MISSING_SECONDS,
        max_entries=settings.cache_entries,
        revalidate=again,
    )
    body = _unpacked(cached.value, fetched_at=cached.created, cached=cached.hit, stale=cached.stale)
    if cached.hit:
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
            allow_truncated="undeclared",
            retries=ctx.config.egress.retry.retries,
            before_request=robots_check(ctx),
            ctx=ctx,
        )
    except TooLarge as error:
        error.hint = "Use another source. The user can raise web.fetch.max_bytes."
        raise


def rendered_body(response: Response, url: str) -> PageBody:
    """The body of a page that a browser read.

    Raises:
        ToolError: what its status or its face says.
    """
    passed = _passed(response, url)
    return PageBody(
        url=passed.url,
        status=passed.status,
        media_type=passed.media_type,
        charset=passed.charset,
        content=passed.body,
        digest=_digest(passed.body),
        fetched_at=time.time(),
        truncated=passed.truncated,
        redirects=passed.redirects,
        rendered=True,
    )


def _digest(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def _passed(response: Response, url: str) -> Response:
    check(response, url)
    if not response.body and response.status not in _EMPTY_IS_FINE:
        raise ConnectionFailed(
            f"{url} answered with HTTP {response.status} and nothing else.",
            hint="Try again later, or use another address of the same page.",
        )
    return response


def _packed(response: Response) -> bytes | MemoryOnly:
    """What is put into the cache: a line of JSON, then the body."""
    head = {
        "url": response.url,
        "status": response.status,
        "media_type": response.media_type,
        "charset": response.charset,
        "digest": _digest(response.body),
        "etag": "" if response.truncated else response.headers.get("etag")[:500],
        "last_modified": "" if response.truncated else response.headers.get("last-modified")[:100],
        "truncated": response.truncated,
        "redirects": [[step.source, step.target, step.status] for step in response.redirects],
    }
    packed = json.dumps(head).encode("ascii") + b"\n" + response.body
    # Asked not to store a page, we do not; parts of it are still read from memory.
    forbidden = "no-store" in response.headers.tokens("cache-control")
    return MemoryOnly(packed) if forbidden else packed


def _bytes(value: bytes | MemoryOnly) -> bytes:
    return value.value if isinstance(value, MemoryOnly) else value


def _unpacked(
    value: bytes, fetched_at: float = 0.0, *, cached: bool = False, stale: bool = False
) -> PageBody:
    line, _, content = value.partition(b"\n")
    head = json.loads(line)
    redirects = tuple(Redirect(*step) for step in head.pop("redirects"))
    return PageBody(
        **head,
        content=content,
        redirects=redirects,
        fetched_at=fetched_at,
        cached=cached,
        stale=stale,
    )
