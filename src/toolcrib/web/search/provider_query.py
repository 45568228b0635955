"""One query at one provider: page after page, cached, at its pace, and never while it rests."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Mapping
from dataclasses import asdict, replace
from typing import Any, TypeVar

from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    ChallengePage,
    ConnectionFailed,
    DnsFailure,
    HttpStatus,
    MissingExtra,
    NoResults,
    NotConfigured,
    RateLimited,
    TimedOut,
    TlsFailure,
    ToolError,
    Unavailable,
)
from toolcrib.core.settings import ProviderConfig
from toolcrib.net.cache import Cache, Cached
from toolcrib.net.pace import Cooldowns, Lengths, Pace, Rest
from toolcrib.text.cleaner import clean, one_line
from toolcrib.web.provider import (
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    is_web,
)
from toolcrib.web.search.fusion import identity, is_within

MAX_PAGES = 10
"""Pages that a provider is asked for at most."""
STALE_SECONDS = 86_400
"""For how long after their time results stand in when no provider answers."""
EMPTY_CACHE_SECONDS = 120
"""For how long it is remembered that there is nothing."""
OTHER_WORDS_HINT = "Use fewer or other words."
MAX_WAIT_SECONDS = 20.0
"""Seconds to wait for a turn at the only provider left."""
PASSING_REST_SECONDS = 20.0
"""The first rest after a failure that may pass by itself."""
MAX_NETWORK_REST_SECONDS = 60.0
"""The longest rest after one of the network: it may be this machine that is offline."""
_NETWORK_ERRORS = (DnsFailure, ConnectionFailed, TlsFailure, TimedOut)
_UNSENT_REASONS = frozenset({"dns", "refused", "unreachable", "connect", "connect_timeout"})
_REST_ERRORS: Mapping[str, type[ToolError]] = {
    kind.code: kind
    for kind in (RateLimited, ChallengePage, HttpStatus, Unavailable, *_NETWORK_ERRORS)
}

T = TypeVar("T")


class ProviderQuery:
    """What one provider has for a query; `found` grows as more is wanted.

    An error has `details["asked"]` False where nothing was sent.

    Args:
        provider: who is asked.
        request: the query and its first page.
        ctx: the call.

    Raises:
        BadInput: the provider does not take the query.
        NotConfigured: its address or key is missing.
    """

    def __init__(self, provider: Provider, request: SearchRequest, ctx: Ctx) -> None:
        provider.check_query(request.words)
        self.provider = provider
        self.found: dict[str, SearchResult] = {}
        self.more = True
        self.cached = True
        self.stale = 0.0
        self.alone = False
        self.only = False
        self._request = request
        self._ctx = ctx
        self._settings = ctx.config.web.search
        self._client = self._new_client(0)
        self._turns = ProviderTurns(provider, self._client, ctx)

    @property
    def usual(self) -> bool:
        """Whether the provider is reached where everybody reaches it."""
        return self._client.base_url == self.provider.base_url.rstrip("/")

    async def rest(self) -> Rest | None:
        """How long the provider still rests; None while it may be asked."""
        return await self._turns.rest()

    async def fill(self, count: int, enough: int = 0) -> None:
        """Ask for pages until there are so many results, or no more.

        Args:
            count: the results wanted.
            enough: with more than these, a failure only ends the list.

        Raises:
            ToolError: what the provider or the network says.
        """
        while self.more and len(self.found) < count and self._request.page <= MAX_PAGES:
            request = self._request
            try:
                page, cached = await self._page(request)
            except NoResults:
                self.more = False
                return
            except ToolError as error:
                self.more = False
                if len(self.found) <= enough:
                    raise
                self._ctx.warn(f"Fewer results than asked for: {error.message}")
                return
            before = len(self.found)
            for result in page.results:
                # Not every service keeps to the domain that it was asked for.
                if not request.site or is_within(result.url, request.site):
                    self.found.setdefault(identity(result.url), result)
            # Some services repeat their last page for ever, or go on elsewhere.
            self.more = page.more and len(self.found) > before and request.page < MAX_PAGES
            self.cached = self.cached and cached.hit
            self.stale = max(self.stale, cached.age if cached.stale else 0.0)
            self._request = replace(request, page=request.page + 1, cursor=page.cursor)

    def _new_client(self, retries: int) -> ProviderClient:
        config = self._ctx.config.web.providers.get(self.provider.name, ProviderConfig())
        return ProviderClient(self.provider, config, self._ctx, retries)

    async def _page(self, request: SearchRequest) -> tuple[ResultPage, Cached]:
        key = {
            "at": self._turns.key,
            "query": request.query,
            "site": request.site,
            "page": request.page,
            "freshness": request.freshness,
            "safe_search": request.safe_search,
            "region": request.region,
            "count": request.count if self.provider.counted else 0,
        }
        seconds = self._settings.cache_seconds
        cached = await self._ctx.use(Cache).fetch(
            "search",
            json.dumps(key),
            lambda: self._search(request),
            ttl=seconds,
            stale=STALE_SECONDS,
            negative_ttl=min(EMPTY_CACHE_SECONDS, seconds),
            max_entries=self._settings.cache_entries,
        )
        value = cached.value
        results = tuple(SearchResult(**result) for result in value["results"])
        return ResultPage(results, value["more"], value["cursor"]), cached

    async def _search(self, request: SearchRequest) -> dict[str, Any]:
        try:
            full_time = await self._turns.wait(alone=self.alone, only=self.only)
        except ToolError as error:
            error.details["asked"] = False
            raise
        if self.alone:
            self._client = self._new_client(self._ctx.config.egress.retry.retries)
        page = await self._turns.run(
            self.provider.search(request, self._client), full_time=full_time
        )
        results = tuple(filter(None, map(_cleaned, page.results)))
        if not results:
            raise NoResults(f"{self.provider.name} found nothing.", hint=OTHER_WORDS_HINT)
        return asdict(replace(page, results=results))


def _cleaned(found: SearchResult) -> SearchResult | None:
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


class ProviderTurns:
    """The turns of one provider at one address, and its rests.

    Args:
        provider: who is asked.
        client: its client, before it leads to another address of the same service.
        ctx: the call.
    """

    def __init__(self, provider: Provider, client: ProviderClient, ctx: Ctx) -> None:
        key = " with a key" if client.key else ""
        self.key = f"{provider.name} {client.base_url}{key}"
        self._provider = provider
        self._ctx = ctx
        self._settings = ctx.config.web.search
        # A service without an address of its own is the user's instance: it sets the pace.
        usual = self._settings.gap_seconds if provider.base_url else 0.0
        self._gap = provider.gap_seconds or usual
        self._timeout = client.timeout
        self._taken = 0.0

    async def rest(self) -> Rest | None:
        """How long the provider still rests; None while it may be asked."""
        return await self._ctx.use(Cooldowns).resting(self.key)

    async def wait(self, *, alone: bool, only: bool = False) -> bool:
        """Wait for a turn, unless the provider rests before or after it.

        Args:
            alone: nobody else can be asked, so that a long wait is worth it.
            only: there is nobody else at all, so that an error of the server may be tried again.

        Returns:
            Whether the provider will have all the time that the settings give it.

        Raises:
            RateLimited, ChallengePage, HttpStatus, DnsFailure, ConnectionFailed, TlsFailure,
            TimedOut, Unavailable: it rests, or the turn is far off.
        """

        async def check_rest() -> None:
            await self._check_rest(only=only)

        await check_rest()
        if self._gap:
            # Where others can be asked, a second turn in the queue is not waited for.
            max_wait = self._ctx.remaining(
                MAX_WAIT_SECONDS if alone else min(self._gap * 1.2, MAX_WAIT_SECONDS)
            )
            pace = self._ctx.use(Pace)
            self._taken = await pace.turn(self.key, self._gap, max_wait, check_rest)
        return self._ctx.remaining(self._timeout) >= self._timeout

    async def run(self, work: Awaitable[T], *, full_time: bool) -> T:
        """What the requests of a turn give; how they end decides on rests.

        Args:
            work: the requests.
            full_time: what `wait` returned.

        Raises:
            ToolError: theirs; `details["retry_after"]` says when a rest that began ends.
        """
        try:
            value = await work
        except ToolError as error:
            await self._note(error, full_time=full_time)
            raise
        await self._ctx.use(Cooldowns).answered(self.key)
        return value

    async def _check_rest(self, *, only: bool) -> None:
        rest = await self.rest()
        if rest is None or (only and rest.passing and rest.code == HttpStatus.code):
            return
        name, seconds = self._provider.name, math.ceil(rest.seconds)
        raise _REST_ERRORS.get(rest.code, Unavailable)(
            f"{name} is left alone for {seconds} s more, since it failed ({rest.code}).",
            hint="Wait that long, or use another provider.",
            code=rest.code,
            provider=name,
            retry_after=seconds,
        )

    async def _note(self, error: ToolError, *, full_time: bool) -> None:
        """Let the provider rest if it refused; the error then says for how long."""
        cooldowns, code = self._ctx.use(Cooldowns), error.stable_code
        lengths = Lengths(self._settings.cooldown_seconds, self._settings.max_cooldown_seconds)
        retry_after = error.details.get("retry_after")
        wait = 0.0
        if isinstance(error, RateLimited | ChallengePage) or (
            isinstance(error, HttpStatus | Unavailable) and retry_after
        ):
            wait = await cooldowns.refused(self.key, code, lengths, retry_after)
        elif _is_unreadable(error) and self._provider.base_url:
            wait = await cooldowns.refused(self.key, code, lengths)
        elif isinstance(error, _NETWORK_ERRORS) and (full_time or not isinstance(error, TimedOut)):
            wait = await cooldowns.slipped(self.key, code, self._short(MAX_NETWORK_REST_SECONDS))
        elif isinstance(error, HttpStatus) and error.details.get("status", 0) >= 500:
            wait = await cooldowns.slipped(self.key, code, self._short(lengths.max_seconds))
        elif isinstance(error, NoResults):
            await cooldowns.answered(self.key)
        if wait:
            error.details["retry_after"] = math.ceil(round(wait, 3))
        if error.details.get("reason") in _UNSENT_REASONS:
            await self._ctx.use(Pace).give_back(self.key, self._gap, self._taken)

    def _short(self, max_seconds: float) -> Lengths:
        """The rests after failures that may pass by themselves."""
        first = min(PASSING_REST_SECONDS, self._settings.cooldown_seconds)
        return Lengths(first, min(max_seconds, self._settings.max_cooldown_seconds))


def _is_unreadable(error: ToolError) -> bool:
    return isinstance(error, Unavailable) and not isinstance(error, NotConfigured | MissingExtra)
