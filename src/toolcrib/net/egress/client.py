"""`Egress`: the one way out. Every request of every tool goes through `fetch`."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal, Self

from toolcrib.core.config import Config
from toolcrib.core.context import Ctx, Services, conversation_of
from toolcrib.core.errors import (
    BadInput,
    Blocked,
    Denied,
    DnsFailure,
    RateLimited,
    TimedOut,
    ToolError,
    Unavailable,
)
from toolcrib.core.settings import EgressConfig, RetryConfig
from toolcrib.net.egress.addresses import IPAddress, plain
from toolcrib.net.egress.exchange import Caps, exchange
from toolcrib.net.egress.policy import EgressPolicy
from toolcrib.net.egress.redirects import REDIRECT_STATUSES, Chain, Redirect, follow, may_follow
from toolcrib.net.egress.resolver import Lookup, Resolver
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.transport import Request, Transport
from toolcrib.net.egress.url import Target, checked_headers, parse_url
from toolcrib.net.pace import Pace

# `LocalServers`: the ports of this machine by which a conversation reaches its own servers.
#
# A run has a loopback of its own. What listens there is reached through a port of this
# machine's, which the guard opens for the conversation of the run alone, while it is listed here.


class LocalServers:
    """Ports of 127.0.0.1 on which we ourselves listen for servers in runs, by conversation.

    Those of its agents are among them, and open to them.
    """

    def __init__(self) -> None:
        self._ports: dict[str, dict[int, bool]] = {}

    def add(self, session: str, port: int, *, offline: bool) -> None:
        """List a port; `offline`: the run behind it can send nothing anywhere."""
        self._ports.setdefault(conversation_of(session), {})[port] = offline

    def remove(self, session: str, port: int) -> None:
        """List it no longer, before it is closed: others may have the number then."""
        conversation = conversation_of(session)
        ports = self._ports.get(conversation, {})
        ports.pop(port, None)
        if not ports:
            self._ports.pop(conversation, None)

    def ports(self, session: str, *, offline: bool = False) -> frozenset[int]:
        """Those of one conversation; with `offline` only of runs that reach nothing else."""
        found = self._ports.get(conversation_of(session), {})
        return frozenset(port for port, cut_off in found.items() if cut_off or not offline)

    def __contains__(self, port: int) -> bool:
        """Whether a port is one of any conversation."""
        return any(port in ports for ports in self._ports.values())


# Trying a failed fetch again: when, and after how long.

RETRYABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that may pass by themselves."""
TOO_MANY_REQUESTS = 429
RESPONSE_MARGIN_SECONDS = 5.0
"""Seconds kept free before a caller must have its answer."""


class Deadline:
    """The time of a fetch, all its tries and the waits between them together.

    Args:
        seconds: how long it may take from now on.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.end = time.monotonic() + seconds

    @property
    def remaining(self) -> float:
        """Seconds that are left; below 0 when the time is used up."""
        return self.end - time.monotonic()

    def extend(self, seconds: float) -> None:
        """Leave out a time that passed and does not count."""
        self.end += seconds


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The tries of one fetch: `retries` more after the first, each after a longer wait.

    All of it ends by `deadline`: a try is begun only where the wait before it leaves time.
    A wait that a server asks for is kept to exactly. One that is longer than
    `retry.max_seconds`, or than the call has left, is not begun: the answer is handed
    out as it is, so that its reader learns of the wait. Without `refusals`, answers
    that ask to slow down or for proof of a human are handed out likewise.
    """

    retries: int
    config: RetryConfig
    ctx: Ctx | None
    label: str
    deadline: Deadline
    refusals: bool = True

    async def run(self, once: Callable[[], Awaitable[Response]]) -> Response:
        """The first good answer, or the last bad one.

        Raises:
            ToolError: what the last try raised.
        """
        for done in range(self.retries + 1):
            last = done == self.retries
            try:
                response = await once()
            except ToolError as error:
                if last or not error.details.get("retryable"):
                    raise
                if not await self._waited(done, None):
                    raise
                continue
            if last or not self._may_pass(response):
                return response
            if not await self._waited(done, response.retry_after):
                return response
        raise AssertionError

    async def _waited(self, done: int, requested_seconds: float | None) -> bool:
        """Wait before the next try; False where the wait would be too long."""
        # Full waits in step would bring all callers back at the same moment.
        usual = self.config.initial_seconds * 2**done * random.uniform(0.5, 1.0)  # noqa: S311
        wait = (
            min(usual, self.config.max_seconds) if requested_seconds is None else requested_seconds
        )
        if wait > self.config.max_seconds or wait >= self._left():
            return False
        if self.ctx is not None:
            number = f"attempt {done + 2} of {self.retries + 1}"
            await self.ctx.progress(f"Retrying {self.label} ({number}) in {wait:.1f} s")
        await asyncio.sleep(wait)
        return True

    def _left(self) -> float:
        if self.ctx is None:
            return self.deadline.remaining
        ends = [end for end in (self.ctx.deadline, self.ctx.answer_by) if end is not None]
        left = min(ends) - time.monotonic() - RESPONSE_MARGIN_SECONDS if ends else float("inf")
        return min(left, self.deadline.remaining)

    def _may_pass(self, response: Response) -> bool:
        challenged = response.headers.get("cf-mitigated").lower() == "challenge"
        if challenged or response.status == TOO_MANY_REQUESTS:
            return self.refusals
        return response.status in RETRYABLE_STATUSES


