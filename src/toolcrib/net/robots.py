"""robots.txt, where the user wants it obeyed: read once an hour for each origin (RFC 9309)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    ConnectionFailed,
    HttpStatus,
    RobotsDenied,
    TimedOut,
    TooManyRedirects,
)
from toolcrib.net.cache import Cache
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.url import Target, bracketed, parse_url
from toolcrib.system.threads import in_thread

if TYPE_CHECKING:
    from protego import Protego

AGENT = "toolcrib"
KEEP_SECONDS = 3600
STALE_SECONDS = 86_400
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


def gate_of(ctx: Ctx) -> Callable[[str], Awaitable[None]] | None:
    """What each hop has to pass: the robots.txt of its origin; None where nobody asked."""
    if not ctx.config.web.fetch.robots:
        return None

    async def gate(url: str) -> None:
        await check_robots(url, ctx)

    return gate


async def check_robots(url: str, ctx: Ctx) -> None:
    """Pass a URL that the robots.txt of its origin allows.

    Raises:
        RobotsDenied: it does not, or the server fails to say.
        ToolError: what the guard says of the origin, or why it cannot be reached.
    """
    target = parse_url(url)
    address = f"{_origin(target)}/robots.txt"
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
                partial=True,
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

    kept = await ctx.use(Cache).fetch(
        "robots", address, make, ttl=KEEP_SECONDS, stale=STALE_SECONDS, max_entries=500
    )
    return str(kept.value)


@lru_cache(maxsize=64)
def _parsed(rules: str) -> Protego:
    from protego import Protego

    return Protego.parse("\n".join(line[:MAX_LINE] for line in rules.splitlines()))


def _origin(target: Target) -> str:
    usual = {"http": 80, "https": 443}[target.scheme]
    port = "" if target.port == usual else f":{target.port}"
    return f"{target.scheme}://{bracketed(target.host)}{port}"
