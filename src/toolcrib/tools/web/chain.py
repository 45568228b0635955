"""One query through the providers in order: the first that answers wins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from toolcrib.core.config import ProviderConfig
from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    BadInput,
    Blocked,
    ChallengePage,
    ConnectionFailed,
    DnsFailure,
    HttpStatus,
    Network,
    NoResults,
    NotConfigured,
    RateLimited,
    TimedOut,
    TlsFailure,
    TooLarge,
    ToolError,
    Unavailable,
)
from toolcrib.kit.cache import Cache, Cached
from toolcrib.kit.pace import Pace
from toolcrib.tools.web.provider import Ask, Found, Page, Provider, Reach
from toolcrib.tools.web.providers import provider

MAX_PAGES = 10
PATIENCE = 20.0
KEPT = 500
UNREACHED = "Search with {name} is not reachable; web.search.providers can name others."
STALE_SECONDS = 86_400
"""For how long after their time results stand in when no provider answers."""

# When all fail, the error that tells most about why.
TELLING: tuple[type[ToolError], ...] = (
    NoResults,
    RateLimited,
    ChallengePage,
    TimedOut,
    HttpStatus,
    Network,
    Blocked,
    TooLarge,
    NotConfigured,
    Unavailable,
    BadInput,
    ToolError,
)


@dataclass(frozen=True, slots=True)
class Window:
    """Which of a query's results are wanted: `page` of `limit` each, from 1."""

    page: int
    limit: int

    @property
    def start(self) -> int:
        """How many results come before."""
        return (self.page - 1) * self.limit

    @property
    def end(self) -> int:
        """How many results there are up to the last one wanted."""
        return self.page * self.limit


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one provider gave, and how those before it failed.

    `stale` is the age in seconds of old results that stand in for an answer, else 0.
    """

    provider: str
    results: tuple[Found, ...]
    more: bool
    cached: bool
    stale: float = 0.0
    failed: tuple[tuple[str, ToolError], ...] = ()


@dataclass(slots=True)
class _Pages:
    results: dict[str, Found] = field(default_factory=dict)
    more: bool = True
    cached: bool = True
    stale: float = 0.0


async def first_answer(ask: Ask, window: Window, names: Sequence[str], ctx: Ctx) -> Outcome:
    """The results of the first provider that has some, or old ones where none answers.

    Raises:
        ToolError: the most telling of what the providers raised; `details["providers"]`
            lists them all.
    """
    failed: list[tuple[str, ToolError]] = []
    old: Outcome | None = None
    for name in names:
        try:
            outcome = await _ask(provider(name), ask, window, ctx)
        except ToolError as error:
            if isinstance(error, DnsFailure | ConnectionFailed | TlsFailure | TimedOut):
                error.hint = UNREACHED.format(name=name)
            failed.append((name, error))
            continue
        if not outcome.stale:
            return replace(outcome, failed=tuple(failed))
        old = old or outcome
    if old is not None:
        minutes = old.stale / 60
        ctx.warn(f"No provider answers now; these results are {minutes:,.0f} min old.")
        return replace(old, failed=tuple(failed))
    raise _all_failed(ask, failed)


async def _ask(chosen: Provider, ask: Ask, window: Window, ctx: Ctx) -> Outcome:
    chosen.check_query(ask.query)
    config = ctx.config.web.providers.get(chosen.name, ProviderConfig())
    reach = Reach(chosen, config, ctx)
    pages = _Pages()
    while pages.more and len(pages.results) < window.end and ask.page <= MAX_PAGES:
        try:
            page, kept = await _page(chosen, ask, reach, ctx)
        except ToolError as error:
            if len(pages.results) <= window.start:
                raise
            ctx.warn(f"Fewer results than asked for: {error.message}")
            pages.more = False
            break
        before = len(pages.results)
        for result in page.results:
            pages.results.setdefault(result.url, result)
        # Some services repeat their last page for ever.
        pages.more = page.more and len(pages.results) > before
        pages.cached = pages.cached and kept.hit
        pages.stale = max(pages.stale, kept.age if kept.stale else 0.0)
        ask = replace(ask, page=ask.page + 1, cursor=page.cursor)
    found = list(pages.results.values())
    wanted = tuple(found[window.start : window.end])
    if not wanted:
        beyond = f" on page {window.page}" if found else ""
        raise NoResults(
            f"{chosen.name} found nothing{beyond} for '{ask.query[:200]}'.",
            hint="Use fewer or other words.",
            provider=chosen.name,
        )
    more = len(found) > window.end or (pages.more and ask.page <= MAX_PAGES)
    return Outcome(chosen.name, wanted, more, pages.cached, pages.stale)


async def _page(chosen: Provider, ask: Ask, reach: Reach, ctx: Ctx) -> tuple[Page, Cached]:
    settings = ctx.config.web.search
    about = [chosen.name, reach.base_url, ask.query, ask.page, ask.freshness, ask.safe_search]

    async def make() -> dict[str, Any]:
        # A service without an address of its own is the user's instance: it sets the pace.
        gap = settings.gap_seconds if chosen.base_url else 0.0
        await ctx.use(Pace).turn(chosen.name, gap, ctx.remaining(PATIENCE))
        return asdict(await chosen.search(ask, reach))

    kept = await ctx.use(Cache).fetch(
        "search",
        json.dumps(about),
        make,
        ttl=settings.cache_seconds,
        stale=STALE_SECONDS,
        max_entries=KEPT,
    )
    value = kept.value
    results = tuple(Found(**result) for result in value["results"])
    return Page(results, value["more"], value["cursor"]), kept


def _all_failed(ask: Ask, failed: list[tuple[str, ToolError]]) -> ToolError:
    if not failed:
        return NotConfigured(
            "No search provider is configured.",
            hint="The user lists some in web.search.providers.",
        )
    error = most_telling([error for _, error in failed])
    listed = [{"provider": n, "code": e.stable_code, "message": e.message} for n, e in failed]
    if len(failed) > 1 and not isinstance(error, NoResults):
        told = " ".join(f"{name}: {e.message}" for name, e in failed)
        error.message = f"No provider answered '{ask.query[:200]}'. {told}"
    error.details = {**error.details, "providers": listed}
    return error


def most_telling(errors: Sequence[ToolError]) -> ToolError:
    """The error that says most about why all of them happened; of equals the first."""
    return min(errors, key=lambda e: next(n for n, k in enumerate(TELLING) if isinstance(e, k)))