# How many requests one host gets at a time, and how far apart they are.


@dataclass(slots=True)
class _Host:
    semaphore: asyncio.Semaphore
    users: int = 0


class HostLimits:
    """Places for requests, for each host and port.

    Args:
        at_once: requests of this process to one host at the same time.
        gap: seconds between the starts of two requests to one host, over all processes.
        pace: gives what keeps the gap; None keeps none.
    """

    def __init__(self, at_once: int, gap: float, pace: Callable[[], Pace] | None) -> None:
        self._at_once = at_once
        self._gap = gap
        self._pace = pace
        # A semaphore belongs to the loop in which it was waited for.
        self._hosts: dict[tuple[int, str], _Host] = {}

    @asynccontextmanager
    async def place(self, target: Target, max_wait: float) -> AsyncGenerator[None]:
        """Hold a place while a request runs.

        Args:
            target: where the request goes.
            max_wait: the longest wait in seconds.

        Raises:
            RateLimited: the wait would be longer.
        """
        loop = asyncio.get_running_loop()
        key = (id(loop), target.authority)
        host = self._hosts.setdefault(key, _Host(asyncio.Semaphore(self._at_once)))
        host.users += 1
        try:
            started = loop.time()
            await _entered(host.semaphore, target.host, max_wait)
            try:
                if self._pace is not None and self._gap > 0:
                    left = max_wait - (loop.time() - started)
                    await self._pace().turn(f"host {target.authority}", self._gap, left)
                yield
            finally:
                host.semaphore.release()
        finally:
            host.users -= 1
            if not host.users:
                self._hosts.pop(key, None)


async def _entered(semaphore: asyncio.Semaphore, name: str, max_wait: float) -> None:
    if not semaphore.locked():
        await semaphore.acquire()
        return
    try:
        async with asyncio.timeout(max_wait):
            await semaphore.acquire()
    except TimeoutError:
        raise RateLimited(
            f"Too many requests to {name} at once: none ended within {max_wait:.0f} s.",
            hint="Send fewer at a time, or try again later.",
        ) from None


