"""One query through the providers: in order until one answers, or several fused."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import DnsFailure, NoResults, NotConfigured, ToolError
from toolcrib.web.provider_api.provider import Ask, Found, Kind
from toolcrib.web.providers import SETTING, Providers
from toolcrib.web.search.fusion import BLOCK, fuse
from toolcrib.web.search.inquiry import OTHER_WORDS, Inquiry
from toolcrib.web.search.verdicts import (
    OFFLINE,
    STOP,
    is_unset,
    missed,
    most_telling,
    restated,
    told_of,
)

EARLIER = "Ask for an earlier page."
WANTED: dict[Kind, str] = {"web": "web pages", "news": "news", "images": "images"}
ANSWER_SECONDS = 4.0
"""Seconds kept free before a caller must have its answer."""
WORTHWHILE = 10.0
"""Seconds below which it is better to go on as a job than to hurry."""


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
class Status:
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
        told: dict[str, Any] = {"provider": self.provider, "status": self.status}
        if self.error is None:
            told |= {"code": NoResults.code} if self.status == "empty" else {}
            return {**told, "count": self.count, "cached": self.cached}
        after = self.error.details.get("retry_after")
        told |= {"code": self.error.stable_code, "message": self.error.message}
        return {**told, "retry_after": after} if after else told


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the providers gave.

    `provider` names those that gave results, joined by a comma. `stale` is the age in
    seconds of old results that stand in for an answer, else 0. `statuses` has every
    provider that was looked at, in the order of the chain.
    """

    provider: str
    results: tuple[Found, ...]
    more: bool
    cached: bool
    stale: float = 0.0
    statuses: tuple[Status, ...] = ()

    @property
    def failed(self) -> tuple[tuple[str, ToolError], ...]:
        """Those that gave no answer, and why."""
        return tuple((s.provider, s.error) for s in self.statuses if s.error is not None)

    @property
    def missed(self) -> str:
        """Those of `failed` that a reader should know of, with their codes."""
        return missed(dict(self.failed))


async def search(
    ask: Ask,
    window: Window,
    names: Sequence[str],
    ctx: Ctx,
    *,
    at_once: int = 0,
    setting: str = SETTING,
) -> Outcome:
    """The results of the first providers that have some, or old ones where none answers.

    A provider that rests, is not configured or does not take the query is passed over
    without a request. An honest empty answer is checked with one more provider.

    Args:
        ask: the query; its page and count are set here.
        window: which results are wanted.
        names: the providers in order.
        ctx: the call.
        at_once: how many are asked together, their results fused; 0 is as configured.
        setting: where the user lists providers of this kind.

    Raises:
        NotConfigured: there are no names, or one of them finds something else.
        NoResults: a provider answered that there is nothing.
        ToolError: the most telling of what the providers raised. In both,
            `details["providers"]` lists them all, and `details["retry_after"]` is when
            the first of those that rest may be asked again.
    """
    if not names:
        raise NotConfigured(
            "No search provider is configured.",
            hint=f"The user lists some in {setting}.",
        )
    ctx.use(Providers).check_kinds(names, setting)
    count = math.ceil(window.end / BLOCK) * BLOCK
    ask = replace(ask, page=1, cursor={}, count=count)
    order = list(dict.fromkeys(name.strip().lower() for name in names))
    width = at_once or ctx.config.web.search.at_once
    return await _Round(ask, window, order, in_time(ctx), width, setting).run()


def in_time(ctx: Ctx) -> Ctx:
    """The call with a deadline before which its caller can still be answered."""
    if ctx.answer_by is None:
        return ctx
    end = ctx.answer_by - ANSWER_SECONDS
    late = end - time.monotonic() < WORTHWHILE
    if late or (ctx.deadline is not None and ctx.deadline <= end):
        return ctx
    return replace(ctx, deadline=end)


