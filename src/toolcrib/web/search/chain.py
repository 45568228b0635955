"""A search through the providers: in order until one answers, or several fused."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolcrib.core.config import Config
from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    BadInput,
    Blocked,
    ChallengePage,
    ConfigError,
    ConnectionFailed,
    DnsFailure,
    HttpStatus,
    MissingExtra,
    Network,
    NoResults,
    NotConfigured,
    RateLimited,
    TimedOut,
    TlsFailure,
    TooLarge,
    ToolError,
    Unavailable,
    as_tool_error,
)
from toolcrib.core.names import name_set
from toolcrib.core.package_data import package_table
from toolcrib.web.provider import Kind, SearchRequest, SearchResult
from toolcrib.web.providers import IMAGES, SETTING, Providers
from toolcrib.web.search.fusion import FUSED_RANKS, fuse
from toolcrib.web.search.provider_query import OTHER_WORDS_HINT, ProviderQuery

EARLIER_PAGE_HINT = "Ask for an earlier page."
RESULT_NOUNS: dict[Kind, str] = {"web": "web pages", "news": "news", "images": "images"}
RESERVED_SECONDS = 4.0
"""Seconds kept free before a caller must have its answer."""
MIN_SEARCH_SECONDS = 10.0
"""Seconds below which it is better to go on as a job than to hurry."""
_REGION = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{2}|\d{3}))?", re.IGNORECASE)
_ANYWHERE = ("", "all", "any", "none", "global", "worldwide", "wt-wt", "us-all", "xx")
_REGIONS = package_table("web/providers/regions.toml")
_LANGUAGES = {
    country: language
    for language, countries in _REGIONS["expected_language"].items()
    for country in countries.split()
}
_NO_LANGUAGE = name_set(_REGIONS["countries"]["no_language"])


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
class ProviderStatus:
    """How one provider did: "ok", "empty", "stale", or the code of its error.

    `count` is how many of the results are its own, beside others it may share them
    with; `cached` says that it was not asked for them now.
    """

    provider: str
    status: str
    count: int = 0
    cached: bool = False
    error: ToolError | None = None

    def to_json(self) -> dict[str, Any]:
        """The status as JSON values."""
        values: dict[str, Any] = {"provider": self.provider, "status": self.status}
        if self.error is None:
            values |= {"code": NoResults.code} if self.status == "empty" else {}
            return {**values, "count": self.count, "cached": self.cached}
        after = self.error.details.get("retry_after")
        values |= {"code": self.error.stable_code, "message": self.error.message}
        return {**values, "retry_after": after} if after else values


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What the providers gave.

    `provider` names those that gave results, joined by a comma. `stale` is the age in
    seconds of old results that stand in for an answer, else 0. `statuses` has every
    provider that was looked at, in the order of the chain.
    """

    provider: str
    results: tuple[SearchResult, ...]
    more: bool
    cached: bool
    stale: float = 0.0
    statuses: tuple[ProviderStatus, ...] = ()

    @property
    def failed(self) -> tuple[tuple[str, ToolError], ...]:
        """Those that gave no answer, and why."""
        return tuple((s.provider, s.error) for s in self.statuses if s.error is not None)

    @property
    def unanswered(self) -> str:
        """Those of `failed` that a reader should know of, with their codes."""
        return failed_providers(dict(self.failed))


async def search(
    request: SearchRequest,
    window: Window,
    names: Sequence[str],
    ctx: Ctx,
    *,
    at_once: int = 0,
    setting: str = SETTING,
) -> SearchOutcome:
    """The results of the first providers that have some, or old ones where none answers.

    A provider that rests, is not configured or does not take the query is passed over
    without a request. An honest empty answer is checked with one more provider.

    Args:
        request: the query; its page and count are set here.
        window: which results are wanted.
        names: the providers in order.
        ctx: the call.
        at_once: how many are asked together, their results fused; 0 is as configured.
        setting: where the user lists providers of this kind.

    Raises:
        NotConfigured: there are no names, or one of them finds something else.
        NoResults: a provider answered that there is nothing.
        ToolError: the error that explains most of what the providers raised. In both,
            `details["providers"]` lists them all, and `details["retry_after"]` is when
            the first of those that rest may be asked again.
    """
    if not names:
        raise NotConfigured(
            "No search provider is configured.", hint=f"The user lists some in {setting}."
        )
    ctx.use(Providers).check_kinds(names, setting)
    count = math.ceil(window.end / FUSED_RANKS) * FUSED_RANKS
    request = replace(request, page=1, cursor={}, count=count)
    order = list(dict.fromkeys(name.strip().lower() for name in names))
    width = at_once or ctx.config.web.search.at_once
    return await _SearchRun(request, window, order, with_answer_deadline(ctx), width, setting).run()


