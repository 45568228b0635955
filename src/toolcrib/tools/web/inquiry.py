"""One query at one provider: page after page, cached, at its pace, and never while it rests."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    ChallengePage,
    HttpStatus,
    MissingExtra,
    NoResults,
    NotConfigured,
    RateLimited,
    TimedOut,
    ToolError,
    Unavailable,
)
from toolcrib.core.web_settings import ProviderConfig
from toolcrib.kit.cache import Cache, Cached
from toolcrib.kit.cooldowns import Cooldowns, Lengths, Rest
from toolcrib.kit.pace import Pace
from toolcrib.kit.text import clean
from toolcrib.tools.web.canonical import identity
from toolcrib.tools.web.provider import Ask, Found, Page, Provider, Reach, is_web, plain

MAX_PAGES = 10
"""Pages that a provider is asked for at most."""
PATIENCE = 20.0
"""Seconds to wait for a turn at the only provider left."""
STALE_SECONDS = 86_400
"""For how long after their time results stand in when no provider answers."""
EMPTY_SECONDS = 120
"""For how long it is remembered that there is nothing."""
OTHER_WORDS = "Use fewer or other words."
_RESTED: Mapping[str, type[ToolError]] = {
    kind.code: kind for kind in (RateLimited, ChallengePage, TimedOut, Unavailable)
}


class Inquiry:
    """What one provider has for a query; `found` grows as more is wanted.

    An error has `details["asked"]` False where nothing was sent.

    Args:
        provider: who is asked.
        ask: the query and its first page.
        ctx: the call.

    Raises:
        BadInput: the provider does not take the query.
        NotConfigured: its address or key is missing.
    """

    def __init__(self, provider: Provider, ask: Ask, ctx: Ctx) -> None:
        provider.check_query(ask.words)
        self.provider = provider
        self.found: dict[str, Found] = {}
        self.more = True
        self.cached = True
        self.stale = 0.0
        self.alone = False
        self._ask = ask
        self._ctx = ctx
        self._settings = ctx.config.web.search
        self._reach = self._reached(0)

    async def rest(self) -> Rest | None:
        """How long the provider still rests; None while it may be asked."""
        return await self._ctx.use(Cooldowns).resting(self._place)

    async def fill(self, count: int, least: int = 0) -> None:
        """Ask for pages until there are so many results, or no more.

        Args:
            count: the results wanted.
            least: with more than these, a failure only ends the list.

        Raises:
            ToolError: what the provider or the network says.
        """
        while self.more and len(self.found) < count and self._ask.page <= MAX_PAGES:
            ask = self._ask
            try:
                page, kept = await self._page(ask)
            except NoResults:
                self.more = False
                return
            except ToolError as error:
                self.more = False
                if len(self.found) <= least:
                    raise
                self._ctx.warn(f"Fewer results than asked for: {error.message}")
                return
            before = len(self.found)
            for result in page.results:
                self.found.setdefault(identity(result.url), result)
            # Some services repeat their last page for ever.
            self.more = page.more and len(self.found) > before and ask.page < MAX_PAGES
            self.cached = self.cached and kept.hit
            self.stale = max(self.stale, kept.age if kept.stale else 0.0)
            self._ask = replace(ask, page=ask.page + 1, cursor=page.cursor)

    def _reached(self, retries: int) -> Reach:
        config = self._ctx.config.web.providers.get(self.provider.name, ProviderConfig())
        return Reach(self.provider, config, self._ctx, retries)

    @property
    def _place(self) -> str:
        key = " with a key" if self._reach.key else ""
        return f"{self.provider.name} {self._reach.base_url}{key}"

    async def _page(self, ask: Ask) -> tuple[Page, Cached]:
        asked = {
            "at": self._place,
            "query": ask.query,
            "site": ask.site,
            "page": ask.page,
            "freshness": ask.freshness,
            "safe_search": ask.safe_search,
            "region": ask.region,
            "count": ask.count if self.provider.counted else 0,
        }
        seconds = self._settings.cache_seconds
        kept = await self._ctx.use(Cache).fetch(
            "search",
            json.dumps(asked),
            lambda: self._made(ask),
            ttl=seconds,
            stale=STALE_SECONDS,
            negative_ttl=min(EMPTY_SECONDS, seconds),
            max_entries=self._settings.cache_entries,
        )
        value = kept.value
        results = tuple(Found(**result) for result in value["results"])
        return Page(results, value["more"], value["cursor"]), kept

    async def _made(self, ask: Ask) -> dict[str, Any]:
        try:
            await self._turn()
            had = self._ctx.remaining(self._settings.timeout)
        except ToolError as error:
            error.details["asked"] = False
            raise
        if self.alone:
            self._reach = self._reached(self._ctx.config.egress.retry.retries)
        try:
            page = await self.provider.search(ask, self._reach)
        except ToolError as error:
            await self._note(error, patient=had >= self._settings.timeout)
            raise
        await self._ctx.use(Cooldowns).answered(self._place)
        results = tuple(filter(None, map(_tidied, page.results)))
        if not results:
            raise NoResults(f"{self.provider.name} found nothing.", hint=OTHER_WORDS)
        return asdict(replace(page, results=results))

    async def _turn(self) -> None:
        """Wait for a turn, unless the provider rests before or after it."""
        await self._check_rest()
        # A service without an address of its own is the user's instance: it sets the pace.
        gap = self._settings.gap_seconds if self.provider.base_url else 0.0
        if gap:
            # Where others can be asked, a second turn in the queue is not waited for.
            patience = PATIENCE if self.alone else min(gap * 1.2, PATIENCE)
            await self._ctx.use(Pace).turn(self._place, gap, self._ctx.remaining(patience))
            await self._check_rest()

    async def _check_rest(self) -> None:
        rest = await self.rest()
        if rest is None:
            return
        name, seconds = self.provider.name, math.ceil(rest.seconds)
        raise _RESTED.get(rest.code, Unavailable)(
            f"{name} is left alone for {seconds} s more, since it failed ({rest.code}).",
            hint="Wait that long, or use another provider.",
            code=rest.code,
            provider=name,
            retry_after=seconds,
        )

    async def _note(self, error: ToolError, *, patient: bool) -> None:
        """Let the provider rest if it refused; the error then says for how long."""
        cooldowns, code = self._ctx.use(Cooldowns), error.stable_code
        lengths = Lengths(self._settings.cooldown_seconds, self._settings.cooldown_most)
        asked = error.details.get("retry_after")
        wait = 0.0
        if isinstance(error, RateLimited | ChallengePage) or (
            isinstance(error, HttpStatus | Unavailable) and asked
        ):
            wait = await cooldowns.refused(self._place, code, lengths, asked)
        elif _is_unreadable(error) and self.provider.base_url:
            wait = await cooldowns.refused(self._place, code, lengths)
        elif isinstance(error, TimedOut) and patient:
            wait = await cooldowns.slipped(self._place, code, lengths)
        elif isinstance(error, NoResults):
            await cooldowns.answered(self._place)
        if wait:
            error.details["retry_after"] = math.ceil(round(wait, 3))


def _is_unreadable(error: ToolError) -> bool:
    return isinstance(error, Unavailable) and not isinstance(error, NotConfigured | MissingExtra)


def _tidied(found: Found) -> Found | None:
    """A result as it may be shown, whoever made it; None where it leads nowhere."""
    url = found.url.strip()
    if not is_web(url):
        return None
    return replace(
        found,
        url=url,
        title=plain(found.title),
        snippet=plain(found.snippet),
        published=plain(found.published),
        content=clean(found.content).text if found.content else "",
    )
