"""How a provider is asked, by whatever tool: at its pace, and never while it rests."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Mapping
from typing import TypeVar

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
from toolcrib.net.cooldowns import Cooldowns, Lengths, Rest
from toolcrib.net.pace import Pace
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Provider

PATIENCE = 20.0
"""Seconds to wait for a turn at the only provider left."""
PASSING_SECONDS = 20.0
"""The first rest after a failure that may pass by itself."""
NETWORK_SECONDS = 60.0
"""The longest rest after one of the network: it may be this machine that is offline."""
_UNREACHED = (DnsFailure, ConnectionFailed, TlsFailure, TimedOut)
_UNSENT = frozenset({"dns", "refused", "unreachable", "connect", "connect_timeout"})
_RESTED: Mapping[str, type[ToolError]] = {
    kind.code: kind for kind in (RateLimited, ChallengePage, HttpStatus, Unavailable, *_UNREACHED)
}

T = TypeVar("T")


class Turns:
    """The turns of one provider at one address, and its rests.

    Args:
        provider: who is asked.
        reach: the way there, before it leads to another address of the same service.
        ctx: the call.
    """

    def __init__(self, provider: Provider, reach: Reach, ctx: Ctx) -> None:
        key = " with a key" if reach.key else ""
        self.place = f"{provider.name} {reach.base_url}{key}"
        self._provider = provider
        self._ctx = ctx
        self._settings = ctx.config.web.search
        # A service without an address of its own is the user's instance: it sets the pace.
        self._gap = self._settings.gap_seconds if provider.base_url else 0.0
        self._taken = 0.0

    async def rest(self) -> Rest | None:
        """How long the provider still rests; None while it may be asked."""
        return await self._ctx.use(Cooldowns).resting(self.place)

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

        async def look() -> None:
            await self._check_rest(only=only)

        await look()
        if self._gap:
            # Where others can be asked, a second turn in the queue is not waited for.
            patience = self._ctx.remaining(PATIENCE if alone else min(self._gap * 1.2, PATIENCE))
            pace = self._ctx.use(Pace)
            self._taken = await pace.turn(self.place, self._gap, patience, look)
        return self._ctx.remaining(self._settings.timeout) >= self._settings.timeout

    async def noted(self, work: Awaitable[T], *, patient: bool) -> T:
        """What the requests of a turn give; how they end decides on rests.

        Args:
            work: the requests.
            patient: what `wait` returned.

        Raises:
            ToolError: theirs; `details["retry_after"]` says when a rest that began ends.
        """
        try:
            value = await work
        except ToolError as error:
            await self._note(error, patient=patient)
            raise
        await self._ctx.use(Cooldowns).answered(self.place)
        return value

    async def _check_rest(self, *, only: bool) -> None:
        rest = await self.rest()
        if rest is None or (only and rest.passing and rest.code == HttpStatus.code):
            return
        name, seconds = self._provider.name, math.ceil(rest.seconds)
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
            wait = await cooldowns.refused(self.place, code, lengths, asked)
        elif _is_unreadable(error) and self._provider.base_url:
            wait = await cooldowns.refused(self.place, code, lengths)
        elif isinstance(error, _UNREACHED) and (patient or not isinstance(error, TimedOut)):
            wait = await cooldowns.slipped(self.place, code, self._short(NETWORK_SECONDS))
        elif isinstance(error, HttpStatus) and error.details.get("status", 0) >= 500:
            wait = await cooldowns.slipped(self.place, code, self._short(lengths.most))
        elif isinstance(error, NoResults):
            await cooldowns.answered(self.place)
        if wait:
            error.details["retry_after"] = math.ceil(round(wait, 3))
        if error.details.get("reason") in _UNSENT:
            await self._ctx.use(Pace).give_back(self.place, self._gap, self._taken)

    def _short(self, most: float) -> Lengths:
        """The rests after failures that may pass by themselves."""
        first = min(PASSING_SECONDS, self._settings.cooldown_seconds)
        return Lengths(first, min(most, self._settings.cooldown_most))


def _is_unreadable(error: ToolError) -> bool:
    return isinstance(error, Unavailable) and not isinstance(error, NotConfigured | MissingExtra)