@dataclass
class _Round:
    """One search: who was asked, and what came of it."""

    ask: Ask
    window: Window
    names: list[str]
    ctx: Ctx
    width: int
    setting: str = SETTING
    usable: set[str] = field(default_factory=set)
    inquiries: dict[str, Inquiry] = field(default_factory=dict)
    errors: dict[str, ToolError] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)
    old: set[str] = field(default_factory=set)

    async def run(self) -> Outcome:
        await self._look()
        waiting = deque(self.names)
        width, checked = self.width, False
        while waiting and not self.answered:
            await asyncio.gather(*(self._next(waiting) for _ in range(width)))
            if len(self.empty) > 1 or checked or any(self.inquiries[n].found for n in self.empty):
                break
            if self.empty:
                width, checked = 1, True
        chosen = self._ordered(self.answered) or self._ordered(self.old)[:1]
        if not chosen:
            raise self._nothing() if self.empty else self._all_failed()
        return await self._outcome(chosen)

    async def _look(self) -> None:
        """Find out who could be asked at all; nothing is sent."""
        for name in self.names:
            try:
                # Names that a caller gives were checked before they come here.
                provider = self.ctx.use(Providers).listed(name, self.setting)
                inquiry = Inquiry(provider, self.ask, self.ctx)
            except ToolError as error:
                error.details["asked"] = False
                self.errors[name] = error
                continue
            self.inquiries[name] = inquiry
            if await inquiry.rest() is None:
                self.usable.add(name)
        for inquiry in self.inquiries.values():
            inquiry.only = len(self.inquiries) == 1

    async def _next(self, waiting: deque[str]) -> None:
        """Ask the next who can be asked."""
        while waiting:
            name = waiting.popleft()
            if name not in self.inquiries:
                continue
            self.inquiries[name].alone = not self.usable - {name}
            await self._one(name)
            self.usable.discard(name)
            error = self.errors.get(name)
            if error is None or error.details.get("asked", True):
                return

    async def _one(self, name: str) -> None:
        inquiry = self.inquiries[name]
        together = self.width > 1
        try:
            if together:
                await inquiry.fill(BLOCK)
            else:
                await inquiry.fill(self.window.end, self.window.start)
        except Exception as error:  # noqa: BLE001 - of a provider of another package, say
            self.errors[name] = told_of(error, name)
        else:
            reached = len(inquiry.found) > (0 if together else self.window.start)
            group = self.old if inquiry.stale else self.answered if reached else self.empty
            group.add(name)

    async def _outcome(self, chosen: list[str]) -> Outcome:
        window = self.window
        inquiries = [self.inquiries[name] for name in chosen]
        if len(chosen) == 1:
            await self._filled(inquiries[0])
            found = list(inquiries[0].found.values())
        else:
            found = await self._fused(inquiries)
        wanted = tuple(found[window.start : window.end])
        if not wanted:
            self.empty.update(chosen)
            raise self._nothing()
        self._warn(inquiries)
        return Outcome(
            ", ".join(chosen),
            wanted,
            len(found) > window.end or any(i.more for i in inquiries),
            all(i.cached for i in inquiries),
            max(i.stale for i in inquiries),
            tuple(self._statuses(chosen, wanted)),
        )

    async def _filled(self, inquiry: Inquiry) -> None:
        """The only one who answered of several was asked for less than is wanted."""
        try:
            await inquiry.fill(self.window.end, self.window.start)
        except ToolError as error:
            self.errors[inquiry.provider.name] = told_of(error, inquiry.provider.name)
            raise self._all_failed() from None

    async def _fused(self, inquiries: Sequence[Inquiry]) -> list[Found]:
        depth = BLOCK
        while True:
            lists = {i.provider.name: list(i.found.values())[:depth] for i in inquiries}
            found = fuse(lists)
            deeper = any(i.more or len(i.found) > depth for i in inquiries)
            if len(found) >= self.window.end or not deeper:
                return found
            depth += BLOCK
            await asyncio.gather(*(i.fill(depth) for i in inquiries))

    def _warn(self, inquiries: Iterable[Inquiry]) -> None:
        asked = {
            "freshness": (self.ask.freshness, "filter by date: results may be older"),
            "region": (self.ask.region, "keep to a region"),
            "safe_search": (self.ask.safe_search == "strict", "filter explicit results"),
        }
        for inquiry in inquiries:
            for name, (wanted, what) in asked.items():
                if wanted and name in inquiry.provider.ignores:
                    self.ctx.warn(f"{inquiry.provider.name} cannot {what}.")
            if inquiry.stale:
                minutes = inquiry.stale / 60
                self.ctx.warn(f"No provider answers now; these results are {minutes:,.0f} min old.")

    def _ordered(self, names: Iterable[str]) -> list[str]:
        among = set(names)
        return [name for name in self.names if name in among]

    def _statuses(
        self, chosen: Sequence[str] = (), wanted: Sequence[Found] = ()
    ) -> Iterable[Status]:
        for name in self.names:
            error, inquiry = self.errors.get(name), self.inquiries.get(name)
            if error is not None:
                yield Status(name, error.stable_code, error=error)
            elif inquiry is not None and name in self.empty:
                yield Status(name, "empty", 0, inquiry.cached and bool(inquiry.found))
            elif inquiry is not None and name in self.answered | self.old:
                fused = len(chosen) > 1
                own = [f for f in wanted if not fused or name in f.extra["providers"]]
                count = len(own) if name in chosen else 0
                label = "ok" if name in self.answered else "stale"
                yield Status(name, label, count, inquiry.cached)

    def _listed(self) -> list[dict[str, Any]]:
        return [status.to_json() for status in self._statuses()]

    def _soonest(self) -> tuple[float, str] | None:
        waits = [(e.details.get("retry_after"), name) for name, e in self.errors.items()]
        return min(((w, name) for w, name in waits if w), default=None)

    def _nothing(self) -> NoResults:
        asked = self._ordered(self.empty)
        kind = self.inquiries[asked[0]].provider.kind
        message = (
            f'No {WANTED[kind]} found for your search: "{self.ask.query[:200]}". '
            f"Asked: {', '.join(asked)}."
        )
        hint, without = OTHER_WORDS, missed(self.errors)
        if self.window.page > 1:
            message, hint = f"There are no results on page {self.window.page}.", EARLIER
        details: dict[str, Any] = {"provider": asked[0], "providers": self._listed()}
        soonest = self._soonest()
        if soonest:
            details["retry_after"] = soonest[0]
        hint += f" No answer from {without}." if without else ""
        return NoResults(message, hint=hint, **details)

    def _all_failed(self) -> ToolError:
        told = self._telling()
        errors = list(told.values())
        error = most_telling(errors)
        message, hint = error.message, error.hint
        details = {**error.details, "providers": self._listed()}
        details.pop("asked", None)
        soonest = self._soonest()
        if soonest:
            details["retry_after"] = soonest[0]
        if self._offline(told):
            return restated(error, OFFLINE, STOP, details)
        if len(errors) > 1:
            each = " ".join(f"{name}: {e.message}" for name, e in told.items())
            message = f"No provider answered '{self.ask.query[:200]}'. {each}"
        if soonest:
            seconds, name = soonest
            if f"{seconds:g} s" not in f"{message} {hint}" or len(errors) > 1:
                hint = f"{name} may be asked again in {seconds:g} s. {hint}".strip()
        if self.setting not in hint:
            hint = f"{hint} {self.setting} can name other providers.".strip()
        return restated(error, message, hint, details)

    def _telling(self) -> dict[str, ToolError]:
        """The errors in order; those of providers without a key only where all lack it."""
        errors = {name: self.errors[name] for name in self.names if name in self.errors}
        return {n: e for n, e in errors.items() if not is_unset(e)} or errors

    def _offline(self, told: Mapping[str, ToolError]) -> bool:
        """Whether no name resolves on this machine, and it is not one wrong address."""
        # Who was not asked, since it rests or has its turn later, proves nothing.
        tried = {n: e for n, e in told.items() if e.details.get("asked", True)}
        lost = [name for name, error in told.items() if isinstance(error, DnsFailure)]
        if not lost or not tried.keys() <= set(lost):
            return False
        return len(lost) > 1 or all(self.inquiries[name].usual for name in lost)
