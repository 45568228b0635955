"""One query at one provider: page after page, cached, at its pace, and never while it rests."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults, ToolError
from toolcrib.core.web_settings import ProviderConfig
from toolcrib.net.cache import Cache, Cached
from toolcrib.net.cooldowns import Rest
from toolcrib.text.cleaner import clean, one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider, is_web
from toolcrib.web.provider_api.schedule import Turns
from toolcrib.web.search.canonical import identity, is_within

MAX_PAGES = 10
"""Pages that a provider is asked for at most."""
STALE_SECONDS = 86_400
"""For how long after their time results stand in when no provider answers."""
EMPTY_SECONDS = 120
"""For how long it is remembered that there is nothing."""
OTHER_WORDS = "Use fewer or other words."


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
        self.only = False
        self._ask = ask
        self._ctx = ctx
        self._settings = ctx.config.web.search
        self._reach = self._reached(0)
        self._turns = Turns(provider, self._reach, ctx)

    @property
    def usual(self) -> bool:
        """Whether the provider is reached where everybody reaches it."""
        return self._reach.base_url == self.provider.base_url.rstrip("/")

    async def rest(self) -> Rest | None:
        """How long the provider still rests; None while it may be asked."""
        return await self._turns.rest()

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
                # Not every service keeps to the domain that it was asked for.
                if not ask.site or is_within(result.url, ask.site):
                    self.found.setdefault(identity(result.url), result)
            # Some services repeat their last page for ever, or go on elsewhere.
            self.more = page.more and len(self.found) > before and ask.page < MAX_PAGES
            self.cached = self.cached and kept.hit
            self.stale = max(self.stale, kept.age if kept.stale else 0.0)
            self._ask = replace(ask, page=ask.page + 1, cursor=page.cursor)

    def _reached(self, retries: int) -> Reach:
        config = self._ctx.config.web.providers.get(self.provider.name, ProviderConfig())
        return Reach(self.provider, config, self._ctx, retries)

    async def _page(self, ask: Ask) -> tuple[Page, Cached]:
        asked = {
            "at": self._turns.place,
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
            patient = await self._turns.wait(alone=self.alone, only=self.only)
        except ToolError as error:
            error.details["asked"] = False
            raise
        if self.alone:
            self._reach = self._reached(self._ctx.config.egress.retry.retries)
        page = await self._turns.noted(self.provider.search(ask, self._reach), patient=patient)
        results = tuple(filter(None, map(_tidied, page.results)))
        if not results:
            raise NoResults(f"{self.provider.name} found nothing.", hint=OTHER_WORDS)
        return asdict(replace(page, results=results))


def _tidied(found: Found) -> Found | None:
    """A result as it may be shown, whoever made it; None where it leads nowhere."""
    url = found.url.strip()
    if not is_web(url):
        return None
    return replace(
        found,
        url=url,
        title=one_line(found.title),
        snippet=one_line(found.snippet),
        published=one_line(found.published),
        content=clean(found.content).text if found.content else "",
    )
