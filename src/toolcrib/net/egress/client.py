"""`Egress`: the one way out. Every request of every tool goes through `fetch`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from toolcrib.core.config import Config
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, DnsFailure, TimedOut
from toolcrib.core.services import Services
from toolcrib.net.egress.addresses import IPAddress
from toolcrib.net.egress.exchange import Answer, Caps, exchange
from toolcrib.net.egress.headers import checked_headers
from toolcrib.net.egress.hosts import HostLimits
from toolcrib.net.egress.policy import EgressPolicy
from toolcrib.net.egress.redirects import STATUSES, Chain, Order, Redirect, follow
from toolcrib.net.egress.resolver import Lookup, Resolver
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.retries import Attempts, Clock
from toolcrib.net.egress.transport import PinnedRequest, Transport, open_transport
from toolcrib.net.egress.url import Target, parse_url
from toolcrib.net.pace import Pace

# The branch of the configuration that speaks of pages, as opposed to endpoints.
PAGES = "web.fetch"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
MAX_POLICIES = 256
PATIENCE = 60.0
"""Seconds that a request waits for its turn at a host, where no deadline says less."""


@dataclass(frozen=True, slots=True)
class _Way:
    """What each hop of a fetch has to pass."""

    policy: EgressPolicy
    caps: Caps
    judge: Callable[[str], None] | None
    gate: Callable[[str], Awaitable[None]] | None
    paced: bool
    ctx: Ctx | None
    clock: Clock

    @property
    def patience(self) -> float:
        """The longest wait for a turn at a host."""
        return PATIENCE if self.ctx is None else self.ctx.remaining(PATIENCE)


class Egress:
    """Fetches URLs that the policy allows, and nothing else.

    Args:
        config: the whole tree; `egress` and the branches of components are read.
        lookup: how names resolve, instead of the system's way.
        transport: what sends requests, instead of the configured one.
        pace: gives what keeps requests to one host apart; None keeps them apart by nothing.
    """

    def __init__(
        self,
        config: Config,
        *,
        lookup: Lookup | None = None,
        transport: Transport | None = None,
        pace: Callable[[], Pace] | None = None,
    ) -> None:
        self._config = config
        self._policy = EgressPolicy.of(config.egress)
        self._policies: dict[tuple[str, tuple[str, ...]], EgressPolicy] = {}
        self._caps = Caps.of(config.egress, None, partial=False)
        self._transport = transport
        fetch = config.web.fetch
        self._hosts = HostLimits(fetch.host_concurrency, fetch.host_gap_seconds, pace)
        self.resolver = Resolver(lookup, timeout=config.egress.connect_timeout)

    @classmethod
    def open(cls, services: Services) -> Self:
        """The service of a toolbox."""
        return cls(services.config, pace=lambda: services.use(Pace))

    async def close(self) -> None:
        """Close every connection; running requests fail."""
        if self._transport is not None:
            await self._transport.close()

    def policy(self, component: str = "", endpoints: Sequence[str] = ()) -> EgressPolicy:
        """The policy for one component.

        Args:
            component: its branch of the configuration (`web.fetch`); where that has
                `allow_hosts` and `allow_networks`, they open more for it alone.
            endpoints: URLs that the user configured for it; each opens its origin.
        """
        key = (component, tuple(endpoints))
        found = self._policies.get(key)
        if found is None:
            if len(self._policies) >= MAX_POLICIES:
                self._policies.clear()
            found = self._policies[key] = self._built(component, endpoints)
        return found

    def retrace(self, redirects: Iterable[Redirect], component: str, ctx: Ctx) -> None:
        """Judge the hops by which a kept answer was reached, as they would be judged now.

        Raises:
            Blocked, Denied: one of them is not allowed, or not to this call.
        """
        policy = self.policy(component)
        for step in redirects:
            policy.check(parse_url(step.target))
            if ctx.judge is not None:
                ctx.judge(step.target)

    def _built(self, component: str, endpoints: Sequence[str]) -> EgressPolicy:
        branch: Any = self._config
        for name in component.split(".") if component else ():
            branch = getattr(branch, name, None)
        hosts = getattr(branch, "allow_hosts", None)
        networks = getattr(branch, "allow_networks", None)
        if hosts is None or networks is None:
            return self._policy.widened(endpoints=endpoints)
        return self._policy.widened(hosts, networks, endpoints, setting=component)

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        component: str = "",
        endpoints: Sequence[str] = (),
        max_bytes: int | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the time of all tries
        partial: bool | Literal["untold"] = False,
        retries: int = 0,
        retry_refusals: bool = True,
        stays: bool = False,
        judge: Callable[[str], None] | None = None,
        gate: Callable[[str], Awaitable[None]] | None = None,
        ctx: Ctx | None = None,
    ) -> Response:
        """Fetch a URL, following redirects, each judged anew; any status is an answer.

        Args:
            url: absolute, http or https.
            method: one of `METHODS`.
            headers: added to those of the transport, or in their place.
            body: the bytes to send.
            component: who asks, as a branch of the configuration; see `policy`.
            endpoints: configured URLs whose origins are allowed for this fetch.
            max_bytes: the most that the body may have, in place of both caps of `egress`.
            timeout: seconds for all tries and waits; None is `egress.total_timeout`.
            retries: how often a passing failure is tried again; see `egress.retry`.
            retry_refusals: whether an answer that asks to slow down is one of those.
            stays: hand out, do not follow, what would carry a body or a change elsewhere.
            partial: give what fits, marked as truncated; "untold": unless its length was told.
            judge: told the URL of each redirect before it is followed; it may raise.
            gate: awaited with the URL of each hop before it is asked; it may raise.
            ctx: the call, whose deadline also holds.

        Raises:
            Blocked: the policy refuses a hop.
            BadInput: the URL, the method or a header is not valid.
            TooLarge: a cap was reached.
            TimedOut: the time is used up.
            Network: the name, the connection, TLS, or the chain of redirects failed.
            UnsupportedContent: the body is coded in an unknown way.
        """
        pages = component == PAGES
        order = self._order(url, method, headers, body, pages=pages)
        order = replace(order, stays=True) if stays else order
        caps = self._caps
        if max_bytes or partial:
            caps = Caps.of(self._config.egress, max_bytes, partial=partial)
        if judge is None and ctx is not None and pages:
            judge = ctx.judge
        seconds = timeout or self._config.egress.total_timeout
        clock = Clock(seconds if ctx is None else ctx.remaining(seconds))
        way = _Way(self.policy(component, endpoints), caps, judge, gate, pages, ctx, clock)
        retry = self._config.egress.retry
        attempts = Attempts(retries, retry, ctx, order.target.host, clock, retry_refusals)
        return await attempts.run(lambda: self._timed(order, way))

    async def _timed(self, order: Order, way: _Way) -> Response:
        try:
            async with asyncio.timeout(max(way.clock.left, 0)) as scope:
                return await self._follow(order, way, scope)
        except TimeoutError:
            raise TimedOut(
                f"{order.target.host} did not answer within {way.clock.seconds:.3g} s.",
                hint="Try again later, or use another source.",
                host=order.target.host,
                reason="timeout",
                retryable=True,
            ) from None

    def _order(
        self,
        url: str,
        method: str,
        headers: Mapping[str, str] | None,
        body: bytes | None,
        *,
        pages: bool,
    ) -> Order:
        method = method.upper()
        if method not in METHODS:
            raise BadInput(f"The method {method[:20]} is not one of {', '.join(sorted(METHODS))}.")
        config = self._config.egress
        if not headers and not config.user_agent and not (pages and config.headers):
            return Order(method, parse_url(url), (), body)
        given: dict[str, str] = {}
        if config.user_agent:
            given["user-agent"] = config.user_agent
        if pages:
            given |= {name.lower(): value for name, value in config.headers.items()}
        given |= {name.lower(): value for name, value in (headers or {}).items()}
        return Order(method, parse_url(url), checked_headers(given), body)

    async def _follow(self, order: Order, way: _Way, scope: asyncio.Timeout) -> Response:
        config = self._config.egress
        started = time.perf_counter()
        chain = Chain(config.max_redirects)
        while True:
            answer = await self._hop(chain.dressed(order), way, scope)
            if answer.status not in STATUSES:
                return _response(order.target, answer, chain, time.perf_counter() - started)
            following = follow(
                order, answer.status, answer.headers, allow_downgrade=config.allow_downgrade
            )
            if not order.may_become(following):
                return _response(order.target, answer, chain, time.perf_counter() - started)
            way.policy.check(following.target)
            if way.judge is not None:
                way.judge(following.target.href)
            chain.add(order, following, answer.status, answer.headers)
            order = following

    async def _hop(self, order: Order, way: _Way, scope: asyncio.Timeout) -> Answer:
        if way.gate is not None:
            await way.gate(order.target.href)
        if not way.paced:
            return await self._send(order, way.policy, way.caps)
        # The time of a fetch does not run while it waits for its turn at a host.
        end, loop = scope.when(), asyncio.get_running_loop()
        started = loop.time()
        scope.reschedule(None)
        async with self._hosts.place(order.target, way.patience):
            waited = loop.time() - started
            scope.reschedule(None if end is None else end + waited)
            way.clock.stand_still(waited)
            return await self._send(order, way.policy, way.caps)

    async def _send(self, order: Order, policy: EgressPolicy, caps: Caps) -> Answer:
        if self._transport is None:
            self._transport = open_transport(self._config.egress)
        addresses = await self.addresses(order.target, policy)
        request = PinnedRequest(order.method, order.target, addresses, order.headers, order.body)
        return await exchange(self._transport, request, caps, skip_body=STATUSES)

    async def addresses(self, target: Target, policy: EgressPolicy) -> tuple[IPAddress, ...]:
        """The judged addresses to connect to; none where the proxy of `egress.proxy` connects.

        Raises:
            Blocked: the policy refuses the target or one of its addresses.
            DnsFailure: the name has no address.
            TimedOut: the name server does not answer.
        """
        if not self._config.egress.proxy:
            return await self.resolver.approved(target, policy)
        # Behind a proxy the names of the outside often resolve only there: what this
        # machine can resolve is judged, the rest is the proxy's to decide.
        with suppress(DnsFailure, TimedOut):
            await self.resolver.approved(target, policy)
        return ()


def _response(target: Target, answer: Answer, chain: Chain, elapsed: float) -> Response:
    return Response(
        url=target.full,
        status=answer.status,
        headers=answer.headers,
        body=answer.body,
        redirects=chain.steps,
        http_version=answer.http_version,
        elapsed=elapsed,
        wire_bytes=answer.wire_bytes,
        truncated=answer.truncated,
    )