# The branch of the configuration that speaks of pages, as opposed to endpoints.
PAGES = "web.fetch"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
MAX_POLICIES = 256
MAX_WAIT_SECONDS = 60.0
"""Seconds that a request waits for its turn at a host, where no deadline says less."""


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What each hop of a fetch has to pass."""

    policy: EgressPolicy
    caps: Caps
    on_redirect: Callable[[str], None] | None
    before_request: Callable[[str], Awaitable[None]] | None
    paced: bool
    ctx: Ctx | None
    deadline: Deadline

    @property
    def max_wait(self) -> float:
        """The longest wait for a turn at a host."""
        return MAX_WAIT_SECONDS if self.ctx is None else self.ctx.remaining(MAX_WAIT_SECONDS)


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
        self._policies: dict[tuple[str, tuple[str, ...], frozenset[int]], EgressPolicy] = {}
        self.servers = LocalServers()
        self._caps = Caps.of(config.egress, None, allow_truncated=False)
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

    def policy(
        self, component: str = "", endpoints: Sequence[str] = (), session: str = ""
    ) -> EgressPolicy:
        """The policy for one component.

        Args:
            component: its branch of the configuration (`web.fetch`); where that has
                `allow_hosts` and `allow_networks`, they open more for it alone.
            endpoints: URLs that the user configured for it; each opens its origin.
            session: the conversation, whose own servers are open to it as they are now.
        """
        servers = self.servers.ports(session)
        key = (component, tuple(endpoints), servers)
        found = self._policies.get(key)
        if found is None:
            if len(self._policies) >= MAX_POLICIES:
                self._policies.clear()
            found = self._policies[key] = self._built(component, endpoints, servers)
        return found

    def serves(self, url: str, session: str, *, offline: bool = False) -> bool:
        """Whether a URL is of a server of the conversation's own runs.

        Args:
            url: it.
            session: the conversation.
            offline: count only servers in runs that can send nothing anywhere.
        """
        ports = self.servers.ports(session, offline=offline)
        return bool(ports) and EgressPolicy(servers=ports).serves(parse_url(url))

    def retrace(self, redirects: Iterable[Redirect], component: str, ctx: Ctx) -> None:
        """Judge the hops by which a kept answer was reached, as they would be judged now.

        Raises:
            Blocked, Denied: one of them is not allowed, or not to this call.
        """
        policy = self.policy(component, session=ctx.session.id)
        for step in redirects:
            policy.check(parse_url(step.target))
            if ctx.check_url is not None:
                ctx.check_url(step.target)

    def _built(
        self, component: str, endpoints: Sequence[str], servers: frozenset[int]
    ) -> EgressPolicy:
        branch: Any = self._config
        for name in component.split(".") if component else ():
            branch = getattr(branch, name, None)
        hosts = getattr(branch, "allow_hosts", None)
        networks = getattr(branch, "allow_networks", None)
        if hosts is None or networks is None:
            return replace(self._policy.widened(endpoints=endpoints), servers=servers)
        widened = self._policy.widened(hosts, networks, endpoints, setting=component)
        return replace(widened, servers=servers)

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
        allow_truncated: bool | Literal["undeclared"] = False,
        retries: int = 0,
        retry_refusals: bool = True,
        same_origin_writes: bool = False,
        secret: bool = False,
        on_redirect: Callable[[str], None] | None = None,
        before_request: Callable[[str], Awaitable[None]] | None = None,
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
            same_origin_writes: hand out, do not follow, a redirect that would carry a body
                or a change to another origin.
            secret: a header is one, which no run may be sent.
            allow_truncated: give what fits, marked as truncated; "undeclared": unless its length
                was declared.
            on_redirect: told the URL of each redirect before it is followed; it may raise.
            before_request: awaited with the URL of each hop before it is asked; it may raise.
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
        request = self._request(url, method, headers, body, pages=pages)
        request = replace(request, same_origin_writes=same_origin_writes, secret=secret)
        caps = self._caps
        if max_bytes or allow_truncated:
            caps = Caps.of(self._config.egress, max_bytes, allow_truncated=allow_truncated)
        if on_redirect is None and ctx is not None and pages:
            on_redirect = ctx.check_url
        seconds = timeout or self._config.egress.total_timeout
        deadline = Deadline(seconds if ctx is None else ctx.remaining(seconds))
        options = RequestOptions(
            self.policy(component, endpoints, "" if ctx is None else ctx.session.id),
            caps,
            on_redirect,
            before_request,
            pages,
            ctx,
            deadline,
        )
        retry = self._config.egress.retry
        attempts = RetryPolicy(retries, retry, ctx, request.target.host, deadline, retry_refusals)
        return await attempts.run(lambda: self._timed(request, options))

    async def _timed(self, request: Request, options: RequestOptions) -> Response:
        try:
            async with asyncio.timeout(max(options.deadline.remaining, 0)) as scope:
                return await self._follow(request, options, scope)
        except TimeoutError:
            raise TimedOut(
                f"{request.target.host} did not answer within {options.deadline.seconds:.3g} s.",
                hint="Try again later, or use another source.",
                host=request.target.host,
                reason="timeout",
                retryable=True,
            ) from None

    def _request(
        self,
        url: str,
        method: str,
        headers: Mapping[str, str] | None,
        body: bytes | None,
        *,
        pages: bool,
    ) -> Request:
        method = method.upper()
        if method not in METHODS:
            raise BadInput(f"The method {method[:20]} is not one of {', '.join(sorted(METHODS))}.")
        config = self._config.egress
        if not headers and not config.user_agent and not (pages and config.headers):
            return Request(method, parse_url(url), (), body)
        given: dict[str, str] = {}
        if config.user_agent:
            given["user-agent"] = config.user_agent
        if pages:
            given |= {name.lower(): value for name, value in config.headers.items()}
        given |= {name.lower(): value for name, value in (headers or {}).items()}
        return Request(method, parse_url(url), checked_headers(given), body)

    async def _follow(
        self, request: Request, options: RequestOptions, scope: asyncio.Timeout
    ) -> Response:
        config = self._config.egress
        started = time.perf_counter()
        chain = Chain(config.max_redirects)
        while True:
            response = await self._hop(chain.with_cookies(request), options, scope)
            if response.status not in REDIRECT_STATUSES:
                return _finished(response, chain, started)
            following = follow(
                request, response.status, response.headers, allow_downgrade=config.allow_downgrade
            )
            if not may_follow(request, following):
                return _finished(response, chain, started)
            options.policy.check(following.target)
            _check_border(options.policy, request.target, following.target)
            if options.on_redirect is not None:
                options.on_redirect(following.target.href)
            chain.add(request, following, response.status, response.headers)
            request = following

    async def _hop(
        self, request: Request, options: RequestOptions, scope: asyncio.Timeout
    ) -> Response:
        if options.before_request is not None:
            await options.before_request(request.target.href)
        if not options.paced:
            return await self._send(request, options.policy, options.caps)
        # The time of a fetch does not run while it waits for its turn at a host.
        end, loop = scope.when(), asyncio.get_running_loop()
        started = loop.time()
        scope.reschedule(None)
        async with self._hosts.place(request.target, options.max_wait):
            waited = loop.time() - started
            scope.reschedule(None if end is None else end + waited)
            options.deadline.extend(waited)
            return await self._send(request, options.policy, options.caps)

    async def _send(self, request: Request, policy: EgressPolicy, caps: Caps) -> Response:
        if self._transport is None:
            self._transport = open_transport(self._config.egress)
        addresses = await self.addresses(request.target, policy)
        if request.secret and request.target.port in self.servers:
            _refuse_here(request.target, addresses)
        pinned = replace(request, addresses=addresses)
        return await exchange(self._transport, pinned, caps, skip_body=REDIRECT_STATUSES)

    async def addresses(self, target: Target, policy: EgressPolicy) -> tuple[IPAddress, ...]:
        """The judged addresses to connect to; none where the proxy of `egress.proxy` connects.

        Raises:
            Blocked: the policy refuses the target or one of its addresses.
            DnsFailure: the name has no address.
            TimedOut: the name server does not answer.
        """
        if policy.serves(target):
            if target.port not in self.servers:
                raise Blocked(
                    f"The server on port {target.port} has stopped.",
                    hint="Start it again, with 'ports'.",
                    code="blocked_address",
                    host=target.host,
                )
            return await self.resolver.approved(target, policy)  # a proxy could not connect
        if not self._config.egress.proxy:
            return await self.resolver.approved(target, policy)
        # Behind a proxy the names of the outside often resolve only there: what this
        # machine can resolve is judged, the rest is the proxy's to decide.
        with suppress(DnsFailure, TimedOut):
            await self.resolver.approved(target, policy)
        return ()


def _refuse_here(target: Target, addresses: Sequence[IPAddress]) -> None:
    """Refuse this machine, on a port where we listen for a run of whatever conversation.

    Raises:
        Denied: it is this machine.
    """
    found = map(plain, (*addresses, *([] if target.literal is None else [target.literal])))
    if target.host == "localhost" or any(a.is_loopback or a.is_unspecified for a in found):
        raise Denied(
            f"A secret is not sent to port {target.port}: a program in the sandbox serves it.",
            hint="Send the request without it. If a server of the user's is meant, end the job "
            "(list_jobs, stop_job), and let the user name its port with the secret's hosts.",
        )


def _check_border(policy: EgressPolicy, source: Target, target: Target) -> None:
    """Refuse a redirect from a server of a run to the world, or from there to one.

    The first could leak what a run may not send; the second is no site's business.

    Raises:
        Blocked: it is such a one.
    """
    if policy.serves(source) != policy.serves(target):
        raise Blocked(
            f"Destination not allowed: {source.authority} redirects to {target.href[:500]}.",
            hint="A server of a run and other hosts may not redirect to each other.",
            code="blocked_host",
            host=target.host,
        )


def _finished(response: Response, chain: Chain, started: float) -> Response:
    """The response with the way that led to it."""
    elapsed = time.perf_counter() - started
    return replace(response, redirects=chain.steps, elapsed=elapsed)


def open_transport(config: EgressConfig) -> Transport:
    """The transport that the configuration names; `auto` takes wreq where it is installed."""
    if config.transport == "wreq" or (config.transport == "auto" and find_spec("wreq")):
        from toolcrib.net.egress.transport_wreq import WreqTransport

        return WreqTransport(config)
    if find_spec("aiohttp") is None:
        raise Unavailable(
            "The library of the transport (aiohttp) is not installed.",
            hint='The user can install it: pip install "aiohttp>=3.14,<4"',
        )
    from toolcrib.net.egress.transport_aiohttp import AiohttpTransport

    return AiohttpTransport(config)