def with_answer_deadline(ctx: Ctx) -> Ctx:
    """The call with a deadline before which its caller can still be answered."""
    if ctx.answer_by is None:
        return ctx
    end = ctx.answer_by - RESERVED_SECONDS
    late = end - time.monotonic() < MIN_SEARCH_SECONDS
    if late or (ctx.deadline is not None and ctx.deadline <= end):
        return ctx
    return replace(ctx, deadline=end)


@dataclass
class _SearchRun:
    """One search: who was asked, and what came of it."""

    request: SearchRequest
    window: Window
    names: list[str]
    ctx: Ctx
    width: int
    setting: str = SETTING
    usable: set[str] = field(default_factory=set)
    queries: dict[str, ProviderQuery] = field(default_factory=dict)
    errors: dict[str, ToolError] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)
    old: set[str] = field(default_factory=set)

    async def run(self) -> SearchOutcome:
        await self._find_usable()
        waiting = deque(self.names)
        width, checked = self.width, False
        while waiting and not self.answered:
            await asyncio.gather(*(self._next(waiting) for _ in range(width)))
            if len(self.empty) > 1 or checked or any(self.queries[n].found for n in self.empty):
                break
            if self.empty:
                width, checked = 1, True
        chosen = self._ordered(self.answered) or self._ordered(self.old)[:1]
        if not chosen:
            raise self._nothing() if self.empty else self._all_failed()
        return await self._outcome(chosen)

    async def _find_usable(self) -> None:
        """Find out who could be asked at all; nothing is sent."""
        for name in self.names:
            try:
                # Names that a caller gives were checked before they come here.
                provider = self.ctx.use(Providers).listed(name, self.setting)
                query = ProviderQuery(provider, self.request, self.ctx)
            except ToolError as error:
                error.details["asked"] = False
                self.errors[name] = error
                continue
            self.queries[name] = query
            if await query.rest() is None:
                self.usable.add(name)
        for query in self.queries.values():
            query.only = len(self.queries) == 1

    async def _next(self, waiting: deque[str]) -> None:
        """Ask the next who can be asked."""
        while waiting:
            name = waiting.popleft()
            if name not in self.queries:
                continue
            self.queries[name].alone = not self.usable - {name}
            await self._one(name)
            self.usable.discard(name)
            error = self.errors.get(name)
            if error is None or error.details.get("asked", True):
                return

    async def _one(self, name: str) -> None:
        query = self.queries[name]
        together = self.width > 1
        try:
            if together:
                await query.fill(FUSED_RANKS)
            else:
                await query.fill(self.window.end, self.window.start)
        except Exception as error:  # noqa: BLE001 - of a provider of another package, say
            self.errors[name] = provider_error(error, name)
        else:
            reached = len(query.found) > (0 if together else self.window.start)
            group = self.old if query.stale else self.answered if reached else self.empty
            group.add(name)

    async def _outcome(self, chosen: list[str]) -> SearchOutcome:
        window = self.window
        queries = [self.queries[name] for name in chosen]
        if len(chosen) == 1:
            await self._filled(queries[0])
            found = list(queries[0].found.values())
        else:
            found = await self._fused(queries)
        wanted = tuple(found[window.start : window.end])
        if not wanted:
            self.empty.update(chosen)
            raise self._nothing()
        self._warn(queries)
        return SearchOutcome(
            ", ".join(chosen),
            wanted,
            len(found) > window.end or any(q.more for q in queries),
            all(q.cached for q in queries),
            max(q.stale for q in queries),
            tuple(self._statuses(chosen, wanted)),
        )

    async def _filled(self, query: ProviderQuery) -> None:
        """The only one who answered of several was asked for less than is wanted."""
        try:
            await query.fill(self.window.end, self.window.start)
        except ToolError as error:
            self.errors[query.provider.name] = provider_error(error, query.provider.name)
            raise self._all_failed() from None

    async def _fused(self, queries: Sequence[ProviderQuery]) -> list[SearchResult]:
        depth = FUSED_RANKS
        while True:
            lists = {q.provider.name: list(q.found.values())[:depth] for q in queries}
            found = fuse(lists)
            deeper = any(q.more or len(q.found) > depth for q in queries)
            if len(found) >= self.window.end or not deeper:
                return found
            depth += FUSED_RANKS
            await asyncio.gather(*(q.fill(depth) for q in queries))

    def _warn(self, queries: Iterable[ProviderQuery]) -> None:
        limits = {
            "freshness": (self.request.freshness, "filter by date: results may be older"),
            "region": (self.request.region, "keep to a region"),
            "safe_search": (self.request.safe_search == "strict", "filter explicit results"),
        }
        for query in queries:
            for name, (wanted, what) in limits.items():
                if wanted and name in query.provider.ignores:
                    self.ctx.warn(f"{query.provider.name} cannot {what}.")
            if query.stale:
                minutes = query.stale / 60
                self.ctx.warn(f"No provider answers now; these results are {minutes:,.0f} min old.")

    def _ordered(self, names: Iterable[str]) -> list[str]:
        among = set(names)
        return [name for name in self.names if name in among]

    def _statuses(
        self, chosen: Sequence[str] = (), wanted: Sequence[SearchResult] = ()
    ) -> Iterable[ProviderStatus]:
        for name in self.names:
            error, query = self.errors.get(name), self.queries.get(name)
            if error is not None:
                yield ProviderStatus(name, error.stable_code, error=error)
            elif query is not None and name in self.empty:
                yield ProviderStatus(name, "empty", 0, query.cached and bool(query.found))
            elif query is not None and name in self.answered | self.old:
                fused = len(chosen) > 1
                own = [f for f in wanted if not fused or name in f.extra["providers"]]
                count = len(own) if name in chosen else 0
                label = "ok" if name in self.answered else "stale"
                yield ProviderStatus(name, label, count, query.cached)

    def _listed(self) -> list[dict[str, Any]]:
        return [status.to_json() for status in self._statuses()]

    def _soonest(self) -> tuple[float, str] | None:
        waits = [(e.details.get("retry_after"), name) for name, e in self.errors.items()]
        return min(((w, name) for w, name in waits if w), default=None)

    def _nothing(self) -> NoResults:
        names = self._ordered(self.empty)
        kind = self.queries[names[0]].provider.kind
        message = (
            f'No {RESULT_NOUNS[kind]} found for your search: "{self.request.query[:200]}". '
            f"Asked: {', '.join(names)}."
        )
        hint, without = OTHER_WORDS_HINT, failed_providers(self.errors)
        if self.window.page > 1:
            message, hint = f"There are no results on page {self.window.page}.", EARLIER_PAGE_HINT
        details: dict[str, Any] = {"provider": names[0], "providers": self._listed()}
        soonest = self._soonest()
        if soonest:
            details["retry_after"] = soonest[0]
        hint += f" No answer from {without}." if without else ""
        return NoResults(message, hint=hint, **details)

    def _all_failed(self) -> ToolError:
        errors = self._relevant_errors()
        error = best_error(list(errors.values()))
        message, hint = error.message, error.hint
        details = {**error.details, "providers": self._listed()}
        details.pop("asked", None)
        soonest = self._soonest()
        if soonest:
            details["retry_after"] = soonest[0]
        if self._offline(errors):
            return reworded(error, OFFLINE_MESSAGE, OFFLINE_HINT, details)
        if len(errors) > 1:
            messages = " ".join(f"{name}: {e.message}" for name, e in errors.items())
            message = f"No provider answered '{self.request.query[:200]}'. {messages}"
        if soonest:
            seconds, name = soonest
            if f"{seconds:g} s" not in f"{message} {hint}" or len(errors) > 1:
                hint = f"{name} may be asked again in {seconds:g} s. {hint}".strip()
        if self.setting not in hint:
            hint = f"{hint} {self.setting} can name other providers.".strip()
        return reworded(error, message, hint, details)

    def _relevant_errors(self) -> dict[str, ToolError]:
        """The errors in order; those of providers without a key only where all lack it."""
        errors = {name: self.errors[name] for name in self.names if name in self.errors}
        return {n: e for n, e in errors.items() if not is_unconfigured(e)} or errors

    def _offline(self, errors: Mapping[str, ToolError]) -> bool:
        """Whether no name resolves on this machine, and it is not one wrong address."""
        # Who was not asked, since it rests or has its turn later, proves nothing.
        tried = {n: e for n, e in errors.items() if e.details.get("asked", True)}
        lost = [name for name, error in errors.items() if isinstance(error, DnsFailure)]
        if not lost or not tried.keys() <= set(lost):
            return False
        return len(lost) > 1 or all(self.queries[name].usual for name in lost)


async def find_images(query: str, window: Window, ctx: Ctx) -> SearchOutcome:
    """Images for a query, from the providers of `web.images`.

    Raises:
        NotConfigured: no provider of images is configured.
        ToolError: see `chain.search`.
    """
    names = ctx.config.web.images.providers
    fit = sorted(ctx.use(Providers).of_kind("images"))
    wrong = [name for name in names if name.strip().lower() not in fit]
    if wrong or not names:
        found = f"'{wrong[0][:60]}' finds no images." if wrong else "No provider is configured."
        known = ", ".join(fit) or "none is installed"
        raise NotConfigured(found, hint=f"The user lists some of these in {IMAGES}: {known}.")
    settings = ctx.config.web.search
    request = SearchRequest(
        query, safe_search=settings.safe_search, region=usual_region(ctx.config)
    )
    await ctx.progress(f"Searching for images of '{query[:80]}'")
    outcome = await search(request, window, names, ctx, setting=IMAGES)
    await ctx.progress(f"Found {len(outcome.results)} images with {outcome.provider}")
    return outcome


def region_of(text: str) -> str:
    """A region like "de-DE", a language like "de", or nothing for everywhere.

    A country in capitals and the order of DuckDuckGo ("us-en") are understood too.

    Raises:
        BadInput: it is neither.
    """
    text = text.strip()
    if text.lower() in _ANYWHERE:
        return ""
    parts = _REGION.fullmatch(text)
    if not parts:
        raise BadInput(f"'region' must be a language and a country like de-DE, not '{text[:40]}'.")
    first, second = parts[1], parts[2] or ""
    if not second:
        language = _LANGUAGES.get(first) if first.isupper() else None
        return _region(language, first) if language else first.lower()
    if first.lower() in _NO_LANGUAGE and second.isalpha() and not second.isupper():
        first, second = second, first
    return _region(first, second)


def usual_region(config: Config) -> str:
    """The region that is configured, where a call names none.

    Raises:
        ConfigError: it is none.
    """
    region = config.web.search.region
    try:
        return region_of(region)
    except BadInput:
        raise ConfigError(
            "web.search.region must be a language and a country like de-DE, "
            f"not '{region.strip()[:40]}'.",
            hint="The user corrects web.search.region in the configuration, or empties it.",
        ) from None


def _region(language: str, country: str) -> str:
    country = country.upper()
    return f"{language.lower()}-{'GB' if country == 'UK' else country}"


# Why no provider answered: which of their errors is reported, and in what words.

UNREACHABLE_MESSAGE = "Search with {name} is not reachable."
OFFLINE_MESSAGE = "No host name resolves: this machine seems to be offline."
OFFLINE_HINT = "Do not search again now; tell the user to check the connection (toolcrib doctor)."

# When all fail, the error that explains most.
ERROR_PRIORITY: tuple[type[ToolError], ...] = (
    NoResults,
    RateLimited,
    ChallengePage,
    TimedOut,
    HttpStatus,
    Network,
    Blocked,
    TooLarge,
    ConfigError,
    NotConfigured,
    Unavailable,
    BadInput,
    ToolError,
)


def reworded(error: ToolError, message: str, hint: str, details: dict[str, Any]) -> ToolError:
    """The same error in other words; the original may be shared with other calls."""
    kind = type(error) if not isinstance(error, MissingExtra) else Unavailable
    return kind(message, hint=hint, code=error.stable_code, **details)


def is_unconfigured(error: ToolError) -> bool:
    """Whether a provider lacks its address or key, so that it was never asked."""
    return isinstance(error, NotConfigured) and error.details.get("asked") is False


def failed_providers(errors: Mapping[str, ToolError]) -> str:
    """The providers that a reader should know of, each with its code."""
    failed = {name: error for name, error in errors.items() if not is_unconfigured(error)}
    return ", ".join(f"{name} ({error.stable_code})" for name, error in failed.items())


def provider_error(error: Exception, name: str) -> ToolError:
    """The error of a provider, as it is reported."""
    known = as_tool_error(error, name)
    unreached = isinstance(known, DnsFailure | ConnectionFailed | TlsFailure | TimedOut)
    if unreached and known.details.get("asked", True):
        known.hint = UNREACHABLE_MESSAGE.format(name=name)
    return known


def best_error(errors: Sequence[ToolError]) -> ToolError:
    """The error that says most about why all of them happened; of equals the first."""
    return min(
        errors, key=lambda e: next(n for n, k in enumerate(ERROR_PRIORITY) if isinstance(e, k))
    )
